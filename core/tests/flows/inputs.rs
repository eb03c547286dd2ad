//! Calls for which a person types something in: neither side smuggles anything past the other.

use toolbay_core::{
    Access, Actor, ApprovalError, CallError, Decider, DefinitionParts, Need, Outcome,
    SimulationVerdict,
};

use crate::{
    desk::{Desk, acme, admin, as_asked, asking, owner, service, writer},
    fixture::{Fake, reader, user},
    memory::Step,
};

const TYPED: &str = r#"{"code":"1234"}"#;

/// A desk at which `ask` waits for a code, which the agent has tried to give itself.
fn waiting(others: Vec<(DefinitionParts, std::sync::Arc<Fake>)>) -> (Desk, std::sync::Arc<Fake>) {
    let backend = Fake::echo();
    let mut turn = vec![("ask", r#"{"note":"n","code":"evil"}"#)];
    let names: Vec<_> = others.iter().map(|(parts, _)| parts.name.clone()).collect();
    turn.extend(names.iter().map(|name| (name.as_str(), "{}")));
    let tools = std::iter::once((asking("ask"), backend.clone())).chain(others);
    let desk = Desk::of(tools);
    for result in desk.turn(&user("bo", true), &turn) {
        assert!(matches!(result, Err(CallError::Pending { input: true, .. })), "{result:?}");
    }
    (desk, backend)
}

#[test]
fn a_person_gives_what_is_declared_and_nothing_else() {
    // Edge case 66.
    for (typed, expected) in [
        (TYPED, r#"{"code":"1234","note":"n"}"#),
        (r#"{"code":"1234","note":"mine","other":1}"#, r#"{"code":"1234","note":"n"}"#),
    ] {
        let (desk, backend) = waiting(vec![]);
        assert_eq!(desk.store.newest().request.calls[0].arguments, r#"{"note":"n"}"#);
        let decided = desk.submit(&owner(), typed).unwrap();
        assert_eq!(decided.results[0].1.as_ref().unwrap().model_text(), expected);
        assert_eq!(backend.invocations(), 1);
        assert_eq!(desk.records.decisions(), ["user:bo submit ask, r1 of user:bo"]);
        let again = desk.call(&user("bo", true), "ask", r#"{"note":"n"}"#).unwrap();
        assert_eq!(again.model_text(), expected);
        assert_eq!(backend.invocations(), 1);
    }
}

#[test]
fn an_input_that_does_not_fit_is_refused_before_the_request_is_touched() {
    // Edge case 66.
    let (desk, backend) = waiting(vec![]);
    desk.store.break_at(Step::Claim);
    for typed in [r#"{"code":"1"}"#, r#"{"code":5}"#, "{}", r#"{"note":"n"}"#] {
        match desk.submit(&owner(), typed) {
            Err(ApprovalError::Input { violations }) => {
                assert_eq!(violations[0].argument, "code", "{typed}");
            }
            other => panic!("{typed}: {other:?}"),
        }
    }
    for typed in ["[]", "\"code\"", "{", ""] {
        let error = desk.submit(&owner(), typed).unwrap_err();
        assert!(matches!(error, ApprovalError::InputForm { .. }), "{typed}: {error:?}");
    }
    assert!(desk.waits());
    let error = desk.submit(&owner(), TYPED).unwrap_err();
    assert!(matches!(error, ApprovalError::Store { .. }), "{error:?}");
    desk.store.break_at(None);
    desk.submit(&owner(), TYPED).unwrap();
    assert_eq!(backend.invocations(), 1);
}

#[test]
fn what_a_person_types_in_is_in_no_record() {
    let (desk, backend) = waiting(vec![]);
    desk.submit(&owner(), TYPED).unwrap();
    assert_eq!(backend.invocations(), 1);
    let ran = desk.records.calls().pop().unwrap();
    assert_eq!((ran.outcome, ran.approval.as_deref()), (Outcome::Ok, Some("r1")));
    // What the agent gave is, and the tool got both.
    assert_eq!((ran.arguments.as_str(), ran.bytes.0), (r#"{"note":"n"}"#, 12));
}

#[test]
fn an_input_is_for_what_was_shown() {
    let (desk, backend) = waiting(vec![]);
    let (id, seen) = desk.seen();
    for seen in ["", &seen[1..]] {
        let error = desk.pipeline.submit(&id, seen, &owner(), TYPED, &as_asked).unwrap_err();
        assert!(matches!(error, ApprovalError::Stale { .. }), "{error:?}");
    }
    let error = desk.approve(&admin()).unwrap_err();
    assert!(matches!(error, ApprovalError::OtherNeed { .. }), "{error:?}");
    assert!(desk.waits());
    assert_eq!(backend.invocations(), 0);
    desk.deny(&owner()).unwrap();
    let error = desk.call(&user("bo", true), "ask", r#"{"note":"n"}"#).unwrap_err();
    assert!(matches!(error, CallError::ApprovalDenied { .. }), "{error:?}");
}

#[test]
fn a_digest_covers_what_is_to_be_typed_in() {
    let digest = |limit: u8| {
        let mut parts = asking("ask");
        let code = format!(r#"{{"type":"string","minLength":{limit}}}"#);
        let schema = format!(r#"{{"type":"object","properties":{{"code":{code}}}}}"#);
        parts.declarations.input = Some(toolbay_core::Schema::parse(&schema).unwrap());
        let desk = Desk::of([(parts, Fake::echo())]);
        desk.call(&user("bo", false), "ask", "{}").unwrap_err();
        desk.store.newest().request.digest()
    };
    assert_eq!(digest(3), digest(3));
    assert_ne!(digest(3), digest(4));
}

#[test]
fn who_types_something_in_is_a_person_who_may_use_every_tool_of_the_turn() {
    // Edge case 69.
    let mut admins = reader("admins");
    admins.declarations.requires_admin = true;
    let person = |name: &str, admin| Actor::User { name: name.parse().unwrap(), admin };
    let granted = Decider::new(person("cy", false)).with_grant();
    let cases = [
        (None, granted.clone(), "ok"),
        (None, owner(), "ok"),
        (None, Decider::new(person("cy", false)), "not_permitted"),
        (None, service(&["approve"]), "may_not_release"),
        (Some(admins.clone()), granted, "may_not_release"),
        // Bo was an administrator when the call was made.
        (Some(admins.clone()), owner(), "may_not_release"),
        (Some(admins), admin(), "ok"),
    ];
    for (other, decider, expected) in cases {
        let other_backend = Fake::echo();
        let others = other.into_iter().map(|parts| (parts, other_backend.clone())).collect();
        let (desk, backend) = waiting(others);
        let calls = desk.store.newest().request.calls.len();
        let code = desk.submit(&decider, TYPED).map_or_else(|error| error.code(), |_| "ok");
        assert_eq!(code, expected, "{decider:?}");
        let ran = backend.invocations() + other_backend.invocations();
        assert_eq!((ran, desk.waits()), if code == "ok" { (calls, false) } else { (0, true) });
    }
}

#[test]
fn an_input_approves_nothing() {
    // Edge case 67: an administrator wants approvals since the turn began to wait.
    for (added, runs) in [("read", (1, 0)), ("ask", (0, 1)), ("unknown", (1, 1))] {
        let read = Fake::echo();
        let (desk, ask) = waiting(vec![(reader("read"), read.clone())]);
        let mut access = Access::default();
        access.approvals.insert(added.parse().unwrap());
        desk.switch(&access);
        let decided = desk.submit(&admin(), TYPED).unwrap();
        assert_eq!((ask.invocations(), read.invocations()), runs, "{added}");
        for (tool, result) in &decided.results {
            let refused = matches!(result, Err(CallError::ApprovalRequired { .. }));
            assert_eq!(refused, tool.as_str() == added, "{result:?}");
        }
        let codes: Vec<_> = desk.records.calls().iter().filter_map(|record| record.code).collect();
        let refusals = codes.iter().filter(|code| **code == "approval_required").count();
        assert_eq!(refusals, usize::from(added != "unknown"));
    }
}

#[test]
fn a_turn_waits_for_one_input_and_an_approval_comes_first() {
    let (second, write) = (Fake::echo(), Fake::echo());
    let (desk, ask) = waiting(vec![(asking("second"), second.clone())]);
    assert!(matches!(desk.store.newest().request.need, Need::Input { call: 0, .. }));
    let decided = desk.submit(&admin(), TYPED).unwrap();
    assert!(matches!(decided.results[1].1, Err(CallError::ApprovalRequired { .. })));
    assert_eq!((ask.invocations(), second.invocations()), (1, 0));

    let ask = Fake::echo();
    let desk = Desk::of([(asking("ask"), ask.clone()), (writer("write"), write.clone())]);
    let turn = [("ask", "{}"), ("write", "{}")];
    desk.turn(&user("bo", false), &turn);
    assert_eq!(desk.store.newest().request.need, Need::Approval);
    let decided = desk.approve(&admin()).unwrap();
    assert!(matches!(decided.results[0].1, Err(CallError::ApprovalRequired { .. })));
    assert_eq!((ask.invocations(), write.invocations()), (0, 1));
}

#[test]
fn a_tool_of_which_an_administrator_wants_approvals_can_not_be_asked_for_its_input() {
    // Edge case 7: the two would alternate for ever, and the agent would give what a person must type in.
    let backend = Fake::echo();
    let desk = Desk::of([(asking("ask"), backend.clone())]);
    let mut access = Access::default();
    access.approvals.insert("ask".parse().unwrap());
    desk.switch(&access);
    let bo = user("bo", false);
    let request = toolbay_core::CallRequest::new("ask", TYPED, &bo);
    let simulation = desk.pipeline.simulate(&request);
    assert_eq!(simulation.verdict, SimulationVerdict::Block);
    let refused = desk.call(&bo, "ask", TYPED);
    assert!(matches!(refused, Err(CallError::ApprovalRequired { .. })), "{refused:?}");
    assert_eq!(backend.invocations(), 0);
}

#[test]
fn what_is_typed_in_goes_to_no_other_code_than_was_shown() {
    let (desk, old) = waiting(vec![]);
    let new = Fake::echo();
    let mut parts = asking("ask");
    let schema =
        r#"{"type":"object","properties":{"code":{"type":"string"},"note":{"type":"string"}}}"#;
    parts.declarations.input = Some(toolbay_core::Schema::parse(schema).unwrap());
    desk.replace(vec![acme("2", [(parts, new.clone())])], &Access::default());
    match desk.submit(&owner(), TYPED) {
        Err(ApprovalError::PreviewChanged { tools, .. }) => assert_eq!(tools[0].as_str(), "ask"),
        other => panic!("{other:?}"),
    }
    assert!(desk.waits());
    assert_eq!((old.invocations(), new.invocations()), (0, 0));
    assert_eq!(desk.records.decisions().len(), 0);
    // What is to be typed in now was the agent's before, whose value does not count any more.
    let typed = r#"{"code":"1234","note":"mine"}"#;
    let decided = desk.submit(&owner(), typed).unwrap();
    assert_eq!(decided.results[0].1.as_ref().unwrap().model_text(), typed);
    let again = desk.call(&user("bo", true), "ask", r#"{"note":"n","code":"evil"}"#).unwrap();
    assert_eq!(again.model_text(), typed);
    assert_eq!((old.invocations(), new.invocations()), (0, 1));
}
