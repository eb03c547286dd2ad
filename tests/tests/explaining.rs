//! `toolbay simulate` and `toolbay explain`: what they say is what happens, and what they advise helps.
#![cfg(test)]

use std::fs;

use serde_json::{Value, json};
use toolbay_tests::{Ended, Home};

const GREETING: &str = "toolbay-plugin-greeting";
const CODE: &str = "toolbay-plugin-code";
const NOTES: &str = "toolbay-plugin-notes";
const ECHO: &str = "toolbay-fixture-echo";
const MISBEHAVING: &str = "toolbay-fixture-misbehaving";

/// A home with every kind of tool, and agents with every kind of restriction.
fn home() -> Home {
    let home = Home::with(&[GREETING, CODE, NOTES, ECHO, MISBEHAVING]);
    let shelf = home.path().join("shelf");
    fs::create_dir(&shelf).unwrap();
    home.configuration(&format!(
        "[users]\nadmins = [\"ada\", \"al\"]\napprovers = [\"bo\"]\n[services.indexer]\nscopes = [\"approve\"]\n\
         [tool_sets.echoes]\ntools = [\"echo\", \"whoami\"]\nvisibility = [\"personal\"]\n\
         [providers.notes]\nfolder = {shelf:?}\n[providers.code]\nroots = [{shelf:?}]\n"
    ));
    home.printed(&["refresh"]);
    home.printed(&["tool", "enable", "asked"]);
    let agents: [&[&str]; 7] = [
        &["listed"],
        &["skilled", "--skill", "greeting=greet", "--zone", "local"],
        &["grouped", "--groups", "notes", "--zone", "local"],
        &["empty"],
        &["shared", "--visibility", "shared"],
        &["fallen", "--zone", "local", "--fallback", "unknown", "--fallback", "local"],
        &["observing", "--enforcement", "observe"],
    ];
    for agent in agents {
        home.printed(&[&["agent", "create"], agent].concat());
    }
    home.printed(&["agent", "loadout", "listed", "--set", "greet,repeat"]);
    home.printed(&["agent", "loadout", "empty", "--none"]);
    home.printed(&["agent", "loadout", "shared", "--set", "echo,forms", "--as", "ada"]);
    home.printed(&["agent", "loadout", "shared", "--approve", "--as", "al"]);
    home
}

/// What became of a call, in the words of a simulation.
fn verdict(called: &Ended) -> (&'static str, Value) {
    let json = called.json();
    match json["error"]["code"].as_str() {
        None => ("ALLOW", Value::Null),
        Some("approval_pending") => ("ALLOW_WITH_APPROVAL", Value::Null),
        Some("input_pending") => ("ALLOW_WITH_INPUT", Value::Null),
        Some(_) => ("BLOCK", json["error"].clone()),
    }
}

#[test]
fn a_simulation_says_what_a_call_comes_to_and_writes_nothing() {
    // Edge case 31 of the real bugs: a simulator that misses an axis.
    let home = home();
    home.printed(&["tool", "disable", "forms"]);
    home.printed(&["tool", "require-approval", "counted"]);
    let cases: [&[&str]; 26] = [
        &["greet"],
        &["greet", "language=de"],
        &["greet", "language=fr"],
        &["greet", "{not JSON"],
        &["gret"],
        &["repeat", "text=a"],
        &["echo"],
        &["forms"],
        &["undeclared", "text=a"],
        &["for_admins"],
        &["for_admins", "--as", "ada"],
        &["for_admins", "--as", "bo"],
        &["for_admins", "--as", "service:indexer"],
        &["notes_create", "name=a", "text=b"],
        &["notes_create", "name=a", "text=b", "--as", "cleo"],
        &["notes_create", "name=a", "--as", "cleo"],
        &["counted", "text=a"],
        &["asked", "text=a", "--as", "cleo"],
        &["asked", "--as", "cleo"],
        &["code_search", "pattern=x", "--agent", "default"],
        &["code_search", "pattern=x", "--agent", "observing"],
        &["code_search", "pattern=x", "--agent", "fallen", "--as", "ada"],
        &["whoami", "--agent", "listed"],
        &["echo", "text=a", "--agent", "listed"],
        &["greet", "--agent", "empty", "--as", "ada"],
        &["echo", "text=a", "--agent", "shared"],
    ];
    let mut seen = std::collections::BTreeSet::new();
    for words in cases {
        let before = home.files();
        let simulated = home.run(&[&["simulate"], words, &["--json"]].concat()).with(0).json();
        assert_eq!(home.files(), before, "{words:?} wrote something");
        let called = home.run(&[&["call"], words, &["--json"]].concat());
        let (verdict, error) = verdict(&called);
        assert_eq!(
            (&simulated["verdict"], &simulated["error"]),
            (&json!(verdict), &error),
            "{words:?}"
        );
        let failed =
            simulated["axes"].as_array().unwrap().iter().find(|axis| axis["verdict"] == "failed");
        let reason = failed.map_or(Value::Null, |axis| axis["gate"].clone());
        assert_eq!(
            simulated["decision"]["reason"].as_str().filter(|_| reason.is_string()),
            reason.as_str()
        );
        seen.insert(format!("{verdict} {}", error["code"]));
    }
    assert_eq!(seen.len(), 9, "every way on which a call ends: {seen:?}");

    let text = home.printed(&["simulate", "greet", "--agent", "empty"]);
    for words in
        ["verdict               BLOCK", "configurationGroup  failed", "trustZone           passed"]
    {
        assert!(text.contains(words), "{words:?} is missing in {text}");
    }
    home.run(&["simulate", "greet", "--as", "service:nobody"]).with(3);
    home.run(&["simulate", "greet", "--agent", "nobody"]).with(3);
}

fn explained(home: &Home, words: &[&str]) -> Value {
    home.json(&[&["explain"], words].concat())
}

fn first_failed(explained: &Value) -> Option<Value> {
    let gates = explained["gates"].as_array().unwrap();
    gates.iter().find(|gate| gate["verdict"] == "failed").cloned()
}

/// The commands that an explanation has for a gate.
fn commands(gate: &Value) -> Vec<String> {
    let remedies = gate["remedies"].as_array().unwrap().iter();
    remedies.filter_map(|remedy| Some(remedy["command"].as_str()?.to_owned())).collect()
}

#[test]
fn the_commands_that_an_explanation_has_make_the_gate_pass() {
    let home = home();
    home.printed(&["provider", "disable", "echo"]);
    home.printed(&["tool", "disable", "forms"]);
    home.printed(&["group", "disable", "notes"]);
    home.printed(&["tool", "disable", "notes_list"]);
    let cases: [(&[&str], &[&str]); 13] = [
        (&["undeclared"], &["toolDisabled"]),
        (&["forms"], &["toolDisabled"]),
        (&["notes_list"], &["toolDisabled"]),
        (&["greet", "--agent", "empty"], &["configurationGroup"]),
        (&["echo", "--agent", "skilled"], &["configurationGroup"]),
        (&["code_read", "--agent", "grouped"], &["configurationGroup"]),
        (&["greet", "--agent", "grouped"], &["configurationGroup"]),
        // It is stripped from the list, and left out of the loadout.
        (&["echo", "--agent", "shared"], &["configurationGroup"]),
        (&["greet", "--agent", "shared"], &["configurationGroup"]),
        (&["code_search", "--agent", "default"], &["trustZone"]),
        (&["code_search", "--agent", "fallen"], &["trustZone"]),
        (
            &["code_search", "--agent", "listed", "--as", "cleo"],
            &["configurationGroup", "trustZone"],
        ),
        (&["for_admins", "--agent", "empty", "--as", "ada"], &["configurationGroup", "trustZone"]),
    ];
    for (words, reasons) in cases {
        assert!(!explained(&home, words)["allowed"].as_bool().unwrap(), "{words:?}");
        for reason in reasons {
            let gate = first_failed(&explained(&home, words)).unwrap();
            assert_eq!(gate["gate"], *reason, "{words:?}");
            let commands = commands(&gate);
            assert!(!commands.is_empty(), "{words:?}: {gate}");
            for command in &commands {
                home.shell(command).with(0);
            }
            let gates = explained(&home, words)["gates"].clone();
            let passed = gates.as_array().unwrap().iter().find(|gate| gate["gate"] == *reason);
            assert_eq!(passed.unwrap()["verdict"], "passed", "{words:?}: {commands:?}");
        }
        assert_eq!(first_failed(&explained(&home, words)), None, "{words:?}");
        let tool = words[0];
        let listed = home.json(&[&["list"], &words[1..]].concat());
        let listed = listed["tools"].as_array().unwrap();
        assert!(listed.iter().any(|row| row["name"] == tool), "{words:?}");
    }
}

#[test]
fn a_tool_that_changed_is_explained_with_the_review_that_it_waits_for() {
    let home = home();
    let text = fs::read_to_string(home.path().join("toolbay.toml")).unwrap();
    home.configuration(&format!("{text}[providers.misbehaving]\ntakes_more = true\n"));
    home.printed(&["refresh"]);
    let before = explained(&home, &["misbehave"]);
    assert_eq!(before["pin"], "changed since somebody looked at it, and lets it do more");
    let commands = commands(&first_failed(&before).unwrap());
    assert!(commands[0].ends_with("tool review misbehave"), "{commands:?}");
    home.shell(&commands[0]).with(0);
    assert_eq!(explained(&home, &["misbehave"])["allowed"], true);
}

#[test]
fn a_tool_for_administrators_is_explained_with_one_who_can_use_it() {
    let home = home();
    let gate = first_failed(&explained(&home, &["for_admins", "--as", "cleo"])).unwrap();
    assert_eq!(gate["gate"], "requiresAdmin");
    let commands = commands(&gate);
    assert!(commands[0].ends_with("explain for_admins --as ada"), "{commands:?}");
    let text = home.shell(&commands[0]).with(0).output;
    assert!(text.starts_with("for_admins          user:ada can use it"), "{text}");

    home.configuration("");
    let gate = first_failed(&explained(&home, &["for_admins"])).unwrap();
    assert_eq!(gate["remedies"][0]["command"], Value::Null);
    assert!(gate["remedies"][0]["text"].as_str().unwrap().contains("[users] admins"));
}

#[test]
fn a_name_is_explained_wherever_it_leads() {
    let home = home();
    let name = |words: &[&str]| {
        let explained = explained(&home, words);
        (explained["name"].as_str().unwrap().to_owned(), explained["tool"].clone())
    };
    assert_eq!(name(&["echo"]), ("tool".to_owned(), json!("echo")));
    assert_eq!(name(&["repeat"]), ("alias".to_owned(), json!("echo")));
    assert_eq!(name(&["gret"]), ("unknown".to_owned(), Value::Null));
    let unknown = explained(&home, &["gret"]);
    assert_eq!(
        (&unknown["nearest"], &unknown["reason"]),
        (&json!(["greet"]), &json!("notRegistered"))
    );
    let text = home.shell(&commands(&unknown["gates"][0])[0]).with(0).output;
    assert!(text.starts_with("greet"), "{text}");

    // Gone, and then there again.
    fs::remove_file(home.plugin(&format!("{GREETING}.so"))).unwrap();
    home.printed(&["refresh"]);
    let stale = explained(&home, &["greet"]);
    assert_eq!(stale["name"], "stale");
    assert_eq!(stale["fact"], "it was \"Greeting\" of provider greeting, which is gone");
    home.install(GREETING);
    home.shell(&commands(&stale["gates"][0])[0]).with(0);
    assert_eq!(explained(&home, &["greet"])["allowed"], true);

    // Declared, and not listed without a configuration.
    let text = fs::read_to_string(home.path().join("toolbay.toml")).unwrap();
    let without = text.split("[providers.code]").next().unwrap().to_owned();
    home.configuration(&without);
    home.printed(&["refresh"]);
    let not_listed = explained(&home, &["code_search"]);
    assert_eq!(not_listed["name"], "not_listed");
    let remedy = &not_listed["gates"][0]["remedies"][0];
    assert!(remedy["text"].as_str().unwrap().contains("[providers.code] in toolbay.toml"));
    home.configuration(&text);
    home.shell(remedy["command"].as_str().unwrap()).with(0);
    assert_eq!(explained(&home, &["code_search"])["allowed"], true);
}

#[test]
fn an_explanation_says_what_a_call_waits_for_and_who_decides() {
    let home = home();
    home.printed(&["agent", "create", "double", "--four-eyes", "true"]);
    let call = |words: &[&str]| explained(&home, words)["on_call"].clone();
    let admins = "an administrator (ada, al)";
    let cases: [(&[&str], &str, Value); 6] = [
        (&["greet"], "runs at once", Value::Null),
        (
            &["notes_create"],
            "waits until somebody approves it, because it writes",
            json!(format!("{admins}, an approver (bo)")),
        ),
        (
            &["notes_create", "--as", "cleo"],
            "waits until somebody approves it, because it writes",
            json!(format!("{admins}, an approver (bo), cleo, who asks")),
        ),
        (
            &["notes_create", "--as", "cleo", "--agent", "double"],
            "waits until somebody approves it, because it writes",
            json!(format!(
                "{admins}, an approver (bo); nobody approves their own call, for agent double needs two"
            )),
        ),
        (
            &["asked", "--as", "cleo"],
            "waits until somebody types in times, word",
            json!(format!("{admins}, an approver (bo), cleo, who asks")),
        ),
        (&["forms"], "runs at once", Value::Null),
    ];
    for (words, fact, deciders) in cases {
        let on_call = call(words);
        assert_eq!(
            (&on_call["fact"], &on_call["deciders"]),
            (&json!(fact), &deciders),
            "{words:?}"
        );
    }
    home.printed(&["tool", "require-approval", "forms"]);
    let on_call = call(&["forms"]);
    assert_eq!(
        on_call["fact"],
        "waits until somebody approves it, because an administrator wants that"
    );
    assert_eq!(
        on_call["deciders"],
        format!("{admins}, an approver (bo), a service account (indexer)")
    );
    assert!(home.printed(&["explain", "forms"]).contains("deciders            an administrator"));
}

#[test]
fn others_that_claim_a_name_are_told() {
    let home = home();
    assert_eq!(explained(&home, &["greet"])["collisions"], json!([]));
    // The same plugin under another id.
    let library = fs::read(home.plugin(&format!("{GREETING}.so"))).unwrap();
    let (id, other) = (br#""id":"greeting""#, br#""id":"welcomes""#);
    let at = library.windows(id.len()).position(|bytes| bytes == id).unwrap();
    let twin = [&library[..at], other, &library[at + other.len()..]].concat();
    fs::write(home.plugin("twin.so"), twin).unwrap();
    home.printed(&["refresh"]);
    let collision = "provider welcomes has a tool of this name, too, which is left out";
    assert_eq!(explained(&home, &["greet"])["collisions"], json!([collision]));
    assert!(home.printed(&["explain", "greet"]).contains(collision));
    assert!(home.printed(&["tool", "list"]).contains("name taken"));
}
