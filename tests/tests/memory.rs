//! Memory and threads on both sides of the boundary: who allocates frees, and a library outlives its provider.
#![cfg(test)]

use std::{
    env, fs,
    sync::{Arc, Barrier, mpsc},
    thread,
    time::Duration,
};

use serde_json::json;
use toolbay_loader::{CallRequest, CancelToken, Progress, ProgressSink, ReplyStatus, Toolbay};
use toolbay_tests::{
    Home, call,
    child::{Child, say},
    nobody,
    violent::Moment,
};

#[test]
fn memory_of_a_plugin_with_its_own_allocator_goes_back_to_it() {
    let toolbay = Home::with(&["toolbay-fixture-own-allocator"]).refreshed();
    // Kept for a while and dropped in another order, and on another thread than the one that called.
    let replies: Vec<_> = ["one", "block", "fail", "another"]
        .iter()
        .map(|text| call(&toolbay, "tagged_echo", &json!({ "text": text })).unwrap())
        .collect();
    assert_eq!(replies[2].status(), ReplyStatus::Failed);
    let fault = call(&toolbay, "tagged_echo", &json!({ "text": "panic" })).unwrap_err();
    assert_eq!(fault.code(), "fault", "the buffer of a fault crosses, too");
    assert_eq!(replies[1].model_text(), "block\n\nmore");
    let text = replies[0].text().clone();
    thread::spawn(move || drop(replies)).join().unwrap();
    assert_eq!(text.as_str(), "one", "a share of the buffer keeps it alive");
}

#[test]
fn threads_that_have_called_may_end_after_the_provider_is_gone() {
    // F13.
    const THREADS: usize = 8;
    let home = Home::with(&["toolbay-plugin-greeting"]);
    let toolbay = home.refreshed();
    let (called, gone) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                // The plugin's standard library now has thread-local values on this thread.
                let reply = call(&toolbay, "greet", &json!({}));
                called.wait();
                gone.wait();
                assert_eq!(reply.unwrap().model_text(), "Hello.");
            });
        }
        called.wait();
        fs::remove_file(home.plugin("toolbay-plugin-greeting.so")).unwrap();
        let refreshed = toolbay.refresh();
        gone.wait();
        assert!(refreshed.unwrap().providers.is_empty());
    });
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("greeting-"), "no library is ever unloaded");
}

#[test]
fn what_a_plugin_has_left_to_a_thread_is_dropped_with_the_thread_after_the_provider_is_gone() {
    // F13.
    const CHILD: &str = "TOOLBAY_TEST_CHILD";
    if env::var_os(CHILD).is_some() {
        return end_a_thread_after_its_provider();
    }
    let test =
        "what_a_plugin_has_left_to_a_thread_is_dropped_with_the_thread_after_the_provider_is_gone";
    let mut child = Child::of(test, &[(CHILD, "1".as_ref())]);
    let lines: Vec<_> = std::iter::from_fn(|| child.line()).collect();
    assert_eq!(lines, ["the provider is gone", "the thread's value is dropped", "end"]);
}

fn end_a_thread_after_its_provider() {
    let home = Home::violent(Moment::Create, "nothing");
    let toolbay = Toolbay::open(home.in_process()).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    let (called, gone) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // Without a deadline it runs on this thread.
            let reply = call(&toolbay, "do", &json!({ "deed": "thread_local" }));
            called.wait();
            gone.wait();
            reply.unwrap();
        });
        called.wait();
        fs::remove_file(home.violent_library()).unwrap();
        let refreshed = toolbay.refresh();
        say("the provider is gone");
        gone.wait();
        // The end of its scope would only wait for what it does, and not for what it has left.
        thread.join().unwrap();
        assert_eq!(refreshed.unwrap().providers.len(), 1, "the other plugin");
    });
    say("end");
}

#[test]
fn a_provider_that_is_no_longer_registered_finishes_the_calls_that_run() {
    let home = Home::with(&["toolbay-fixture-misbehaving"]);
    let toolbay = home.refreshed();
    let (cancel, nobody) = (CancelToken::new(), nobody());
    let (started, runs) = mpsc::channel();
    let started: Arc<dyn ProgressSink> = Arc::new(Started(started));
    let request = CallRequest::new("misbehave", r#"{"mode": "wait"}"#, &nobody)
        .with_cancel(&cancel)
        .with_progress(&started);
    thread::scope(|scope| {
        let running = scope.spawn(|| toolbay.call(&request));
        let begun = runs.recv_timeout(Duration::from_secs(30));
        fs::remove_file(home.plugin("toolbay-fixture-misbehaving.so")).unwrap();
        let refreshed = toolbay.refresh();
        let gone = call(&toolbay, "misbehave", &json!({ "mode": "well" }));
        // Before anything can fail: the scope waits for the call.
        cancel.cancel();
        begun.unwrap();
        assert_eq!(refreshed.unwrap().rejections, []);
        assert_eq!(gone.unwrap_err().code(), "not_registered");
        assert_eq!(running.join().unwrap().unwrap().status(), ReplyStatus::Cancelled);
    });
}

/// Tells that a call runs.
struct Started(mpsc::Sender<()>);

impl ProgressSink for Started {
    fn progress(&self, _: Progress) {
        let _ = self.0.send(());
    }
}

#[test]
fn the_arguments_reach_the_plugin_as_the_caller_wrote_them() {
    let toolbay = Home::with(&["toolbay-fixture-misbehaving"]).refreshed();
    // A number that no parser keeps, an escape, and an order that a map would change.
    let arguments = "{ \"number\": 1.00000000000000000001,\n\t\"mode\" : \"re\\u0070eat\" }";
    let nobody = nobody();
    let reply = toolbay.call(&CallRequest::new("misbehave", arguments, &nobody)).unwrap();
    assert_eq!(reply.text().as_str(), arguments);
}
