//! Bundles with several libraries: what a plugin brings with it is its own, and what the dynamic linker would mix up is refused.
#![cfg(test)]

use std::{fs, path::PathBuf, process::Command};

use serde_json::json;
use toolbay_corpus::Patch;
use toolbay_loader::{Party, Stage, Toolbay};
use toolbay_tests::{
    Ended,
    bay::{Bay, codes, install, verdict},
    bundle::{Draft, Key},
    c_library, call, host_binary, library,
};

const COMPANION: &str = "libtoolbay_fixture_companion.so";
const TAKEN: (Stage, &str) = (Stage::Load, "companion_name_taken");

/// A home, and the bundles of plugins that have a private library each.
struct Vendors {
    bay: Bay,
    key: Key,
    fixture: Draft,
}

impl Vendors {
    fn new() -> Self {
        let key = Key::new();
        let fixture = Draft::of_unopened(&library("toolbay-fixture-with-companion"));
        Self { bay: Bay::trusting(&key), key, fixture }
    }

    /// The bundle of the plugin of this word and version, with a companion that says a number.
    fn bundle(&self, word: &str, version: &str, number: u32) -> PathBuf {
        let mut draft = self.fixture.clone();
        for name in ["companion-", "number_"] {
            let [from, to] = ["first", word].map(|word| format!("{name}{word}"));
            draft = draft.with_patched_library(&from, &to);
        }
        draft.parts.id = format!("companion-{word}").parse().unwrap();
        draft.parts.tools[0].declared.name = tool(word).parse().unwrap();
        let mut draft = draft.with_version(version);
        let companion = self.bay.path(COMPANION);
        let defines = [format!("-DNUMBER={number}"), format!("-Wl,-soname,{COMPANION}")];
        c_library("companion.c", &companion, &defines.each_ref().map(AsRef::as_ref));
        draft.add_library(COMPANION, &fs::read(companion).unwrap());
        draft.zip(&self.bay.path(&format!("{word}-{version}")), Some(&self.key))
    }

    /// Runs the program in the home, in a process of its own.
    fn run(&self, words: &[&str]) -> Ended {
        let mut command = Command::new(host_binary());
        Ended::of(command.arg("--home").arg(self.bay.path("home")).args(words).output().unwrap())
    }
}

fn tool(word: &str) -> String {
    format!("number_{word}")
}

/// What the plugin of this word answers.
fn answer(toolbay: &Toolbay, word: &str) -> Result<String, (Stage, &'static str)> {
    let reply = call(toolbay, &tool(word), &json!({})).map_err(|error| verdict(&error))?;
    Ok(reply.model_text().into_owned())
}

fn says(word: &str, number: u32) -> Result<String, (Stage, &'static str)> {
    Ok(format!("number_{word} {number}"))
}

#[test]
fn a_private_library_of_a_name_that_is_taken_by_other_content_is_not_mixed_up() {
    let vendors = Vendors::new();
    let toolbay = vendors.bay.open();
    assert_eq!(install(&toolbay, vendors.bundle("first", "1.0.0", 1)).rejections, []);
    assert_eq!(answer(&toolbay, "first"), says("first", 1));

    let other = vendors.bundle("other", "1.0.0", 2);
    let report = install(&toolbay, &other);
    assert_eq!((codes(&report.rejections), report.installed.len()), (vec![TAKEN], 0));
    let reason = &report.rejections[0].reason;
    assert_eq!(reason.party(), Party::Environment);
    assert!(reason.found.contains(COMPANION), "{reason}");
    assert_eq!(answer(&toolbay, "first"), says("first", 1), "the first goes on");

    // The twin has the same content, and so it may be the very library that is loaded already.
    assert_eq!(install(&toolbay, vendors.bundle("third", "1.0.0", 1)).rejections, []);
    assert_eq!(answer(&toolbay, "third"), says("third", 1));

    // In a process that has no other, it is as good; and here it is refused when it is called.
    vendors.run(&["install", other.to_str().unwrap()]).with(0);
    assert_eq!(vendors.run(&["call", "number_other"]).with(0).output, "number_other 2\n");
    assert!(toolbay.reload().unwrap());
    assert_eq!(answer(&toolbay, "other"), Err(TAKEN));
    for word in ["first", "third"] {
        assert_eq!(answer(&toolbay, word), says(word, 1), "the others go on");
    }
}

#[test]
fn a_plugin_is_updated_under_a_running_process_where_its_private_library_is_not() {
    let vendors = Vendors::new();
    let toolbay = vendors.bay.open();
    assert_eq!(install(&toolbay, vendors.bundle("first", "1.0.0", 1)).rejections, []);
    assert_eq!(install(&toolbay, vendors.bundle("first", "1.1.0", 1)).rejections, []);
    assert_eq!(toolbay.providers()[0].version, "1.1.0");
    assert_eq!(codes(&install(&toolbay, vendors.bundle("first", "1.2.0", 2)).rejections), [TAKEN]);
    assert_eq!(toolbay.providers()[0].version, "1.1.0");
    assert_eq!(answer(&toolbay, "first"), says("first", 1));
    // After a restart there is none of the name.
    let later = vendors.bay.path("first-1.2.0");
    vendors.run(&["install", later.to_str().unwrap()]).with(0);
    assert_eq!(vendors.run(&["call", "number_first"]).with(0).output, "number_first 2\n");
}

#[test]
fn plugins_that_call_themselves_alike_are_each_its_own() {
    // Each has `libtoolbay_plugin.so` as its own name, by which the dynamic linker could take one for the other.
    let words = ["first", "other", "third"];
    let vendors = Vendors::new();
    let toolbay = vendors.bay.open();
    for word in words {
        assert_eq!(install(&toolbay, vendors.bundle(word, "1.0.0", 7)).rejections, []);
    }
    for word in words {
        assert_eq!(answer(&toolbay, word), says(word, 7));
    }
    let own = vendors.fixture.library();
    assert_ne!(Patch::places(own, b"libtoolbay_plugin.so"), [] as [usize; 0]);
    let mut loaded: Vec<_> = toolbay.loaded().into_iter().map(|one| one.inode).collect();
    loaded.sort();
    loaded.dedup();
    assert_eq!(loaded.len(), words.len());
}
