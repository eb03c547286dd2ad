//! `toolbay watch`: whoever writes a plugin sees what becomes of each build, and whoever uses it has the last one.
#![cfg(test)]

use std::{
    fs,
    io::{BufRead, BufReader, Lines},
    process::{Child, ChildStdout},
};

use toolbay_tests::{Home, bundle::patch, library};

const GREETING: &str = "toolbay-plugin-greeting";
const ECHO: &str = "toolbay-fixture-echo";

/// The command, which is ended with this.
struct Watching {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn of(home: &Home, words: &[&str]) -> Self {
        let mut process = home.start(&[&["watch"], words].concat());
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// Reads on until a line has this in it.
    fn until(&mut self, words: &str) -> String {
        let mut read = Vec::new();
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            if line.contains(words) {
                return line;
            }
            read.push(line);
        }
        panic!("no line with {words:?} among {read:?}")
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn what_comes_goes_and_changes_in_a_plugin_directory_is_registered() {
    let home = Home::with(&[GREETING]);
    let mut watching = Watching::of(&home, &[]);
    watching.until("greeting");
    assert_eq!(home.printed(&["call", "greet"]), "Hello.\n");

    // In several steps, as a linker writes.
    let there = home.plugin("echo.so");
    let content = fs::read(library(ECHO)).unwrap();
    fs::write(&there, &content[..content.len() / 2]).unwrap();
    fs::write(&there, &content).unwrap();
    watching.until("echo");
    assert_eq!(home.printed(&["call", "echo", "text=a"]), "a\n");

    fs::remove_file(home.plugin(&format!("{GREETING}.so"))).unwrap();
    watching.until("PROVIDER");
    let left = watching.until("echo");
    assert!(left.starts_with("echo"), "{left}");
    assert_eq!(home.run(&["call", "greet"]).code, 3);
}

#[test]
fn a_file_is_installed_whenever_it_is_built_and_a_bad_build_leaves_the_last_one() {
    let home = Home::with(&[]);
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("plugin.so");
    let build = |version: &str| {
        let mut content = fs::read(library(GREETING)).unwrap();
        let [from, to] = ["0.1.0", version].map(|version| format!("\"version\":\"{version}\""));
        patch(&mut content, from.as_bytes(), to.as_bytes());
        // As cargo does: another file takes the name.
        fs::write(folder.path().join("draft"), content).unwrap();
        fs::rename(folder.path().join("draft"), &there).unwrap();
    };
    build("0.1.1");
    let mut watching = Watching::of(&home, &[there.to_str().unwrap()]);
    watching.until("installed greeting 0.1.1");
    build("0.1.2");
    watching.until("installed greeting 0.1.2");
    fs::write(&there, "no library").unwrap();
    watching.until("not taken");
    assert_eq!(home.printed(&["call", "greet"]), "Hello.\n");
    build("0.1.3");
    watching.until("installed greeting 0.1.3");
}
