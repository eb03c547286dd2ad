//! What a provider lists against what its note declares, what it is configured with, and what of its answers gets through.
#![cfg(test)]

use serde_json::json;
use toolbay_loader::{ReplyStatus, Stage};
use toolbay_tests::{Home, call};

const MISBEHAVING: &str = "toolbay-fixture-misbehaving";

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
