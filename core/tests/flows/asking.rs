//! Calls that need a person: they wait once, and whoever makes them again gets what came of it once.

use std::sync::{Mutex, mpsc};

use toolbay_core::{
    Actor, Agent, ApprovalError, BackendError, CallError, CallRequest, Caller, CancelToken, Clock,
    DecidedBy, Decider, Outcome, RawReply, ReplyStatus, TrustZone,
};

use crate::{
    desk::{Desk, PATIENCE, acme, admin, as_asked, asking, guarded, owner, writer},
    fixture::{Bench, Fake, anonymous, reader, user},
    memory::Step,
};

#[test]
fn the_same_call_waits_once_and_asks_for_one_preview() {
    let write = Fake::with_preview(
        |_| Ok(RawReply::text(ReplyStatus::Ok, "written")),
        |_| Ok(Some(vec!["It writes.".to_owned()])),
    );
    let desk = Desk::of([(writer("write"), write.clone())]);
    let helper = |name: &str| {
        let agent = Agent { zone: TrustZone::Local, ..Agent::new(name.parse().unwrap()) };
        user("bo", false).with_agent(agent)
    };
    let named = Actor::ServiceAccount { name: "bo".parse().unwrap(), scopes: vec![] };
    let cases = [
        (user("bo", false), r#"{"a":1,"b":[]}"#, "r1"),
        (user("bo", false), "{ \"b\" : [ ],\n\"a\" : 1 }", "r1"),
        // A person is the same one with other rights.
        (user("bo", true), r#"{"a":1,"b":[]}"#, "r1"),
        (user("bo", false), r#"{"a":1,"b":[1]}"#, "r2"),
        (user("ada", false), r#"{"a":1,"b":[]}"#, "r3"),
        (Caller::new(named), r#"{"a":1,"b":[]}"#, "r4"),
        (helper("one"), r#"{"a":1,"b":[]}"#, "r5"),
        (helper("two"), r#"{"a":1,"b":[]}"#, "r6"),
        (helper("one"), r#"{"a":1,"b":[]}"#, "r5"),
    ];
    for (caller, arguments, id) in cases {
        assert_eq!(desk.pending(&caller, "write", arguments), id);
    }
    assert_eq!((desk.store.requests().len(), write.previews(), write.invocations()), (6, 6, 0));
    let request = desk.store.requests().remove(0).request;
    assert_eq!(request.calls[0].arguments, r#"{"a":1,"b":[]}"#);
}

#[test]
fn who_denied_is_told_as_far_as_a_model_may_know() {
    let grant =
        Decider::new(Actor::User { name: "cy".parse().unwrap(), admin: false }).with_grant();
    let cases = [
        (Some(owner()), DecidedBy::Owner, "The user denied this call of the tool \"write\"."),
        (
            Some(admin()),
            DecidedBy::Other,
            "This call of the tool \"write\" was denied by somebody other than the user.",
        ),
        (
            Some(grant),
            DecidedBy::Other,
            "This call of the tool \"write\" was denied by somebody other than the user.",
        ),
        (
            None,
            DecidedBy::Nobody,
            "Nobody decided about this call of the tool \"write\" in time. Nothing was run.",
        ),
    ];
    for (decider, expected, text) in cases {
        let write = Fake::echo();
        let desk = Desk::of([(writer("write"), write.clone())]);
        desk.call(&user("bo", false), "write", "{}").unwrap_err();
        match decider {
            Some(decider) => desk.deny(&decider).unwrap(),
            None => desk.clock.advance(Desk::WAIT),
        }
        let error = desk.call(&user("bo", false), "write", "{}").unwrap_err();
        assert!(matches!(&error, CallError::ApprovalDenied { by, .. } if *by == expected));
        let told = error.model_text();
        assert!(told.starts_with(text), "{told}");
        assert!(!told.contains("ada") && !told.contains("cy"), "{told}");
        assert_eq!(write.invocations(), 0);
    }
}

#[test]
fn a_request_waits_for_its_time_and_is_then_denied_by_nobody() {
    let write = Fake::echo();
    let desk = Desk::of([(writer("write"), write.clone())]);
    let bo = user("bo", false);
    desk.pending(&bo, "write", "{}");
    let stored = desk.store.newest();
    desk.clock.advance(Desk::WAIT - 1);
    assert!(stored.is_waiting(desk.clock.now()));
    assert_eq!(desk.pending(&bo, "write", "{}"), "r1", "asking again gives it no more time");
    desk.clock.advance(1);
    assert!(!stored.is_waiting(desk.clock.now()), "whatever a store has made of it");
    for error in [
        desk.approve(&admin()).unwrap_err(),
        desk.deny(&admin()).unwrap_err(),
        desk.submit(&admin(), "{}").unwrap_err(),
    ] {
        match error {
            ApprovalError::NotWaiting { found, .. } => assert_eq!(found, "has expired"),
            error => panic!("{error:?}"),
        }
    }
    assert!(matches!(desk.call(&bo, "write", "{}"), Err(CallError::ApprovalDenied { .. })));
    assert_eq!(write.invocations(), 0);
    // Benign twin: one second before, it is approved.
    desk.pending(&bo, "write", "{}");
    desk.clock.advance(Desk::WAIT - 1);
    desk.approve(&admin()).unwrap();
    // What has run does not expire.
    desk.clock.advance(Desk::WAIT);
    assert_eq!(desk.call(&bo, "write", "{}").unwrap().model_text(), "{}");
}

#[test]
fn a_request_that_runs_is_not_made_again() {
    let (started, has_started) = mpsc::channel();
    let (go, goes) = mpsc::channel::<()>();
    let goes = Mutex::new(goes);
    let write = Fake::new(move |_| {
        started.send(()).unwrap();
        goes.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        Ok(RawReply::text(ReplyStatus::Ok, "written"))
    });
    let desk = Desk::of([(writer("write"), write.clone())]);
    let bo = user("bo", false);
    desk.call(&bo, "write", "{}").unwrap_err();
    std::thread::scope(|scope| {
        let approved = scope.spawn(|| desk.approve(&admin()));
        has_started.recv_timeout(PATIENCE).unwrap();
        let error = desk.call(&bo, "write", "{}").unwrap_err();
        go.send(()).unwrap();
        assert!(matches!(error, CallError::Pending { running: true, .. }), "{error:?}");
        assert_eq!(error.code(), "approval_pending");
        assert!(error.model_text().contains("runs now"), "{}", error.model_text());
        approved.join().unwrap().unwrap();
    });
    assert_eq!(desk.call(&bo, "write", "{}").unwrap().model_text(), "written");
    assert_eq!((write.invocations(), desk.store.requests().len()), (1, 1));
}

#[test]
fn without_a_place_for_requests_nothing_that_needs_a_person_runs() {
    for parts in [writer("t"), guarded("t"), asking("t"), reader("t")] {
        let needs = parts != reader("t");
        let backend = Fake::echo();
        let result = Bench::of(parts, backend.clone()).call("t", "{}");
        assert_eq!(matches!(result, Err(CallError::ApprovalRequired { .. })), needs, "{result:?}");
        assert_eq!(backend.invocations(), usize::from(!needs));
    }
}

#[test]
fn a_request_that_can_not_be_kept_runs_nothing() {
    for step in [Step::Answer, Step::Suspend] {
        let backend = Fake::echo();
        let desk =
            Desk::of([(writer("write"), backend.clone()), (reader("read"), backend.clone())]);
        desk.store.break_at(step);
        let bo = user("bo", false);
        let results = desk.turn(&bo, &[("read", "{}"), ("write", "{}")]);
        let [Err(CallError::Suspension { tool, .. }), Err(CallError::ApprovalRequired { .. })] =
            results.as_slice()
        else {
            panic!("{results:?}");
        };
        assert_eq!((tool.as_str(), backend.invocations()), ("read", 0));
        assert_eq!(desk.store.requests().len(), 0);
        let outcomes: Vec<_> = desk.records.calls().iter().map(|record| record.outcome).collect();
        assert_eq!(outcomes, [Outcome::Unavailable, Outcome::Refused]);
        // Reads alone go on.
        desk.call(&bo, "read", "{}").unwrap();
        desk.store.break_at(None);
        desk.pending(&bo, "write", "{}");
    }
}

#[test]
fn a_new_version_of_the_code_is_asked_about_anew() {
    let (old, new) = (Fake::says("old"), Fake::says("new"));
    let desk = Desk::of([(writer("write"), old.clone())]);
    let bo = user("bo", false);
    assert_eq!(desk.pending(&bo, "write", "{}"), "r1");
    desk.replace(vec![acme("2", [(writer("write"), new.clone())])], &Default::default());
    assert_eq!(desk.pending(&bo, "write", "{}"), "r2");
    desk.approve(&admin()).unwrap();
    assert_eq!(desk.call(&bo, "write", "{}").unwrap().model_text(), "new");
    assert_eq!((old.invocations(), new.invocations()), (0, 1));
}

#[test]
fn a_call_that_nobody_wants_any_more_does_not_begin_to_wait() {
    // Edge case 76, as far as it is about a call: what is cancelled does not wait afterwards.
    let (cancel, bo) = (CancelToken::new(), user("bo", false));
    for cancelled in [false, true] {
        if cancelled {
            cancel.cancel();
        }
        for tool in ["write", "ask"] {
            let backend = Fake::echo();
            let desk =
                Desk::of([(writer("write"), backend.clone()), (asking("ask"), backend.clone())]);
            let request = CallRequest::new(tool, "{}", &bo).with_cancel(&cancel);
            let read = CallRequest::new("absent", "{}", &bo);
            for error in [
                desk.pipeline.call(&request).unwrap_err(),
                desk.pipeline.turn(&[read, request]).pop().unwrap().unwrap_err(),
            ] {
                let found =
                    matches!(&error, CallError::Backend { source: BackendError::Cancelled, .. });
                assert_eq!(found, cancelled, "{error:?}");
            }
            let kept = (desk.store.requests().len(), backend.previews(), backend.invocations());
            let waits = usize::from(!cancelled);
            assert_eq!(kept, (waits, if tool == "write" { waits } else { 0 }, 0));
            let outcome = if cancelled { Outcome::Cancelled } else { Outcome::Suspended };
            assert_eq!(desk.records.calls()[0].outcome, outcome);
        }
    }
}

#[test]
fn a_call_that_nobody_wants_any_more_takes_no_outcome() {
    let (cancel, bo) = (CancelToken::new(), user("bo", false));
    let desk = Desk::of([(writer("write"), Fake::echo())]);
    desk.pending(&bo, "write", "{}");
    desk.approve(&admin()).unwrap();
    cancel.cancel();
    let request = CallRequest::new("write", "{}", &bo).with_cancel(&cancel);
    let error = desk.pipeline.call(&request).unwrap_err();
    assert!(matches!(error, CallError::Backend { source: BackendError::Cancelled, .. }));
    assert_eq!(desk.call(&bo, "write", "{}").unwrap().model_text(), "{}");
}

#[test]
fn an_anonymous_call_is_decided_by_others() {
    let desk = Desk::of([(guarded("read"), Fake::echo())]);
    desk.pending(&anonymous(), "read", "{}");
    let error = desk.approve(&Decider::new(Actor::Anonymous)).unwrap_err();
    assert!(matches!(error, ApprovalError::NotPermitted { .. }), "{error:?}");
    let (id, seen) = desk.seen();
    desk.pipeline.approve(&id, &seen, &admin(), &as_asked).unwrap();
    assert_eq!(desk.call(&anonymous(), "read", "{}").unwrap().model_text(), "{}");
}
