//! Stores that fail and processes that end: nothing that writes ever runs twice without being asked for twice.

use std::panic::{AssertUnwindSafe, catch_unwind};

use toolbay_core::{
    ApprovalError, CallError, Clock, Effect, Outcome, RequestState, Settled, StoreError,
};

use crate::{
    desk::{Desk, acme, admin, guarded, writer},
    fixture::{Fake, user},
    memory::Step,
};

fn state(desk: &Desk) -> &'static str {
    match desk.store.newest().state {
        RequestState::Waiting { .. } => "waiting",
        RequestState::Claimed { .. } => "claimed",
        RequestState::Settled { settled: Settled::Interrupted, .. } => "interrupted",
        RequestState::Settled { .. } => "settled",
    }
}

/// Approves at a store that fails at this step.
fn fail(desk: &Desk, step: Step) {
    desk.store.break_at(step);
    match desk.approve(&admin()) {
        Err(ApprovalError::Store { source: StoreError::Io { path, .. }, .. }) => {
            assert_eq!(path, format!("{step:?}"));
        }
        other => panic!("{step:?}: {other:?}"),
    }
    desk.store.break_at(None);
}

#[test]
fn a_store_that_fails_before_the_fence_leaves_the_request_waiting() {
    for step in [Step::Get, Step::Claim, Step::Run] {
        let write = Fake::echo();
        let desk = Desk::of([(writer("write"), write.clone())]);
        desk.call(&user("bo", false), "write", "{}").unwrap_err();
        fail(&desk, step);
        assert_eq!((state(&desk), write.invocations()), ("waiting", 0), "{step:?}");
        desk.approve(&admin()).unwrap();
        assert_eq!((state(&desk), write.invocations()), ("settled", 1), "{step:?}");
    }
}

#[test]
fn a_store_that_fails_at_a_denial_leaves_the_request_waiting() {
    for step in [Step::Get, Step::Claim, Step::Settle] {
        let desk = Desk::of([(writer("write"), Fake::echo())]);
        desk.call(&user("bo", false), "write", "{}").unwrap_err();
        desk.store.break_at(step);
        let error = desk.deny(&admin()).unwrap_err();
        assert!(matches!(error, ApprovalError::Store { .. }), "{error:?}");
        desk.store.break_at(None);
        assert_eq!(state(&desk), "waiting", "{step:?}");
        desk.deny(&admin()).unwrap();
    }
}

#[test]
fn a_store_that_fails_to_keep_new_previews_shows_the_old_ones_and_runs_nothing() {
    let write = Fake::echo();
    let desk = Desk::of([(writer("write"), write.clone())]);
    desk.call(&user("bo", false), "write", "{}").unwrap_err();
    let before = desk.store.newest().request;
    desk.replace(vec![acme("2", [(writer("write"), write.clone())])], &Default::default());
    fail(&desk, Step::Restate);
    assert_eq!(desk.store.newest().request, before);
    assert_eq!((state(&desk), write.invocations()), ("waiting", 0));
}

#[test]
fn a_write_whose_outcome_is_not_kept_is_not_repeated() {
    let write = Fake::echo();
    let desk = Desk::of([(writer("write"), write.clone())]);
    let bo = user("bo", false);
    desk.call(&bo, "write", "{}").unwrap_err();
    fail(&desk, Step::Settle);
    assert_eq!((state(&desk), write.invocations()), ("claimed", 1));

    let error = desk.approve(&admin()).unwrap_err();
    assert!(matches!(error, ApprovalError::NotWaiting { .. }), "{error:?}");
    let error = desk.call(&bo, "write", "{}").unwrap_err();
    assert!(matches!(error, CallError::Pending { running: true, .. }), "{error:?}");

    // The next process finds it.
    desk.store.recover(desk.clock.now());
    let error = desk.approve(&admin()).unwrap_err();
    assert!(
        matches!(error, ApprovalError::NotWaiting { found, .. } if found.contains("interrupted"))
    );
    let error = desk.call(&bo, "write", "{}").unwrap_err();
    assert!(matches!(error, CallError::Interrupted { .. }), "{error:?}");
    assert!(error.model_text().contains("not repeated"), "{}", error.model_text());
    assert_eq!(write.invocations(), 1);
    assert_eq!(desk.written.heard().len(), 1, "the write has landed all the same");
    // It was told once; whoever wants it again has to ask.
    let error = desk.call(&bo, "write", "{}").unwrap_err();
    assert!(matches!(error, CallError::Pending { running: false, .. }), "{error:?}");
}

#[test]
fn what_broke_off_waits_again_only_where_doing_it_twice_is_doing_it_once() {
    // Edge case 75.
    let cases = [
        (vec![Effect::NonIdempotentWrite], "interrupted"),
        (vec![Effect::IdempotentWrite], "waiting"),
        (vec![Effect::ReadOnly], "waiting"),
        (vec![Effect::IdempotentWrite, Effect::NonIdempotentWrite], "interrupted"),
        (vec![Effect::IdempotentWrite, Effect::ReadOnly], "waiting"),
    ];
    const NAMES: [&str; 2] = ["a", "b"];
    for (effects, expected) in cases {
        let backend = Fake::echo();
        let tools = NAMES.iter().zip(&effects).map(|(name, effect)| {
            let mut parts = guarded(name);
            parts.declarations.effect = *effect;
            (parts, backend.clone())
        });
        let desk = Desk::of(tools);
        let turn: Vec<_> = NAMES.iter().zip(&effects).map(|(name, _)| (*name, "{}")).collect();
        let bo = user("bo", false);
        desk.turn(&bo, &turn);
        fail(&desk, Step::Settle);
        desk.store.recover(desk.clock.now());
        assert_eq!((state(&desk), backend.invocations()), (expected, turn.len()), "{effects:?}");
        if expected == "waiting" {
            // Somebody decides once more.
            desk.approve(&admin()).unwrap();
            assert_eq!(backend.invocations(), 2 * turn.len());
            assert!(desk.turn(&bo, &turn).iter().all(Result::is_ok));
        } else {
            let results = desk.turn(&bo, &turn);
            let interrupted =
                |result: &Result<_, _>| matches!(result, Err(CallError::Interrupted { .. }));
            assert!(results.iter().all(interrupted), "{results:?}");
            assert_eq!(backend.invocations(), turn.len());
        }
    }
}

#[test]
fn a_panic_of_the_hosts_own_code_leaves_what_a_crash_would() {
    let desk = Desk::of([(writer("write"), Fake::new(|_| panic!("the backend's own")))]);
    let bo = user("bo", false);
    desk.call(&bo, "write", "{}").unwrap_err();
    assert!(catch_unwind(AssertUnwindSafe(|| desk.approve(&admin()))).is_err());
    assert_eq!(state(&desk), "claimed");
    let records = desk.records.calls();
    assert_eq!(records.len(), 2);
    assert_eq!(
        (records[1].outcome, records[1].approval.as_deref()),
        (Outcome::Aborted, Some("r1"))
    );
    desk.store.recover(desk.clock.now());
    assert!(matches!(desk.call(&bo, "write", "{}"), Err(CallError::Interrupted { .. })));
    assert_eq!(desk.written.heard(), Vec::<String>::new());
}
