//! What a provider lists against what its note declares, what it is configured with, and what of its answers gets through.
#![cfg(test)]

use std::fs;

use serde_json::json;
use toolbay_loader::{ReplyStatus, Stage};
use toolbay_tests::{Home, bay::codes, bundle::patch, call};

const MISBEHAVING: &str = "toolbay-fixture-misbehaving";
const NUMBERED: &str = "toolbay-fixture-numbered";

#[test]
fn only_declared_tools_with_schemas_that_compile_are_registered() {
    let home = Home::with(&[MISBEHAVING]).configured("misbehaving", json!({ "lie": true }));
    let toolbay = home.open();
    let report = toolbay.refresh().unwrap();
    let codes: Vec<_> = report.rejections.iter().map(|one| one.reason.code).collect();
    assert_eq!(codes, ["bad_schema", "undeclared_tool"]);
    let tools: Vec<_> = report.providers[0].tools.iter().map(|tool| tool.as_str()).collect();
    // Edge case 1, as far as a list that comes as a whole can have bad tools in it.
    assert_eq!(tools, ["misbehave"], "the others are not affected");
    assert_eq!(
        call(&toolbay, "misbehave", &json!({ "mode": "well" })).unwrap().model_text(),
        "well"
    );
    let error = call(&toolbay, "undeclared", &json!({ "mode": "well" })).unwrap_err();
    assert_eq!(error.code(), "not_registered");
}

#[test]
fn a_tool_that_is_listed_twice_is_left_out_alone() {
    let good = "broken_schema";
    let cases: [(&[&str], Option<&str>); 4] = [
        (&[good], None),
        (&[good, good], Some("broken_schema 2 times")),
        (&[good, good, good], Some("broken_schema 3 times")),
        // One that the note does not declare is told once.
        (&[good, "other", "other"], Some("other 2 times")),
    ];
    for (names, expected) in cases {
        let configuration = json!({ "also_lists": names });
        let home = Home::with(&[MISBEHAVING]).configured("misbehaving", configuration);
        let toolbay = home.open();
        let report = toolbay.refresh().unwrap();
        let refused = expected.map(|_| (Stage::Adapt, "duplicate_tool"));
        assert_eq!(codes(&report.rejections), Vec::from_iter(refused), "{names:?}");
        assert_eq!(report.rejections.first().map(|one| &*one.reason.found), expected);
        let listed: Vec<_> = report.providers[0].tools.iter().map(|tool| tool.as_str()).collect();
        let once = |name: &str| names.iter().filter(|one| **one == name).count() == 1;
        let others: &[&str] = if once(good) { &["misbehave", good] } else { &["misbehave"] };
        assert_eq!(listed, others, "{names:?}");
        let well = call(&toolbay, "misbehave", &json!({ "mode": "well" })).unwrap();
        assert_eq!(well.model_text(), "well", "{names:?}");
    }
}

#[test]
fn a_list_of_schemas_that_is_too_large_is_not_read() {
    let whole = 8 * 1024 * 1024;
    let adapt = |code| vec![(Stage::Adapt, code)];
    let cases: [(usize, _, &[&str]); 4] = [
        (60_000, vec![], &["misbehave", "broken_schema"]),
        // One schema alone is too large, and the list can still be read.
        (70_000, adapt("bad_schema"), &["misbehave"]),
        (whole - 10_000, adapt("bad_schema"), &["misbehave"]),
        (whole, adapt("definitions_too_large"), &[]),
    ];
    for (spare_bytes, expected, tools) in cases {
        let configuration = json!({ "also_lists": ["broken_schema"], "spare_bytes": spare_bytes });
        let home = Home::with(&[MISBEHAVING, NUMBERED]).configured("misbehaving", configuration);
        let toolbay = home.open();
        let report = toolbay.refresh().unwrap();
        assert_eq!(codes(&report.rejections), expected, "{spare_bytes}");
        let listed = report.providers.iter().flat_map(|provider| &provider.tools);
        let listed: Vec<_> = listed.map(|tool| tool.as_str()).collect();
        assert_eq!(listed, [tools, &["numbered_00000"]].concat(), "{spare_bytes}");
        let beside = call(&toolbay, "numbered_00000", &json!({})).unwrap();
        assert_eq!(beside.model_text(), "number 00000", "{spare_bytes}");
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced_in_an_answer_and_refused_in_a_declaration() {
    // What is replaced wherever it is in the library, one after the other; what a refresh finds; what a call then answers.
    type Case =
        (&'static [(&'static str, &'static [u8])], &'static [(Stage, &'static str)], &'static str);
    let cases: [Case; 6] = [
        (&[("number 00000", b"number 00001")], &[], "number 00001"),
        (&[("number 00000", b"number \xff\xc3\x280\n")], &[], "number \u{fffd}\u{fffd}(0\n"),
        // The description stands in the list alone, the summary in the note.
        (
            &[("Answers with its number.", b"Answers with its number\xff")],
            &[(Stage::Adapt, "bad_definitions")],
            "",
        ),
        (
            &[("Answers with its number", b"Answers with its numbe\xff")],
            &[(Stage::Inspect, "damaged_note")],
            "",
        ),
        (
            &[("\"name\":\"numbered_00000\"", b"\"name\":\"numbered\\u001b\"")],
            &[(Stage::Verify, "bad_tool_name"), (Stage::Adapt, "undeclared_tool")],
            "",
        ),
        // Listed otherwise than the note has it.
        (
            &[
                ("\"name\":\"numbered_00000\"", b"\"name\":\"numbered_note!\""),
                ("numbered_00000", b"numbered\x1b[2J\n\0"),
                ("\"name\":\"numbered_note!\"", b"\"name\":\"numbered_00000\""),
            ],
            &[(Stage::Adapt, "undeclared_tool")],
            "",
        ),
    ];
    for (changes, expected, answer) in cases {
        let home = Home::with(&[MISBEHAVING, NUMBERED]);
        let library = home.plugin(&format!("{NUMBERED}.so"));
        let mut content = fs::read(&library).unwrap();
        for (from, to) in changes {
            patch(&mut content, from.as_bytes(), to);
        }
        fs::write(&library, content).unwrap();
        let toolbay = home.open();
        let report = toolbay.refresh().unwrap();
        assert_eq!(codes(&report.rejections), expected, "{changes:?}");
        if let Some(rejection) = report.rejections.first() {
            assert!(!rejection.to_string().contains(char::is_control), "{rejection}");
        }
        match call(&toolbay, "numbered_00000", &json!({})) {
            Ok(reply) => assert_eq!(reply.model_text(), answer, "{changes:?}"),
            Err(error) => assert_eq!((error.code(), answer), ("not_registered", ""), "{changes:?}"),
        }
        let beside = call(&toolbay, "misbehave", &json!({ "mode": "well" })).unwrap();
        assert_eq!(beside.model_text(), "well", "{changes:?}");
    }
}

#[test]
fn a_wrong_configuration_is_refused_with_its_place() {
    for (configuration, place) in [
        (json!({ "panic_in": "nowhere" }), "panic_in: unknown variant `nowhere`"),
        (json!({ "panik_in": "create" }), "panik_in: unknown field `panik_in`"),
        (json!({ "words": [1] }), "words: invalid type"),
    ] {
        let home = Home::with(&[MISBEHAVING]).configured("misbehaving", configuration);
        let rejections = home.rejections();
        let reason = &rejections[0].reason;
        assert_eq!((reason.stage, reason.code), (Stage::Create, "bad_configuration"));
        assert!(reason.found.starts_with(place), "{reason}");
    }
    Home::with(&[MISBEHAVING]).configured("misbehaving", json!({ "words": "x" })).refreshed();
}

#[test]
fn a_tool_that_changed_since_it_was_registered_waits_for_a_refresh() {
    let mut home = Home::with(&[MISBEHAVING]).configured("misbehaving", json!({ "words": "old" }));
    home.refreshed();
    assert_eq!(
        call(&home.open(), "misbehave", &json!({ "mode": "well" })).unwrap().model_text(),
        "well",
        "unchanged, it is called without a refresh"
    );

    home.configure("misbehaving", json!({ "words": "new" }));
    let toolbay = home.open();
    let error = call(&toolbay, "misbehave", &json!({ "mode": "well" })).unwrap_err();
    assert_eq!(error.code(), "unavailable");
    let source = std::error::Error::source(&error).and_then(std::error::Error::source).unwrap();
    assert!(source.to_string().contains("changed_tool"), "{source}");

    toolbay.refresh().unwrap();
    assert_eq!(
        call(&toolbay, "misbehave", &json!({ "mode": "well" })).unwrap().model_text(),
        "well"
    );
}

#[test]
fn a_reply_is_cut_at_the_limit_before_a_character() {
    let toolbay = Home::with(&[MISBEHAVING]).refreshed();
    let reply = call(&toolbay, "misbehave", &json!({ "mode": "talk" })).unwrap();
    assert!(reply.truncated());
    let text = reply.model_text();
    assert!(text.len() <= 50_000 && text.len() > 49_900, "{}", text.len());
    assert!(text.starts_with("ää"));
}

#[test]
fn a_failure_tells_the_model_its_message_and_never_its_cause() {
    let toolbay = Home::with(&[MISBEHAVING]).refreshed();
    let reply = call(&toolbay, "misbehave", &json!({ "mode": "fail" })).unwrap();
    assert_eq!(reply.status(), ReplyStatus::Failed);
    assert_eq!(reply.model_text(), "the service said no");
    assert!(reply.artifacts().is_empty() && reply.content().is_none());
}

#[test]
fn every_form_of_content_arrives_and_artifacts_stay_with_people() {
    let toolbay = Home::with(&["toolbay-fixture-echo"]).refreshed();
    let reply = call(&toolbay, "forms", &json!({})).unwrap();
    assert_eq!(reply.model_text(), "first\n\nlast");
    assert_eq!(reply.content().unwrap().len(), 6);
    assert_eq!(reply.structured().unwrap().get(), r#"{"count":2}"#);
    assert_eq!(reply.artifacts().len(), 2);
    assert!(!reply.model_text().contains("secret of the people"));
}

#[test]
fn a_promised_structured_result_is_checked_and_one_that_is_too_large_is_no_fault() {
    let toolbay = Home::with(&["toolbay-fixture-echo"]).refreshed();
    let counted = |text: &str| call(&toolbay, "counted", &json!({ "text": text }));
    let kept = counted("ä€").unwrap();
    assert_eq!(kept.structured().unwrap().get(), r#"{"characters":2}"#);
    let left_out = counted("too much").unwrap();
    assert!(left_out.truncated() && left_out.structured().is_none());
    for broken in ["nothing", "another"] {
        let error = counted(broken).unwrap_err();
        assert_eq!(error.code(), "malformed_reply", "{broken}");
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains("structured result not as promised"), "{source}");
    }
}
