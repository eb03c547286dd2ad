//! Bundles from the vendor's hands to a call: signed, installed, verified each time, replaced and removed.
#![cfg(test)]

use serde_json::json;
use toolbay_loader::Stage;
use toolbay_tests::{
    bay::{Bay, codes, install, operator},
    bundle::{Draft, Key},
    call,
};

const GREETING: &str = "toolbay-plugin-greeting";

#[test]
fn a_signed_bundle_is_installed_called_and_removed() {
    let key = Key::new();
    let draft = Draft::of(GREETING);
    for form in ["zip", "folder"] {
        let bay = Bay::trusting(&key);
        let source = match form {
            "zip" => draft.zip(&bay.path("a.toolbay"), Some(&key)),
            _ => draft.folder(&bay.path("a"), Some(&key)),
        };
        let toolbay = bay.open();
        let report = install(&toolbay, source);
        assert_eq!(report.rejections, [], "{form}");
        assert_eq!(report.warnings, []);
        assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");

        let later = bay.open();
        assert!(!later.providers()[0].running, "listing opens nothing");
        assert_eq!(call(&later, "greet", &json!({})).unwrap().model_text(), "Hello.");
        assert_eq!(later.loaded()[0].hash, later.providers()[0].hash.to_string());

        later.uninstall("greeting", &operator()).unwrap();
        assert_eq!(call(&later, "greet", &json!({})).unwrap_err().code(), "not_registered");
        assert!(later.refresh().unwrap().providers.is_empty());
    }
}

#[test]
fn a_damaged_file_is_told_also_where_the_store_has_the_whole_bundle() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let toolbay = bay.open();
    let draft = Draft::of(GREETING);
    let whole = draft.folder(&bay.path("a"), Some(&key));
    assert_eq!(codes(&install(&toolbay, whole.clone()).rejections), []);
    let library = draft.parts.targets.values().next().unwrap().libraries[0].path.clone();
    let file = whole.join(library.as_str());
    let mut content = std::fs::read(&file).unwrap();
    *content.last_mut().unwrap() ^= 1;
    std::fs::write(&file, content).unwrap();
    assert_eq!(codes(&install(&toolbay, whole).rejections), [(Stage::Bundle, "other_hash")]);
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
}

#[test]
fn nothing_is_installed_that_nobody_trusted_stands_for() {
    let (key, other) = (Key::new(), Key::new());
    let bay = Bay::trusting(&key);
    let toolbay = bay.open();
    let draft = Draft::of(GREETING);
    let cases = [
        (draft.zip(&bay.path("unsigned"), None), "unsigned"),
        (draft.zip(&bay.path("other"), Some(&other)), "unknown_key"),
        (toolbay_tests::library(GREETING), "unsigned"),
    ];
    for (source, code) in cases {
        let report = install(&toolbay, source);
        assert_eq!(codes(&report.rejections), [(Stage::Signature, code)]);
        assert!(report.installed.is_empty());
    }
    let report = install(&toolbay, draft.zip(&bay.path("signed"), Some(&key)));
    assert_eq!((codes(&report.rejections), report.installed.len()), (vec![], 1));
}
