//! `toolbay tool`, `group`, `provider` and `refresh`, as an administrator uses them.
#![cfg(test)]

use std::fs;

use serde_json::{Value, json};
use toolbay_tests::Home;

const GREETING: &str = "toolbay-plugin-greeting";
const CODE: &str = "toolbay-plugin-code";
const ECHO: &str = "toolbay-fixture-echo";
const MISBEHAVING: &str = "toolbay-fixture-misbehaving";

const PEOPLE: &str = "[users]\nadmins = [\"ada\"]\napprovers = [\"bo\"]\n[services.indexer]\n";

fn home(packages: &[&str]) -> Home {
    let home = Home::with(packages);
    home.configuration(PEOPLE);
    home.printed(&["refresh"]);
    home
}

/// The home with a provider whose tools are in a group.
fn with_group() -> Home {
    let home = Home::with(&[CODE, GREETING]);
    let roots = home.path().join("plugins");
    home.configuration(&format!("{PEOPLE}[providers.code]\nroots = [{roots:?}]\n"));
    home.printed(&["refresh"]);
    home
}

fn state(home: &Home, tool: &str) -> Value {
    let shown = home.json(&["tool", "show", tool]);
    json!([shown["state"], shown["off_by"]])
}

fn code_of_call(home: &Home, words: &[&str]) -> Value {
    let called = home.run(&[&["call"], words, &["--json"]].concat());
    called.json()["error"]["code"].clone()
}

#[test]
fn a_tool_is_switched_off_and_on_and_reset() {
    let home = home(&[ECHO]);
    assert_eq!(state(&home, "echo"), json!(["on", []]));
    assert_eq!(home.printed(&["tool", "disable", "echo"]), "echo: switched off\n");
    assert_eq!(state(&home, "echo"), json!(["off", ["decision"]]));
    assert_eq!(code_of_call(&home, &["echo", "text=a"]), "tool_disabled");

    assert_eq!(home.json(&["tool", "enable", "echo"])["state"], "on");
    assert_eq!(code_of_call(&home, &["echo", "text=a"]), Value::Null);

    // Off by default; a reset makes it that again, also under the former name of another tool.
    assert_eq!(state(&home, "undeclared"), json!(["off", ["default"]]));
    home.printed(&["tool", "enable", "undeclared"]);
    assert_eq!(home.printed(&["tool", "reset", "undeclared"]), "undeclared: off by default\n");
    assert_eq!(home.json(&["tool", "disable", "repeat"])["name"], "echo");
    assert_eq!(home.json(&["tool", "reset", "repeat"])["overridden"], false);
}

#[test]
fn showing_a_tool_tells_everything_that_decides() {
    let home = with_group();
    let shown = home.json(&["tool", "show", "code_search"]);
    let expected = json!({
        "provider": "code", "group": "code", "state": "on", "enabled": true, "off_by": [],
        "provider_enabled": true, "group_enabled": true, "tool_enabled": true, "default_enabled": true,
        "overridden": false, "needs_review": false, "pinned": true, "approval_added": false,
        "needs_approval": false, "approval_because": null, "input": [], "changes": [],
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(shown[key], *value, "{key}");
    }
    let declared = &shown["declarations"];
    assert_eq!(
        (&declared["data_class"], &declared["kind"]),
        (&json!("source_code"), &json!("search"))
    );
    assert_eq!((&declared["loop_budget"], &declared["egress"]), (&json!(10), &json!("none")));

    let text = home.printed(&["tool", "show", "code_search"]);
    for words in ["group      code, on", "data class   source_code", "10 of the same call"] {
        assert!(text.contains(words), "{words:?} is missing in {text}");
    }
    let listed = home.json(&["tool", "list"]);
    let names: Vec<&Value> =
        listed["tools"].as_array().unwrap().iter().map(|row| &row["name"]).collect();
    assert_eq!(names, ["code_search", "code_read", "greet"]);
    assert!(home.printed(&["tool", "list"]).contains("code_search  code      code   on"));
}

#[test]
fn a_group_beats_its_tools_and_each_is_as_it_was_left() {
    let home = with_group();
    home.printed(&["tool", "disable", "code_read"]);
    let off = home.printed(&["group", "disable", "code"]);
    assert_eq!(off, "code: switched off; code_search, code_read\n");
    let enabled = home.run(&["tool", "enable", "code_search"]).with(0);
    assert_eq!(enabled.output, "code_search: off with its group\n");
    assert!(enabled.errors.contains("group enable code"), "{}", enabled.errors);
    assert_eq!(state(&home, "code_read"), json!(["off", ["group", "decision"]]));
    let groups = home.json(&["group", "list"]);
    let row = json!({ "name": "code", "enabled": false, "overridden": true, "tools": ["code_search", "code_read"] });
    assert_eq!(groups, json!({ "groups": [row] }));

    home.printed(&["group", "enable", "code"]);
    assert_eq!(state(&home, "code_search"), json!(["on", []]));
    assert_eq!(state(&home, "code_read"), json!(["off", ["decision"]]));
    assert_eq!(home.json(&["group", "reset", "code"])["overridden"], false);
    assert!(home.printed(&["group", "show", "code"]).starts_with("code: on by default"));
    assert!(home.printed(&["group", "list"]).contains("code   on by default"));
}

#[test]
fn a_provider_is_switched_with_all_its_tools_also_while_it_is_gone() {
    let home = home(&[ECHO, GREETING]);
    home.printed(&["provider", "disable", "echo"]);
    assert_eq!(state(&home, "echo"), json!(["off", ["provider"]]));
    assert_eq!(state(&home, "greet"), json!(["on", []]));
    assert!(home.printed(&["provider", "list"]).contains("echo      0.1.0    switched off"));

    fs::remove_file(home.plugin(&format!("{ECHO}.so"))).unwrap();
    home.printed(&["refresh"]);
    let gone = home.json(&["provider", "show", "echo"]);
    let row =
        json!({ "id": "echo", "version": null, "enabled": false, "overridden": true, "tools": [] });
    assert_eq!(gone, row);
    assert_eq!(home.json(&["provider", "enable", "echo"])["enabled"], true);
    home.printed(&["provider", "reset", "echo"]);
    // Nothing is left that would remind of it.
    home.run(&["provider", "show", "echo"]).with(3);
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_and_leaves_no_row() {
    // Edge case 11.
    let home = with_group();
    home.printed(&["tool", "disable", "greet"]);
    let decided = fs::read(home.path().join("access.json")).unwrap();
    let cases: [(&[&str], &str, &str); 5] = [
        (&["tool", "disable", "gret"], "tool", "greet"),
        (&["tool", "review", "gret"], "tool", "greet"),
        (&["tool", "require-approval", "gret"], "tool", "greet"),
        (&["group", "disable", "coed"], "group", "code"),
        (&["provider", "disable", "greetin"], "provider", "greeting"),
    ];
    for (words, kind, nearest) in cases {
        let refused = home.run(&[words, &["--json"]].concat()).with(3).json();
        assert_eq!(refused["error"]["code"], "unknown", "{words:?}");
        assert_eq!(refused["error"]["nearest"], json!([nearest]), "{words:?}");
        let told = home.run(words).with(3).errors;
        assert!(told.contains(kind) && told.contains(nearest), "{told}");
    }
    assert_eq!(fs::read(home.path().join("access.json")).unwrap(), decided);
    let decisions = home.json(&["audit", "--decision"]);
    assert_eq!(decisions["records"].as_array().unwrap().len(), 1);
}

#[test]
fn what_was_decided_about_a_tool_that_is_gone_holds_when_it_returns() {
    // Edge case 12.
    let home = home(&[ECHO, GREETING]);
    home.printed(&["tool", "disable", "greet"]);
    fs::remove_file(home.plugin(&format!("{GREETING}.so"))).unwrap();
    home.printed(&["refresh"]);
    home.run(&["tool", "show", "greet"]).with(3);
    assert_eq!(code_of_call(&home, &["greet"]), "not_registered");
    home.install(GREETING);
    home.printed(&["refresh"]);
    assert_eq!(state(&home, "greet"), json!(["off", ["decision"]]));
}

#[test]
fn only_administrators_decide_and_it_is_recorded_who_did() {
    let home = home(&[ECHO]);
    for who in ["bo", "cleo", "service:indexer"] {
        let refused = home.run(&["tool", "disable", "echo", "--as", who]).with(3);
        assert!(refused.errors.contains("expected an administrator"), "{}", refused.errors);
        // Looking is for everybody.
        home.printed(&["tool", "show", "echo", "--as", who]);
    }
    assert_eq!(state(&home, "echo"), json!(["on", []]));
    home.printed(&["tool", "disable", "echo", "--as", "ada"]);
    home.printed(&["tool", "enable", "echo"]);
    let refused = home.run(&["tool", "disable", "echo", "--as", "operator"]).with(3);
    assert!(refused.errors.contains("without --as"), "{}", refused.errors);

    let records = home.json(&["audit", "--decision"])["records"].clone();
    let seen: Vec<_> = records.as_array().unwrap().iter().collect();
    let said = |row: &&Value| json!([row["decision"], row["actor"], row["refused"]]);
    let seen: Vec<_> = seen.iter().map(said).collect();
    let expected = [
        json!(["disable", "user:bo", "not_admin"]),
        json!(["disable", "user:cleo", "not_admin"]),
        json!(["disable", "service:indexer", "not_admin"]),
        json!(["disable", "user:ada", null]),
        json!(["enable", "user:operator", null]),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn an_approval_is_added_and_none_is_taken_away() {
    let home = home(&[ECHO]);
    let added = home.json(&["tool", "require-approval", "echo"]);
    assert_eq!(added["approval_because"], "administrator");
    assert_eq!(home.run(&["call", "echo", "text=a", "--as", "cleo"]).code, 6);
    let listed = home.json(&["list", "--all"]);
    let of = |name: &str| {
        let rows = listed["tools"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap()["state"].clone()
    };
    assert_eq!((of("echo"), of("whoami")), (json!("needsApproval"), json!("offered")));

    assert_eq!(home.printed(&["tool", "require-approval", "echo", "--off"]), "echo: on\n");
    assert_eq!(home.printed(&["call", "echo", "text=a"]), "a\n");
    home.printed(&["tool", "enable", "undeclared"]);
    let off = home.json(&["tool", "require-approval", "undeclared", "--off"]);
    assert_eq!(
        (&off["needs_approval"], &off["approval_because"]),
        (&json!(true), &json!("writes"))
    );

    let both = home.run(&["tool", "require-approval", "asked", "--json"]).with(3).json();
    assert_eq!(both["error"]["code"], "approval_and_input");
}

#[test]
fn a_tool_that_may_do_more_is_off_until_somebody_has_looked() {
    let home = home(&[MISBEHAVING]);
    assert_eq!(state(&home, "misbehave"), json!(["on", []]));
    // Another description of a tool that reads is told, and holds nothing up.
    home.configuration(&format!("{PEOPLE}[providers.misbehaving]\nwords = \"politely\"\n"));
    let told = home.printed(&["refresh"]);
    assert!(told.contains("changed: misbehave\n") && told.contains("politely"), "{told}");
    assert_eq!(state(&home, "misbehave"), json!(["on", []]));

    home.configuration(&format!("{PEOPLE}[providers.misbehaving]\ntakes_more = true\n"));
    let told = home.json(&["refresh"]);
    let changed = &told["changed"][0];
    assert_eq!((&changed["tool"], &changed["needs_review"]), (&json!("misbehave"), &json!(true)));
    assert_eq!(state(&home, "misbehave"), json!(["needs_review", ["review"]]));
    let shown = home.printed(&["tool", "show", "misbehave"]);
    assert!(
        shown.contains("schema (lets it do more)") && shown.contains("+     \"more\": {"),
        "{shown}"
    );

    let told = home.printed(&["refresh"]);
    let review = told.lines().find_map(|line| line.split_once("as it is now: ")).unwrap().1;
    assert_eq!(home.shell(review).with(0).output, "misbehave: on\n");
    assert_eq!(home.json(&["refresh"])["changed"], json!([]));
    assert_eq!(home.printed(&["call", "misbehave", "mode=well"]), "well\n");
}

#[test]
fn while_nobody_can_read_what_was_decided_everything_is_off() {
    let home = home(&[ECHO]);
    home.printed(&["tool", "disable", "whoami"]);
    fs::write(home.path().join("access.json"), "{").unwrap();
    for words in [&["list"][..], &["refresh"], &["call", "echo", "text=a"]] {
        let told = home.run(words);
        let warned = told.errors.contains("warning: every tool is off")
            || told.errors.contains("access.json");
        assert!(warned, "{words:?}: {}", told.errors);
    }
    assert_eq!(home.json(&["list"])["tools"], json!([]));
    assert_eq!(state(&home, "echo"), json!(["off", ["unreadable"]]));
    assert_eq!(code_of_call(&home, &["echo", "text=a"]), "tool_disabled");
    // What can't be read is never written over.
    let refused = home.run(&["tool", "enable", "echo", "--json"]).with(5).json();
    assert_eq!(refused["error"]["code"], "file");
    assert_eq!(fs::read(home.path().join("access.json")).unwrap(), b"{");
}
