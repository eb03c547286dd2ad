//! Whoever asks who may use what gets the answer of a model that reads the rules anew.

mod model;
mod world;

use std::{collections::BTreeSet, sync::Arc};

use proptest::{collection::vec, prelude::*, sample::select};
use toolbay_core::{
    Access, CallError, CallRequest, Decision, Entry, Outcome, Plan, Reason, Registry,
    SimulationVerdict, Verdict, axes, decide, explain, filter_offerable, nearest, offered,
    unattended, unavailable,
};

use self::{
    model::{Known, Source, Who, World},
    world::{CLASSES, NAMES, ZONES, any_world},
};
use crate::{desk::Desk, fixture::Fake};

/// What a tool comes to: whether it is offered, the reason that is given, and whether its gate only observes.
type Answer = (String, bool, Option<Reason>, bool);

/// The registered tool of this name.
fn named<'k, 'w>(known: &'k [Known<'w>], name: &str) -> Option<&'k Known<'w>> {
    known.iter().find(|known| known.names.contains(&name))
}

fn answer(world: &World, known: Option<&Known<'_>>, name: &str) -> Answer {
    let Some(known) = known else {
        return (name.to_owned(), false, Some(Reason::NotRegistered), false);
    };
    let first = known.first(world);
    let observed = matches!(first, Some((_, Verdict::Observed)));
    let reason = first.map(|(reason, _)| reason);
    (known.tool.name.to_owned(), known.is_allowed(world), reason, observed)
}

fn said(decision: &Decision) -> Answer {
    let Decision { tool, allowed, reason, observed_only, .. } = decision;
    (tool.clone(), *allowed, *reason, *observed_only)
}

fn names<'r>(entries: impl IntoIterator<Item = &'r Arc<Entry>>) -> Vec<String> {
    entries.into_iter().map(|entry| entry.definition().name().to_string()).collect()
}

/// Everything that can be asked of a registry.
fn check(world: &World, registry: &Registry, asked: &[&str]) -> Result<(), TestCaseError> {
    let (known, caller) = (world.known(), world.caller());
    prop_assert_eq!(
        names(registry.iter()),
        known.iter().map(|known| known.tool.name).collect::<Vec<_>>()
    );
    for name in NAMES.into_iter().chain(["ghost", ""]) {
        let tool = named(&known, name);
        let decision = decide(registry, &caller, name);
        prop_assert_eq!(said(&decision), answer(world, tool, name));
        let class = tool.map_or(5, |known| known.tool.class);
        prop_assert_eq!(decision.data_class, CLASSES[class]);
        prop_assert_eq!(decision.zone, world.worker.as_ref().map(|worker| ZONES[worker.zone]));
        // Only one gate ever observes, and never what somebody else runs.
        prop_assert!(!decision.observed_only || decision.reason == Some(Reason::TrustZone));
        prop_assert!(!decision.observed_only || tool.is_some_and(|known| !known.remote));

        let each = match tool {
            None => vec![(Reason::NotRegistered, Verdict::Failed)],
            Some(known) => [(Reason::NotRegistered, Verdict::Passed)]
                .into_iter()
                .chain(known.axes(world))
                .collect(),
        };
        prop_assert_eq!(axes(registry, &caller, name), each);
    }

    let allowed = |known: &&Known<'_>| known.is_allowed(world);
    let offerable: Vec<_> = known.iter().filter(allowed).map(|known| known.tool.name).collect();
    prop_assert_eq!(names(offered(registry, &caller)), offerable.clone());
    prop_assert_eq!(names(filter_offerable(registry, &caller, None)), offerable.clone());
    prop_assert_eq!(filter_offerable(registry, &caller, Some(&[])).len(), 0);
    let close = nearest(registry, &caller, "a");
    prop_assert!(close.iter().all(|name| offerable.contains(&name.as_str())));

    let mut listed: Vec<&str> = Vec::new();
    for known in asked.iter().filter_map(|name| named(&known, name)).filter(allowed) {
        if !listed.contains(&known.tool.name) {
            listed.push(known.tool.name);
        }
    }
    prop_assert_eq!(names(filter_offerable(registry, &caller, Some(asked))), listed);

    let shown = |known: &&Known<'_>| !known.remote || world.who == Who::Admin;
    let explained =
        |asked| -> Vec<_> { explain(registry, &caller, asked).iter().map(said).collect() };
    let on = known.iter().filter(|known| known.is_enabled(&world.rows));
    prop_assert_eq!(
        explained(None),
        // A listing names nothing of somebody else's that is not for its reader.
        on.filter(|known| shown(known) || known.is_allowed(world))
            .map(|known| answer(world, Some(known), ""))
            .collect::<Vec<_>>()
    );
    prop_assert_eq!(
        explained(Some(asked)),
        asked.iter().map(|name| answer(world, named(&known, name), name)).collect::<Vec<_>>()
    );

    let refused = known.iter().filter(|known| !allowed(known)).filter(shown);
    prop_assert_eq!(
        unavailable(registry, &caller).iter().map(said).collect::<Vec<_>>(),
        refused.map(|known| answer(world, Some(known), "")).collect::<Vec<_>>()
    );

    let alone =
        |name: &&&str| named(&known, name).is_some_and(|known| !known.is_attended(&world.rows));
    prop_assert_eq!(
        unattended(registry, asked),
        asked.iter().filter(alone).copied().collect::<Vec<_>>()
    );
    Ok(())
}

/// What comes of a call: what a simulation says, and what is recorded.
fn fate(world: &World, tool: Option<&Known<'_>>, reason: Option<Reason>) -> Fate {
    let (verdict, outcome, code) = match tool.filter(|known| known.is_allowed(world)) {
        Some(known) if known.needs_approval(&world.rows) && known.tool.input => {
            (SimulationVerdict::Block, Outcome::Refused, Some("approval_required"))
        }
        Some(known) if known.needs_approval(&world.rows) => {
            (SimulationVerdict::AllowWithApproval, Outcome::Suspended, Some("approval_pending"))
        }
        Some(known) if known.tool.input => {
            (SimulationVerdict::AllowWithInput, Outcome::Suspended, Some("input_pending"))
        }
        Some(_) => (SimulationVerdict::Allow, Outcome::Ok, None),
        None => {
            let code = match reason {
                Some(Reason::ToolDisabled) => "tool_disabled",
                Some(Reason::RequiresAdmin) => "requires_admin",
                Some(Reason::ConfigurationGroup) => "configuration_group",
                Some(Reason::TrustZone) => "trust_zone",
                _ => "not_registered",
            };
            (SimulationVerdict::Block, Outcome::Refused, Some(code))
        }
    };
    Fate { verdict, outcome, code }
}

struct Fate {
    verdict: SimulationVerdict,
    outcome: Outcome,
    code: Option<&'static str>,
}

/// Simulates and calls every name: each leaves one record, only a call that is allowed and needs nobody runs, and only one that needs
/// somebody waits.
fn check_calls(world: &World, desk: &Desk, backend: &Fake) -> Result<(), TestCaseError> {
    let (known, caller) = (world.known(), world.caller());
    let (mut waiting, mut previewed, mut runs) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (at, name) in NAMES.into_iter().chain(["ghost"]).enumerate() {
        let tool = named(&known, name);
        let (tool_name, allowed, reason, observed) = answer(world, tool, name);
        let Fate { verdict, outcome, code } = fate(world, tool, reason);

        let request = CallRequest::new(name, "{}", &caller);
        let simulation = desk.pipeline.simulate(&request);
        prop_assert_eq!(simulation.verdict, verdict);
        prop_assert_eq!(said(&simulation.decision), (tool_name, allowed, reason, observed));
        prop_assert_eq!(simulation.axes, axes(&desk.pipeline.registry().load(), &caller, name));
        let needs = tool.map(|known| (known.needs_approval(&world.rows), known.tool.input));
        let said_needs = (simulation.needs_approval, simulation.needs_input);
        prop_assert_eq!(said_needs, needs.unwrap_or_default());
        let refusal = simulation.refusal.map(|error| error.code());
        prop_assert_eq!(refusal, code.filter(|_| verdict == SimulationVerdict::Block));
        let left = (desk.records.calls().len(), desk.store.requests().len(), backend.previews());
        prop_assert_eq!(left, (at, waiting.len(), previewed.len()), "a simulation leaves nothing");

        let result = desk.pipeline.call(&request);
        let found = result.as_ref().err().map(CallError::code);
        prop_assert_eq!((result.is_ok(), found), (outcome == Outcome::Ok, code));
        if outcome == Outcome::Suspended {
            waiting.extend(tool.map(|known| known.tool.name));
        }
        if verdict == SimulationVerdict::AllowWithApproval {
            previewed.extend(tool.map(|known| known.tool.name));
        }
        runs += usize::from(outcome == Outcome::Ok);
        prop_assert_eq!(
            (desk.store.requests().len(), backend.invocations()),
            (waiting.len(), runs)
        );
        let record = desk.records.calls().pop().unwrap();
        prop_assert_eq!(
            (record.outcome, record.code, record.reason, record.observed_only),
            (outcome, code, reason.map(Reason::as_str), observed)
        );
        prop_assert_eq!(record.provider.as_deref(), tool.map(|known| known.source));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn every_answer_is_what_the_rules_say(
        (world, shuffled) in any_world().prop_flat_map(|world| {
            let plugins = world.plugins.clone();
            (Just(world), Just(plugins).prop_shuffle())
        }),
        asked in vec(select(&["a", "b", "c", "d", "e", "f", "x", "y", "z", "ghost"]), 0..8),
    ) {
        let backend = Fake::says("done");
        let core = Source { id: "core", remote: false, tools: world.core.clone() };
        let plan = |plugins: &[Source]| {
            let plugins = plugins.iter().map(|source| source.offer(&backend)).collect();
            Plan::new(core.offer(&backend), plugins).unwrap().0
        };
        let registry = plan(&world.plugins).commit(1, &world.access());
        check(&world, &registry, &asked)?;
        // Neither the order of providers nor when administrators decided changes anything.
        let other = plan(&shuffled).commit(1, &Access::default()).with_access(&world.access());
        check(&world, &other, &asked)?;
        let backwards: Vec<_> = asked.iter().rev().copied().collect();
        check(&world, &other, &backwards)?;

        let desk = Desk::of([]);
        desk.pipeline.registry().replace(registry);
        check_calls(&world, &desk, &backend)?;
    }
}
