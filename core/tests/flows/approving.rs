//! Decisions about calls that wait: who makes them, in which order they are checked, and that what is approved runs once.

use std::sync::{
    Arc, Barrier,
    atomic::{AtomicBool, Ordering},
    mpsc,
};

use toolbay_core::{
    Access, ApprovalError, CallError, DecidedBy, DefinitionParts, Invocation, InvocationRule,
    Judgement, Owner, RawReply, Reason, ReplyStatus, RequestState, RuleId, Schema,
};

use crate::{
    desk::{Desk, PATIENCE, acme, admin, as_asked, guarded, helper, writer},
    fixture::{Fake, reader, user, with_aliases},
};

fn texts(results: &[Result<toolbay_core::Reply, CallError>]) -> Vec<String> {
    let text = |result: &Result<toolbay_core::Reply, CallError>| match result {
        Ok(reply) => reply.model_text().into_owned(),
        Err(error) => error.code().to_owned(),
    };
    results.iter().map(text).collect()
}

#[test]
fn a_turn_of_a_read_and_a_write_runs_once_and_not_before_the_decision() {
    // Edge case 54.
    let (read, write) = (Fake::echo(), Fake::echo());
    let desk = Desk::of([(reader("read"), read.clone()), (writer("write"), write.clone())]);
    let turn = [("read", r#"{"a":1}"#), ("write", r#"{"b":2}"#)];
    let ran = || (read.invocations(), write.invocations());

    let bo = user("bo", false);
    assert_eq!(texts(&desk.turn(&bo, &turn)), ["approval_pending", "approval_pending"]);
    assert_eq!(ran(), (0, 0));

    let decided = desk.approve(&admin()).unwrap();
    let (tools, results): (Vec<_>, Vec<_>) = decided.results.into_iter().unzip();
    assert_eq!(tools.iter().map(|tool| tool.as_str()).collect::<Vec<_>>(), ["read", "write"]);
    assert_eq!(texts(&results), [r#"{"a":1}"#, r#"{"b":2}"#]);
    assert_eq!(ran(), (1, 1));

    assert_eq!(texts(&desk.turn(&bo, &turn)), [r#"{"a":1}"#, r#"{"b":2}"#]);
    assert_eq!(ran(), (1, 1));
    // Alone, the read is another request, and needs nobody.
    assert_eq!(texts(&desk.turn(&bo, &turn[..1])), [r#"{"a":1}"#]);
    assert_eq!(ran(), (2, 1));
}

#[test]
fn what_is_refused_anyway_does_not_wait_with_the_turn() {
    let write = Fake::echo();
    let desk = Desk::of([(writer("write"), write.clone())]);
    let turn = [("absent", "{}"), ("write", "[]"), ("write", "{}")];
    let results = desk.turn(&user("bo", false), &turn);
    assert_eq!(texts(&results), ["not_registered", "invalid_arguments", "approval_pending"]);
    assert_eq!(desk.store.newest().request.calls.len(), 1);
    desk.approve(&admin()).unwrap();
    let results = desk.turn(&user("bo", false), &turn);
    assert_eq!(texts(&results), ["not_registered", "invalid_arguments", "{}"]);
    assert_eq!(write.invocations(), 1);
}

#[test]
fn of_approvals_at_the_same_moment_one_goes_on() {
    // Edge case 55: while one holds the request, and while it runs.
    for in_preview in [true, false] {
        let (released, losers) = mpsc::channel();
        let losers = std::sync::Mutex::new(losers);
        let threads = 8;
        // The winner goes on when everybody else is done.
        let hold = move || {
            let losers = losers.lock().unwrap();
            (1..threads).for_each(|_| losers.recv_timeout(PATIENCE).unwrap());
        };
        let asked = AtomicBool::new(false);
        let hold = Arc::new(hold);
        let at_run = hold.clone();
        let write = Fake::with_preview(
            move |_| {
                if !in_preview {
                    at_run();
                }
                Ok(RawReply::text(ReplyStatus::Ok, "written"))
            },
            move |_| {
                // Not when the request is made.
                if in_preview && asked.swap(true, Ordering::Relaxed) {
                    hold();
                }
                Ok(None)
            },
        );
        let desk = Desk::of([(writer("write"), write.clone())]);
        desk.call(&user("bo", false), "write", "{}").unwrap_err();
        let start = Barrier::new(threads);
        let codes: Vec<_> = std::thread::scope(|scope| {
            let approve = |released: mpsc::Sender<()>| {
                let (desk, start) = (&desk, &start);
                move || {
                    start.wait();
                    let result = desk.approve(&admin());
                    let code = result.as_ref().err().map(ApprovalError::code);
                    if result.is_err() {
                        released.send(()).unwrap();
                    }
                    code
                }
            };
            let running: Vec<_> =
                (0..threads).map(|_| scope.spawn(approve(released.clone()))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let refused: Vec<_> = codes.into_iter().flatten().collect();
        assert_eq!(refused.len(), threads - 1);
        let known = ["already_resuming", "not_waiting"];
        assert!(refused.iter().all(|code| known.contains(code)), "{refused:?}");
        assert!(!in_preview || refused.iter().all(|code| *code == "already_resuming"));
        assert_eq!(write.invocations(), 1);
        assert_eq!(desk.records.decisions().len(), 1);
    }
}

#[test]
fn a_call_that_is_not_permitted_any_more_is_not_run() {
    // Edge case 60, and that the rest of the turn runs all the same.
    let (off, on) = (Fake::echo(), Fake::echo());
    let desk = Desk::of([(writer("off"), off.clone()), (writer("on"), on.clone())]);
    let bo = user("bo", false);
    desk.turn(&bo, &[("off", "{}"), ("on", "{}")]);
    let mut access = Access::default();
    access.tools.insert("off".parse().unwrap(), false);
    desk.switch(&access);
    let decided = desk.approve(&admin()).unwrap();
    let refused =
        matches!(decided.results[0].1, Err(CallError::Denied { reason: Reason::ToolDisabled, .. }));
    assert!(refused, "{decided:?}");
    assert_eq!(decided.results[1].1.as_ref().unwrap().model_text(), "{}");
    assert_eq!((off.invocations(), on.invocations()), (0, 1));
}

#[test]
fn a_tool_that_is_gone_does_not_keep_the_rest_from_running() {
    let (gone, stays) = (Fake::echo(), Fake::echo());
    let desk = Desk::of([(writer("gone"), gone.clone()), (writer("stays"), stays.clone())]);
    desk.turn(&user("bo", false), &[("gone", "{}"), ("stays", "{}")]);
    desk.replace(vec![acme("1", [(writer("stays"), stays.clone())])], &Access::default());
    let decided = desk.approve(&admin()).unwrap();
    assert!(matches!(decided.results[0].1, Err(CallError::NotRegistered { .. })), "{decided:?}");
    assert_eq!((gone.invocations(), stays.invocations()), (0, 1));
}

#[test]
fn a_denied_turn_has_one_error_for_each_call_and_the_next_may_wait_again() {
    // Edge case 61.
    let backend = Fake::echo();
    let desk = Desk::of([(writer("write"), backend.clone()), (reader("read"), backend.clone())]);
    let bo = user("bo", false);
    let turn = [("write", "{}"), ("read", "{}")];
    desk.turn(&bo, &turn);
    desk.deny(&admin()).unwrap();
    for result in desk.turn(&bo, &turn) {
        let error = result.unwrap_err();
        let by = DecidedBy::Other;
        assert!(matches!(&error, CallError::ApprovalDenied { by: found, .. } if *found == by));
        assert!(error.model_text().contains("Nothing was run"), "{}", error.model_text());
    }
    assert_eq!(backend.invocations(), 0);
    assert_eq!(texts(&desk.turn(&bo, &turn)), ["approval_pending", "approval_pending"]);
    desk.approve(&admin()).unwrap();
    assert_eq!(texts(&desk.turn(&bo, &turn)), ["{}", "{}"]);
}

#[test]
fn what_is_approved_runs_in_the_name_of_whoever_asked() {
    // Edge case 71.
    let tell = || {
        Fake::new(|call| {
            let caller = call.caller();
            let run = caller.run().map_or("-", |run| run.as_str());
            let text = format!("{} {} {run}", caller.label(), caller.actor().is_admin());
            Ok(RawReply::text(ReplyStatus::Ok, text))
        })
    };
    let mut admins = guarded("admins");
    admins.declarations.requires_admin = true;
    let backend = tell();
    let desk = Desk::of([(writer("write"), tell()), (admins, backend.clone())]);
    let asked = user("bo", true).with_run("run-1".parse().unwrap());
    desk.turn(&asked, &[("write", "{}"), ("admins", "{}")]);
    // Bo is no administrator any more; ada, who approves, is one.
    let again = |owner: &Owner| {
        assert_eq!(owner.actor, *user("bo", true).actor());
        Some(user("bo", false).with_run(owner.run.clone()?))
    };
    let (id, seen) = desk.seen();
    let decided = desk.pipeline.approve(&id, &seen, &admin(), &again).unwrap();
    assert_eq!(decided.results[0].1.as_ref().unwrap().model_text(), "user:bo false run-1");
    let refused = &decided.results[1].1;
    assert!(matches!(refused, Err(CallError::Denied { reason: Reason::RequiresAdmin, .. })));
    assert_eq!(backend.invocations(), 0);
    let records = desk.records.calls();
    assert!(records.iter().all(|record| record.actor == "user:bo"), "{records:?}");
    assert_eq!(desk.records.decisions(), ["user:ada approve write,admins, r1 of user:bo"]);
}

#[test]
fn what_an_agent_that_is_no_more_has_asked_for_can_only_be_denied() {
    let write = Fake::echo();
    let desk = Desk::of([(writer("write"), write.clone())]);
    let caller = user("bo", false).with_agent(helper(false));
    desk.call(&caller, "write", "{}").unwrap_err();
    match desk.approve(&admin()) {
        Err(ApprovalError::OwnerGone { owner, .. }) => {
            assert!(owner.ends_with("with agent helper"), "{owner}");
        }
        other => panic!("{other:?}"),
    }
    assert!(desk.waits());
    desk.deny(&admin()).unwrap();
    let error = desk.call(&caller, "write", "{}").unwrap_err();
    assert!(matches!(error, CallError::ApprovalDenied { .. }));
    assert_eq!(write.invocations(), 0);
}

/// A rule that refuses everything once it is told to.
struct Switch(RuleId, Arc<AtomicBool>);

impl InvocationRule for Switch {
    fn id(&self) -> &RuleId {
        &self.0
    }

    fn judge(
        &self,
        _: &Invocation<'_>,
    ) -> Result<Judgement, Box<dyn std::error::Error + Send + Sync>> {
        Ok(match self.1.load(Ordering::Relaxed) {
            true => Judgement::Deny("closed"),
            false => Judgement::Allow,
        })
    }
}

#[test]
fn a_rule_that_refuses_meanwhile_holds_for_what_was_approved() {
    for closes in [true, false] {
        let (write, closed) = (Fake::echo(), Arc::new(AtomicBool::new(false)));
        let rule = Arc::new(Switch("hours".parse().unwrap(), closed.clone()));
        let offers = vec![acme("1", [(writer("write"), write.clone())])];
        let desk = Desk::with_rules(offers, vec![rule]);
        desk.call(&user("bo", false), "write", "{}").unwrap_err();
        closed.store(closes, Ordering::Relaxed);
        let decided = desk.approve(&admin()).unwrap();
        match &decided.results[0].1 {
            Ok(_) => assert!(!closes),
            Err(CallError::Rule { source, .. }) => {
                assert_eq!((source.code.as_str(), closes), ("closed", true));
            }
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!(write.invocations(), usize::from(!closes));
        closed.store(false, Ordering::Relaxed);
        let result = desk.call(&user("bo", false), "write", "{}");
        let expected = if closes { "settled" } else { "{}" };
        assert_eq!(texts(&[result]), [expected]);
    }
}

#[test]
fn other_code_behind_a_call_is_shown_before_it_is_approved() {
    let (old, new) = (Fake::says("old"), Fake::says("new"));
    let other = |id: &str, offer: toolbay_core::Offer| toolbay_core::Offer {
        provider: id.parse().unwrap(),
        ..offer
    };
    let mut idempotent = writer("write");
    idempotent.declarations.effect = toolbay_core::Effect::IdempotentWrite;
    let cases = [
        (acme("1", [(writer("write"), new.clone())]), false),
        (acme("2", [(writer("write"), new.clone())]), true),
        (other("beta", acme("1", [(writer("write"), new.clone())])), true),
        (acme("1", [(idempotent, new.clone())]), true),
    ];
    for (at, (offer, stale)) in cases.into_iter().enumerate() {
        let desk = Desk::of([(writer("write"), old.clone())]);
        let bo = user("bo", false);
        desk.call(&bo, "write", "{}").unwrap_err();
        let (id, seen) = desk.seen();
        desk.replace(vec![offer], &Access::default());
        match desk.pipeline.approve(&id, &seen, &admin(), &as_asked) {
            Ok(_) => assert!(!stale, "{at}"),
            Err(ApprovalError::PreviewChanged { tools, .. }) => {
                assert_eq!((tools[0].as_str(), stale), ("write", true), "{at}");
                assert_eq!(new.invocations(), at, "nothing was run");
                let RequestState::Waiting { stale } = desk.store.newest().state else { panic!() };
                assert_eq!(stale, [0]);
                assert_eq!(desk.records.decisions().len(), 0);
                desk.approve(&admin()).unwrap();
            }
            Err(error) => panic!("{at}: {error:?}"),
        }
        assert_eq!((old.invocations(), new.invocations()), (0, at + 1));
        assert_eq!(desk.call(&bo, "write", "{}").unwrap().model_text(), "new", "{at}");
    }
}

#[test]
fn a_call_under_a_former_name_is_the_same_call() {
    let backend = Fake::echo();
    let mut parts = with_aliases("new", &["old"]);
    parts.declarations.requires_approval = true;
    let desk = Desk::of([(parts, backend.clone())]);
    let bo = user("bo", false);
    desk.call(&bo, "old", "{}").unwrap_err();
    desk.approve(&admin()).unwrap();
    assert_eq!(desk.call(&bo, "new", "").unwrap().model_text(), "{}");
    assert_eq!((backend.invocations(), desk.store.requests().len()), (1, 1));
}

#[test]
fn a_tool_that_is_renamed_while_its_call_waits_is_approved_under_its_new_name() {
    let (old, new) = (Fake::says("old"), Fake::says("new"));
    let desk = Desk::of([(writer("old"), old.clone())]);
    let bo = user("bo", false);
    desk.call(&bo, "old", "{}").unwrap_err();
    let mut renamed = with_aliases("new", &["old"]);
    renamed.declarations.effect = toolbay_core::Effect::NonIdempotentWrite;
    desk.replace(vec![acme("2", [(renamed, new.clone())])], &Access::default());
    let error = desk.approve(&admin()).unwrap_err();
    assert!(matches!(error, ApprovalError::PreviewChanged { .. }), "{error:?}");
    desk.approve(&admin()).unwrap();
    assert_eq!(desk.call(&bo, "old", "{}").unwrap().model_text(), "new");
    assert_eq!((old.invocations(), new.invocations(), desk.store.requests().len()), (0, 1, 1));
}

#[test]
fn a_call_that_other_code_reads_differently_is_shown_as_that_reads_it() {
    let takes = |kind: &str| {
        let schema = format!(r#"{{"type":"object","properties":{{"n":{{"type":"{kind}"}}}}}}"#);
        DefinitionParts { schema: Schema::parse(&schema).unwrap(), ..writer("write") }
    };
    let (old, new) = (Fake::echo(), Fake::echo());
    let desk = Desk::of([(takes("string"), old.clone())]);
    let (bo, arguments) = (user("bo", false), r#"{"n":"3"}"#);
    desk.call(&bo, "write", arguments).unwrap_err();
    let shown = |desk: &Desk| desk.store.newest().request.calls[0].arguments.clone();
    assert_eq!(shown(&desk), arguments);

    desk.replace(vec![acme("2", [(takes("integer"), new.clone())])], &Access::default());
    let error = desk.approve(&admin()).unwrap_err();
    assert!(matches!(error, ApprovalError::PreviewChanged { .. }), "{error:?}");
    assert_eq!(shown(&desk), r#"{"n":3}"#);
    desk.approve(&admin()).unwrap();
    // It is the same request for whoever makes the call again, as it was written at first.
    assert_eq!(desk.call(&bo, "write", arguments).unwrap().model_text(), r#"{"n":3}"#);
    assert_eq!((old.invocations(), new.invocations(), desk.store.requests().len()), (0, 1, 1));
}
