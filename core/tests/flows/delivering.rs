//! What came of an approved call, handed out once to whoever makes the call again.

use toolbay_core::{
    BackendError, CallError, CallResult, Limits, RawReply, Reply, ReplyStatus, RequestState,
    Schema, Settled,
};

use crate::{
    desk::{Desk, admin, writer},
    fixture::{Fake, user},
};

#[test]
fn an_outcome_is_handed_out_once_and_then_the_same_call_is_a_new_request() {
    let write = Fake::echo();
    let desk = Desk::of([(writer("write"), write.clone())]);
    let bo = user("bo", false);
    assert_eq!(desk.pending(&bo, "write", "{}"), "r1");
    desk.approve(&admin()).unwrap();
    assert_eq!(desk.call(&bo, "write", "{}").unwrap().model_text(), "{}");
    assert_eq!(desk.pending(&bo, "write", "{}"), "r2");
    desk.deny(&admin()).unwrap();
    assert!(matches!(desk.call(&bo, "write", "{}"), Err(CallError::ApprovalDenied { .. })));
    assert_eq!(desk.pending(&bo, "write", "{}"), "r3");
    assert_eq!(write.invocations(), 1);
}

#[test]
fn what_failed_when_it_ran_is_told_as_it_was() {
    type End = fn() -> Result<RawReply, BackendError>;
    let secret = || BackendError::Fault { message: "hunter2".to_owned(), location: None };
    let fault: End = || Err(BackendError::Fault { message: "hunter2".to_owned(), location: None });
    let cases: [(End, Option<&str>, Option<&str>); 3] = [
        (|| Ok(RawReply::text(ReplyStatus::Failed, "No such note.")), None, None),
        (fault, Some("fault"), Some("settled")),
        (|| Err(BackendError::DeadlineExceeded), Some("deadline_exceeded"), Some("settled")),
    ];
    for (end, ran, told) in cases {
        let desk = Desk::of([(writer("write"), Fake::new(move |_| end()))]);
        desk.call(&user("bo", false), "write", "{}").unwrap_err();
        let first = desk.approve(&admin()).unwrap().results.remove(0).1;
        let second = desk.call(&user("bo", false), "write", "{}");
        match (&first, &second) {
            (Ok(first), Ok(second)) => {
                assert_eq!(second.status(), ReplyStatus::Failed);
                assert_eq!(first.model_text(), second.model_text());
            }
            (Err(first), Err(second)) => {
                assert_eq!(first.model_text(), second.model_text());
                assert!(!second.model_text().contains("hunter2"), "{:?}", secret());
                assert!(matches!(second, CallError::Settled { code, .. } if code == first.code()));
            }
            other => panic!("{other:?}"),
        }
        let code = |result: &Result<_, CallError>| result.as_ref().err().map(CallError::code);
        assert_eq!((code(&first), code(&second)), (ran, told));
    }
}

#[test]
fn a_reply_comes_back_with_all_that_it_had() {
    let schema = r#"{"type":"object","required":["n"]}"#;
    let rest = r#"{"content":[{"type":"text","text":"one"},{"type":"image","data":"aGk=","mimeType":"image/png"}],
        "structured":{"n":1},"artifacts":[{"type":"text","label":"L","data":{"text":"for people"}}]}"#;
    let mut parts = writer("write");
    parts.output_schema = Some(Schema::parse(schema).unwrap());
    let backend = Fake::new(move |_| {
        Ok(RawReply { status: ReplyStatus::Ok, text: "".into(), rest: rest.into() })
    });
    let desk = Desk::of([(parts, backend)]);
    desk.call(&user("bo", false), "write", "{}").unwrap_err();
    let first = desk.approve(&admin()).unwrap().results.remove(0).1.unwrap();
    let second = desk.call(&user("bo", false), "write", "{}").unwrap();
    let parts = |reply: &Reply| {
        let artifact = reply.artifacts()[0].label.clone();
        let structured = reply.structured().unwrap().get().to_owned();
        (reply.model_text().into_owned(), reply.content().unwrap().len(), structured, artifact)
    };
    assert_eq!(parts(&first), ("one".to_owned(), 2, r#"{"n":1}"#.to_owned(), "L".to_owned()));
    assert_eq!(parts(&first), parts(&second));
}

/// What came of a write when it was approved, and when it was called again.
fn twice(output_schema: Option<&str>, text: String, rest: String) -> (Desk, [Reply; 2]) {
    let mut parts = writer("write");
    parts.output_schema = output_schema.map(|schema| Schema::parse(schema).unwrap());
    let backend = Fake::new(move |_| {
        let (text, rest) = (text.clone().into(), rest.clone().into());
        Ok(RawReply { status: ReplyStatus::Ok, text, rest })
    });
    let desk = Desk::of([(parts, backend.clone())]);
    desk.call(&user("bo", false), "write", "{}").unwrap_err();
    let first = desk.approve(&admin()).unwrap().results.remove(0).1.unwrap();
    let second = desk.call(&user("bo", false), "write", "{}").unwrap();
    assert_eq!(backend.invocations(), 1);
    (desk, [first, second])
}

#[test]
fn what_was_too_large_to_keep_leaves_what_the_model_read() {
    let image = |bytes: usize| {
        let data = "a".repeat(bytes);
        format!(
            r#"{{"content":[{{"type":"text","text":"one"}},{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}"#
        )
    };
    for (bytes, left_out) in [(1_000, false), (5 * 1024 * 1024, true)] {
        let (_, [first, second]) = twice(None, String::new(), image(bytes));
        assert!(first.model_text().starts_with("one"));
        assert_eq!(first.model_text().contains("image left out"), left_out);
        assert_eq!(first.model_text(), second.model_text());
    }
}

#[test]
fn a_promise_that_was_kept_when_it_ran_is_not_asked_for_again() {
    let schema = r#"{"type":"object","required":["n"]}"#;
    let structured = |bytes: usize| format!(r#"{{"structured":{{"n":"{}"}}}}"#, "a".repeat(bytes));
    for (bytes, left_out) in [(1_000, false), (5 * 1024 * 1024, true)] {
        let (_, [first, second]) = twice(Some(schema), String::new(), structured(bytes));
        assert_eq!(first.structured().is_none(), left_out);
        assert_eq!(first.structured().map(|it| it.get()), second.structured().map(|it| it.get()));
        assert_eq!(first.model_text(), second.model_text());
    }
}

#[test]
fn what_is_kept_of_a_reply_is_within_the_limits() {
    let limit = Limits::default().text_bytes;
    let blocks = r#"{"content":[{"type":"text","text":"one"}]}"#;
    let large = format!(
        r#"{{"content":[{{"type":"image","data":"{}","mimeType":"image/png"}}]}}"#,
        "a".repeat(5 * 1024 * 1024)
    );
    for (text, rest) in [
        ("short".to_owned(), String::new()),
        ("short".to_owned(), large),
        ("short".to_owned(), blocks.to_owned()),
        ("x".repeat(10 * limit), String::new()),
        ("x".repeat(10 * limit), blocks.to_owned()),
    ] {
        let (desk, [first, second]) = twice(None, text, rest);
        assert_eq!(first.model_text(), second.model_text());
        let RequestState::Settled { settled: Settled::Done { results }, .. } =
            desk.store.newest().state
        else {
            panic!();
        };
        let [CallResult::Reply(kept)] = results.as_slice() else { panic!("{results:?}") };
        assert!(kept.text.len() <= limit, "{}", kept.text.len());
        let rest = kept.rest.as_ref().map_or(0, |rest| rest.get().len());
        assert!(rest < 5 * 1024 * 1024, "{rest}");
    }
}
