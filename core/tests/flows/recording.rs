//! One record for each call of a flow in which people decide: outcome, code, reason and request.

use toolbay_core::{
    Access, Agent, BackendError, CallRequest, Enforcement, Owner, RawReply, ReplyStatus, TrustZone,
};

use crate::{
    desk::{Desk, acme, admin, as_asked, asking, guarded, owner, writer},
    fixture::{Fake, reader, user},
    memory::Step,
};

/// What is recorded of a call, of the decision about it and of the same call again.
fn flow(desk: &Desk, tool: &str, decide: impl FnOnce(&Desk)) -> Vec<String> {
    let bo = user("bo", false);
    let _ = desk.call(&bo, tool, "{}");
    decide(desk);
    let _ = desk.call(&bo, tool, "{}");
    desk.recorded()
}

#[test]
fn each_call_of_a_flow_leaves_one_record() {
    fn late() -> std::sync::Arc<Fake> {
        Fake::new(|_| Err(BackendError::DeadlineExceeded))
    }
    fn fails() -> std::sync::Arc<Fake> {
        Fake::new(|_| Ok(RawReply::text(ReplyStatus::Failed, "no")))
    }
    type Decide = fn(&Desk);
    let approve: Decide = |desk| drop(desk.approve(&admin()));
    let off: Decide = |desk| {
        let mut access = Access::default();
        access.tools.insert("write".parse().unwrap(), false);
        desk.switch(&access);
        desk.approve(&admin()).unwrap();
        desk.switch(&Access::default());
    };
    let cases: [(&str, Decide, &[&str]); 12] = [
        ("read", |_| {}, &["read ok - - -", "read ok - - -"]),
        (
            "write",
            |_| {},
            &["write suspended approval_pending - r1", "write suspended approval_pending - r1"],
        ),
        (
            "write",
            approve,
            &["write suspended approval_pending - r1", "write ok - - r1", "write delivered - - r1"],
        ),
        (
            "fails",
            approve,
            &[
                "fails suspended approval_pending - r1",
                "fails failed - - r1",
                "fails delivered - - r1",
            ],
        ),
        (
            "late",
            approve,
            &[
                "late suspended approval_pending - r1",
                "late timed_out deadline_exceeded - r1",
                "late delivered settled - r1",
            ],
        ),
        (
            "write",
            off,
            &[
                "write suspended approval_pending - r1",
                "write refused tool_disabled toolDisabled r1",
                "write delivered settled - r1",
            ],
        ),
        (
            "write",
            |desk| desk.deny(&owner()).unwrap(),
            &["write suspended approval_pending - r1", "write refused approval_denied - r1"],
        ),
        (
            "write",
            |desk| desk.clock.advance(Desk::WAIT),
            &["write suspended approval_pending - r1", "write refused approval_denied - r1"],
        ),
        (
            "write",
            |desk| {
                desk.store.break_at(Step::Settle);
                desk.approve(&admin()).unwrap_err();
                desk.store.recover(std::time::Duration::ZERO);
            },
            &[
                "write suspended approval_pending - r1",
                "write ok - - r1",
                "write refused interrupted - r1",
            ],
        ),
        (
            // A decision that is not carried out is no call.
            "write",
            |desk| {
                let (id, _) = desk.seen();
                desk.pipeline.approve(&id, "", &admin(), &as_asked).unwrap_err();
                desk.replace(
                    vec![acme("2", [(writer("write"), Fake::echo())])],
                    &Access::default(),
                );
                desk.approve(&admin()).unwrap_err();
            },
            &["write suspended approval_pending - r1", "write suspended approval_pending - r1"],
        ),
        (
            "ask",
            |desk| drop(desk.submit(&owner(), r#"{"code":"1234"}"#)),
            &["ask suspended input_pending - r1", "ask ok - - r1", "ask delivered - - r1"],
        ),
        (
            "write",
            |desk| desk.store.break_at(Step::Answer),
            &["write suspended approval_pending - r1", "write unavailable suspend_failed - -"],
        ),
    ];
    for (tool, decide, expected) in cases {
        let desk = Desk::of([
            (reader("read"), Fake::echo()),
            (writer("write"), Fake::echo()),
            (guarded("fails"), fails()),
            (writer("late"), late()),
            (asking("ask"), Fake::echo()),
        ]);
        assert_eq!(flow(&desk, tool, decide), expected);
    }
}

#[test]
fn each_call_of_a_turn_leaves_one_record_at_each_step() {
    let desk = Desk::of([(reader("read"), Fake::echo()), (writer("write"), Fake::echo())]);
    let bo = user("bo", false);
    let turn = [("read", "{}"), ("absent", "{}"), ("write", "{}")];
    desk.turn(&bo, &turn);
    desk.approve(&admin()).unwrap();
    desk.turn(&bo, &turn);
    let absent = "absent refused not_registered notRegistered -";
    assert_eq!(
        desk.recorded(),
        [
            "read suspended approval_pending - r1",
            absent,
            "write suspended approval_pending - r1",
            "read ok - - r1",
            "write ok - - r1",
            "read delivered - - r1",
            absent,
            "write delivered - - r1",
        ]
    );
    let desk = Desk::of([(reader("read"), Fake::echo())]);
    desk.turn(&bo, &[("read", "{}"), ("absent", "{}"), ("read", "[]")]);
    assert_eq!(desk.recorded(), ["read ok - - -", absent, "read refused invalid_arguments - -"]);
    assert!(desk.turn(&bo, &[]).is_empty() && desk.records.calls().len() == 3);
}

#[test]
fn what_a_gate_observed_is_recorded_at_each_step() {
    // Edge case 26, of a call that a person approves.
    let agent = |zone| Agent {
        zone,
        enforcement: Enforcement::Observe,
        ..Agent::new("helper".parse().unwrap())
    };
    for (zone, reason) in [(TrustZone::ExternalGlobal, "trustZone"), (TrustZone::Local, "-")] {
        let desk = Desk::of([(writer("write"), Fake::echo())]);
        let caller = user("bo", false).with_agent(agent(zone));
        let request = CallRequest::new("write", "{}", &caller);
        desk.pipeline.call(&request).unwrap_err();
        let (id, seen) = desk.seen();
        let again = |_: &Owner| Some(caller.clone());
        desk.pipeline.approve(&id, &seen, &admin(), &again).unwrap();
        desk.pipeline.call(&request).unwrap();
        assert_eq!(
            desk.recorded(),
            [
                format!("write suspended approval_pending {reason} r1"),
                format!("write ok - {reason} r1"),
                format!("write delivered - {reason} r1"),
            ]
        );
        let observed = reason != "-";
        assert!(desk.records.calls().iter().all(|record| record.observed_only == observed));
    }
}
