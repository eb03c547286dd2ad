//! The audit log: one line for each call, whole lines from several processes, and files that rotate.
#![cfg(test)]

use std::{fs, os::unix::fs::symlink};

use serde_json::{Value, json};
use toolbay_loader::{Actor, AuditConfig, CallRequest, Caller, Toolbay};
use toolbay_tests::{Home, call, host_binary};

const ECHO: &str = "toolbay-fixture-echo";

#[test]
fn a_record_says_who_what_when_and_how_it_ended_and_nothing_of_the_content() {
    let home = Home::with(&[ECHO]);
    let toolbay = home.refreshed();
    let ada = Caller::new(Actor::User { name: "ada".parse().unwrap(), admin: false })
        .with_run("run-7".parse().unwrap());
    let arguments = json!({ "text": "a secret" }).to_string();
    toolbay.call(&CallRequest::new("repeat", &arguments, &ada)).unwrap();
    toolbay.call(&CallRequest::new("no\"such\ntool", "{}", &ada)).unwrap_err();
    drop(toolbay);

    let records = home.audit();
    let [good, refused] = &records[..] else { panic!("{records:?}") };
    assert_eq!(good["tool"], "repeat");
    assert_eq!((&good["provider"], &good["effect"]), (&json!("echo"), &json!("read_only")));
    assert_eq!((&good["actor"], &good["run"]), (&json!("user:ada"), &json!("run-7")));
    assert_eq!((&good["outcome"], &good["generation"]), (&json!("ok"), &json!(1)));
    assert_eq!(good["argument_bytes"], arguments.len());
    assert_eq!(good["reply_bytes"], "a secret".len());
    let time = good["time"].as_str().unwrap();
    assert!(time.starts_with("20") && time.ends_with('Z') && time.len() == 24, "{time}");
    assert!(!good.to_string().contains("a secret"));

    assert_eq!(refused["tool"], "no\"such\ntool");
    assert_eq!(
        (&refused["outcome"], &refused["code"]),
        (&json!("refused"), &json!("not_registered"))
    );
    assert_eq!(refused["provider"], Value::Null);
}

/// All records, from the oldest file to the current one.
fn all_records(home: &Home, keep: usize) -> Vec<Value> {
    let folder = home.path().join("audit");
    let rotated = (1..=keep).rev().map(|number| format!("audit.{number}.jsonl"));
    let files = rotated.chain(["audit.jsonl".to_owned()]);
    let texts = files.filter_map(|name| fs::read_to_string(folder.join(name)).ok());
    texts
        .flat_map(|text| {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn files_rotate_and_lose_no_record_that_they_keep() {
    let home = Home::with(&[ECHO]);
    home.refreshed();
    // Each process writes what it has gathered when it ends; opening the log again stands for one.
    for round in 0..20 {
        let mut config = home.config();
        config.audit = AuditConfig { max_file_len: 2_000, keep: 3, ..AuditConfig::default() };
        let toolbay = Toolbay::open(config).unwrap();
        for number in 0..5 {
            let text = "x".repeat(round * 5 + number + 1);
            call(&toolbay, "echo", &json!({ "text": text })).unwrap();
        }
    }
    let records = all_records(&home, 3);
    let sizes: Vec<u64> = records.iter().map(|one| one["reply_bytes"].as_u64().unwrap()).collect();
    let newest: Vec<u64> = (1..=100).collect();
    assert!(newest.ends_with(&sizes), "the newest records in their order: {sizes:?}");
    assert!(sizes.len() >= 15, "three full files are kept: {}", sizes.len());
    assert!(!home.path().join("audit/audit.4.jsonl").exists());
}

#[test]
fn several_processes_append_whole_lines_to_one_log() {
    let home = Home::with(&[ECHO]);
    home.refreshed();
    let processes: Vec<_> = (0..8)
        .map(|_| {
            std::process::Command::new(host_binary())
                .args(["--home".as_ref(), home.path().as_os_str()])
                .args(["call", "echo", "text=x"])
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(home.audit().len(), 8);
}

#[test]
fn the_record_of_a_call_that_may_write_is_in_the_file_when_the_call_returns() {
    let home = Home::with(&[ECHO]);
    let toolbay = home.refreshed();
    call(&toolbay, "undeclared", &json!({ "text": "x" })).unwrap_err();
    // The log is still open, and nothing has been waited for.
    let records = home.audit();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["effect"], "non_idempotent_write");
}

#[test]
fn records_wait_while_the_file_is_not_writable() {
    let home = Home::with(&[ECHO]);
    home.refreshed();
    let folder = home.path().join("audit");
    fs::remove_file(folder.join("audit.jsonl")).unwrap();
    symlink("/dev/full", folder.join("audit.jsonl")).unwrap();
    let toolbay = home.open();
    for _ in 0..3 {
        call(&toolbay, "undeclared", &json!({ "text": "x" })).unwrap_err();
    }
    fs::remove_file(folder.join("audit.jsonl")).unwrap();
    call(&toolbay, "undeclared", &json!({ "text": "x" })).unwrap_err();
    assert_eq!(home.audit().len(), 4, "none is lost and none is torn");
}
