//! The program `toolbay-corpus`, as the author of another host uses it.
#![cfg(test)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tempfile::TempDir;
use toolbay_loader::ContentHash;
use toolbay_tests::{Ended, corpus_binary, host_binary, library, stripped};

/// A folder with the provider as it was built.
struct Built {
    folder: TempDir,
    provider: PathBuf,
}

impl Built {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let provider = stripped(&library("toolbay-fixture-violent"), folder.path());
        Self { folder, provider }
    }

    fn run(&self, words: &[&str], rest: &[&str]) -> Ended {
        let others = env::var_os("PATH").unwrap_or_default();
        let own = host_binary().parent().unwrap().to_owned();
        let path = env::join_paths(std::iter::once(own).chain(env::split_paths(&others))).unwrap();
        let mut command = Command::new(corpus_binary());
        command.args(words).arg("--provider").arg(&self.provider).args(rest);
        Ended::of(command.env("PATH", path).output().unwrap())
    }
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/hosts/toolbay.sh")
}

#[test]
fn every_file_that_it_makes_is_the_one_that_the_index_says() {
    let built = Built::new();
    let folder = built.folder.path().join("made");
    let made = built.run(&["make", folder.to_str().unwrap()], &[]).with(0);
    let index = fs::read_to_string(folder.join("corpus.json")).unwrap();
    let index: Value = serde_json::from_str(&index).unwrap();
    let cases = index["cases"].as_array().unwrap();
    assert!(made.output.starts_with(&format!("{} cases in ", cases.len())), "{made:?}");
    let listed =
        Ended::of(Command::new(corpus_binary()).args(["list", "--json"]).output().unwrap());
    assert_eq!(listed.with(0).output.lines().count(), cases.len());
    for case in cases {
        for entry in [&case["library"], &case["twin"]] {
            let content = fs::read(folder.join(entry["path"].as_str().unwrap())).unwrap();
            assert_eq!(entry["sha256"], ContentHash::of(&content).to_string(), "{entry}");
        }
        let same = case["library"]["sha256"] == case["twin"]["sha256"];
        let told = case["made"].as_str().unwrap().contains("a call tells");
        assert_eq!(same, told, "the files of {} differ where no call tells the deed", case["id"]);
    }
}

/// Some of each kind: all of them are what the table of verdicts is made of.
const SOME: &[&str] = &[
    "--only=well",
    "--only=file-other",
    "--only=file-no-header",
    "--only=constructor-exit-0",
    "--only=create-segfault",
    "--only=tools-hang",
    "--only=call-abort",
    "--only=call-panic",
    "--only=stop-segfault",
];

#[test]
fn toolbay_passes_with_the_script_of_the_readme() {
    let built = Built::new();
    let readme = include_str!("../../corpus/README.md");
    let words = "sh hosts/toolbay.sh {home} {library} {tool} {arguments}";
    assert!(readme.contains(&format!("check --says 'the host is there' -- {words}")));
    let command = words.replace("hosts/toolbay.sh", script().to_str().unwrap());
    let command: Vec<_> = command.split(' ').collect();
    let rest = [&["--says", "the host is there"], SOME, &["--"], &command].concat();
    let ended = built.run(&["check"], &rest).with(0);
    assert_eq!(ended.output.lines().last(), Some("9 passed, 0 failed"), "{ended:?}");
}

#[test]
fn a_host_that_does_not_survive_fails_and_is_told_why() {
    let built = Built::new();
    let hosts = [
        ("60", "kill -SEGV $$", "the host: expected an exit code, found signal 11"),
        ("60", "exit 139", "the host: expected an exit code below 128, found 139"),
        ("60", "exit 0", "the host: expected it to say \"there\""),
        ("0.2", "exec sleep 60", "the host: expected an end within 0.2 s, found none"),
        ("60", "echo there; exit 1", "the twin: expected the exit code 0, found 1"),
    ];
    for (limit, host, why) in hosts {
        let rest = ["--only=well", "--limit", limit, "--says=there", "--", "sh", "-c", host];
        let ended = built.run(&["check"], &rest).with(1);
        assert!(ended.output.contains(why), "{host}: {}", ended.output);
        assert_eq!(ended.output.lines().last(), Some("0 passed, 1 failed"), "{host}");
    }
    let rest = ["--only=well", "--says=there", "--", "sh", "-c", "echo there"];
    assert_eq!(built.run(&["check"], &rest).with(0).output, "passed well\n1 passed, 0 failed\n");
    let none = built.run(&["check"], &["--only=none", "--", "true"]).with(1);
    assert_eq!(none.output, "0 passed, 0 failed\n", "nothing was checked");
    let missing = built.run(&["check"], &["--only=well", "--", "/nowhere/host"]).with(2);
    assert!(missing.errors.contains("/nowhere/host can't be run"), "{missing:?}");
    let other = Command::new(corpus_binary())
        .args(["check", "--provider", "/bin/true", "--", "true"])
        .output();
    let other = Ended::of(other.unwrap()).with(2);
    assert!(other.errors.contains("is not the violent provider of this release"), "{other:?}");
}
