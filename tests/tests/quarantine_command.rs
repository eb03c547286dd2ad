//! `toolbay quarantine`: what failed is shown, and tried again once an administrator lets it.
#![cfg(test)]

use std::fs;

use serde_json::{Value, json};
use toolbay_tests::{
    Home,
    violent::{Moment, patch_deed},
};

/// A home whose violent plugin has ended its worker as it was made.
fn crashed() -> Home {
    let home = Home::violent(Moment::Create, "nothing");
    home.configuration(
        "[users]\nadmins = [\"ada\"]\napprovers = [\"bo\"]\n\
         [static_audit]\ndenied_imports = \"allow\"\n\
         [providers.violent]\ncreate = \"abort\"\n",
    );
    assert!(home.run(&["refresh"]).output.contains("crashed"));
    home
}

fn listed(home: &Home) -> Vec<Value> {
    home.json(&["quarantine", "list"])["contents"].as_array().unwrap().clone()
}

#[test]
fn what_failed_is_shown_and_waits_until_it_is_released() {
    let home = crashed();
    let [row] = &listed(&home)[..] else { panic!("one has failed") };
    for (key, value) in [
        ("provider", json!("violent")),
        ("class", json!("crash")),
        ("strikes", json!(1)),
        ("in_host", json!(false)),
        ("stage", json!("create")),
        ("code", json!("crashed")),
    ] {
        assert_eq!(row[key], value, "{row}");
    }
    let content = row["content"].as_str().unwrap();
    assert!(row["again"].as_str().unwrap().starts_with("20"), "a time: {row}");
    let table = home.printed(&["quarantine", "list"]);
    assert!(table.contains("create in worker") && table.contains(content), "{table}");
    assert!(home.run(&["refresh"]).output.contains("failed_before"));

    for subject in ["violent", content] {
        let expected = format!("released: violent {content}\n");
        assert_eq!(home.printed(&["quarantine", "release", subject]), expected);
        assert_eq!(listed(&home), Vec::<Value>::new());
        assert_eq!(home.printed(&["quarantine", "list"]), "");
        // It is as bad as it was, and begins with its first strike again.
        assert!(home.run(&["refresh"]).output.contains("crashed"));
        assert_eq!(listed(&home)[0]["strikes"], 1);
    }
    let kinds: Vec<_> = home.audit().iter().map(|record| record["decision"].clone()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "release").count(), 2, "{kinds:?}");
}

#[test]
fn only_an_administrator_releases_and_only_what_is_there() {
    let home = crashed();
    let refused = home.run(&["quarantine", "release", "violent", "--as", "bo", "--json"]).with(3);
    assert_eq!(refused.json()["error"]["code"], "not_admin");
    let unknown = home.run(&["quarantine", "release", "violet", "--json"]).with(3).json();
    assert_eq!(unknown["error"]["code"], "unknown");
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(message.ends_with("one of violent"), "{message}");
    assert_eq!(listed(&home).len(), 1);
}

#[test]
fn what_was_decided_about_a_provider_stays_while_it_is_quarantined_and_when_it_is_corrected() {
    // F74.
    let home = Home::violent(Moment::Create, "nothing");
    home.configuration(
        "[static_audit]\ndenied_imports = \"allow\"\n[providers.violent]\nreads = [\"/\"]\n",
    );
    home.printed(&["refresh"]);
    home.printed(&["tool", "disable", "do"]);
    home.printed(&["provider", "disable", "violent"]);
    let well = fs::read(home.violent_library()).unwrap();
    let decided = |context: &str| {
        let shown = home.json(&["provider", "show", "violent"]);
        assert_eq!(
            (&shown["enabled"], &shown["overridden"]),
            (&json!(false), &json!(true)),
            "{context}"
        );
    };

    let mut crashes = well.clone();
    patch_deed(&mut crashes, Moment::Create, "abort");
    fs::write(home.violent_library(), crashes).unwrap();
    assert!(home.run(&["refresh"]).output.contains("crashed"));
    assert_eq!(listed(&home)[0]["provider"], "violent");
    decided("quarantined");

    fs::write(home.violent_library(), [&well[..], b"corrected"].concat()).unwrap();
    home.printed(&["refresh"]);
    decided("corrected");
    assert_eq!(home.json(&["tool", "show", "do"])["off_by"], json!(["provider", "decision"]));
    let refused = home.run(&["call", "do", "deed=nothing", "--json"]).json();
    assert_eq!(refused["error"]["code"], "tool_disabled", "{refused}");

    home.printed(&["provider", "enable", "violent"]);
    home.printed(&["tool", "enable", "do"]);
    assert_eq!(home.printed(&["call", "do", "deed=read /etc/passwd"]), "allowed\n");
}
