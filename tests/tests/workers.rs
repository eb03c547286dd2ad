//! What a plugin does to its process in a worker harms nobody else, and is told by its phase.
#![cfg(test)]

use std::{
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use serde_json::json;
use toolbay_loader::{
    BackendError, CallError, CallRequest, CancelToken, Progress, ProgressSink, ReplyStatus, Toolbay,
};
use toolbay_tests::{
    Home, call, nobody,
    violent::{Moment, greets_still, order},
};

#[test]
fn a_plugin_in_a_worker_answers_as_one_in_the_host() {
    let home = Home::with(&["toolbay-fixture-echo", "toolbay-plugin-greeting"]);
    let here = home.refreshed();
    let listed = |toolbay: &Toolbay| {
        let registry = toolbay.registry();
        registry.iter().map(|entry| entry.definition().to_owned()).collect::<Vec<_>>()
    };
    let there = Toolbay::open(home.isolated()).unwrap();
    assert_eq!(there.refresh().unwrap().rejections, []);
    assert_eq!(listed(&there), listed(&here));
    for text in ["me", "ä\n", &"long ".repeat(100_000)] {
        let [one, other] =
            [&here, &there].map(|toolbay| call(toolbay, "echo", &json!({ "text": text })));
        assert_eq!(one.unwrap().model_text(), other.unwrap().model_text());
    }
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let copies = maps.matches("echo-").count();
    drop(here);
    for loaded in there.loaded() {
        assert!(loaded.worker.is_some_and(|pid| pid != std::process::id()), "{loaded:?}");
    }
    assert!(copies > 0, "the twin is in this process");
}

#[test]
fn whatever_happens_in_a_call_ends_that_process_alone_and_the_next_call_gets_another() {
    let home = Home::violent(Moment::Create, "nothing");
    let toolbay = Toolbay::open(home.isolated()).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    for (deed, words) in [
        ("exit_0", "exit status 0"),
        ("abort", "SIGABRT"),
        ("segfault", "SIGSEGV"),
        ("overflow", "SIG"),
        ("garbage", "broke the protocol"),
    ] {
        let error = order(&toolbay, deed).unwrap_err();
        assert_eq!(error.code(), "crashed", "{deed}: {error:?}");
        let CallError::Backend { source: BackendError::Crashed { how }, .. } = &error else {
            panic!("{deed}: {error:?}")
        };
        assert!(how.contains(words), "{deed}: {how}");
        assert!(!error.model_text().contains(words), "the model does not see it");
        assert_eq!(order(&toolbay, "nothing").unwrap().model_text(), "done", "after {deed}");
        assert!(greets_still(&toolbay), "{deed}");
    }
}

#[test]
fn a_call_that_does_not_come_back_is_over_at_its_deadline_and_so_is_its_process() {
    let home = Home::violent(Moment::Create, "nothing");
    let toolbay = Toolbay::open(home.isolated()).unwrap();
    toolbay.refresh().unwrap();
    for deed in ["hang", "spin", "ignore_term", "half_frame"] {
        let nobody = nobody();
        let arguments = json!({ "deed": deed }).to_string();
        let request =
            CallRequest::new("do", &arguments, &nobody).with_deadline(Duration::from_millis(50));
        let error = toolbay.call(&request).unwrap_err();
        assert_eq!(error.code(), "deadline_exceeded", "{deed}: {error:?}");
        // Whoever else waits in the same process learns that it was ended.
        let error = order(&toolbay, "hang").unwrap_err();
        assert_eq!(error.code(), "crashed", "{deed}: {error:?}");
        assert_eq!(order(&toolbay, "nothing").unwrap().model_text(), "done", "after {deed}");
    }
}

/// Says when a call has begun.
struct Begun(mpsc::Sender<()>);

impl ProgressSink for Begun {
    fn progress(&self, progress: Progress) {
        assert_eq!(progress.message.as_deref(), Some("begun"));
        self.0.send(()).unwrap();
    }
}

#[test]
fn a_call_that_is_cancelled_stops_by_itself_or_with_its_process() {
    let home = Home::violent(Moment::Create, "nothing");
    let toolbay = Toolbay::open(home.isolated()).unwrap();
    toolbay.refresh().unwrap();
    for (deed, stops) in [("wait", true), ("hang", false)] {
        let (cancel, nobody) = (CancelToken::new(), nobody());
        let (begun, runs) = mpsc::channel();
        let begun: Arc<dyn ProgressSink> = Arc::new(Begun(begun));
        let arguments = json!({ "deed": deed }).to_string();
        let request =
            CallRequest::new("do", &arguments, &nobody).with_cancel(&cancel).with_progress(&begun);
        thread::scope(|scope| {
            let calling = scope.spawn(|| toolbay.call(&request));
            runs.recv().unwrap();
            cancel.cancel();
            let ended = calling.join().unwrap();
            match stops {
                true => assert_eq!(ended.unwrap().status(), ReplyStatus::Cancelled),
                false => assert_eq!(ended.unwrap_err().code(), "cancelled"),
            }
        });
    }
    // The process that hung has been ended, or is about to be.
    let _ = order(&toolbay, "nothing");
    assert!(greets_still(&toolbay));
}
