//! `toolbay audit`, as an operator uses it.
#![cfg(test)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use toolbay_tests::{Home, call, host_binary};

const GREETING: &str = "toolbay-plugin-greeting";

fn command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new(host_binary());
    command.arg("--home").arg(home.path()).args(arguments);
    command
}

fn toolbay(home: &Home, arguments: &[&str]) -> Output {
    command(home, arguments).output().unwrap()
}

/// What `toolbay audit` printed, and what it complained of; it must have succeeded.
fn audit(home: &Home, arguments: &[&str]) -> (String, String) {
    let output = toolbay(home, &[&["audit"], arguments].concat());
    let complained = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {complained}");
    (String::from_utf8(output.stdout).unwrap(), complained)
}

fn records(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let (printed, _) = audit(home, &[arguments, &["--json"]].concat());
    let printed: Value = serde_json::from_str(&printed).unwrap();
    printed["records"].as_array().unwrap().clone()
}

fn log(home: &Home) -> PathBuf {
    home.path().join("audit/audit.jsonl")
}

/// A record at a second of 2026-01-01; members that are null are left out.
fn record(second: u32, members: Value) -> Value {
    let time = format!("2026-01-01T00:00:{second:02}.000Z");
    let mut record = json!({ "time": time, "actor": "user:ada" });
    let Value::Object(members) = members else { panic!("{members}") };
    record.as_object_mut().unwrap().extend(members);
    record
}

/// A home whose log has these records.
fn home(records: &[Value]) -> Home {
    let home = Home::new();
    fs::create_dir(home.path().join("audit")).unwrap();
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    fs::write(log(&home), lines).unwrap();
    home
}

/// One of each kind.
fn some() -> Vec<Value> {
    vec![
        record(
            1,
            json!({ "tool": "greet", "provider": "greeting", "effect": "read_only", "outcome": "ok", "duration_us": 1_500, "argument_bytes": 2, "reply_bytes": 6, "generation": 1 }),
        ),
        record(
            2,
            json!({ "tool": "notes_delete", "provider": "notes", "agent": "tutor", "run": "run-7", "effect": "non_idempotent_write", "outcome": "suspended", "code": "approval_pending", "approval": "7k3f" }),
        ),
        record(
            3,
            json!({ "decision": "approve", "subject": "notes_delete", "actor": "user:bo", "approval": "7k3f", "owner": "user:ada", "agent": "tutor", "run": "run-7" }),
        ),
        record(
            4,
            json!({ "tool": "notes_delete", "provider": "notes", "agent": "tutor", "run": "run-7", "effect": "non_idempotent_write", "outcome": "ok", "approval": "7k3f" }),
        ),
        record(
            5,
            json!({ "tool": "gret", "outcome": "refused", "reason": "notRegistered", "code": "not_registered" }),
        ),
        record(
            6,
            json!({ "tool": "greet", "provider": "greeting", "effect": "read_only", "outcome": "ok", "reason": "trustZone", "observed_only": true }),
        ),
        record(
            7,
            json!({ "decision": "disable", "subject": "notes", "actor": "user:bo", "refused": "unknown_tool" }),
        ),
    ]
}

#[test]
fn without_a_log_nothing_is_shown_and_a_note_says_where_it_would_be() {
    let home = Home::new();
    // Neither a configuration nor a plugin is needed.
    fs::write(home.path().join("toolbay.toml"), "no configuration").unwrap();
    let cases: [(&[&str], &str); 4] = [
        (&[], ""),
        (&["--jsonl"], ""),
        (&["--json"], "{\"records\":[\n],\"damaged\":0}\n"),
        (&["--summary"], ""),
    ];
    for (arguments, expected) in cases {
        let (printed, complained) = audit(&home, arguments);
        assert_eq!(printed, expected, "{arguments:?}");
        let folder = home.path().join("audit").display().to_string();
        assert!(complained.starts_with("note: ") && complained.contains(&folder), "{complained}");
    }
    assert!(!home.path().join("audit").exists(), "reading makes nothing");
}

#[test]
fn calls_are_shown_while_the_log_is_open_for_writing() {
    let home = Home::with(&[GREETING]);
    let toolbay = home.refreshed();
    call(&toolbay, "no_such_tool", &json!({})).unwrap_err();
    drop(toolbay);
    let open = home.open();
    assert_eq!(records(&home, &[]).len(), 1);
    // The file's lines and what is printed are the same.
    let (printed, complained) = audit(&home, &["--jsonl"]);
    assert_eq!((printed, complained), (fs::read_to_string(log(&home)).unwrap(), String::new()));
    drop(open);
}

#[test]
fn people_get_a_table_of_the_last_fifty() {
    let (printed, _) = audit(&home(&some()), &[]);
    let expected = [
        "TIME                      ACTOR             TOOL          OUTCOME    WHY                             TOOK",
        "2026-01-01T00:00:01.000Z  user:ada          greet         ok                                         1.5ms",
        "2026-01-01T00:00:02.000Z  user:ada (tutor)  notes_delete  suspended  approval_pending, request 7k3f",
        "2026-01-01T00:00:03.000Z  user:bo (tutor)   notes_delete  approve    request 7k3f, of user:ada",
        "2026-01-01T00:00:04.000Z  user:ada (tutor)  notes_delete  ok         request 7k3f",
        "2026-01-01T00:00:05.000Z  user:ada          gret          refused    notRegistered",
        "2026-01-01T00:00:06.000Z  user:ada          greet         ok         trustZone (only observed)",
        "2026-01-01T00:00:07.000Z  user:bo           notes         disable    not done: unknown_tool",
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);

    let many: Vec<_> = (0..60)
        .map(|second| record(second, json!({ "tool": format!("tool-{second}"), "outcome": "ok" })))
        .collect();
    let home = home(&many);
    let (printed, _) = audit(&home, &[]);
    assert_eq!(printed.lines().count(), 51, "{printed}");
    assert!(!printed.contains("tool-9 ") && printed.contains("tool-10 "), "{printed}");
    assert_eq!(records(&home, &[]).len(), 60, "programs get all");
    assert_eq!(records(&home, &["--limit", "2"]), many[58..]);
}

#[test]
fn filters_choose_and_combine() {
    let home = home(&some());
    let cases: [(&[&str], &[u32]); 19] = [
        (&[], &[1, 2, 3, 4, 5, 6, 7]),
        (&["--tool", "greet"], &[1, 6]),
        (&["--tool", "greet", "--tool", "gret"], &[1, 5, 6]),
        (&["--provider", "notes"], &[2, 4]),
        (&["--actor", "bo"], &[3, 7]),
        (&["--agent", "tutor"], &[2, 3, 4]),
        (&["--run", "run-7"], &[2, 3, 4]),
        (&["--approval", "7k3f"], &[2, 3, 4]),
        (&["--outcome", "suspended"], &[2]),
        (&["--reason", "trustZone", "--reason", "not_registered"], &[5, 6]),
        (&["--decision"], &[3, 7]),
        (&["--decision", "approve"], &[3]),
        (&["--errors"], &[5, 7]),
        (&["--writes"], &[2, 4]),
        (&["--text", "GRET"], &[5]),
        (&["--since", "2026-01-01T00:00:06Z"], &[6, 7]),
        (&["--until", "2026-01-01T01:00:02+01:00"], &[1]),
        (&["--since", "1h"], &[]),
        (&["--tool", "notes_delete", "--writes", "--limit", "1"], &[4]),
    ];
    for (arguments, expected) in cases {
        let times: Vec<_> =
            records(&home, arguments).iter().map(|one| one["time"].clone()).collect();
        let expected: Vec<_> =
            expected.iter().map(|second| format!("2026-01-01T00:00:{second:02}.000Z")).collect();
        assert_eq!(times, expected, "{arguments:?}");
    }
    let (_, complained) = audit(&home, &["--since", "1h"]);
    assert!(complained.starts_with("note: no record"), "{complained}");
}

#[test]
fn a_mistake_on_the_command_line_is_told_with_what_was_expected() {
    let home = home(&some());
    let cases: [(&[&str], &[&str]); 6] = [
        (&["--outcome", "refuse"], &["refuse", "refused", "suspended"]),
        (&["--decision", "aprove"], &["aprove", "approve", "deny"]),
        (&["--since", "yesterday"], &["yesterday", "2h", "2026-07-01"]),
        (&["--csv", "--jsonl"], &["--csv", "--jsonl"]),
        (&["--csv", "--summary"], &["--csv", "--summary"]),
        (&["--limit", "all"], &["--limit", "all"]),
    ];
    for (arguments, words) in cases {
        let output = toolbay(&home, &[&["audit"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        for word in words {
            assert!(said.contains(word), "{arguments:?}: {word:?} is missing in {said}");
        }
    }
}

#[test]
fn damaged_lines_are_left_out_and_told() {
    let home = home(&some());
    let text = fs::read_to_string(log(&home)).unwrap();
    let place = log(&home).display().to_string();
    fs::write(log(&home), format!("{{\"time\n{text}")).unwrap();
    let (printed, complained) = audit(&home, &["--json"]);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&printed["damaged"], printed["records"].as_array().unwrap().len()), (&json!(1), 7));
    assert_eq!(complained, format!("warning: line 1 of {place} is no record, and was left out\n"));
    fs::write(log(&home), format!("{{\"time\n{text}}}\n")).unwrap();
    let (_, complained) = audit(&home, &[]);
    assert!(complained.starts_with("warning: 2 lines"), "{complained}");
}

#[test]
fn a_spreadsheet_gets_texts_and_no_formulas() {
    let hostile = json!({
        "tool": "=HYPERLINK(\"http://x\")", "outcome": "refused", "arguments": "@SUM(1;\n2)", "reply": "well; =1", "artifacts": ["-a", "b"],
        "written": "deleted", "target_type": "note", "target": "=a"
    });
    let home = home(&[record(1, hostile), some()[2].clone()]);
    let (printed, _) = audit(&home, &["--csv"]);
    let expected = concat!(
        "\"time\",\"kind\",\"tool\",\"provider\",\"actor\",\"agent\",\"run\",\"effect\",\"outcome\",\"reason\",",
        "\"observed_only\",\"code\",\"approval\",\"written\",\"target_type\",\"target\",\"duration_us\",\"argument_bytes\",\"reply_bytes\",\"generation\",",
        "\"arguments\",\"reply\",\"artifacts\",\"decision\",\"subject\",\"owner\",\"refused\",\"detail\"\n",
        "\"2026-01-01T00:00:01.000Z\",\"call\",\"'=HYPERLINK(\"\"http://x\"\")\",\"\",\"user:ada\",\"\",\"\",\"\",\"refused\",\"\",",
        "\"\",\"\",\"\",\"deleted\",\"note\",\"'=a\",\"\",\"\",\"\",\"\",\"'@SUM(1;\n2)\",\"well; =1\",\"'-a\nb\",\"\",\"\",\"\",\"\",\"\"\n",
        "\"2026-01-01T00:00:03.000Z\",\"decision\",\"\",\"\",\"user:bo\",\"tutor\",\"run-7\",\"\",\"\",\"\",",
        "\"\",\"\",\"7k3f\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"approve\",\"notes_delete\",\"user:ada\",\"\",\"\"\n",
    );
    assert_eq!(printed, expected);
}

#[test]
fn a_model_that_chooses_a_name_controls_no_terminal() {
    let home = home(&[record(1, json!({ "tool": "a\u{9b}31mb", "outcome": "refused" }))]);
    let tool = &records(&home, &[])[0]["tool"];
    assert_eq!(tool, "a\u{9b}31mb", "a program gets the same value");
    for form in ["--json", "--jsonl"] {
        let (printed, _) = audit(&home, &[form]);
        assert!(!printed.contains('\u{9b}') && printed.contains("\\u009b"), "{printed}");
    }
}

#[test]
fn a_summary_counts_calls_and_denials() {
    let home = home(&some());
    let (printed, _) = audit(&home, &["--summary", "--json"]);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&printed["calls"], &printed["damaged"]), (&json!(5), &json!(0)));
    assert_eq!(printed["decisions"], json!({ "approve": 1 }));
    assert_eq!(printed["attempts"], json!({ "disable": 1 }), "what was not done is no decision");
    // Edge case 85: the call that a gate only observed is no denial.
    assert_eq!(
        printed["denials"],
        json!([{ "reason": "notRegistered", "tool": "gret", "calls": 1 }])
    );
    let greet = json!({
        "tool": "greet", "provider": "greeting", "calls": 2, "outcomes": { "ok": 2 }, "failures": 0, "denials": 0,
        "argument_bytes": 2, "reply_bytes": 6, "duration_us": 1_500
    });
    assert_eq!(printed["tools"][0], greet);
    let bo = json!({ "actor": "user:bo", "calls": 0, "failures": 0, "denials": 0, "decisions": 1 });
    assert_eq!(printed["actors"][1], bo);

    let (printed, _) = audit(&home, &["--summary", "--tool", "gret"]);
    let expected = [
        "calls: 1, decisions: 0, 2026-01-01T00:00:05.000Z to 2026-01-01T00:00:05.000Z",
        "",
        "TOOL  PROVIDER  CALLS  FAILED  DENIED  OUTCOMES   ARGUMENTS  REPLIES  TIME",
        "gret            1      0       1       1 refused  0          0",
        "",
        "DENIED FOR     TOOL  CALLS",
        "notRegistered  gret  1",
        "",
        "ACTOR     CALLS  FAILED  DENIED  DECISIONS",
        "user:ada  1      0       1       0",
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn an_export_goes_to_a_file_of_ones_own_and_never_into_the_log() {
    let home = home(&some());
    let before = fs::read_to_string(log(&home)).unwrap();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    let (printed, _) = audit(&home, &["--jsonl", "--output", &path("export.jsonl")]);
    assert_eq!(
        (printed.as_str(), fs::read_to_string(path("export.jsonl")).unwrap()),
        ("", before.clone())
    );
    let mode = fs::metadata(path("export.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    audit(&home, &["--jsonl", "--limit", "1", "--output", &path("export.jsonl")]);
    assert_eq!(
        fs::read_to_string(path("export.jsonl")).unwrap().lines().count(),
        1,
        "it is replaced"
    );

    symlink(log(&home), path("link")).unwrap();
    let cases = [
        ("audit/audit.jsonl", 2, "audit.jsonl"),
        ("audit/audit.1.jsonl", 2, "audit.1.jsonl"),
        ("audit/../audit/new", 2, "new"),
        ("link", 2, "link"),
        ("plugins", 5, "plugins"),
        ("no/such/folder", 5, "folder"),
    ];
    for (name, code, word) in cases {
        let output = toolbay(&home, &["audit", "--output", &path(name)]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name}: {said}");
        assert!(said.contains(word), "{name}: {said}");
    }
    assert_eq!(fs::read_to_string(log(&home)).unwrap(), before);
    let files: Vec<_> = fs::read_dir(home.path().join("audit")).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[test]
fn whoever_stops_reading_is_told_nothing() {
    let many: Vec<_> =
        (0..20_000).map(|_| record(1, json!({ "tool": "greet", "outcome": "ok" }))).collect();
    let home = home(&many);
    for form in ["--json", "--jsonl", "--csv"] {
        let mut child = command(&home, &["audit", form])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The pipe holds less than there is to print.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*said), (Some(0), ""), "{form}");
    }
}

#[test]
fn the_configuration_says_how_much_is_kept_and_a_wrong_word_is_told_with_the_right_one() {
    let home = Home::with(&[GREETING]);
    assert!(toolbay(&home, &["refresh"]).status.success());
    let levels = [
        ("none", false, false),
        ("metadata", true, false),
        ("redacted", true, true),
        ("full", true, true),
    ];
    for (level, measured, content) in levels {
        home.configuration(&format!("[audit]\nprivacy = \"{level}\"\n"));
        assert!(toolbay(&home, &["call", "greet", "name=Ada"]).status.success());
        let last = &records(&home, &["--limit", "1"])[0];
        assert_eq!(
            (last["duration_us"].is_u64(), last["arguments"].is_string()),
            (measured, content),
            "{level}: {last}"
        );
    }
    home.configuration("[audit]\nprivacy = \"metdata\"\n");
    let output = toolbay(&home, &["call", "greet"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    for word in ["line 4", "metdata", "did you mean \"metadata\"?"] {
        assert!(said.contains(word), "{word:?} is missing in {said}");
    }
}
