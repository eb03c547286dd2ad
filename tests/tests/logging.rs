//! A plugin's `log::info!` arrives in the host's log under the provider's id, at the host's level.
#![cfg(test)]

use log::{Level, LevelFilter, Log, Metadata, Record};
use parking_lot::Mutex;
use serde_json::json;
use toolbay_tests::{Home, call};

static LINES: Mutex<Vec<(Level, String, String)>> = Mutex::new(Vec::new());

struct Host;

impl Log for Host {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("plugin::")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let line = (record.level(), record.target().to_owned(), record.args().to_string());
            LINES.lock().push(line);
        }
    }

    fn flush(&self) {}
}

// The only test of this file: a process has one logger.
#[test]
fn records_arrive_under_the_providers_id_at_the_hosts_level() {
    log::set_logger(&Host).unwrap();
    let toolbay = Home::with(&["toolbay-fixture-misbehaving"]).refreshed();
    let cases: [(LevelFilter, &[Level]); 4] = [
        (LevelFilter::Off, &[]),
        (LevelFilter::Warn, &[Level::Error, Level::Warn]),
        (LevelFilter::Info, &[Level::Error, Level::Warn, Level::Info]),
        (LevelFilter::Error, &[Level::Error]),
    ];
    for (level, expected) in cases {
        log::set_max_level(level);
        LINES.lock().clear();
        call(&toolbay, "misbehave", &json!({ "mode": "log" })).unwrap();
        let levels: Vec<_> = LINES.lock().iter().map(|(level, ..)| *level).collect();
        assert_eq!(levels, expected, "at {level}");
    }

    log::set_max_level(LevelFilter::Warn);
    LINES.lock().clear();
    call(&toolbay, "misbehave", &json!({ "mode": "log" })).unwrap();
    call(&toolbay, "misbehave", &json!({ "mode": "fail" })).unwrap();
    call(&toolbay, "misbehave", &json!({ "mode": "panic_in_thread" })).unwrap();
    let lines = LINES.lock();
    let (_, target, message) = &lines[1];
    assert_eq!(target, "plugin::misbehaving::toolbay_fixture_misbehaving");
    assert_eq!(message, "a warning with arguments");
    assert!(
        lines[2].2.ends_with("the password is hunter2"),
        "a cause goes to the log: {}",
        lines[2].2
    );
    assert!(
        lines[3].2.contains("a misfortune in a thread"),
        "a lost thread is told: {}",
        lines[3].2
    );
}
