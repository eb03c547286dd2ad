//! Logs as they may be found.

mod choosing;

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::audit_log::folder::{CURRENT, FOLDER};

/// A call's record with other members than usual.
fn call(members: Value) -> Value {
    let mut record = json!({
        "time": "2026-01-01T00:00:00.000Z",
        "tool": "greet",
        "provider": "greeting",
        "actor": "user:ada",
        "effect": "read_only",
        "outcome": "ok",
        "duration_us": 5,
        "argument_bytes": 2,
        "reply_bytes": 6,
        "generation": 1,
    });
    change(&mut record, members);
    record
}

fn decision(members: Value) -> Value {
    let mut record = json!({
        "time": "2026-01-01T00:00:00.000Z",
        "decision": "approve",
        "subject": "notes_delete,notes_write",
        "actor": "user:ada",
        "approval": "7k3f",
        "owner": "user:bo",
    });
    change(&mut record, members);
    record
}

/// Sets members, and removes those that are null.
fn change(record: &mut Value, members: Value) {
    let (Value::Object(record), Value::Object(members)) = (record, members) else { panic!() };
    for (name, value) in members {
        match value.is_null() {
            true => record.remove(&name),
            false => record.insert(name, value),
        };
    }
}

fn parse(record: &Value) -> AuditEntry {
    AuditEntry::parse(record.to_string().as_bytes()).unwrap()
}

/// A home whose log has these files, by name.
fn home(files: &[(&str, &[u8])]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join(FOLDER)).unwrap();
    for (name, content) in files {
        fs::write(file(&home, name), content).unwrap();
    }
    home
}

fn file(home: &TempDir, name: &str) -> PathBuf {
    home.path().join(FOLDER).join(name)
}

fn lines(tools: &[&str]) -> Vec<u8> {
    let lines = tools.iter().map(|tool| call(json!({ "tool": tool })).to_string() + "\n");
    lines.collect::<String>().into_bytes()
}

/// What the log holds: the tools of records, and the places of damaged lines.
fn read(home: &TempDir) -> (Vec<String>, Vec<(String, u64)>) {
    let (mut tools, mut damaged) = (Vec::new(), Vec::new());
    for item in AuditTrail::open(home.path()).unwrap().entries() {
        match item.unwrap() {
            AuditItem::Entry(entry) => tools.push(entry.call().unwrap().tool.clone()),
            AuditItem::Damaged(DamagedLine { path, line }) => {
                damaged.push((path.file_name().unwrap().to_str().unwrap().to_owned(), line));
            }
        }
    }
    (tools, damaged)
}

#[test]
fn records_come_from_the_oldest_file_to_the_current_one_whatever_is_missing() {
    let home = home(&[
        (CURRENT, &lines(&["e", "f"])),
        ("audit.1.jsonl", &lines(&["d"])),
        // Somebody has taken 2 away.
        ("audit.3.jsonl", &lines(&["c"])),
        ("audit.10.jsonl", &lines(&["a", "b"])),
        ("audit.2.jsonl.bak", &lines(&["x"])),
    ]);
    assert_eq!(read(&home).0, ["a", "b", "c", "d", "e", "f"]);
    fs::remove_file(file(&home, CURRENT)).unwrap();
    assert_eq!(read(&home).0, ["a", "b", "c", "d"]);
}

#[test]
fn a_log_that_nobody_has_written_to_is_empty_and_one_that_cannot_be_read_is_an_error() {
    let none = tempfile::tempdir().unwrap();
    let trail = AuditTrail::open(none.path()).unwrap();
    assert!(trail.is_empty());
    assert_eq!(trail.entries().count(), 0);

    let folder = home(&[]);
    fs::create_dir(file(&folder, CURRENT)).unwrap();
    let trail = AuditTrail::open(folder.path()).unwrap();
    let results: Vec<_> = trail.entries().collect();
    let [Err(error)] = &results[..] else { panic!("{results:?}") };
    let expected = format!("audit log {}: not readable", file(&folder, CURRENT).display());
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_damaged_line_is_named_and_hides_no_other() {
    let good = call(json!({})).to_string();
    let long = format!("{{\"time\":\"{}", "x".repeat(3 * 1024 * 1024));
    let no_utf8 = [good.as_bytes(), b"\xff"].concat();
    let cases: [(&str, &[u8]); 8] = [
        ("half a line", &good.as_bytes()[..40]),
        ("no JSON", b"yesterday somebody called something"),
        ("no record", b"[1, 2]"),
        ("neither call nor decision", br#"{"time":"2026-01-01T00:00:00Z","actor":"user:ada"}"#),
        ("no time", br#"{"time":"noon","actor":"user:ada","tool":"a","outcome":"ok"}"#),
        (
            "a member of another type",
            br#"{"time":"2026-01-01T00:00:00Z","actor":7,"tool":"a","outcome":"ok"}"#,
        ),
        ("no UTF-8", &no_utf8),
        ("far too long", long.as_bytes()),
    ];
    for (case, damage) in cases {
        let text = [&*lines(&["a"]), b"\n", damage, b"\n", &lines(&["b"])].concat();
        let home = home(&[(CURRENT, &text)]);
        let damaged = vec![(CURRENT.to_owned(), 3)];
        assert_eq!(read(&home), (vec!["a".to_owned(), "b".to_owned()], damaged), "{case}");
    }
}

#[test]
fn what_stands_after_the_last_line_end_is_read_where_it_is_whole() {
    let mut text = lines(&["a", "b"]);
    text.pop();
    assert_eq!(read(&home(&[(CURRENT, &text)])).0, ["a", "b"]);
    text.truncate(text.len() - 5);
    let (tools, damaged) = read(&home(&[(CURRENT, &text)]));
    assert_eq!((tools, damaged), (vec!["a".to_owned()], vec![(CURRENT.to_owned(), 2)]));
}

#[test]
fn the_last_records_come_from_as_few_files_as_can_be() {
    let home = home(&[
        (CURRENT, &lines(&["e", "f"])),
        ("audit.1.jsonl", &lines(&["c", "x", "d"])),
        ("audit.2.jsonl", b"damaged\n"),
        ("audit.3.jsonl", &lines(&["a", "x", "b"])),
    ]);
    let wanted = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
    let filter = AuditFilter { tools: wanted, ..AuditFilter::default() };
    let cases: [(usize, &[&str], usize); 7] = [
        (0, &[], 0),
        (1, &["f"], 0),
        (2, &["e", "f"], 0),
        (3, &["d", "e", "f"], 0),
        (4, &["c", "d", "e", "f"], 0),
        (5, &["b", "c", "d", "e", "f"], 1),
        (99, &["a", "b", "c", "d", "e", "f"], 1),
    ];
    for (limit, expected, damaged) in cases {
        let tail = AuditTrail::open(home.path()).unwrap().last(limit, &filter).unwrap();
        let tools: Vec<_> = tail.entries.iter().map(|entry| &*entry.call().unwrap().tool).collect();
        assert_eq!((&tools[..], tail.damaged.len()), (expected, damaged), "the last {limit}");
    }
}

#[test]
fn what_is_written_after_the_log_was_opened_is_not_seen_and_what_is_renamed_is() {
    let home = home(&[(CURRENT, &lines(&["b"])), ("audit.1.jsonl", &lines(&["a"]))]);
    let trail = AuditTrail::open(home.path()).unwrap();
    let current = fs::read(file(&home, CURRENT)).unwrap();
    fs::write(file(&home, CURRENT), [current, lines(&["c"])].concat()).unwrap();
    fs::rename(file(&home, "audit.1.jsonl"), file(&home, "audit.2.jsonl")).unwrap();
    fs::rename(file(&home, CURRENT), file(&home, "audit.1.jsonl")).unwrap();
    let tools: Vec<_> = trail
        .entries()
        .map(|item| match item.unwrap() {
            AuditItem::Entry(entry) => entry.call().unwrap().tool.clone(),
            AuditItem::Damaged(line) => panic!("{line:?}"),
        })
        .collect();
    assert_eq!(tools, ["a", "b"]);
    assert_eq!(read(&home).0, ["a", "b", "c"]);
}

#[test]
fn a_record_keeps_what_this_release_does_not_know() {
    let record = call(json!({ "outcome": "postponed", "weather": "rain" }));
    let entry = parse(&record);
    assert_eq!(serde_json::from_str::<Value>(&entry.line).unwrap(), record);
    assert_eq!(entry.call().unwrap().outcome, "postponed");
}
