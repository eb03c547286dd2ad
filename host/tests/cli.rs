//! The program as scripts see it: output, messages and exit codes. No plugin is needed for any of it.
#![cfg(test)]

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Ended {
    code: Option<i32>,
    output: String,
    errors: String,
}

fn program(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbay"));
    command.arg("--home").arg(home).env_remove("TOOLBAY_LOG");
    command
}

fn run(home: &Path, words: &[&str], input: &str) -> Ended {
    let mut child = program(home)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read leaves the pipe broken.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let ended = child.wait_with_output().unwrap();
    Ended {
        code: ended.status.code(),
        output: String::from_utf8(ended.stdout).unwrap(),
        errors: String::from_utf8(ended.stderr).unwrap(),
    }
}

/// A home with this configuration and nothing else.
fn home(configuration: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("toolbay.toml"), configuration).unwrap();
    home
}

#[test]
fn an_empty_home_has_no_tools_and_says_how_to_come_by_some() {
    let home = tempfile::tempdir().unwrap();
    let hint = format!(
        "note: no plugins are registered; `toolbay install BUNDLE` installs one, and `toolbay refresh` takes what is in {}/plugins\n",
        home.path().display()
    );
    let listed = run(home.path(), &["list"], "");
    assert_eq!((listed.code, listed.output.as_str(), &listed.errors), (Some(0), "", &hint));

    let listed = run(home.path(), &["list", "--all", "--json"], "");
    let expected = json!({ "generation": 0, "tools": [], "providers": [] });
    assert_eq!(serde_json::from_str::<Value>(&listed.output).unwrap(), expected);
    assert_eq!((listed.code, &listed.errors), (Some(0), &hint));
}

#[test]
fn the_hint_names_the_configured_directories() {
    let home = home("[plugins]\ndirectories = [\"one\", \"/two\"]");
    let listed = run(home.path(), &["list"], "");
    let expected = format!("takes what is in {}/one or /two\n", home.path().display());
    assert!(listed.errors.contains(&expected), "{}", listed.errors);
}

#[test]
fn a_command_fails_with_the_code_of_whoever_can_help() {
    let empty = home("");
    let wrong = home("[log]\nlevel = \"loud\"");
    let no_directory = home("");
    fs::write(no_directory.path().join("audit"), "a file where a folder should be").unwrap();
    let text = empty.path().join("notes.txt");
    fs::write(&text, "not a library").unwrap();
    let cases: [(&TempDir, &[&str], i32, &str); 14] = [
        (&empty, &["call", "greet"], 3, "error: no tool is named \"greet\""),
        (&empty, &["call", "greet", "de"], 2, "error: argument \"de\": expected key=value"),
        (
            &empty,
            &["call", "greet", "a:=b"],
            2,
            "error: argument \"a\": expected JSON after \":=\"",
        ),
        (&empty, &["call", "greet", "--agent", "a"], 3, "error: agent \"a\" unknown"),
        (
            &empty,
            &["call", "greet", "--agent", "a b"],
            2,
            "agent name: expected 1 to 64 characters",
        ),
        (&empty, &["call"], 2, "<TOOL>"),
        (&empty, &["frobnicate"], 2, "frobnicate"),
        (&empty, &["serve"], 2, "--stdio"),
        (&empty, &["inspect", "greeting"], 3, "\"greeting\" is no file and no registered provider"),
        (&empty, &["inspect", "./missing.so"], 5, "unreadable_file"),
        (
            &empty,
            &["inspect", text.to_str().unwrap()],
            3,
            "expected a bundle, or a library with a Toolbay note, found no ELF file",
        ),
        (&empty, &["inspect", "/"], 3, "no_manifest"),
        (&wrong, &["list"], 5, "toolbay.toml, line 2: unknown variant `loud`"),
        (&no_directory, &["list"], 5, "audit.jsonl: not writable"),
    ];
    for (home, words, code, message) in cases {
        let ended = run(home.path(), words, "");
        assert!(ended.errors.contains(message), "{words:?}: {}", ended.errors);
        assert_eq!((ended.code, ended.output.as_str()), (Some(code), ""), "{words:?}");
    }
}

#[test]
fn an_error_is_json_for_programs() {
    let home = home("");
    let called = run(home.path(), &["call", "greet", "--json", "-"], "{}");
    let expected = json!({
        "error": {
            "code": "not_registered",
            "party": "caller",
            "message": "no tool is named \"greet\"",
        },
    });
    assert_eq!(serde_json::from_str::<Value>(&called.output).unwrap(), expected);
    assert_eq!(called.code, Some(3));
}

#[test]
fn a_refresh_that_leaves_something_out_says_so() {
    let home = home("[plugins]\ndirectories = [\"missing\"]\n[providers.greeting]\na = 1");
    let refreshed = run(home.path(), &["refresh", "--json"], "");
    let report: Value = serde_json::from_str(&refreshed.output).unwrap();
    assert_eq!(report["rejections"][0]["code"], "unreadable_directory");
    assert_eq!(report["rejections"][0]["party"], "environment");
    assert!(refreshed.errors.contains("configures provider \"greeting\", which no plugin is"));
    assert_eq!(refreshed.code, Some(3));

    fs::create_dir(home.path().join("missing")).unwrap();
    fs::write(home.path().join("missing/notes.txt"), "no plugin").unwrap();
    let refreshed = run(home.path(), &["refresh", "--verbose"], "");
    let expected = format!("ignored: {}/missing/notes.txt: no ELF file\n", home.path().display());
    assert_eq!((refreshed.code, refreshed.output), (Some(0), expected));
}

#[test]
fn a_damaged_registry_is_told_until_it_is_refreshed() {
    let home = home("");
    assert_eq!(run(home.path(), &["refresh"], "").code, Some(0));
    fs::write(home.path().join("registry.json"), "{").unwrap();
    let listed = run(home.path(), &["list"], "");
    assert!(listed.errors.starts_with("warning: registry file "), "{}", listed.errors);
    assert_eq!(listed.code, Some(0));

    let refreshed = run(home.path(), &["refresh"], "");
    assert!(!refreshed.errors.contains("warning: registry file "), "{}", refreshed.errors);
    assert!(!run(home.path(), &["list"], "").errors.contains("warning"));
}

#[test]
fn the_home_comes_from_the_environment_too() {
    let data = tempfile::tempdir().unwrap();
    let explicit = tempfile::tempdir().unwrap();
    let list = |explicit: Option<&Path>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbay"));
        command.arg("list").env("XDG_DATA_HOME", data.path()).env_remove("TOOLBAY_HOME");
        command.envs(explicit.map(|path| ("TOOLBAY_HOME", path)));
        assert!(command.output().unwrap().status.success());
    };
    list(None);
    assert!(data.path().join("toolbay/audit").is_dir());
    list(Some(explicit.path()));
    assert!(explicit.path().join("audit").is_dir());
}

#[test]
fn help_version_and_completions_are_output() {
    let home = home("");
    let cases: [(&[&str], &str); 8] = [
        (&["--help"], "Exit codes:\n  0  everything was done\n"),
        (&["call", "--help"], "key:=JSON"),
        (&["--version"], concat!("toolbay ", env!("CARGO_PKG_VERSION"))),
        (&["completions", "bash"], "_toolbay()"),
        (&["completions", "zsh"], "#compdef toolbay"),
        (&["completions", "fish"], "complete -c toolbay"),
        (&["completions", "elvish"], "edit:completion:arg-completer[toolbay]"),
        (&["completions", "powershell"], "Register-ArgumentCompleter"),
    ];
    for (words, expected) in cases {
        let ended = run(home.path(), words, "");
        assert!(ended.output.contains(expected), "{words:?}: {}", ended.output);
        assert_eq!((ended.code, ended.errors.as_str()), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn a_reader_that_goes_ends_the_program_quietly() {
    let home = home("");
    for words in [["completions", "bash"], ["list", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = program(home.path()).args(words).stdout(writer).output().unwrap();
        let errors = String::from_utf8(ended.stderr).unwrap();
        assert!(!errors.contains("error"), "{words:?}: {errors}");
        assert_eq!(ended.status.code(), Some(0), "{words:?}");
    }
}

#[test]
fn output_that_goes_nowhere_is_an_error() {
    let home = home("");
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ended = program(home.path()).args(["list", "--json"]).stdout(full).output().unwrap();
    let errors = String::from_utf8(ended.stderr).unwrap();
    assert!(errors.contains("error: standard output is not writable"), "{errors}");
    assert_eq!(ended.status.code(), Some(5));
}

#[test]
fn a_server_says_nothing_but_its_protocol() {
    let home = home("");
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let served = run(home.path(), &["serve", "--stdio"], &format!("{initialize}\n{list}\n"));
    let lines: Vec<Value> =
        served.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["result"]["serverInfo"]["name"], "toolbay");
    assert_eq!(lines[1]["result"]["tools"], json!([]));
    assert_eq!(served.code, Some(0));
    let notes = [
        "note: serving as agent default, whose model runs in zone external_global",
        "note: no plugins are registered",
    ];
    assert!(notes.iter().all(|note| served.errors.contains(note)), "{}", served.errors);

    // A client that says nothing at all.
    assert_eq!(run(home.path(), &["serve", "--stdio"], "").code, Some(0));
}
