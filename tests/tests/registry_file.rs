//! The registry file: what survives a restart, a crash, another release and another process.
#![cfg(test)]

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf, thread};

use serde_json::{Value, json};
use toolbay_loader::{ContentHash, REGISTRY_FORMAT, RefreshError, RegistryFileError, Toolbay};
use toolbay_tests::{Home, call};

const GREETING: &str = "toolbay-plugin-greeting";
const ECHO: &str = "toolbay-fixture-echo";

fn file(home: &Home) -> PathBuf {
    home.path().join("registry.json")
}

fn greets(toolbay: &Toolbay) -> bool {
    call(toolbay, "greet", &json!({})).is_ok_and(|reply| reply.model_text() == "Hello.")
}

fn aside(home: &Home) -> Vec<String> {
    let names = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.map(|name| name.into_string().unwrap()).filter(|name| name.contains("aside")).collect()
}

#[test]
fn the_same_plugins_make_the_same_bytes_whatever_their_order() {
    let homes = [[GREETING, ECHO], [ECHO, GREETING]].map(|order| {
        let home = Home::new();
        for (name, package) in ["a.so", "b.so"].iter().zip(order) {
            fs::copy(toolbay_tests::library(package), home.plugin(name)).unwrap();
        }
        home.refreshed();
        fs::read_to_string(file(&home)).unwrap()
    });
    assert_eq!(homes[0], homes[1]);
    let read: Value = serde_json::from_str(&homes[0]).unwrap();
    let ids: Vec<_> =
        read["registry"]["providers"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, ["echo", "greeting"]);
}

#[test]
fn a_refresh_that_finds_nothing_new_leaves_the_file_and_its_generation() {
    let home = Home::with(&[GREETING]);
    let toolbay = home.refreshed();
    let before = fs::read(file(&home)).unwrap();
    let again = toolbay.refresh().unwrap();
    assert_eq!(again.generation, 1);
    assert_eq!(fs::read(file(&home)).unwrap(), before);

    home.install(ECHO);
    assert_eq!(toolbay.refresh().unwrap().generation, 2);
    assert_eq!(fs::read(home.path().join("registry.previous.json")).unwrap(), before);
}

#[test]
fn a_damaged_file_is_reported_kept_and_replaced_by_the_next_refresh_alone() {
    let whole = {
        let home = Home::with(&[GREETING]);
        home.refreshed();
        fs::read(file(&home)).unwrap()
    };
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let cases: [(&str, &[u8]); 4] = [
        ("cut", &whole[..whole.len() - 20]),
        ("flipped", &flipped),
        ("empty", b""),
        ("other JSON", br#"{"format": 2, "checksum": "", "registry": {}}"#),
    ];
    for (name, damaged) in cases {
        let home = Home::with(&[GREETING]);
        home.refreshed();
        fs::write(file(&home), damaged).unwrap();
        let toolbay = home.open();
        let problem = toolbay.registry_problem().unwrap();
        assert!(matches!(*problem, RegistryFileError::Damaged { .. }), "{name}: {problem}");
        assert_eq!(fs::read(file(&home)).unwrap(), damaged, "{name}: reading changes nothing");

        toolbay.refresh().unwrap();
        assert!(toolbay.registry_problem().is_none(), "{name}");
        assert!(greets(&toolbay) && greets(&home.open()), "{name}");
        let aside = aside(&home);
        assert_eq!(aside, ["registry.aside-1.json"], "{name}");
        assert_eq!(
            fs::read(home.path().join(&aside[0])).unwrap(),
            damaged,
            "{name}: nothing is lost"
        );
    }
}

#[test]
fn a_damaged_file_offers_nothing_also_not_what_was_registered_before() {
    let home = Home::with(&[GREETING]);
    home.refreshed();
    home.install(ECHO);
    home.refreshed();
    fs::write(file(&home), "{").unwrap();
    let toolbay = home.open();
    // The previous version may name plugins that were removed since.
    assert!(toolbay.registry().is_empty());
    assert_eq!(toolbay.refresh().unwrap().generation, 3, "no generation is used twice");
}

#[test]
fn a_file_of_another_release_is_kept_for_it() {
    let home = Home::with(&[GREETING]);
    home.refreshed();
    let newer = r#"{"format": 99, "registry": "in a form that this release does not know"}"#;
    fs::write(file(&home), newer).unwrap();
    let toolbay = home.open();
    let problem = toolbay.registry_problem().unwrap();
    assert!(matches!(*problem, RegistryFileError::OtherFormat { found: 99, .. }), "{problem}");
    assert!(!greets(&toolbay), "nothing is guessed from it");
    toolbay.refresh().unwrap();
    assert!(greets(&toolbay));
    assert_eq!(fs::read_to_string(home.path().join("registry.aside-1.json")).unwrap(), newer);
}

#[test]
fn a_library_in_the_store_that_was_changed_is_not_opened() {
    let home = Home::with(&[GREETING]);
    home.refreshed();
    let hash = home.open().providers()[0].hash;
    let copy = home.path().join("store").join(hash.to_string()).join("greeting-0.1.0.so");
    let mut bytes = fs::read(&copy).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::remove_file(&copy).unwrap();
    fs::write(&copy, bytes).unwrap();

    let toolbay = home.open();
    let error = call(&toolbay, "greet", &json!({})).unwrap_err();
    assert_eq!(error.code(), "unavailable");
    let source = std::error::Error::source(&error).and_then(std::error::Error::source).unwrap();
    assert!(source.to_string().contains("changed_in_store"), "{source}");
    // A refresh copies it again; but this process has had the other file open, with which its linker would go on.
    let report = toolbay.refresh().unwrap();
    let codes: Vec<_> = report.rejections.iter().map(|one| one.reason.code).collect();
    assert_eq!(codes, ["other_file_mapped"]);
    assert_eq!(ContentHash::of(&fs::read(&copy).unwrap()), hash);
}

#[test]
fn refreshes_at_once_leave_a_whole_file_and_count_each_change() {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 5;
    let home = Home::with(&[GREETING]);
    home.refreshed();
    // Each thread is a process of its own as far as the file goes: with plugins of its own it writes another registry each time.
    let plugins: Vec<_> = (0..THREADS).map(|_| Home::with(&[ECHO])).collect();
    thread::scope(|scope| {
        for own in &plugins {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let mut config = home.config();
                    if round % 2 == 0 {
                        config.plugin_directories.push(own.path().join("plugins"));
                    }
                    let toolbay = Toolbay::open(config).unwrap();
                    assert!(toolbay.registry_problem().is_none(), "a reader finds a whole file");
                    toolbay.refresh().unwrap();
                    assert!(greets(&toolbay));
                }
            });
        }
    });
    let last = home.open();
    assert!(last.registry_problem().is_none());
    let changes = last.registry().generation() - 1;
    // A refresh that finds what somebody else has just written changes nothing, so that there may be fewer.
    assert!((2..=THREADS * ROUNDS).contains(&changes), "{changes}");
}

/// Changes what the registry file says, with a checksum that is right again: as somebody who writes to the home can.
fn forge(home: &Home, from: &str, to: &str) {
    let text = fs::read_to_string(file(home)).unwrap();
    let start = text.find("\"registry\":\n").unwrap() + "\"registry\":\n".len();
    let registry = text[start..].trim_end().strip_suffix('}').unwrap().trim_end();
    let forged = registry.replacen(from, to, 1);
    assert_ne!(forged, registry, "{from} is there");
    let checksum = ContentHash::of(forged.as_bytes());
    let sealed =
        json!({ "format": REGISTRY_FORMAT, "checksum": format!("sha256:{checksum}") }).to_string();
    let sealed = format!("{},\"registry\":\n{forged}\n}}\n", sealed.strip_suffix('}').unwrap());
    fs::write(file(home), sealed).unwrap();
}

#[test]
fn a_forged_file_opens_no_gate_that_the_librarys_note_keeps_shut() {
    let home = Home::with(&[ECHO]);
    home.refreshed();
    // `undeclared` is off, writes and needs approval; the forger makes it what `echo` is.
    let text = fs::read_to_string(file(&home)).unwrap();
    let declared = &text[text.find("\"name\": \"undeclared\"").unwrap()..];
    let original = &declared[..declared.find('}').unwrap()];
    let forged = original
        .replace("non_idempotent_write", "read_only")
        .replace("\"enabled_by_default\": false", "\"enabled_by_default\": true")
        .replace("\"requires_approval\": true", "\"requires_approval\": false");
    forge(&home, original, &forged);

    let toolbay = home.open();
    assert!(toolbay.registry_problem().is_none(), "the forgery is well made");
    let error = call(&toolbay, "undeclared", &json!({ "text": "x" })).unwrap_err();
    assert_eq!(error.code(), "unavailable");
    let source = std::error::Error::source(&error).and_then(std::error::Error::source).unwrap();
    assert!(source.to_string().contains("other_declarations"), "{source}");
    toolbay.refresh().unwrap();
    let error = call(&toolbay, "undeclared", &json!({ "text": "x" })).unwrap_err();
    assert_eq!(error.code(), "tool_disabled");
    assert_eq!(call(&toolbay, "echo", &json!({ "text": "x" })).unwrap().model_text(), "x");
}

#[test]
fn a_forged_version_leads_to_no_file_outside_the_store() {
    let home = Home::with(&[ECHO]);
    home.refreshed();
    forge(&home, "\"version\": \"0.1.0\"", "\"version\": \"../../../outside\"");
    let problem = home.open().registry_problem().unwrap();
    assert!(matches!(*problem, RegistryFileError::Damaged { .. }), "{problem}");
}

#[test]
fn a_refresh_that_can_not_be_kept_leaves_the_file_also_a_damaged_one() {
    let home = Home::with(&[GREETING]);
    home.refreshed();
    fs::write(file(&home), "{").unwrap();
    let toolbay = home.open();
    // A folder in the place of the lock file fails the write, for root as well.
    fs::remove_file(home.path().join("registry.lock")).unwrap();
    fs::create_dir(home.path().join("registry.lock")).unwrap();
    let error = toolbay.refresh().unwrap_err();
    assert!(matches!(error, RefreshError::RegistryFile(RegistryFileError::Io { .. })), "{error}");
    assert_eq!(fs::read_to_string(file(&home)).unwrap(), "{");
    assert!(aside(&home).is_empty());
}

#[test]
fn a_store_that_others_may_write_to_is_not_loaded_from() {
    let home = Home::with(&[GREETING]);
    home.refreshed();
    let store = home.path().join("store");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o777)).unwrap();
    let error = call(&home.open(), "greet", &json!({})).unwrap_err();
    let source = std::error::Error::source(&error).and_then(std::error::Error::source).unwrap();
    assert!(source.to_string().contains("store_not_private"), "{source}");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(greets(&home.open()), "reading is no harm");
}

#[test]
fn a_refresh_that_changes_nothing_lets_providers_go_on() {
    let home = Home::with(&["toolbay-fixture-misbehaving"]);
    let toolbay = home.refreshed();
    call(&toolbay, "misbehave", &json!({ "mode": "panic" })).unwrap_err();
    toolbay.refresh().unwrap();
    assert_eq!(toolbay.providers()[0].faults, 1, "it is the same provider, with its history");
}
