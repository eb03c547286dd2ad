//! One record for each call, whatever becomes of it.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use toolbay_core::{
    BackendError, CallRequest, CancelToken, Effect, Offer, Outcome, Party, RawReply, ReplyStatus,
};

use crate::fixture::{Bench, Fake, Recorded, anonymous, offer, reader, user, with_schema};

#[test]
fn a_record_says_who_called_what_and_how_it_went() {
    let bench = Bench::of(reader("t"), Fake::says("four"));
    let caller = user("ada", false).with_run("r1".parse().unwrap());
    bench.pipeline.call(&CallRequest::new("t", "{\"a\":1}", &caller)).unwrap();
    assert_eq!(
        bench.record(),
        Recorded {
            tool: "t".to_owned(),
            provider: Some("acme".to_owned()),
            actor: "user:ada".to_owned(),
            agent: None,
            run: Some("r1".to_owned()),
            effect: Some(Effect::ReadOnly),
            outcome: Outcome::Ok,
            reason: None,
            observed_only: false,
            code: None,
            approval: None,
            started: Duration::ZERO,
            // The clock moves one second at each reading: it was read twice.
            duration: Duration::from_secs(1),
            bytes: (7, 4),
            arguments: "{\"a\":1}".to_owned(),
            generation: 7,
        }
    );
}

#[test]
fn every_end_of_a_call_has_its_outcome() {
    type End = fn() -> Result<RawReply, BackendError>;
    let cases: [(End, Outcome, Option<&str>); 9] = [
        (|| Ok(RawReply::text(ReplyStatus::Ok, "")), Outcome::Ok, None),
        (|| Ok(RawReply::text(ReplyStatus::Failed, "")), Outcome::Failed, None),
        (|| Ok(RawReply::text(ReplyStatus::Cancelled, "")), Outcome::Cancelled, None),
        (|| Err(BackendError::Cancelled), Outcome::Cancelled, Some("cancelled")),
        (|| Err(BackendError::DeadlineExceeded), Outcome::TimedOut, Some("deadline_exceeded")),
        (
            || Err(BackendError::Fault { message: "m".to_owned(), location: None }),
            Outcome::Fault,
            Some("fault"),
        ),
        (|| Err(BackendError::Crashed { how: "h".to_owned() }), Outcome::Crashed, Some("crashed")),
        (
            || {
                let source = Box::new(io::Error::from(io::ErrorKind::NotFound));
                Err(BackendError::Unavailable { party: Party::Environment, source })
            },
            Outcome::Unavailable,
            Some("unavailable"),
        ),
        (
            || Ok(RawReply { status: ReplyStatus::Ok, text: "".into(), rest: "[".into() }),
            Outcome::Fault,
            Some("malformed_reply"),
        ),
    ];
    for (end, outcome, code) in cases {
        let bench = Bench::of(reader("t"), Fake::new(move |_| end()));
        let _ = bench.call("t", "");
        let record = bench.record();
        assert_eq!((record.outcome, record.code, record.reason), (outcome, code, None));
    }
}

#[test]
fn refusals_are_recorded_with_what_refused_them() {
    let mut off = reader("off");
    off.declarations.enabled_by_default = false;
    let mut admin = reader("admin");
    admin.declarations.requires_admin = true;
    let mut write = reader("write");
    write.declarations.requires_approval = true;
    let strict = with_schema("strict", r#"{"type":"object","required":["a"]}"#);
    let broken = with_schema("broken", r#"{"type":"object","properties":{"a":{"type":"?"}}}"#);
    let cases = [
        ("absent", None, Outcome::Refused, Some("notRegistered"), "not_registered"),
        ("off", Some("acme"), Outcome::Refused, Some("toolDisabled"), "tool_disabled"),
        ("admin", Some("acme"), Outcome::Refused, Some("requiresAdmin"), "requires_admin"),
        ("strict", Some("acme"), Outcome::Refused, None, "invalid_arguments"),
        ("write", Some("acme"), Outcome::Refused, None, "approval_required"),
        ("broken", Some("acme"), Outcome::Fault, None, "invalid_schema"),
    ];
    let tools = [off, admin, write, strict, broken];
    for (tool, provider, outcome, reason, code) in cases {
        let bench = Bench::new(vec![offer("acme", tools.clone())]);
        let error = bench.call(tool, "").unwrap_err();
        let record = bench.record();
        assert_eq!(record.provider.as_deref(), provider, "{tool}");
        assert_eq!(record.effect.is_some(), provider.is_some(), "{tool}");
        assert_eq!((record.outcome, record.reason), (outcome, reason), "{tool}");
        assert_eq!((record.code, error.code()), (Some(code), code), "{tool}");
        assert_eq!(record.duration, Duration::from_secs(1), "{tool}");
    }
}

#[test]
fn a_panic_that_goes_through_the_pipeline_leaves_one_record() {
    let bench = Bench::of(reader("t"), Fake::new(|_| panic!("the backend's own")));
    let result = catch_unwind(AssertUnwindSafe(|| bench.call("t", "{}")));
    assert!(result.is_err());
    let record = bench.record();
    assert_eq!((record.outcome, record.code), (Outcome::Aborted, None));
    assert_eq!(record.provider.as_deref(), Some("acme"));
}

#[test]
fn a_call_that_is_cancelled_before_it_begins_runs_nothing() {
    let (cancel, caller) = (CancelToken::new(), anonymous());
    for cancelled in [false, true] {
        if cancelled {
            cancel.clone().cancel();
        }
        let backend = Fake::echo();
        let bench = Bench::of(reader("t"), backend.clone());
        let _ = bench.pipeline.call(&CallRequest::new("t", "", &caller).with_cancel(&cancel));
        let expected = if cancelled { (Outcome::Cancelled, 0) } else { (Outcome::Ok, 1) };
        assert_eq!((bench.record().outcome, backend.invocations()), expected);
    }
}

#[test]
fn a_requested_name_is_recorded_to_eighty_bytes() {
    let bench = Bench::new(vec![]);
    let long = "é".repeat(1_000) + "x";
    assert!(bench.call(&long, "").is_err());
    assert_eq!(bench.record().tool, "é".repeat(40));
}

#[test]
fn an_alias_is_recorded_as_requested() {
    let plugin = Offer { ..offer("acme", [crate::fixture::with_aliases("new", &["old"])]) };
    let bench = Bench::new(vec![plugin]);
    bench.call("old", "").unwrap();
    let record = bench.record();
    assert_eq!((record.tool.as_str(), record.outcome), ("old", Outcome::Ok));
}
