//! Each library answers as itself: none through another's root module, and none because another failed before it.
#![cfg(test)]

use std::{ffi::OsStr, fs, path::Path, time::Duration};

use serde_json::json;
use toolbay_loader::{RefreshOptions, Stage};
use toolbay_tests::{Home, bay::codes, c_library, call, note_define};

const GREETING: &str = "toolbay-plugin-greeting";
const ECHO: &str = "toolbay-fixture-echo";
const OTHER_ROOT: &str = "toolbay-fixture-other-root";

#[test]
fn two_plugins_through_one_root_type_answer_as_themselves() {
    let toolbay = Home::with(&[GREETING, ECHO]).refreshed();
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
    assert_eq!(call(&toolbay, "echo", &json!({ "text": "me" })).unwrap().model_text(), "me");
    let ids: Vec<_> = toolbay.providers().iter().map(|one| one.id.to_string()).collect();
    assert_eq!(ids, ["echo", "greeting"]);
}

#[test]
fn a_library_of_another_layout_fails_shortly_and_the_next_one_loads() {
    let home = Home::new();
    fs::copy(toolbay_tests::library(OTHER_ROOT), home.plugin("a.so")).unwrap();
    fs::copy(toolbay_tests::library(GREETING), home.plugin("b.so")).unwrap();
    let toolbay = home.open();
    let report = toolbay.refresh().unwrap();
    assert_eq!(codes(&report.rejections), [(Stage::Load, "other_abi")]);
    let found = &report.rejections[0].reason.found;
    assert!(found.len() < 2_000, "{} bytes: {found}", found.len());
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
    // Libraries are opened in the order of their ids, so that the bad one came first.
    assert!(report.rejections[0].provider.as_deref() < Some("greeting"));
    // It is not opened again by the same host, and its failure leaves nothing behind.
    assert_eq!(codes(&toolbay.refresh().unwrap().rejections), [(Stage::Policy, "failed_before")]);
    let retry = RefreshOptions::default().retry(true);
    let again = toolbay.refresh_with(retry).unwrap();
    assert_eq!(codes(&again.rejections), [(Stage::Load, "other_abi")]);
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
}

#[test]
fn a_library_of_another_layout_fails_also_after_a_good_one_was_opened() {
    // F22 in the other order: abi_stable keeps what it has seen of layouts for the whole process.
    let home = Home::with(&[GREETING]);
    let toolbay = home.refreshed();
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
    home.install(OTHER_ROOT);
    home.install(ECHO);
    let report = toolbay.refresh().unwrap();
    assert_eq!(codes(&report.rejections), [(Stage::Load, "other_abi")]);
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
    assert_eq!(call(&toolbay, "echo", &json!({ "text": "me" })).unwrap().model_text(), "me");
}

#[test]
fn a_library_without_a_root_module_that_links_a_plugin_is_no_plugin() {
    let home = Home::with(&[GREETING]);
    let plugin = toolbay_tests::library(GREETING);
    let (note, runpath) =
        (note_define("impostor"), format!("-Wl,-rpath,{}", plugin.parent().unwrap().display()));
    let needed = OsStr::new("-Wl,--no-as-needed");
    c_library(
        "note_only.c",
        &home.plugin("a.so"),
        &[note.as_ref(), needed, plugin.as_os_str(), runpath.as_ref()],
    );
    let toolbay = home.open();
    let report = toolbay.refresh().unwrap();
    let codes = codes(&report.rejections);
    assert!(codes.contains(&(Stage::Verify, "no_root_module")), "{codes:?}");
    // It unwinds nothing either, which is how a library built with panic = "abort" looks.
    assert!(codes.contains(&(Stage::Verify, "panic_abort")), "{codes:?}");
    assert_eq!(toolbay.providers().len(), 1);
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
}

#[test]
fn a_library_whose_header_check_fails_stays_mapped_for_the_thread_that_it_started() {
    let home = Home::with(&[GREETING]);
    let (note, folder) =
        (note_define("a-starter"), format!("-DFOLDER={:?}", home.path().display().to_string()));
    let unwinder = OsStr::new("-lgcc_s");
    c_library(
        "constructor_thread.c",
        &home.plugin("a.so"),
        &[note.as_ref(), folder.as_ref(), unwinder],
    );
    let toolbay = home.open();
    let report = toolbay.refresh().unwrap();
    assert_eq!(codes(&report.rejections), [(Stage::Load, "other_abi")]);

    fs::write(home.path().join("go"), "").unwrap();
    wait_for(&home.path().join("done"));
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
}

/// Waits for the fixture's answer; a thread whose code is gone would have ended the process instead.
fn wait_for(path: &Path) {
    for _ in 0..3_000 {
        if path.exists() {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    panic!("{} did not appear within 30 seconds", path.display());
}

#[test]
fn of_one_provider_twice_the_higher_version_is_used_whatever_the_names() {
    for names in [["a.so", "b.so"], ["b.so", "a.so"]] {
        let home = Home::new();
        let library = fs::read(toolbay_tests::library(GREETING)).unwrap();
        let at = library.windows(17).position(|window| window == br#""version":"0.1.0""#).unwrap();
        let mut newer = library.clone();
        newer[at + 13] = b'2';
        fs::write(home.plugin(names[0]), &library).unwrap();
        fs::write(home.plugin(names[1]), &newer).unwrap();
        let toolbay = home.open();
        let report = toolbay.refresh().unwrap();
        assert_eq!(codes(&report.rejections), [(Stage::Verify, "duplicate_provider")]);
        assert_eq!(report.rejections[0].path, home.plugin(names[0]));
        assert_eq!(toolbay.providers()[0].version, "0.2.0");
    }
}

#[test]
fn the_same_library_twice_is_one_plugin() {
    let home = Home::with(&[GREETING]);
    fs::copy(toolbay_tests::library(GREETING), home.plugin("copy.so")).unwrap();
    assert_eq!(home.refreshed().providers().len(), 1);
}

#[test]
fn of_one_version_twice_the_content_decides_and_not_the_names() {
    let kept: Vec<_> = [["a.so", "b.so"], ["b.so", "a.so"]]
        .into_iter()
        .map(|names| {
            let home = Home::new();
            let library = fs::read(toolbay_tests::library(GREETING)).unwrap();
            // Bytes behind the last section change the content and nothing else.
            fs::write(home.plugin(names[0]), &library).unwrap();
            fs::write(home.plugin(names[1]), [&library[..], b"more"].concat()).unwrap();
            let toolbay = home.open();
            let report = toolbay.refresh().unwrap();
            assert_eq!(codes(&report.rejections), [(Stage::Verify, "duplicate_provider")]);
            fs::read_to_string(home.path().join("registry.json")).unwrap()
        })
        .collect();
    assert_eq!(kept[0], kept[1], "the same bytes");
}
