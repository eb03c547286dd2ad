//! Limits and calls that wait for a person: an approval is never used up by a call that could not run.

use std::thread;

use toolbay_core::{ApprovalError, LimitError, LimitScope};

use crate::{
    desk::{Desk, acme, admin, asking, guarded, owner, writer},
    fixture::{Fake, reader, user},
    turnstile::{Turnstile, at_once, limits, per_minute, until_waiting, uses},
};

#[test]
fn an_approval_that_comes_too_soon_leaves_the_request_as_it_was() {
    let tool = Fake::says("done");
    let offers = vec![acme("1", [(writer("write"), tool.clone()), (reader("read"), Fake::echo())])];
    let desk = Desk::with_limits(offers, Vec::new(), limits(&[("acme", per_minute(1))], &[]));
    let bo = user("bo", false);
    desk.call(&bo, "read", "").unwrap();
    // Asking is no call: it waits, however many came before it.
    let id = desk.pending(&bo, "write", "");
    let refused = desk.approve(&admin()).unwrap_err();
    match &refused {
        ApprovalError::Limit { id: told, source: LimitError::Rate { scope, .. } } => {
            assert_eq!(told.as_str(), id);
            assert_eq!(*scope, LimitScope::Provider("acme".parse().unwrap()));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(refused.code(), "rate_limited");
    assert!(desk.waits());
    assert_eq!(tool.invocations(), 0);
    assert_eq!(desk.records.decisions(), [""; 0]);
    let line = format!("user:ada approve write, {id} of user:bo: rate_limited");
    assert_eq!(desk.records.refusals(), [line]);

    desk.clock.advance(60);
    let decided = desk.approve(&admin()).unwrap();
    assert!(decided.results[0].1.is_ok());
    // What came of it is handed out, and is no call either.
    assert_eq!(desk.call(&bo, "write", "").unwrap().model_text(), "done");
    assert_eq!(tool.invocations(), 1);
}

#[test]
fn who_may_not_decide_learns_nothing_of_the_calls() {
    let mut tool = writer("write");
    tool.declarations.requires_admin = true;
    let offers = vec![acme("1", [(tool, Fake::says("done")), (reader("read"), Fake::echo())])];
    let desk = Desk::with_limits(offers, Vec::new(), limits(&[("acme", per_minute(1))], &[]));
    let ada = user("ada", true);
    desk.call(&ada, "read", "").unwrap();
    desk.pending(&ada, "write", "");
    assert_eq!(desk.approve(&owner()).unwrap_err().code(), "not_permitted");
    let approver = toolbay_core::Decider::new(owner().actor().clone()).with_grant();
    assert_eq!(desk.approve(&approver).unwrap_err().code(), "may_not_release");
    assert_eq!(desk.approve(&admin()).unwrap_err().code(), "rate_limited");
}

#[test]
fn what_was_not_decided_counts_for_nothing() {
    let offers = vec![acme("1", [(writer("write"), Fake::says("done"))])];
    let desk = Desk::with_limits(offers, Vec::new(), limits(&[("acme", per_minute(1))], &[]));
    desk.pending(&user("bo", false), "write", "");
    let (id, _) = desk.seen();
    for _ in 0..3 {
        let stale = desk.pipeline.approve(&id, "000000000000", &admin(), &crate::desk::as_asked);
        assert_eq!(stale.unwrap_err().code(), "stale");
    }
    desk.approve(&admin()).unwrap();
    desk.pending(&user("bo", false), "write", r#"{"n":2}"#);
    assert_eq!(desk.approve(&admin()).unwrap_err().code(), "rate_limited");
}

#[test]
fn an_input_that_comes_too_soon_can_be_given_again() {
    let tool = Fake::echo();
    let offers = vec![acme("1", [(asking("ask"), tool.clone()), (reader("read"), Fake::echo())])];
    let desk = Desk::with_limits(offers, Vec::new(), limits(&[("acme", per_minute(1))], &[]));
    let bo = user("bo", false);
    desk.call(&bo, "read", "").unwrap();
    desk.call(&bo, "ask", "").unwrap_err();
    let typed = r#"{"code":"4711"}"#;
    assert_eq!(desk.submit(&owner(), typed).unwrap_err().code(), "rate_limited");
    assert!(desk.waits());
    desk.clock.advance(60);
    desk.submit(&owner(), typed).unwrap();
    assert_eq!(tool.invocations(), 1);
}

#[test]
fn the_calls_of_a_request_are_let_in_together_and_hold_one_place() {
    let tools = || [(guarded("a"), Fake::echo()), (guarded("b"), Fake::echo())];
    let limited = limits(&[("acme", per_minute(3))], &[("a", at_once(1, 0))]);
    let desk = Desk::with_limits(vec![acme("1", tools())], Vec::new(), limited);
    let bo = user("bo", false);
    let calls = [("a", r#"{"n":1}"#), ("a", r#"{"n":2}"#), ("b", "")];
    desk.turn(&bo, &calls);
    let decided = desk.approve(&admin()).unwrap();
    assert!(decided.results.iter().all(|(_, result)| result.is_ok()), "{decided:?}");
    // Three calls of the rate are gone.
    desk.pending(&bo, "b", r#"{"n":3}"#);
    assert_eq!(desk.approve(&admin()).unwrap_err().code(), "rate_limited");
    desk.clock.advance(20);
    desk.approve(&admin()).unwrap();
    // More calls than a minute has go when a whole minute is there.
    desk.turn(
        &bo,
        &[("b", r#"{"n":4}"#), ("b", r#"{"n":5}"#), ("b", r#"{"n":6}"#), ("b", r#"{"n":7}"#)],
    );
    desk.clock.advance(59);
    assert_eq!(desk.approve(&admin()).unwrap_err().code(), "rate_limited");
    desk.clock.advance(1);
    desk.approve(&admin()).unwrap();
}

#[test]
fn an_approval_waits_for_its_turn_before_it_is_claimed() {
    let (backend, turnstile) = Turnstile::new();
    let offers = vec![acme("1", [(reader("read"), backend), (guarded("ask"), Fake::echo())])];
    let desk = Desk::with_limits(offers, Vec::new(), limits(&[("acme", at_once(1, 1))], &[]));
    let bo = user("bo", false);
    desk.pending(&bo, "ask", "");
    thread::scope(|scope| {
        for too_long in [true, false] {
            let running = scope.spawn(|| desk.call(&bo, "read", ""));
            let inside = turnstile.next();
            let approving = scope.spawn(|| desk.approve(&admin()));
            until_waiting(&desk.pipeline, "ask", 1);
            assert!(desk.waits(), "nobody holds it meanwhile");
            if too_long {
                desk.clock.advance(1);
                assert_eq!(approving.join().unwrap().unwrap_err().code(), "queue_timeout");
                assert!(desk.waits());
                inside.leave();
            } else {
                inside.leave();
                approving.join().unwrap().unwrap();
            }
            running.join().unwrap().unwrap();
        }
    });
    let used = uses(&desk.pipeline, "ask");
    assert_eq!((used[0].running, used[0].waiting, used[0].refused), (0, 0, 1));
}
