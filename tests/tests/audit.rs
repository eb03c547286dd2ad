//! The audit log: one line for each call, whole lines from several processes, and files that rotate.
#![cfg(test)]

use std::{fs, os::unix::fs::symlink, process::Command};

use serde_json::{Value, json};
use toolbay_loader::{Actor, AuditConfig, CallRequest, Caller, Privacy, Toolbay};
use toolbay_tests::{Home, call, host_binary};

const ECHO: &str = "toolbay-fixture-echo";
const MISBEHAVING: &str = "toolbay-fixture-misbehaving";

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
            Command::new(host_binary())
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

#[test]
fn half_a_line_that_a_full_disk_has_taken_is_taken_back() {
    let home = Home::with(&[ECHO]);
    home.refreshed();
    let log = home.path().join("audit/audit.jsonl");
    let record = json!({
        "time": "2026-01-01T00:00:00.000Z", "tool": "x".repeat(4_000), "actor": "user:ada", "outcome": "ok"
    });
    let before = format!("{record}\n");
    assert!((4_000..4_096).contains(&before.len()), "the next record begins below the limit");
    fs::write(&log, &before).unwrap();
    // In units of 512 bytes.
    let limited = "trap '' XFSZ && ulimit -f 8 && exec \"$@\"";
    for (shell, expected) in [(limited, 1), ("exec \"$@\"", 2)] {
        let output = Command::new("sh")
            .args(["-c", shell, "sh"])
            .arg(host_binary())
            .args(["--home".as_ref(), home.path().as_os_str()])
            .args(["call", "echo", "text=x"])
            .output()
            .unwrap();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the call itself goes on: {complained}");
        assert_eq!(complained.contains("not writable"), shell == limited, "{complained}");
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.starts_with(&before) && text.ends_with('\n'), "{text}");
        assert_eq!(home.audit().len(), expected, "{text}");
    }
}

const LEVELS: [Privacy; 4] = [Privacy::None, Privacy::Metadata, Privacy::Redacted, Privacy::Full];

/// The lines that these calls leave at each level, in that order.
fn at_each_level(calls: &[(&str, Value)]) -> [Vec<Value>; 4] {
    LEVELS.map(|privacy| {
        let home = Home::with(&[ECHO, MISBEHAVING]);
        home.refreshed();
        let mut config = home.config();
        config.audit.privacy = privacy;
        let toolbay = Toolbay::open(config).unwrap();
        for (tool, arguments) in calls {
            // How it ends is in the line.
            let _ = call(&toolbay, tool, arguments);
        }
        drop(toolbay);
        let records = home.audit();
        assert_eq!(records.len(), calls.len(), "one line for each call at {privacy}");
        records
    })
}

#[test]
fn a_secret_of_arguments_and_replies_is_in_the_log_at_the_full_level_alone() {
    let text = "the word is said, password=hunter2 and no other";
    let calls = [
        ("echo", json!({ "text": text })),
        ("echo", json!({ "text": "well", "api_key": "hunter2" })),
        ("no_such_tool", json!({ "token": "hunter2", "max_tokens": 17 })),
        ("whoami", json!({ "headers": [{ "Authorization": "Bearer hunter2" }] })),
    ];
    let [none, metadata, redacted, full] = at_each_level(&calls);
    for records in [&none, &metadata] {
        for record in records {
            let content = ["arguments", "reply", "artifacts"].map(|member| &record[member]);
            assert_eq!(content, [&Value::Null; 3], "{record}");
        }
    }
    for records in [&none, &metadata, &redacted] {
        assert!(!Value::from(records.clone()).to_string().contains("hunter2"), "{records:?}");
    }
    let masked = "the word is said, password=*** and no other";
    assert_eq!(redacted[0]["reply"], masked);
    assert_eq!(redacted[0]["arguments"], json!({ "text": masked }).to_string());
    assert_eq!(redacted[1]["arguments"], r#"{"api_key":"***","text":"well"}"#);
    assert_eq!(redacted[2]["arguments"], r#"{"max_tokens":17,"token":"***"}"#);
    for (record, (_, arguments)) in full.iter().zip(&calls) {
        assert_eq!(record["arguments"], arguments.to_string());
    }
    assert_eq!(full[0]["reply"], text);
}

#[test]
fn of_a_reply_in_many_forms_only_what_a_model_reads_and_the_artifacts_names_are_kept() {
    let [none, metadata, redacted, full] = at_each_level(&[("forms", json!({}))]);
    for record in [&none[0], &metadata[0]] {
        assert_eq!((&record["reply"], &record["artifacts"]), (&Value::Null, &Value::Null));
    }
    for record in [&redacted[0], &full[0]] {
        assert_eq!(record["reply"], "first\n\nlast");
        assert_eq!(record["artifacts"], json!(["for people", "a table"]));
        assert!(!record.to_string().contains("a secret of the people"), "{record}");
    }
}

/// Edge case 35.
#[test]
fn what_a_tool_says_while_it_breaks_off_or_of_the_cause_of_a_failure_is_in_no_line() {
    let calls = [
        ("misbehave", json!({ "mode": "panic" })),
        ("misbehave", json!({ "mode": "fail" })),
        ("misbehave", json!({ "mode": "well" })),
    ];
    for (privacy, records) in LEVELS.into_iter().zip(at_each_level(&calls)) {
        let outcomes: Vec<_> = records.iter().map(|record| &record["outcome"]).collect();
        assert_eq!(outcomes, ["fault", "failed", "ok"], "{privacy}");
        let text = Value::from(records.clone()).to_string();
        for secret in ["a misfortune", "hunter2", "lib.rs"] {
            assert!(!text.contains(secret), "{privacy}: {text}");
        }
        let content = matches!(privacy, Privacy::Redacted | Privacy::Full);
        let said = ["the service said no", "well"].map(|said| content.then_some(said));
        let replies = [&records[1]["reply"], &records[2]["reply"]].map(Value::as_str);
        assert_eq!(replies, said, "{privacy}: what the model reads");
        assert_eq!(records[0]["reply"], Value::Null, "{privacy}: it reads nothing of a panic");
    }
}
