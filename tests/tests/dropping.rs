//! A provider that is no longer registered is dropped, and a panic in its destructor is told and survived.
#![cfg(test)]

use log::{LevelFilter, Log, Metadata, Record};
use parking_lot::Mutex;
use serde_json::json;
use toolbay_tests::{Home, call};

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Host;

impl Log for Host {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        WARNINGS.lock().push(record.args().to_string());
    }

    fn flush(&self) {}
}

// The only test of this file: a process has one logger.
#[test]
fn a_panic_while_a_provider_is_dropped_is_told_and_survived() {
    log::set_logger(&Host).unwrap();
    log::set_max_level(LevelFilter::Warn);
    let home = Home::with(&["toolbay-fixture-misbehaving", "toolbay-plugin-greeting"])
        .configured("misbehaving", json!({ "panic_in": "drop" }));
    let toolbay = home.refreshed();
    std::fs::remove_file(home.plugin("toolbay-fixture-misbehaving.so")).unwrap();
    toolbay.refresh().unwrap();
    let warnings = std::mem::take(&mut *WARNINGS.lock());
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(warning.contains("a misfortune as configured"), "{warning}");
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
}
