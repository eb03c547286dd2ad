//! Memory and threads on both sides of the boundary: who allocates frees, and a library outlives its provider.
#![cfg(test)]

use std::{fs, thread};

use serde_json::json;
use toolbay_loader::{CallRequest, CancelToken, ReplyStatus};
use toolbay_tests::{Home, call, nobody};

#[test]
fn memory_of_a_plugin_with_its_own_allocator_goes_back_to_it() {
    let toolbay = Home::with(&["toolbay-fixture-own-allocator"]).refreshed();
    // Kept for a while and dropped in another order, and on another thread than the one that called.
    let replies: Vec<_> = ["one", "block", "fail", "another"]
        .iter()
        .map(|text| call(&toolbay, "tagged_echo", &json!({ "text": text })).unwrap())
        .collect();
    assert_eq!(replies[2].status(), ReplyStatus::Failed);
    assert_eq!(replies[1].model_text(), "block\n\nmore");
    let text = replies[0].text().clone();
    thread::spawn(move || drop(replies)).join().unwrap();
    assert_eq!(text.as_str(), "one", "a share of the buffer keeps it alive");
}

#[test]
fn threads_that_have_called_may_end_after_the_provider_is_gone() {
    let home = Home::with(&["toolbay-plugin-greeting"]);
    let toolbay = home.refreshed();
    thread::scope(|scope| {
        let callers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    // The plugin's standard library now has thread-local values on this thread.
                    call(&toolbay, "greet", &json!({})).unwrap();
                    thread::park();
                })
            })
            .collect();
        fs::remove_file(home.plugin("toolbay-plugin-greeting.so")).unwrap();
        toolbay.refresh().unwrap();
        assert!(toolbay.providers().is_empty());
        for caller in callers {
            caller.thread().unpark();
        }
    });
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("greeting-"), "no library is ever unloaded");
}

#[test]
fn a_provider_that_is_replaced_finishes_the_calls_that_run() {
    let home = Home::with(&["toolbay-fixture-misbehaving"]);
    let toolbay = home.refreshed();
    let (cancel, nobody) = (CancelToken::new(), nobody());
    let request =
        CallRequest::new("misbehave", r#"{"mode": "wait"}"#, &nobody).with_cancel(&cancel);
    thread::scope(|scope| {
        let running = scope.spawn(|| toolbay.call(&request));
        let refreshed = toolbay.refresh();
        let well = call(&toolbay, "misbehave", &json!({ "mode": "well" }));
        // Before anything can fail: the scope waits for the call.
        cancel.cancel();
        assert_eq!(refreshed.unwrap().rejections, []);
        assert_eq!(well.unwrap().model_text(), "well");
        // Whether it had begun when it was cancelled is the scheduler's choice.
        match running.join().unwrap() {
            Ok(reply) => assert_eq!(reply.status(), ReplyStatus::Cancelled),
            Err(error) => assert_eq!(error.code(), "cancelled"),
        }
    });
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
