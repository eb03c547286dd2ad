//! Simulations: what a call would come to, by what it does come to, and nothing left behind.

use std::sync::Arc;

use toolbay_core::{
    Access, CallError, CallRequest, Invocation, InvocationRule, Judgement, Offer, Origin, Reason,
    RuleId, SimulationVerdict, Verdict,
};

use crate::{
    desk::{Desk, acme, admin, asking, guarded, writer},
    fixture::{Bench, Fake, reader, user, with_schema},
};

/// Refuses calls with a `bad` argument.
struct NoBad(RuleId);

impl InvocationRule for NoBad {
    fn id(&self) -> &RuleId {
        &self.0
    }

    fn judge(
        &self,
        call: &Invocation<'_>,
    ) -> Result<Judgement, Box<dyn std::error::Error + Send + Sync>> {
        Ok(match call.arguments.contains_key("bad") {
            true => Judgement::Deny("bad"),
            false => Judgement::Allow,
        })
    }
}

#[test]
fn a_simulation_says_what_the_call_comes_to_and_leaves_nothing() {
    use SimulationVerdict::{Allow, AllowWithApproval, AllowWithInput, Block};
    let backend = Fake::echo();
    let mut off = reader("off");
    off.declarations.enabled_by_default = false;
    let mut admins = writer("admins");
    admins.declarations.requires_admin = true;
    let broken = with_schema("broken", r#"{"type":"object","properties":{"a":{"type":"?"}}}"#);
    let tools =
        [reader("read"), writer("write"), guarded("guarded"), asking("ask"), off, admins, broken];
    let cases = [
        ("read", "{}", Allow, None),
        ("read", r#"{"bad":1}"#, Block, Some("invocation_denied")),
        ("read", "[]", Block, Some("invalid_arguments")),
        ("write", "{}", AllowWithApproval, Some("approval_pending")),
        ("write", r#"{"bad":1}"#, Block, Some("invocation_denied")),
        ("guarded", "{}", AllowWithApproval, Some("approval_pending")),
        ("ask", "{}", AllowWithInput, Some("input_pending")),
        ("ask", r#"{"note":1}"#, Block, Some("invalid_arguments")),
        ("off", "{}", Block, Some("tool_disabled")),
        ("admins", "{}", Block, Some("requires_admin")),
        ("absent", "{}", Block, Some("not_registered")),
        ("broken", "{}", Block, Some("invalid_schema")),
    ];
    let bo = user("bo", false);
    for (tool, arguments, verdict, code) in cases {
        let tools = tools.clone().map(|parts| (parts, backend.clone()));
        let rule = Arc::new(NoBad("no-bad".parse().unwrap()));
        let desk = Desk::with_rules(vec![acme("1", tools)], vec![rule]);
        let request = CallRequest::new(tool, arguments, &bo);
        let (runs, previews) = (backend.invocations(), backend.previews());
        let simulation = desk.pipeline.simulate(&request);
        assert_eq!(simulation.verdict, verdict, "{tool} {arguments}");
        let left = (desk.records.calls().len(), desk.store.requests().len());
        assert_eq!(left, (0, 0));
        assert_eq!((backend.invocations(), backend.previews()), (runs, previews));
        assert_eq!(desk.written.heard().len() + desk.records.decisions().len(), 0);

        let called = desk.pipeline.call(&request);
        assert_eq!(called.as_ref().err().map(CallError::code), code, "{tool} {arguments}");
        match (simulation.refusal, called) {
            (Some(simulated), Err(called)) => {
                assert_eq!(verdict, Block);
                assert_eq!(simulated.to_string(), called.to_string());
                assert_eq!(simulated.model_text(), called.model_text());
            }
            (None, _) => assert_ne!(verdict, Block),
            (simulated, called) => panic!("{simulated:?} {called:?}"),
        }
    }
}

#[test]
fn a_simulation_shows_every_gate_also_behind_one_that_fails() {
    let mut parts = reader("t");
    parts.declarations.enabled_by_default = false;
    parts.declarations.requires_admin = true;
    let desk = Desk::of([(parts, Fake::echo())]);
    let agent = toolbay_core::Agent::new("helper".parse().unwrap());
    let caller = user("bo", false).with_agent(agent);
    let simulation = desk.pipeline.simulate(&CallRequest::new("t", "{}", &caller));
    let expected = [
        (Reason::NotRegistered, Verdict::Passed),
        (Reason::ToolDisabled, Verdict::Failed),
        (Reason::RequiresAdmin, Verdict::Failed),
        (Reason::ConfigurationGroup, Verdict::Passed),
        (Reason::TrustZone, Verdict::Failed),
    ];
    assert_eq!(simulation.axes, expected);
    assert_eq!(simulation.decision.reason, Some(Reason::ToolDisabled));
}

#[test]
fn a_simulation_says_what_an_approval_is_needed_for() {
    let mut far = reader("t");
    far.declarations.effect = toolbay_core::Effect::NonIdempotentWrite;
    let remote = Offer { origin: Origin::Remote, ..acme("1", [(far, Fake::echo())]) };
    let local = |parts| acme("1", [(parts, Fake::echo())]);
    let cases = [
        (local(reader("t")), false, false),
        (local(reader("t")), true, true),
        (local(guarded("t")), false, true),
        (local(writer("t")), false, true),
        // Of a remote tool, the operator says it.
        (remote.clone(), false, false),
        (remote, true, true),
    ];
    let bo = user("bo", false);
    for (offer, added, expected) in cases {
        let desk = Desk::of([]);
        let mut access = Access::default();
        access.approvals.extend(added.then(|| "t".parse().unwrap()));
        desk.replace(vec![offer], &access);
        let simulation = desk.pipeline.simulate(&CallRequest::new("t", "{}", &bo));
        assert_eq!((simulation.needs_approval, simulation.needs_input), (expected, false));
        let waits = matches!(desk.call(&bo, "t", "{}"), Err(CallError::Pending { .. }));
        assert_eq!(waits, expected);
    }
}

#[test]
fn what_has_been_approved_is_simulated_as_what_it_needs() {
    // An outcome that waits to be handed out stays where it is.
    let desk = Desk::of([(writer("write"), Fake::echo())]);
    let bo = user("bo", false);
    desk.call(&bo, "write", "{}").unwrap_err();
    desk.approve(&admin()).unwrap();
    let request = CallRequest::new("write", "{}", &bo);
    let simulation = desk.pipeline.simulate(&request);
    assert_eq!(simulation.verdict, SimulationVerdict::AllowWithApproval);
    assert_eq!(desk.pipeline.call(&request).unwrap().model_text(), "{}");
}

#[test]
fn where_nobody_can_be_asked_a_simulation_says_so() {
    for (parts, expected) in [
        (reader("t"), SimulationVerdict::Allow),
        (writer("t"), SimulationVerdict::Block),
        (asking("t"), SimulationVerdict::Block),
    ] {
        let bench = Bench::of(parts, Fake::echo());
        let bo = user("bo", false);
        let request = CallRequest::new("t", "{}", &bo);
        let simulation = bench.pipeline.simulate(&request);
        assert_eq!(simulation.verdict, expected);
        let simulated = simulation.refusal.as_ref().map(CallError::code);
        assert_eq!(simulated, bench.pipeline.call(&request).err().map(|error| error.code()));
    }
}
