//! A plugin that panics, wherever it does, leaves the host and the other plugins well.
#![cfg(test)]

use std::thread;

use serde_json::json;
use toolbay_loader::{BackendError, CallError, Stage};
use toolbay_tests::{Home, call};

const MISBEHAVING: &str = "toolbay-fixture-misbehaving";
const GREETING: &str = "toolbay-plugin-greeting";

fn both() -> Home {
    Home::with(&[MISBEHAVING, GREETING])
}

#[test]
fn a_panic_in_a_call_is_a_fault_with_message_and_location_and_the_next_call_works() {
    // F10, also with payloads that are no text.
    let toolbay = both().refreshed();
    let cases = [
        ("panic", "a misfortune in a call"),
        ("panic_in_payload", "the panic's payload is not text"),
        ("panic_with_number", "the panic's payload is not text"),
    ];
    for (mode, expected) in cases {
        let error = call(&toolbay, "misbehave", &json!({ "mode": mode })).unwrap_err();
        let model = error.model_text();
        assert!(!model.contains("misfortune"), "the model does not see {model:?}");
        let CallError::Backend { source: BackendError::Fault { message, location }, .. } = error
        else {
            panic!("{mode}: {error}");
        };
        assert_eq!(message, expected, "{mode}");
        assert!(location.unwrap().contains("misbehaving/src/lib.rs:"), "{mode}");

        let well = call(&toolbay, "misbehave", &json!({ "mode": "well" })).unwrap();
        assert_eq!(well.model_text(), "well", "after {mode}");
    }
    assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
}

#[test]
fn a_panic_in_a_thread_of_the_plugin_ends_that_thread_alone() {
    // F10.
    let toolbay = both().refreshed();
    let reply = call(&toolbay, "misbehave", &json!({ "mode": "panic_in_thread" })).unwrap();
    assert_eq!(reply.model_text(), "well");
}

#[test]
fn a_panic_while_a_provider_is_made_or_listed_is_a_rejection_of_that_provider() {
    let cases = [("create", Stage::Create), ("tools", Stage::Adapt)];
    for (place, stage) in cases {
        let home = both().configured("misbehaving", json!({ "panic_in": place }));
        let toolbay = home.open();
        let report = toolbay.refresh().unwrap();
        let [rejection] = &report.rejections[..] else { panic!("{:?}", report.rejections) };
        assert_eq!((rejection.reason.stage, rejection.reason.code), (stage, "panicked"));
        assert!(rejection.reason.found.contains("a misfortune as configured"), "{rejection}");
        // Edge case 3: nobody asks it again before another refresh.
        let providers = toolbay.providers();
        assert_eq!(providers.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["greeting"]);
        let misbehave = call(&toolbay, "misbehave", &json!({ "mode": "well" }));
        assert!(matches!(misbehave, Err(CallError::NotRegistered { .. })), "{misbehave:?}");
        assert!(!toolbay.reload().unwrap());
        assert_eq!(call(&toolbay, "greet", &json!({})).unwrap().model_text(), "Hello.");
    }
    both().configured("misbehaving", json!({ "panic_in": "nothing" })).refreshed();
}

#[test]
fn ten_thousand_panics_from_eight_threads_leave_the_others_answering() {
    const THREADS: usize = 8;
    const CALLS: usize = 10_000 / THREADS;
    let home = both();
    let toolbay = home.refreshed();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..CALLS {
                    let error =
                        call(&toolbay, "misbehave", &json!({ "mode": "panic" })).unwrap_err();
                    assert_eq!(error.code(), "fault");
                    if round % 50 == 0 {
                        let reply = call(&toolbay, "greet", &json!({})).unwrap();
                        assert_eq!(reply.model_text(), "Hello.");
                    }
                }
            });
        }
    });
    let faults =
        toolbay.providers().iter().find(|one| one.id.as_str() == "misbehaving").unwrap().faults;
    assert_eq!(faults, (THREADS * CALLS) as u64);
    assert_eq!(
        call(&toolbay, "misbehave", &json!({ "mode": "well" })).unwrap().model_text(),
        "well"
    );
    drop(toolbay);
    let records = home.audit();
    assert_eq!(records.len(), THREADS * (CALLS + CALLS / 50) + 1, "one record for each call");
}
