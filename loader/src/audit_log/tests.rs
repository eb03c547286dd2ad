//! The log as its callers see it: what is written when, by how many, and what an unwilling disk leaves behind.

mod calls;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolbay_core::DecisionKind;

use super::*;
use crate::audit_query::{AuditItem, AuditTrail, DamagedLine};

/// A home with a log's folder in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir(home.folder()).unwrap();
        home
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join(folder::FOLDER)
    }

    fn current(&self) -> PathBuf {
        self.folder().join(folder::CURRENT)
    }

    fn open(&self, config: AuditConfig) -> AuditLog {
        AuditLog::open(&self.folder(), config).unwrap()
    }

    /// Every record, the oldest first, and every damaged line.
    fn read(&self) -> (Vec<Value>, Vec<DamagedLine>) {
        let (mut entries, mut damaged) = (Vec::new(), Vec::new());
        for item in AuditTrail::open(self.0.path()).unwrap().entries() {
            match item.unwrap() {
                AuditItem::Entry(entry) => entries.push(serde_json::from_str(&entry.line).unwrap()),
                AuditItem::Damaged(line) => damaged.push(line),
            }
        }
        (entries, damaged)
    }

    /// The members of this name of every record, in their order; no line may be damaged.
    fn all(&self, member: &str) -> Vec<Value> {
        let (entries, damaged) = self.read();
        assert_eq!(damaged, []);
        entries.iter().map(|entry| entry[member].clone()).collect()
    }
}

fn decision(subject: &str) -> DecisionRecord<'_> {
    DecisionRecord {
        at: Duration::from_millis(1_767_225_600_042),
        kind: DecisionKind::Enable,
        subject,
        actor: "user:ada",
        approval: None,
        owner: None,
        agent: None,
        run: None,
        refused: None,
        detail: None,
    }
}

fn line(text: &str) -> String {
    json!({ "time": "2026-01-01T00:00:00Z", "tool": text, "actor": "user:ada", "outcome": "ok" })
        .to_string()
        + "\n"
}

#[test]
fn a_decision_says_who_decided_what_and_is_in_the_file_when_it_returns() {
    let home = Home::new();
    let log = home.open(AuditConfig::default());
    let (id, agent, run) =
        ("7k3f".parse().unwrap(), "tutor".parse().unwrap(), "run-7".parse().unwrap());
    let full = DecisionRecord {
        kind: DecisionKind::Approve,
        approval: Some(&id),
        owner: Some("user:bo"),
        agent: Some(&agent),
        run: Some(&run),
        refused: Some("stale"),
        detail: Some("zone=\"public\""),
        ..decision("notes_delete,notes_write")
    };
    log.decide(&full).unwrap();
    log.decide(&decision("notes")).unwrap();
    let text = fs::read_to_string(home.current()).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = json!([
        {
            "time": "2026-01-01T00:00:00.042Z",
            "decision": "approve",
            "subject": "notes_delete,notes_write",
            "actor": "user:ada",
            "approval": "7k3f",
            "owner": "user:bo",
            "agent": "tutor",
            "run": "run-7",
            "refused": "stale",
            "detail": "zone=\"public\"",
        },
        { "time": "2026-01-01T00:00:00.042Z", "decision": "enable", "subject": "notes", "actor": "user:ada" },
    ]);
    assert_eq!(Value::from(lines), expected);
}

#[test]
fn what_a_decision_says_of_secrets_is_masked_at_every_level_and_it_is_bounded() {
    for privacy in [Privacy::None, Privacy::Metadata, Privacy::Redacted, Privacy::Full] {
        let home = Home::new();
        let log = home.open(AuditConfig { privacy, ..AuditConfig::default() });
        let run = "run-7".parse().unwrap();
        let long = "x".repeat(100_000);
        let detail = Some("mode=strict password=hunter2");
        log.decide(&DecisionRecord { detail, run: Some(&run), ..decision(&long) }).unwrap();
        let (entries, _) = home.read();
        let [entry] = &entries[..] else { panic!("{entries:?}") };
        let detail = entry["detail"].as_str().unwrap();
        assert!(detail.contains("mode=strict") && !detail.contains("hunter2"), "{detail}");
        assert!(entry["subject"].as_str().unwrap().len() <= 4_096);
        let without_run = privacy == Privacy::None;
        assert_eq!(entry["run"], if without_run { Value::Null } else { json!("run-7") });
    }
}

/// A log whose file takes nothing, with what stands in its way.
fn unwilling(what: &str) -> (Home, AuditLog) {
    let home = Home::new();
    let log = home.open(AuditConfig::default());
    fs::remove_file(home.current()).unwrap();
    match what {
        "a full disk" => symlink("/dev/full", home.current()).unwrap(),
        "a folder in its place" => fs::create_dir(home.current()).unwrap(),
        "a device that keeps nothing" => symlink("/dev/null", home.current()).unwrap(),
        "no folder" => {
            fs::remove_dir_all(home.folder()).unwrap();
            fs::write(home.folder(), "a file").unwrap();
        }
        other => panic!("{other}"),
    }
    (home, log)
}

fn make_willing(home: &Home) {
    let _ = fs::remove_file(home.current());
    let _ = fs::remove_dir(home.current());
    let _ = fs::remove_file(home.folder());
    let _ = fs::create_dir(home.folder());
}

#[test]
fn a_decision_that_cannot_be_kept_is_an_error_and_is_not_written_later() {
    let cases =
        ["a full disk", "a folder in its place", "a device that keeps nothing", "no folder"];
    for case in cases {
        let (home, log) = unwilling(case);
        log.decide(&decision("refused")).expect_err(case);
        make_willing(&home);
        log.decide(&decision("made")).unwrap();
        drop(log);
        assert_eq!(home.all("subject"), ["made"], "{case}");
    }
}

#[test]
fn what_a_process_left_of_a_line_swallows_no_other() {
    let home = Home::new();
    let log = home.open(AuditConfig::default());
    log.decide(&decision("first")).unwrap();
    let whole = fs::read_to_string(home.current()).unwrap();
    // A process that ended while it wrote.
    fs::write(home.current(), format!("{whole}{{\"time\":\"2026-01-01T00:0")).unwrap();
    log.decide(&decision("second")).unwrap();
    let (entries, damaged) = home.read();
    let subjects: Vec<_> = entries.iter().map(|entry| &entry["subject"]).collect();
    assert_eq!(subjects, ["first", "second"]);
    assert_eq!(damaged, [DamagedLine { path: home.current(), line: 2 }]);
}

#[test]
fn several_logs_that_rotate_under_each_other_lose_and_tear_no_line() {
    const WRITERS: usize = 4;
    const LINES: usize = 300;
    let home = Home::new();
    let config = AuditConfig { max_file_len: 1_000, keep: 100_000, ..AuditConfig::default() };
    let writer = |writer: usize| {
        let mut file = LogFile::open(&home.folder(), config.clone()).unwrap();
        for number in 0..LINES {
            let mut lines = line(&format!("{writer} {number}")).into_bytes();
            file.append(&mut lines).unwrap();
            assert!(lines.is_empty(), "all of it is in the file");
        }
    };
    thread::scope(|scope| {
        let writers: Vec<_> =
            (0..WRITERS).map(|number| scope.spawn(move || writer(number))).collect();
        // What is read meanwhile is whole, and has no gaps.
        while writers.iter().any(|writer| !writer.is_finished()) {
            in_order(&home.all("tool"));
        }
    });
    assert_eq!(in_order(&home.all("tool")), [LINES; WRITERS]);
}

/// How many lines of each writer there are, which are the first of it in their order.
fn in_order(tools: &[Value]) -> [usize; 4] {
    let mut next = [0; 4];
    for tool in tools {
        let (writer, number) = tool.as_str().unwrap().split_once(' ').unwrap();
        let next = &mut next[writer.parse::<usize>().unwrap()];
        assert_eq!(number.parse(), Ok(*next), "{tools:?}");
        *next += 1;
    }
    next
}

/// The names of the files but for the lock.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "audit.lock");
    names.sort();
    names
}

/// Writes a rotated file whose last record is so many days old.
fn rotated_file(home: &Home, number: usize, days: u64) -> PathBuf {
    let path = folder::numbered(&home.folder(), number);
    let then = std::time::SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
    let then = jiff::Timestamp::try_from(then).unwrap();
    let entry =
        json!({ "time": then.to_string(), "tool": "greet", "actor": "user:ada", "outcome": "ok" });
    fs::write(&path, format!("{entry}\n")).unwrap();
    path
}

#[test]
fn files_that_are_too_old_are_removed_when_the_log_is_opened_and_the_current_one_never_is() {
    let cases: [(u32, &[&str]); 4] = [
        (0, &["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.jsonl"]),
        (5, &["audit.1.jsonl", "audit.jsonl"]),
        (15, &["audit.1.jsonl", "audit.2.jsonl", "audit.jsonl"]),
        (1, &["audit.jsonl"]),
    ];
    for (keep_days, expected) in cases {
        let home = Home::new();
        for (number, days) in [(1, 2), (2, 10), (3, 20)] {
            rotated_file(&home, number, days);
        }
        fs::rename(rotated_file(&home, 9, 400), home.current()).unwrap();
        home.open(AuditConfig { keep_days, ..AuditConfig::default() });
        assert_eq!(names(&home.folder()), expected, "{keep_days} days");
    }
}

#[test]
fn a_file_without_a_record_is_as_old_as_the_file_and_its_name_must_be_one_of_the_log() {
    let home = Home::new();
    fs::write(folder::numbered(&home.folder(), 1), "nothing that can be read\n").unwrap();
    let old = rotated_file(&home, 2, 20);
    let other = fs::copy(old, home.folder().join("audit.2.jsonl.kept")).unwrap();
    assert!(other > 0);
    home.open(AuditConfig { keep_days: 5, ..AuditConfig::default() });
    assert_eq!(names(&home.folder()), ["audit.1.jsonl", "audit.2.jsonl.kept", "audit.jsonl"]);
}

#[test]
fn a_rotation_removes_what_is_too_old_and_what_is_too_many() {
    let home = Home::new();
    let config = AuditConfig { max_file_len: 1, keep: 3, keep_days: 5, ..AuditConfig::default() };
    let log = home.open(config);
    log.decide(&decision("first")).unwrap();
    for (number, days) in [(1, 1), (2, 2), (3, 20), (7, 3)] {
        rotated_file(&home, number, days);
    }
    log.decide(&decision("second")).unwrap();
    let expected = ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.jsonl"];
    assert_eq!(names(&home.folder()), expected);
    let (entries, _) = home.read();
    let subjects: Vec<_> = entries.iter().filter_map(|entry| entry["subject"].as_str()).collect();
    assert_eq!((subjects, entries.len()), (vec!["first", "second"], 4));
}
