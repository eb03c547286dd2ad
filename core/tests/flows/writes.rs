//! What replies say of changes, and of whether they are all.

use toolbay_core::{CallError, Completeness, Limits, RawReply, ReplyError, ReplyStatus, WriteKind};

use crate::replies::{raw, refused, reply_to, rest};

fn write(members: &str) -> String {
    format!(r#"{{"write":{{"kind":"updated","target":{{"type":"note","id":"7"}}{members}}}}}"#)
}

#[test]
fn what_a_call_changed_is_told_and_never_to_the_model() {
    for (word, kind) in [
        ("created", WriteKind::Created),
        ("updated", WriteKind::Updated),
        ("deleted", WriteKind::Deleted),
    ] {
        let reply = reply_to(raw("done", write("").replace("updated", word)), Limits::default());
        let reply = reply.unwrap();
        let written = reply.write().unwrap();
        assert_eq!((written.kind, kind.as_str()), (kind, word));
        assert_eq!((written.target.kind(), written.target.id()), ("note", "7"));
        assert!(!written.hook_failed);
        assert_eq!(reply.model_text(), "done");
    }
    assert!(rest(&write(r#","hook_failed":true"#)).write().unwrap().hook_failed);
    assert!(rest(r#"{"write":null}"#).write().is_none());
    assert!(reply_to(raw("text", ""), Limits::default()).unwrap().write().is_none());
}

#[test]
fn completeness_is_the_tools_own_word() {
    let cases = [
        (r#"{"completeness":"complete"}"#, Completeness::Complete),
        (r#"{"completeness":"partial"}"#, Completeness::Partial),
        (r#"{"completeness":null}"#, Completeness::Unstated),
        ("{}", Completeness::Unstated),
        ("", Completeness::Unstated),
    ];
    for (text, expected) in cases {
        assert_eq!(rest(text).completeness(), expected, "{text}");
    }
    let failed = RawReply { status: ReplyStatus::Failed, ..raw("", cases[1].0) };
    let failed = reply_to(failed, Limits::default()).unwrap();
    assert_eq!(failed.completeness(), Completeness::Partial, "a failure can have a part");
}

#[test]
fn bounding_keeps_every_member() {
    let members = format!(
        r#"{{"content":[{{"type":"text","text":"{0}"}}],"structured":"{0}","artifacts":"{0}","completeness":"partial",{1}"#,
        "x".repeat(200),
        &write(r#","hook_failed":true"#)[1..],
    );
    let limits = Limits { text_bytes: 100, artifact_bytes: 100, ..Limits::default() };
    let reply = reply_to(raw("", members), limits).unwrap();
    assert!(reply.truncated() && reply.structured().is_none());
    assert_eq!((reply.content().unwrap().len(), reply.artifacts().len()), (1, 1));
    assert_eq!(reply.completeness(), Completeness::Partial);
    let written = reply.write().unwrap();
    assert_eq!((written.target.id(), written.hook_failed), ("7", true));
}

#[test]
fn a_call_without_success_has_changed_nothing() {
    for status in [ReplyStatus::Failed, ReplyStatus::Cancelled] {
        let unsuccessful = |rest: String| RawReply { status, ..raw("why", rest) };
        match reply_to(unsuccessful(write("")), Limits::default()) {
            Err(CallError::Reply { source, .. }) => {
                assert_eq!(source, ReplyError::WriteWithoutSuccess { status });
            }
            other => panic!("{other:?}"),
        }
        let without = reply_to(unsuccessful(r#"{"write":null}"#.to_owned()), Limits::default());
        assert_eq!(without.unwrap().status(), status);
    }
}

#[test]
fn a_target_is_taken_as_it_is_or_not_at_all() {
    let of = |r#type: &str, id: &str| {
        write("").replace("note", r#type).replace(r#""7""#, &format!(r#""{id}""#))
    };
    let longest = rest(&of(&"t".repeat(64), &"é".repeat(256)));
    assert_eq!(longest.write().unwrap().target.id(), "é".repeat(256));

    let cases = [
        (of("note", &"x".repeat(513)), "id", 512),
        (of("note", ""), "id", 512),
        (of("note", "  "), "id", 512),
        (of("note", r"a\nb"), "id", 512),
        (of("note", r"\u001b[2J"), "id", 512),
        (of(&"t".repeat(65), "7"), "type", 64),
        (of("", "7"), "type", 64),
        (of(r"a\u0000", "7"), "type", 64),
    ];
    for (text, expected_part, expected_limit) in cases {
        match refused(text.clone()) {
            ReplyError::Target { part, limit, found } => {
                assert_eq!((part, limit), (expected_part, expected_limit), "{text}");
                assert!(found.chars().count() <= 80);
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    for text in [
        write("").replace("updated", "touched"),
        write("").replace(r#""id":"7""#, r#""id":7"#),
        write("").replace(r#","id":"7""#, ""),
        write(r#","hook_failed":"yes""#),
        r#"{"write":true}"#.to_owned(),
        r#"{"completeness":"unstated"}"#.to_owned(),
        r#"{"completeness":"Partial"}"#.to_owned(),
    ] {
        assert!(matches!(refused(text.clone()), ReplyError::Malformed { .. }), "{text}");
    }
}
