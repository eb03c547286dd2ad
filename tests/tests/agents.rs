//! `toolbay agent`: what an agent may use, and what is wrong with its list of tools.
#![cfg(test)]

use std::fs;

use serde_json::{Value, json};
use toolbay_tests::Home;

const GREETING: &str = "toolbay-plugin-greeting";
const CODE: &str = "toolbay-plugin-code";
const ECHO: &str = "toolbay-fixture-echo";

const PEOPLE: &str = "[users]\nadmins = [\"ada\", \"al\"]\n";

fn home(more: &str) -> Home {
    let home = Home::with(&[ECHO, GREETING, CODE]);
    let roots = home.path().join("plugins");
    home.configuration(&format!("{PEOPLE}{more}[providers.code]\nroots = [{roots:?}]\n"));
    home.printed(&["refresh"]);
    home
}

/// The names of the tools that an agent is offered.
fn offered(home: &Home, words: &[&str]) -> Vec<String> {
    let listed = home.json(&[&["list", "--agent"], words].concat());
    let rows = listed["tools"].as_array().unwrap().iter();
    rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

fn refused(home: &Home, words: &[&str]) -> Value {
    home.run(&[words, &["--json"]].concat()).with(3).json()["error"]["code"].clone()
}

#[test]
fn an_agent_is_made_changed_shown_and_removed() {
    let home = home("");
    let made = home.json(&[
        "agent",
        "create",
        "helper",
        "--zone",
        "local",
        "--fallback",
        "external_eu",
        "--fallback",
        "unknown",
        "--four-eyes",
        "true",
        "--enforcement",
        "observe",
        "--groups",
        "code,notes",
        "--visibility",
        "team",
        "--skill",
        "research=code_search, greet",
        "--skill",
        "nothing=",
        "--skill",
        "silent",
    ]);
    let expected = json!({
        "name": "helper", "zone": "local", "fallbacks": ["external_eu", "unknown"],
        "effective_zone": "external_global", "ceiling": "editor_content", "enforcement": "observe",
        "four_eyes": true, "visibility": "team", "groups": ["code", "notes"], "loadout": null, "pending": null,
        "skills": { "nothing": [], "research": ["code_search", "greet"], "silent": null },
        "configured_tools": [], "held_back_by_zone": ["code_search", "code_read", "for_admins"],
    });
    assert_eq!(made, expected);
    assert_eq!(home.json(&["agent", "show", "helper"]), expected);
    assert_eq!(home.json(&["agent", "list"]), json!({ "agents": [expected] }));
    let listed = home.printed(&["agent", "list"]);
    assert!(listed.contains("helper  external_global  team        every enabled tool"), "{listed}");

    // What is not named stays.
    let set = home.json(&[
        "agent",
        "set",
        "helper",
        "--no-fallback",
        "--any-group",
        "--no-skill",
        "nothing",
        "--four-eyes",
        "false",
    ]);
    let changed = [
        ("effective_zone", json!("local")),
        ("groups", Value::Null),
        ("four_eyes", json!(false)),
        ("visibility", json!("team")),
        ("skills", json!({ "research": ["code_search", "greet"], "silent": null })),
    ];
    for (key, value) in changed {
        assert_eq!(set[key], value, "{key}");
    }
    let text = home.printed(&["agent", "show", "helper"]);
    assert!(text.contains("zone            local, so data up to class secret_adjacent"), "{text}");

    assert_eq!(refused(&home, &["agent", "create", "helper"]), "agent_exists");
    assert_eq!(refused(&home, &["agent", "show", "helpr"]), "unknown");
    assert_eq!(
        refused(&home, &["agent", "set", "helper", "--zone", "local", "--as", "bo"]),
        "not_admin"
    );
    let nothing = home.run(&["agent", "set", "helper"]).with(2);
    assert!(nothing.errors.contains("required"), "{}", nothing.errors);
    home.run(&["agent", "create", "other", "--zone", "locl"]).with(2);

    assert_eq!(home.json(&["agent", "delete", "helper"]), json!({ "deleted": "helper" }));
    assert_eq!(refused(&home, &["agent", "delete", "helper"]), "unknown");
    let gone = home.run(&["call", "greet", "--agent", "helper"]).with(3);
    assert!(gone.errors.contains("toolbay agent create"), "{}", gone.errors);
}

#[test]
fn the_default_agent_is_there_again_when_it_is_removed_and_that_is_said() {
    let home = home("");
    home.printed(&["agent", "create", "default", "--groups", "code"]);
    home.run(&["call", "greet", "--agent", "default"]).with(3);
    let deleted = home.run(&["agent", "delete", "default"]).with(0);
    assert_eq!(deleted.output, "agent default is again as nobody has made it\n");
    assert!(deleted.errors.contains("every enabled tool from now on"), "{}", deleted.errors);
    home.run(&["call", "greet", "--agent", "default"]).with(0);
}

#[test]
fn a_skill_without_a_list_restricts_nothing_and_an_empty_one_everything() {
    let home = home("");
    home.printed(&["agent", "create", "helper", "--skill", "silent"]);
    assert!(offered(&home, &["helper"]).len() > 1);
    home.printed(&["agent", "set", "helper", "--skill", "nothing="]);
    assert!(offered(&home, &["helper"]).is_empty());
    home.printed(&["agent", "set", "helper", "--skill", "greeting=greet"]);
    assert_eq!(offered(&home, &["helper"]), ["greet"]);
    home.printed(&["agent", "set", "helper", "--groups", "notes"]);
    assert!(offered(&home, &["helper"]).is_empty());
}

#[test]
fn settings_reach_their_tool_and_are_shown_to_administrators_alone() {
    // Edge case 16.
    let home = home("");
    let made = home.run(&[
        "agent",
        "create",
        "helper",
        "--config",
        r#"whoami={"greeting": "a secret"}"#,
        "--config",
        "whomi={}",
        "--groups",
        "coed",
        "--skill",
        "s=gret,whoami",
        "--any-group",
    ]);
    assert_eq!(made.code, 2, "groups and any group: {}", made.errors);
    let made = home.run(&[
        "agent",
        "create",
        "helper",
        "--config",
        r#"whoami={"greeting": "a secret"}"#,
        "--config",
        "whomi={}",
    ]);
    assert!(
        made.errors.contains("settings for \"whomi\", which is no tool; did you mean \"whoami\"?")
    );
    assert!(!made.with(0).output.contains("a secret"));
    let warned = home.run(&["agent", "create", "other", "--groups", "coed", "--skill", "s=gret"]);
    let warnings =
        ["no tool is in group \"coed\" now; did you mean \"code\"?", "a skill needs \"gret\""];
    for words in warnings {
        assert!(warned.errors.contains(words), "{}", warned.errors);
    }

    let shown =
        |words: &[&str]| home.run(&[&["agent", "show", "helper", "--json"], words].concat());
    assert!(!shown(&[]).with(0).output.contains("a secret"));
    assert_eq!(shown(&["--config-values"]).json()["tool_config"]["whoami"]["greeting"], "a secret");
    assert_eq!(
        shown(&["--config-values", "--as", "bo"]).with(3).json()["error"]["code"],
        "not_admin"
    );
    assert!(home.printed(&["agent", "show", "helper", "--config-values"]).contains("a secret"));

    let answer = home.printed(&["call", "whoami", "--agent", "helper"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["config"], json!({ "greeting": "a secret" }));
    home.printed(&["agent", "set", "helper", "--no-config", "whoami"]);
    let answer = home.printed(&["call", "whoami", "--agent", "helper"]);
    assert!(!answer.contains("a secret"), "{answer}");
}

#[test]
fn a_loadout_is_kept_as_one_set() {
    let home = home("");
    home.printed(&["agent", "create", "helper"]);
    let everything = home.json(&["agent", "loadout", "helper"]);
    assert_eq!(
        (&everything["every_enabled_tool"], &everything["entries"]),
        (&json!(true), &json!([]))
    );
    assert_eq!(refused(&home, &["agent", "loadout", "helper", "--add", "greet"]), "no_list");

    home.printed(&["agent", "loadout", "helper", "--set", "greet,echo"]);
    assert_eq!(offered(&home, &["helper"]), ["echo", "greet"]);
    let edited = home.json(&[
        "agent",
        "loadout",
        "helper",
        "--add",
        "whoami,forms",
        "--remove",
        "greet,forms",
    ]);
    assert_eq!(edited["change"], "in_force");
    assert_eq!(offered(&home, &["helper"]), ["echo", "whoami"]);
    let absent = home.run(&["agent", "loadout", "helper", "--remove", "greet"]).with(0);
    assert!(absent.errors.contains("the list has no \"greet\""), "{}", absent.errors);

    home.printed(&["agent", "loadout", "helper", "--none"]);
    assert!(offered(&home, &["helper"]).is_empty());
    assert_eq!(refused(&home, &["call", "greet", "--agent", "helper"]), "configuration_group");
    home.printed(&["agent", "loadout", "helper", "--every-enabled-tool"]);
    assert!(offered(&home, &["helper"]).len() > 2);

    for words in [["--none", "--set=greet"], ["--add=greet", "--none"], ["--approve", "--reject"]] {
        home.run(&[&["agent", "loadout", "helper"][..], &words].concat()).with(2);
    }
}

#[test]
fn a_name_that_no_tool_has_is_kept_does_nothing_and_is_still_labelled() {
    // Edge case 13.
    let home = home("");
    home.printed(&["agent", "create", "helper"]);
    let set = home.run(&["agent", "loadout", "helper", "--set", "greet,gret"]).with(0);
    assert!(
        set.errors.contains("\"gret\", which is no tool; did you mean \"greet\"?"),
        "{}",
        set.errors
    );
    assert_eq!(offered(&home, &["helper"]), ["greet"]);

    fs::remove_file(home.plugin(&format!("{GREETING}.so"))).unwrap();
    home.printed(&["refresh"]);
    assert!(offered(&home, &["helper"]).is_empty());
    let entries = home.json(&["agent", "loadout", "helper"])["entries"].clone();
    let expected = json!({
        "tool": "greet", "names": ["greet"], "state": "stale", "label": "Greeting",
        "summary": "Greets in English or German", "provider": "greeting", "by_set": null,
    });
    assert_eq!(entries[0], expected);
    assert_eq!((&entries[1]["state"], &entries[1]["label"]), (&json!("stale"), &json!("gret")));
    let text = home.printed(&["agent", "loadout", "helper"]);
    assert!(text.contains("no tool now  Greeting  was a tool of provider greeting"), "{text}");

    home.install(GREETING);
    home.printed(&["refresh"]);
    assert_eq!(offered(&home, &["helper"]), ["greet"]);
}

#[test]
fn a_former_name_leads_to_the_tool_which_is_listed_once() {
    // Edge case 14.
    let home = home("");
    home.printed(&["agent", "create", "helper"]);
    home.printed(&["agent", "loadout", "helper", "--set", "repeat"]);
    assert_eq!(offered(&home, &["helper"]), ["echo"]);
    for name in ["repeat", "echo"] {
        assert_eq!(home.printed(&["call", name, "text=a", "--agent", "helper"]), "a\n");
    }
    let entries = home.json(&["agent", "loadout", "helper", "--add", "echo"])["entries"].clone();
    assert_eq!(entries.as_array().unwrap().len(), 1);
    assert_eq!(
        (&entries[0]["tool"], &entries[0]["names"]),
        (&json!("echo"), &json!(["echo", "repeat"]))
    );
    assert!(home.printed(&["agent", "loadout", "helper"]).contains("in the list as repeat"));
}

#[test]
fn a_part_of_a_set_is_the_whole_and_a_shared_agent_has_none_of_it() {
    // Edge case 17.
    let sets = "[tool_sets.echoes]\ntools = [\"echo\", \"whoami\"]\nvisibility = [\"personal\", \"team\"]\n";
    let home = home(sets);
    home.printed(&["agent", "create", "helper"]);
    home.printed(&["agent", "loadout", "helper", "--set", "echo,greet"]);
    assert_eq!(offered(&home, &["helper"]), ["echo", "whoami", "greet"]);
    let entries = home.json(&["agent", "loadout", "helper"])["entries"].clone();
    let brought =
        entries.as_array().unwrap().iter().find(|entry| entry["tool"] == "whoami").unwrap();
    assert_eq!((&brought["by_set"], &brought["names"]), (&json!("adds"), &json!([])));

    home.printed(&["agent", "set", "helper", "--visibility", "shared"]);
    assert_eq!(offered(&home, &["helper"]), ["greet"]);
    let text = home.printed(&["agent", "loadout", "helper"]);
    assert!(text.contains("left out: its set is not for agents of this visibility"), "{text}");
}

#[test]
fn a_change_of_a_shared_agent_waits_for_a_second_administrator() {
    let home = home("");
    home.printed(&["agent", "create", "helper", "--visibility", "shared"]);
    assert_eq!(refused(&home, &["agent", "loadout", "helper", "--approve"]), "nothing_pending");
    let before = offered(&home, &["helper"]);
    let proposed =
        home.run(&["agent", "loadout", "helper", "--set", "greet", "--as", "ada", "--json"]);
    let json = proposed.clone().with(0).json();
    assert_eq!((&json["change"], &json["pending"]["by"]), (&json!("pending"), &json!("user:ada")));
    assert_eq!(json["every_enabled_tool"], true);
    assert_eq!(offered(&home, &["helper"]), before, "the other one stays in force");
    let trial = ["helper", "--pending", "--as", "ada"];
    assert_eq!(offered(&home, &trial), ["greet"]);
    // Nobody else works with what nobody has reviewed.
    for others in [&["--as", "bo"][..], &[]] {
        let words = [&["list", "--agent", "helper", "--pending"], others].concat();
        assert_eq!(refused(&home, &words), "not_admin", "{others:?}");
    }
    home.printed(&["agent", "loadout", "helper", "--add", "echo", "--as", "ada"]);
    assert_eq!(offered(&home, &trial), ["echo", "greet"]);

    let own = refused(&home, &["agent", "loadout", "helper", "--approve", "--as", "ada"]);
    assert_eq!(own, "own_proposal");
    let command = proposed.errors.split('`').nth(1).unwrap();
    assert!(command.ends_with("--approve --as al"), "{command}");
    home.shell(command).with(0);
    assert_eq!(offered(&home, &["helper"]), ["echo", "greet"]);

    home.printed(&["agent", "loadout", "helper", "--none", "--as", "ada"]);
    let shown = home.printed(&["agent", "loadout", "helper"]);
    assert!(shown.contains("user:ada proposes these"), "{shown}");
    assert!(home.printed(&["agent", "show", "helper"]).contains("none by user:ada"));
    home.printed(&["agent", "loadout", "helper", "--reject", "--as", "ada"]);
    assert_eq!(offered(&home, &["helper"]), ["echo", "greet"]);
    assert_eq!(home.json(&["agent", "loadout", "helper"])["pending"], Value::Null);
}

#[test]
fn the_agent_of_whoever_names_none_is_there_and_trusted_with_little() {
    let home = home("");
    let tools = offered(&home, &["default"]);
    assert!(tools.contains(&"greet".to_owned()) && !tools.contains(&"code_search".to_owned()));
    // A person's own call has no zone.
    assert!(home.printed(&["list"]).contains("code_search"));
    home.printed(&["agent", "create", "default", "--zone", "local"]);
    assert!(offered(&home, &["default"]).contains(&"code_search".to_owned()));
    home.printed(&["agent", "delete", "default"]);
    assert_eq!(offered(&home, &["default"]), tools);
}

#[test]
fn a_zone_that_is_only_observed_is_told() {
    // Edge case 26.
    let home = home("");
    home.printed(&["agent", "create", "helper", "--enforcement", "observe"]);
    let listed = home.json(&["list", "--agent", "helper"]);
    let rows = listed["tools"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == "code_search").unwrap();
    assert_eq!((&row["state"], &row["observed_only"]), (&json!("offered"), &json!(true)));
    let simulated = home.json(&["simulate", "--agent", "helper", "code_search", "pattern=x"]);
    assert_eq!(simulated["verdict"], "ALLOW");
    assert_eq!(simulated["axes"][4], json!({ "gate": "trustZone", "verdict": "observed" }));
    let explained = home.printed(&["explain", "code_search", "--agent", "helper"]);
    assert!(explained.contains("observed: its data is of class source_code"), "{explained}");
}
