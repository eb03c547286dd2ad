//! What came of an approved call, handed out once to whoever makes the call again.

use toolbay_core::{BackendError, CallError, RawReply, Reply, ReplyStatus, Schema};

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
