//! Replies: whatever a tool returns comes out within the limits, or unchanged where it is within them.

use bytes::Bytes;
use proptest::prelude::*;
use toolbay_core::{
    ArtifactBody, CallError, ContentBlock, Limits, Offer, RawReply, Reply, ReplyError, ReplyStatus,
    Resource, ResourceBody, ResourceLink,
};

use crate::fixture::{Bench, Fake, offer, offered, reader};

pub(crate) fn reply_to(raw: RawReply, limits: Limits) -> Result<Reply, CallError> {
    let tools = vec![offered(reader("t"), Fake::new(move |_| Ok(raw.clone())))];
    Bench::with_limits(vec![Offer { tools, ..offer("acme", []) }], limits).call("t", "")
}

pub(crate) fn raw(text: impl Into<Bytes>, rest: impl Into<Bytes>) -> RawReply {
    RawReply { status: ReplyStatus::Ok, text: text.into(), rest: rest.into() }
}

fn text_limit(text_bytes: usize) -> Limits {
    Limits { text_bytes, ..Limits::default() }
}

pub(crate) fn rest(rest: &str) -> Reply {
    reply_to(raw("", rest.to_owned()), Limits::default()).unwrap()
}

pub(crate) fn refused(rest: impl Into<Bytes>) -> ReplyError {
    match reply_to(raw("", rest), Limits::default()) {
        Err(CallError::Reply { tool, provider, source }) => {
            assert_eq!((tool.as_str(), provider.as_str()), ("t", "acme"));
            source
        }
        other => panic!("{other:?}"),
    }
}

// Edge case 32.
#[test]
fn the_limit_is_fifty_thousand_bytes_and_holds_with_its_marker() {
    let exact = reply_to(raw("x".repeat(50_000), ""), Limits::default()).unwrap();
    assert_eq!((exact.text().len(), exact.truncated()), (50_000, false));

    let more = reply_to(raw("x".repeat(50_001), ""), Limits::default()).unwrap();
    let marker = "\n[cut here: the result has 50001 bytes, the limit is 50000]";
    assert_eq!(more.text().as_str(), "x".repeat(50_000 - marker.len()) + marker);
    assert!(more.truncated());
}

#[test]
fn a_text_within_the_limit_stays_in_its_buffer() {
    let buffer = Bytes::from("größer".to_owned());
    let reply = reply_to(raw(buffer.clone(), ""), Limits::default()).unwrap();
    assert_eq!(reply.text().as_bytes().as_ptr(), buffer.as_ptr());
    assert_eq!(reply.model_text(), "größer");
}

// Edge case 33.
#[test]
fn a_cut_never_splits_a_character() {
    // Each limit from the marker's length on puts the cut at another byte of the four-byte crabs.
    for limit in 70..80 {
        let reply = reply_to(raw("🦀".repeat(100), ""), text_limit(limit)).unwrap();
        let text = reply.text().as_str();
        assert!(text.len() <= limit && text.len() > limit - 4, "{limit}: {} bytes", text.len());
        assert!(text.starts_with("🦀") && !text.contains('\u{fffd}'), "{text}");
    }
}

// Edge case 33.
#[test]
fn bytes_that_are_no_text_are_substituted_before_the_size_is_taken() {
    let within = reply_to(raw(&b"a\xffb"[..], ""), text_limit(100)).unwrap();
    assert_eq!((within.text().as_str(), within.truncated()), ("a\u{fffd}b", false));

    // 40 bytes come in and 120 would go out.
    let grown = reply_to(raw(vec![0xff; 40], ""), text_limit(100)).unwrap();
    assert!(grown.truncated() && grown.text().len() <= 100);
    assert!(grown.text().starts_with('\u{fffd}'));
}

#[test]
fn a_limit_below_the_markers_length_holds_as_well() {
    for limit in [0, 1, 10] {
        let reply = reply_to(raw("x".repeat(90), ""), text_limit(limit)).unwrap();
        assert!(reply.text().len() <= limit && reply.truncated());
    }
}

#[test]
fn status_is_the_tools_own_word() {
    for status in [ReplyStatus::Ok, ReplyStatus::Failed, ReplyStatus::Cancelled] {
        let reply = reply_to(RawReply::text(status, "why"), Limits::default()).unwrap();
        assert_eq!((reply.status(), reply.text().as_str()), (status, "why"));
    }
}

#[test]
fn every_kind_of_content_block_is_read() {
    let reply = rest(
        r#"{"content":[
            {"type":"text","text":"one"},
            {"type":"image","data":"aW1n","mimeType":"image/png"},
            {"type":"audio","data":"c25k","mimeType":"audio/wav"},
            {"type":"text","text":"two","annotations":{"priority":1}},
            {"type":"resource","resource":{"uri":"f:a","mimeType":"text/plain","text":"body"}},
            {"type":"resource","resource":{"uri":"f:b","blob":"YmxvYg=="}},
            {"type":"resource_link","uri":"f:c","name":"c","title":"C","description":"d","mimeType":"m","size":3}
        ]}"#,
    );
    let owned = str::to_owned;
    let expected = [
        ContentBlock::Text(owned("one")),
        ContentBlock::Image { data: owned("aW1n"), mime: owned("image/png") },
        ContentBlock::Audio { data: owned("c25k"), mime: owned("audio/wav") },
        ContentBlock::Text(owned("two")),
        ContentBlock::Resource(Resource {
            uri: owned("f:a"),
            mime: Some(owned("text/plain")),
            body: ResourceBody::Text(owned("body")),
        }),
        ContentBlock::Resource(Resource {
            uri: owned("f:b"),
            mime: None,
            body: ResourceBody::Blob(owned("YmxvYg==")),
        }),
        ContentBlock::ResourceLink(ResourceLink {
            uri: owned("f:c"),
            name: owned("c"),
            title: Some(owned("C")),
            description: Some(owned("d")),
            mime: Some(owned("m")),
            size: Some(3),
        }),
    ];
    assert_eq!(reply.content(), Some(&expected[..]));
    assert_eq!((reply.model_text().as_ref(), reply.truncated()), ("one\n\ntwo", false));
    assert!(reply.text().is_empty());
}

#[test]
fn the_model_reads_text_or_else_the_structured_result() {
    let cases = [
        (raw("t", r#"{"structured":{"a":1.0}}"#), "t"),
        (raw("", r#"{"structured":{"a":1.0}}"#), r#"{"a":1.0}"#),
        (raw("", r#"{"structured":null}"#), ""),
        (raw("t", r#"{"content":[]}"#), "t"),
        (raw("t", r#"{"content":[{"type":"text","text":"u"}]}"#), "t\n\nu"),
        (
            raw("", r#"{"content":[{"type":"image","data":"","mimeType":"m"}],"structured":[1]}"#),
            "[1]",
        ),
    ];
    for (raw, expected) in cases {
        let told = format!("{raw:?}");
        assert_eq!(reply_to(raw, Limits::default()).unwrap().model_text(), expected, "{told}");
    }
}

#[test]
fn a_rest_that_breaks_the_contract_is_the_plugins_fault() {
    for text in
        ["{", "[]", "null", r#"{"content":{}}"#, r#"{"content":[{"text":"untyped"}]}"#, "{} {}"]
    {
        assert!(matches!(refused(text), ReplyError::Malformed { line: 1, .. }), "{text}");
    }
    assert!(matches!(refused(&b"{\"content\":\"\xff\"}"[..]), ReplyError::Malformed { .. }));
    let endless = refused(format!(r#"{{"content":"{}"}}"#, "x".repeat(100_000)));
    assert!(endless.to_string().len() < 400, "what the plugin wrote is cut: {endless}");

    let cases = [
        (r#"{"type":"text"}"#, "text"),
        (r#"{"type":"image","data":"aW1n"}"#, "image"),
        (r#"{"type":"resource","resource":{"uri":"f:a"}}"#, "resource"),
        (r#"{"type":"resource","resource":{"uri":"f:a","text":"t","blob":"b"}}"#, "resource"),
        (r#"{"type":"resource_link","uri":"f:a"}"#, "resource_link"),
        (r#"{"type":"<script>","text":"x"}"#, "<script>"),
    ];
    for (block, kind) in cases {
        match refused(format!(r#"{{"content":[{{"type":"text","text":""}},{block}]}}"#)) {
            ReplyError::Block { index, found, .. } => {
                assert_eq!((index, found.as_str()), (1, kind))
            }
            other => panic!("{block}: {other:?}"),
        }
    }
    assert!(matches!(refused(vec![b' '; 16 * 1024 * 1024 + 1]), ReplyError::TooLarge { .. }));
}

#[test]
fn text_blocks_share_the_limit_and_media_survive_the_cut() {
    let reply = reply_to(
        raw(
            "",
            format!(
                r#"{{"content":[{{"type":"text","text":"{}"}},{{"type":"text","text":"{}"}},
                   {{"type":"image","data":"aW1n","mimeType":"image/png"}},
                   {{"type":"text","text":"late"}}]}}"#,
                "a".repeat(60),
                "b".repeat(100),
            ),
        ),
        text_limit(150),
    )
    .unwrap();
    let kinds: Vec<&str> = reply.content().unwrap().iter().map(ContentBlock::kind).collect();
    assert_eq!(kinds, ["text", "text", "image"]);
    let text = reply.model_text();
    // 60 and 100 and 4 bytes with two separators of 2 bytes.
    assert!(
        text.ends_with("bbb\n[cut here: the result has 168 bytes, the limit is 150]"),
        "{text}"
    );
    assert_eq!((text.len(), reply.truncated()), (150, true));
}

#[test]
fn blocks_exactly_at_the_limit_are_unchanged() {
    let content = r#"{"content":[{"type":"text","text":"12345"},{"type":"text","text":"123"}]}"#;
    let exact = reply_to(raw("", content), text_limit(10)).unwrap();
    assert_eq!((exact.model_text().as_ref(), exact.truncated()), ("12345\n\n123", false));
    let over = reply_to(raw("", content), text_limit(9)).unwrap();
    assert!(over.model_text().len() <= 9 && over.truncated());
}

#[test]
fn a_text_that_is_cut_beside_content_is_told_of() {
    let image = r#"{"content":[{"type":"image","data":"A","mimeType":"m"}]}"#;
    let reply = reply_to(raw("x".repeat(200), image), text_limit(100)).unwrap();
    assert_eq!((reply.model_text().len(), reply.truncated()), (100, true));
}

#[test]
fn everything_readable_of_a_resource_counts() {
    let (x, y) = ("x".repeat(40), "y".repeat(40));
    let blocks = [
        format!(r#"{{"type":"resource","resource":{{"uri":"{x}","text":"{y}"}}}}"#),
        format!(r#"{{"type":"resource","resource":{{"uri":"{x}","mimeType":"{y}","blob":""}}}}"#),
        format!(r#"{{"type":"resource_link","uri":"{x}","name":"{y}"}}"#),
        format!(
            r#"{{"type":"resource_link","uri":"","name":"","title":"{x}","description":"{y}"}}"#
        ),
    ];
    for block in blocks {
        let content = format!(r#"{{"content":[{block}]}}"#);
        let whole = reply_to(raw("", content.clone()), text_limit(80)).unwrap();
        assert!(!whole.truncated(), "{block}");
        let cut = reply_to(raw("", content), text_limit(75)).unwrap();
        assert!(cut.truncated() && cut.content().unwrap()[0].as_text().is_some(), "{block}");
    }
}

#[test]
fn media_over_their_limit_are_replaced_by_words() {
    let image = |bytes: usize| {
        format!(r#"{{"type":"image","data":"{}","mimeType":"m"}}"#, "A".repeat(bytes))
    };
    let content = format!(r#"{{"content":[{},{},{}]}}"#, image(49), image(50), image(49));
    let limits = Limits { media_bytes: 100, ..Limits::default() };
    let reply = reply_to(raw("", content), limits).unwrap();
    let kinds: Vec<&str> = reply.content().unwrap().iter().map(ContentBlock::kind).collect();
    assert_eq!(kinds, ["image", "text", "image"]);
    assert_eq!(
        reply.model_text(),
        "[image left out: it has 51 bytes, the limit of a reply is 100]"
    );
    assert!(reply.truncated());
}

#[test]
fn a_structured_result_over_the_limit_is_left_out_and_said_to_be() {
    let of = |bytes: usize| format!(r#"{{"structured":"{}"}}"#, "x".repeat(bytes - 2));
    let exact = reply_to(raw("", of(100)), text_limit(100)).unwrap();
    assert_eq!((exact.structured().unwrap().get().len(), exact.truncated()), (100, false));

    let over = reply_to(raw("", of(101)), text_limit(100)).unwrap();
    assert!(over.structured().is_none() && over.truncated());
    assert_eq!(
        over.model_text(),
        "[structured result left out: it has 101 bytes, the limit is 100]"
    );
    let beside_text = reply_to(raw("text", of(101)), text_limit(100)).unwrap();
    assert_eq!((beside_text.model_text().as_ref(), beside_text.truncated()), ("text", true));

    let nested =
        |levels: usize| format!(r#"{{"structured":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    assert!(rest(&nested(64)).structured().is_some());
    assert!(rest(&nested(65)).structured().is_none());
}

// Edge case 34.
#[test]
fn artifacts_are_read_and_never_in_the_text() {
    let reply = rest(
        r#"{"artifacts":[
            {"type":"table","label":"T","data":{"columns":["a"],"rows":[[1],["x"]]}},
            {"type":"text","label":"Q","data":{"text":"secret query"}}
        ]}"#,
    );
    let [table, text] = reply.artifacts() else { panic!("{reply:?}") };
    assert_eq!((table.label.as_str(), text.label.as_str()), ("T", "Q"));
    let rows = vec![vec![1.into()], vec!["x".into()]];
    assert_eq!(table.body, ArtifactBody::Table { columns: vec!["a".to_owned()], rows });
    assert_eq!(text.body, ArtifactBody::Text("secret query".to_owned()));
    assert_eq!((reply.model_text().as_ref(), reply.truncated()), ("", false));
}

// Edge case 34.
#[test]
fn artifacts_that_do_not_fit_become_one_marker_and_the_text_stays() {
    let large =
        format!(r#"[{{"type":"text","label":"","data":{{"text":"{}"}}}}]"#, "x".repeat(50_000));
    let deep = format!(
        r#"[{{"type":"table","label":"","data":{{"columns":[],"rows":[[{}{}]]}}}}]"#,
        "[".repeat(70),
        "]".repeat(70)
    );
    let cases = [
        (large.as_str(), "they have 50047 bytes, the limit is 50000"),
        (deep.as_str(), "they nest deeper than 64 levels"),
        (r#"[{"type":"chart","data":1}]"#, "they are no list of tables and texts"),
        (r#"{"type":"text"}"#, "they are no list of tables and texts"),
    ];
    for (artifacts, problem) in cases {
        let rest = format!(r#"{{"artifacts":{artifacts}}}"#);
        let reply = reply_to(raw("content", rest), Limits::default()).unwrap();
        let [marker] = reply.artifacts() else { panic!("{reply:?}") };
        let expected = format!("The tool's artifacts were left out: {problem}.");
        assert_eq!(marker.body, ArtifactBody::Text(expected));
        assert_eq!((reply.text().as_str(), reply.truncated()), ("content", false));
    }
}

fn any_block() -> impl Strategy<Value = String> {
    let text = "[a-zé🦀]{0,40}";
    prop_oneof![
        text.prop_map(|text| format!(r#"{{"type":"text","text":"{text}"}}"#)),
        "[A-Z]{0,60}"
            .prop_map(|data| format!(r#"{{"type":"image","data":"{data}","mimeType":"m"}}"#)),
        text.prop_map(|text| format!(
            r#"{{"type":"resource","resource":{{"uri":"u","text":"{text}"}}}}"#
        )),
        text.prop_map(|name| format!(r#"{{"type":"resource_link","uri":"u","name":"{name}"}}"#)),
    ]
}

proptest! {
    #[test]
    fn whatever_bytes_come_the_text_is_within_the_limit(
        text in prop::collection::vec(any::<u8>(), 0..300),
        limit in 0_usize..300,
    ) {
        let reply = reply_to(raw(text.clone(), ""), text_limit(limit)).unwrap();
        prop_assert!(reply.text().len() <= limit);
        if !reply.truncated() {
            prop_assert_eq!(reply.text().as_str(), String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn whatever_blocks_come_the_text_is_within_the_limit(
        blocks in prop::collection::vec(any_block(), 1..8),
        text_bytes in 0_usize..200,
        media_bytes in 0_usize..100,
    ) {
        let limits = Limits { text_bytes, media_bytes, ..Limits::default() };
        let content = format!(r#"{{"content":[{}]}}"#, blocks.join(","));
        let reply = reply_to(raw("", content), limits).unwrap();
        prop_assert!(reply.model_text().len() <= text_bytes, "{:?}", reply);
        if !reply.truncated() {
            prop_assert_eq!(reply.content().unwrap().len(), blocks.len());
        }
    }
}
