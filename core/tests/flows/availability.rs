//! What is on and who is offered it, case by case; the property over all of it is in `policy`.

use std::sync::Arc;

use toolbay_core::{
    Access, Agent, AgentProfile, BackendError, CallError, CallRequest, Caller, DataClass,
    DefinitionParts, Effect, Enforcement, Entry, Offer, Origin, Outcome, Plan, Reason, Registry,
    ToolSet, TrustZone, Visibility, decide, explain, filter_offerable, offered, unattended,
    unavailable,
};

use crate::{
    desk::{Desk, asking, writer},
    fixture::{
        Bench, Fake, anonymous, offer, offered as tool, reader, user, with_aliases, with_schema,
    },
};

fn registry(offers: Vec<Offer>, access: &Access) -> Registry {
    let (plan, collisions) = Plan::new(offer("core", []), offers).unwrap();
    assert_eq!(collisions, []);
    plan.commit(1, access)
}

fn in_group(name: &str, group: &str) -> DefinitionParts {
    let mut parts = reader(name);
    parts.declarations.group = Some(group.parse().unwrap());
    parts
}

fn of_class(name: &str, class: DataClass) -> DefinitionParts {
    let mut parts = reader(name);
    parts.declarations.data_class = class;
    parts
}

fn off(name: &str) -> DefinitionParts {
    let mut parts = reader(name);
    parts.declarations.enabled_by_default = false;
    parts
}

fn remote(provider: &'static str, tools: impl IntoIterator<Item = DefinitionParts>) -> Offer {
    Offer { origin: Origin::Remote, ..offer(provider, tools) }
}

fn helper() -> Agent {
    Agent { zone: TrustZone::Local, ..Agent::new("helper".parse().unwrap()) }
}

fn names<'r>(entries: impl IntoIterator<Item = &'r Arc<Entry>>) -> Vec<&'r str> {
    entries.into_iter().map(|entry| entry.definition().name().as_str()).collect()
}

/// Rows such as `tool:off`, or `#group:on`.
fn rows(text: &str) -> Access {
    let mut access = Access::default();
    for row in text.split_whitespace() {
        let (name, on) = row.split_once(':').unwrap();
        let on = on == "on";
        match name.strip_prefix('#') {
            Some(group) => access.groups.insert(group.parse().unwrap(), on).is_none(),
            None => access.tools.insert(name.parse().unwrap(), on).is_none(),
        };
    }
    access
}

#[test]
fn a_group_that_is_off_beats_its_tools_and_gives_each_its_own_state_back() {
    // Edge cases 9 and 10: `later` has no row and came when its group was off already.
    let offers = || {
        let mut own = in_group("own", "g");
        own.declarations.enabled_by_default = false;
        vec![offer("acme", [in_group("later", "g"), own, in_group("other", "h")])]
    };
    let cases = [
        ("", vec!["later", "other"]),
        ("own:on", vec!["later", "own", "other"]),
        ("#g:off own:on later:on", vec!["other"]),
        ("#g:on own:on", vec!["later", "own", "other"]),
        ("#g:on", vec!["later", "other"]),
        ("later:off other:off", vec![]),
        ("#unknown:off unknown:off", vec!["later", "other"]),
    ];
    for (access, expected) in cases {
        let registry = registry(offers(), &rows(access));
        assert_eq!(names(offered(&registry, &anonymous())), expected, "{access}");
    }
}

#[test]
fn a_row_of_a_tool_that_is_gone_is_in_force_again_when_it_returns() {
    // Edge case 12.
    let access = rows("gone:off kept:off");
    for (tools, expected) in [
        (vec![reader("gone"), reader("kept"), reader("free")], vec!["free"]),
        (vec![reader("kept"), reader("free")], vec!["free"]),
        (vec![reader("free"), with_aliases("renamed", &["gone"])], vec!["free"]),
    ] {
        let registry = registry(vec![offer("acme", tools)], &access);
        assert_eq!(names(offered(&registry, &anonymous())), expected);
    }
}

#[test]
fn a_provider_that_is_off_has_no_tool_on() {
    let offers = vec![offer("acme", [reader("a")]), offer("beta", [reader("b")])];
    let mut access = rows("a:on b:on");
    access.providers.insert("acme".parse().unwrap(), false);
    let registry = registry(offers, &access);
    assert_eq!(names(offered(&registry, &anonymous())), ["b"]);
    let entry = registry.get("a").unwrap().availability();
    assert_eq!((entry.tool_enabled(), entry.is_enabled()), (true, false));
}

#[test]
fn an_assignment_under_a_former_name_is_one_of_the_new_tool() {
    // Edge case 14.
    let offers = || vec![offer("acme", [with_aliases("new", &["old"]), reader("more")])];
    let cases: [(&[&str], &[&str]); 4] = [
        (&["old"], &["new"]),
        (&["old", "new"], &["new"]),
        (&["new"], &["new"]),
        // Edge case 13: a name that no tool has does nothing.
        (&["older"], &[]),
    ];
    for (loadout, expected) in cases {
        let loadout = Some(loadout.iter().map(|name| name.parse().unwrap()).collect());
        let agent = Agent { loadout, ..helper() };
        let caller = anonymous().with_agent(agent);
        let registry = registry(offers(), &Access::default());
        assert_eq!(names(offered(&registry, &caller)), expected);
        assert_eq!(decide(&registry, &caller, "old").allowed, !expected.is_empty());

        let bench = Bench::new(offers());
        let call = |name| {
            let request = CallRequest::new(name, "", &caller);
            bench.pipeline.call(&request).is_ok()
        };
        assert_eq!((call("old"), call("more")), (!expected.is_empty(), false));
    }
}

#[test]
fn the_less_revealing_reason_is_given() {
    // Edge case 19: off, for administrators, not assigned, and over the ceiling.
    let global = TrustZone::ExternalGlobal;
    let agents = |loadout: bool| Agent {
        zone: global,
        loadout: loadout.then(|| ["other".parse().unwrap()].into()),
        ..helper()
    };
    let mut parts = off("t");
    parts.declarations.requires_admin = true;
    for (access, caller, expected) in [
        ("", anonymous().with_agent(agents(true)), Reason::ToolDisabled),
        ("t:on", anonymous().with_agent(agents(true)), Reason::RequiresAdmin),
        ("t:on", user("ada", true).with_agent(agents(true)), Reason::ConfigurationGroup),
        ("t:on", user("ada", true).with_agent(agents(false)), Reason::TrustZone),
    ] {
        let registry = registry(vec![offer("acme", [parts.clone()])], &rows(access));
        assert_eq!(decide(&registry, &caller, "t").reason, Some(expected));
    }
    let registry = registry(vec![offer("acme", [parts])], &rows("t:on"));
    assert!(decide(&registry, &user("ada", true), "t").allowed);
}

#[test]
fn nothing_requested_is_what_is_on_and_an_empty_request_is_nothing() {
    // Edge cases 8, 15 and 21.
    let offers = vec![offer("acme", [reader("b"), off("off"), with_aliases("a", &["old"])])];
    let registry = registry(offers, &Access::default());
    let cases: [(Option<&[&str]>, &[&str]); 6] = [
        (None, &["b", "a"]),
        (Some(&[]), &[]),
        (Some(&["unknown"]), &[]),
        (Some(&["off"]), &[]),
        (Some(&["a", "b", "off", "unknown"]), &["a", "b"]),
        (Some(&["old", "a", "b", "a"]), &["a", "b"]),
    ];
    for (requested, expected) in cases {
        assert_eq!(names(filter_offerable(&registry, &anonymous(), requested)), expected);
        let explained = explain(&registry, &anonymous(), requested);
        assert_eq!(explained.len(), requested.map_or(2, <[&str]>::len), "{requested:?}");
    }
}

#[test]
fn an_agent_of_an_unknown_group_has_no_tools() {
    // Edge case 24.
    let registry =
        registry(vec![offer("acme", [in_group("a", "g"), reader("b")])], &Access::default());
    let cases = [(None, vec!["a", "b"]), (Some(vec!["g", "x"]), vec!["a"])]
        .into_iter()
        .chain([(Some(vec!["x"]), vec![]), (Some(vec![]), vec![])]);
    for (groups, expected) in cases {
        let groups = groups.map(|list| list.iter().map(|name| name.parse().unwrap()).collect());
        let caller = anonymous().with_agent(Agent { groups, ..helper() });
        assert_eq!(names(offered(&registry, &caller)), expected);
    }
}

#[test]
fn only_the_zone_observes_and_only_what_runs_here() {
    // Edge case 26.
    let observing = |zone| Agent { zone, enforcement: Enforcement::Observe, ..helper() };
    let secret = || of_class("t", DataClass::SecretAdjacent);
    let here = || registry(vec![offer("acme", [secret()])], &Access::default());
    let there = || registry(vec![remote("acme", [secret()])], &Access::default());
    let switched_off = registry(vec![offer("acme", [secret()])], &rows("t:off"));
    let over = anonymous().with_agent(observing(TrustZone::ExternalEu));
    let within = anonymous().with_agent(observing(TrustZone::Local));
    let strict = Agent { zone: TrustZone::ExternalEu, ..helper() };
    let left_out = Agent { skills: Some([].into()), ..observing(TrustZone::ExternalEu) };
    let cases = [
        (here(), &over, true, Some(Reason::TrustZone), true),
        (there(), &over, false, Some(Reason::TrustZone), false),
        (here(), &within, true, None, false),
        (there(), &within, true, None, false),
        (here(), &anonymous().with_agent(strict), false, Some(Reason::TrustZone), false),
        (switched_off, &over, false, Some(Reason::ToolDisabled), false),
        (here(), &anonymous().with_agent(left_out), false, Some(Reason::ConfigurationGroup), false),
        (here(), &anonymous(), true, None, false),
    ];
    for (at, (registry, caller, allowed, reason, observed)) in cases.into_iter().enumerate() {
        let decision = decide(&registry, caller, "t");
        let found = (decision.allowed, decision.reason, decision.observed_only);
        assert_eq!(found, (allowed, reason, observed), "{at}: {decision}");
    }
    let decision = decide(&here(), &over, "t").to_string();
    assert_eq!(
        decision,
        "t: allowed, trustZone, observed only (class secret_adjacent, zone external_eu, ceiling internal_configuration)"
    );
}

#[test]
fn what_is_there_and_not_for_a_caller_is_told_in_registry_order() {
    // Edge case 28.
    let mut guarded = reader("guarded");
    guarded.declarations.requires_admin = true;
    let mut far = off("far");
    far.declarations.requires_admin = true;
    let offers = vec![
        remote("alpha", [far]),
        offer("beta", [off("off"), guarded, of_class("secret", DataClass::SecretAdjacent)]),
        offer("gamma", [of_class("public", DataClass::PublicContent)]),
    ];
    let registry = registry(offers, &Access::default());
    let observing = Agent {
        zone: TrustZone::ExternalGlobal,
        enforcement: Enforcement::Observe,
        ..Agent::new("helper".parse().unwrap())
    };
    let enforcing = Agent { enforcement: Enforcement::Enforce, ..observing.clone() };
    let cases: [(Caller, &[(&str, Reason)]); 4] = [
        (user("ada", true), &[("far", Reason::ToolDisabled), ("off", Reason::ToolDisabled)]),
        (user("bo", false), &[("off", Reason::ToolDisabled), ("guarded", Reason::RequiresAdmin)]),
        (
            anonymous().with_agent(observing),
            &[("off", Reason::ToolDisabled), ("guarded", Reason::RequiresAdmin)],
        ),
        (
            anonymous().with_agent(enforcing),
            &[
                ("off", Reason::ToolDisabled),
                ("guarded", Reason::RequiresAdmin),
                ("secret", Reason::TrustZone),
            ],
        ),
    ];
    for (caller, expected) in cases {
        let refused = unavailable(&registry, &caller);
        let found: Vec<_> = refused
            .iter()
            .map(|refused| (refused.tool.as_str(), refused.reason.unwrap()))
            .collect();
        assert_eq!(found, expected, "{}", caller.label());
    }
}

#[test]
fn what_needs_no_person_is_told_in_the_order_that_was_asked_for() {
    // Edge case 29.
    let mut writes = reader("writes");
    writes.declarations.effect = Effect::IdempotentWrite;
    let mut marked = reader("marked");
    marked.declarations.requires_approval = true;
    let mut far = reader("far");
    far.declarations.effect = Effect::NonIdempotentWrite;
    let local = [reader("b"), with_aliases("a", &["old"]), reader("added"), writes, marked];
    let tools = [local.to_vec(), vec![asking("asks")]].concat();
    let mut access = Access::default();
    access.approvals.insert("added".parse().unwrap());
    let registry = registry(vec![offer("acme", tools), remote("beta", [far])], &access);
    let cases: [(&[&str], &[&str]); 4] = [
        (&["far", "a", "unknown", "b"], &["far", "a", "b"]),
        (&["writes", "marked", "asks", "added"], &[]),
        (&["old", "b"], &["old", "b"]),
        (&[], &[]),
    ];
    for (asked, expected) in cases {
        assert_eq!(unattended(&registry, asked), expected);
    }
}

#[test]
fn a_call_that_is_not_permitted_neither_runs_nor_waits() {
    // Edge case 30: the same call is permitted to the benign twin, for whom it waits.
    let backend = Fake::echo();
    let agent =
        |loadout: &str| Agent { loadout: Some([loadout.parse().unwrap()].into()), ..helper() };
    for (loadout, outcome, code) in [
        ("other", Outcome::Refused, "configuration_group"),
        ("write", Outcome::Suspended, "approval_pending"),
    ] {
        let desk = Desk::of([(writer("write"), backend.clone())]);
        let caller = anonymous().with_agent(agent(loadout));
        let error = desk.call(&caller, "write", "{}").unwrap_err();
        assert_eq!(error.code(), code);
        let waiting = usize::from(outcome == Outcome::Suspended);
        assert_eq!((desk.store.requests().len(), backend.invocations()), (waiting, 0));
        assert_eq!(desk.records.calls()[0].outcome, outcome);
        assert_eq!(backend.previews(), waiting);
    }
}

#[test]
fn a_gate_that_observed_a_call_is_recorded_whatever_became_of_it() {
    // Edge case 26.
    let agent = Agent {
        zone: TrustZone::ExternalGlobal,
        enforcement: Enforcement::Observe,
        ..Agent::new("helper".parse().unwrap())
    };
    for (observes, reason) in [(true, Some("trustZone")), (false, None)] {
        let agent =
            Agent { zone: if observes { agent.zone } else { TrustZone::Local }, ..agent.clone() };
        let caller = anonymous().with_agent(agent);
        let broken = Fake::new(|_| Err(BackendError::DeadlineExceeded));
        let strict = with_schema("strict", r#"{"type":"object","required":["a"]}"#);
        let tools = vec![
            tool(reader("good"), Fake::echo()),
            tool(reader("late"), broken),
            tool(strict, Fake::echo()),
        ];
        for (name, outcome) in
            [("good", Outcome::Ok), ("late", Outcome::TimedOut), ("strict", Outcome::Refused)]
        {
            let bench = Bench::new(vec![Offer { tools: tools.clone(), ..offer("acme", []) }]);
            let request = CallRequest::new(name, "", &caller);
            let error = bench.pipeline.call(&request).err();
            assert!(!matches!(error, Some(CallError::Denied { .. })), "{error:?}");
            let record = bench.record();
            assert_eq!((record.outcome, record.reason), (outcome, reason), "{name}");
            assert_eq!(record.observed_only, observes, "{name}");
        }
    }
}

#[test]
fn an_agent_has_the_tools_of_its_sets_also_where_they_are_off() {
    // Edge case 17, as the gate sees it: a set assigns tools, and switches none on.
    let wiki = ToolSet {
        tools: ["a", "b", "off"].map(|name| name.parse().unwrap()).into(),
        visibility: [Visibility::Personal].into(),
    };
    let registry =
        registry(vec![offer("acme", [reader("a"), reader("b"), off("off")])], &Access::default());
    for (visibility, expected) in
        [(Visibility::Personal, vec!["a", "b"]), (Visibility::Shared, vec![])]
    {
        let profile = AgentProfile {
            loadout: Some(["a".parse().unwrap()].into()),
            zone: TrustZone::Local,
            visibility,
            ..AgentProfile::new("bot".parse().unwrap())
        };
        let caller = anonymous().with_agent(profile.agent(std::slice::from_ref(&wiki)));
        assert_eq!(names(offered(&registry, &caller)), expected);
    }
}
