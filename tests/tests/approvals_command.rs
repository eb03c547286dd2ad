//! `toolbay approvals`, from the call that waits to its result.
#![cfg(test)]

use std::{fs, path::PathBuf};

use serde_json::{Value, json};
use toolbay_tests::{Ended, Home};

const NOTES: &str = "toolbay-plugin-notes";
const ECHO: &str = "toolbay-fixture-echo";
const MISBEHAVING: &str = "toolbay-fixture-misbehaving";

const PEOPLE: &str = "[users]\nadmins = [\"ada\"]\napprovers = [\"bo\"]\n[services.indexer]\nscopes = [\"approve\"]\n";

/// A home with a shelf of notes, of which Bo may not read previews.
fn home() -> Home {
    let home = Home::with(&[NOTES, ECHO, MISBEHAVING]);
    let shelf = home.path().join("shelf");
    fs::create_dir(&shelf).unwrap();
    let notes = format!("[providers.notes]\nfolder = {shelf:?}\nreaders = [\"cleo\"]\n");
    home.configuration(&format!("{PEOPLE}{notes}"));
    home.printed(&["refresh"]);
    home
}

fn note(home: &Home, name: &str) -> PathBuf {
    home.path().join(format!("shelf/{name}.md"))
}

/// Makes a call that waits, and returns the id of its request.
fn asked(home: &Home, words: &[&str]) -> String {
    let called = home.run(&[&["call"], words, &["--json"]].concat()).with(6).json();
    let code = called["error"]["code"].as_str().unwrap();
    assert!(["approval_pending", "input_pending"].contains(&code), "{called}");
    called["error"]["id"].as_str().unwrap().to_owned()
}

fn shown(home: &Home, id: &str, who: &str) -> Value {
    home.json(&["approvals", "show", id, "--as", who])
}

fn digest(home: &Home, id: &str) -> String {
    shown(home, id, "ada")["digest"].as_str().unwrap().to_owned()
}

/// Decides about a request as it is shown now.
fn decide(home: &Home, verb: &str, id: &str, who: &str) -> Ended {
    home.run(&["approvals", verb, id, "--digest", &digest(home, id), "--as", who, "--json"])
}

fn code(ended: &Ended) -> Value {
    ended.json()["error"]["code"].clone()
}

fn states(home: &Home) -> Vec<Value> {
    let listed = home.json(&["approvals", "list", "--all"]);
    listed["requests"].as_array().unwrap().iter().map(|row| row["state"].clone()).collect()
}

#[test]
fn a_call_that_waits_says_how_to_decide_and_gives_its_result_afterwards() {
    let home = home();
    let call = ["call", "notes_create", "name=list", "text=milk", "--as", "cleo"];
    let waiting = home.run(&call).with(6);
    assert_eq!(waiting.output, "");
    assert!(waiting.errors.starts_with("waiting: call of tool notes_create waits as request "));
    assert!(!note(&home, "list").exists());
    // Asking again asks nobody again.
    assert_eq!(home.run(&call).with(6).errors, waiting.errors);
    let listed = home.printed(&["approvals", "list"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("waits for approval  notes_create (writes)  user:cleo"), "{listed}");

    let look = waiting.errors.split('`').nth(1).unwrap();
    let text = home.shell(look).with(0).output;
    for words in
        ["\"text\": \"milk\"", "create list.md, 5 bytes:", "+ milk", "asked by     user:cleo"]
    {
        assert!(text.contains(words), "{words:?} is missing in {text}");
    }
    let approve = text.lines().find_map(|line| line.strip_prefix("to approve")).unwrap().trim();
    assert_eq!(home.shell(approve).with(0).output, "There is a note \"list\" now, with 5 bytes.\n");
    assert_eq!(fs::read_to_string(note(&home, "list")).unwrap(), "milk\n");
    assert_eq!(home.shell(approve).with(3).output, "");

    assert_eq!(home.printed(&call), "There is a note \"list\" now, with 5 bytes.\n");
    assert_eq!(states(&home), ["done"]);
    // Its result was handed out: the same call is another one now.
    home.run(&call).with(6);
    assert_eq!(states(&home), ["waiting", "done"], "those that wait come first");
}

#[test]
fn an_outcome_is_printed_as_the_outcome_of_a_call() {
    let home = home();
    let id = asked(&home, &["notes_create", "name=a", "text=b", "--as", "cleo"]);
    let approved = decide(&home, "approve", &id, "ada").with(0).json();
    let result = &approved["results"][0];
    assert_eq!((&approved["id"], &result["tool"]), (&json!(id), &json!("notes_create")));
    assert_eq!((&result["outcome"], &result["write"]["target_id"]), (&json!("ok"), &json!("a.md")));

    home.printed(&["call", "notes_create", "name=a", "text=b", "--as", "cleo"]);
    // One that fails, since its result was handed out and the same call is another one, and one that is not permitted any more by then (edge case 60).
    let id = asked(&home, &["notes_create", "name=a", "text=b", "--as", "cleo"]);
    let failed = decide(&home, "approve", &id, "ada").with(1).json();
    assert_eq!(failed["results"][0]["outcome"], "failed");
    let id = asked(&home, &["notes_delete", "name=a", "--as", "cleo"]);
    home.printed(&["tool", "disable", "notes_delete"]);
    let refused = decide(&home, "approve", &id, "ada").with(3).json();
    assert_eq!(refused["results"][0]["error"]["code"], "tool_disabled");
    assert!(note(&home, "a").exists());
}

#[test]
fn what_is_denied_never_runs_and_whoever_asked_hears_of_it() {
    let home = home();
    let call = ["notes_create", "name=a", "text=b", "--as", "cleo"];
    for (who, words) in [("cleo", "denied by whoever asked"), ("bo", "denied by somebody else")] {
        let id = asked(&home, &call);
        assert_eq!(
            decide(&home, "deny", &id, who).with(0).json(),
            json!({ "id": id, "denied": true })
        );
        let told = home.run(&[&["call"][..], &call, &["--json"]].concat()).with(3).json();
        assert_eq!(told["error"]["code"], "approval_denied");
        assert_eq!(told["error"]["id"], id);
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.ends_with(words), "{message}");
        assert_eq!(shown(&home, &id, "ada")["decided_by"], format!("user:{who}"));
    }
    let id = asked(&home, &call);
    let denied =
        home.run(&["approvals", "deny", &id[..6], "--digest", &digest(&home, &id), "--as", "ada"]);
    assert_eq!(denied.with(0).output, format!("request {id} is denied: nothing of it was run\n"));
    assert!(!note(&home, "a").exists());
}

#[test]
fn only_what_was_seen_is_decided_and_only_by_those_who_may() {
    let home = home();
    let id = asked(&home, &["notes_create", "name=a", "text=b", "--as", "cleo"]);
    let digest = digest(&home, &id);
    let cases: [(&str, &str, &str, i32, &str); 8] = [
        // Edge case 56.
        ("approve", "000000000000", "bo", 3, "stale"),
        ("deny", "000000000000", "bo", 3, "stale"),
        ("approve", &digest[..11], "bo", 3, "stale"),
        ("approve", &digest, "dan", 3, "not_permitted"),
        ("deny", &digest, "dan", 3, "not_permitted"),
        ("submit", &digest, "bo", 3, "other_need"),
        // Edge case 57.
        ("approve", &digest, "service:indexer", 3, "may_not_release"),
        ("approve", &digest, "service:indxer", 3, "unknown"),
    ];
    for (verb, digest, who, exit, expected) in cases {
        let words = ["approvals", verb, &id, "--digest", digest, "--as", who, "--json"];
        let refused = home.run(&words).with(exit);
        assert_eq!(code(&refused), expected, "{verb} {digest} {who}");
    }
    assert_eq!(states(&home), ["waiting"], "it waits on");
    assert!(!note(&home, "a").exists());
    home.run(&["approvals", "approve", &id, "--as", "bo"]).with(2);
    for verb in ["show", "approve", "deny", "submit"] {
        let more: &[&str] = if verb == "show" { &[] } else { &["--digest", &digest] };
        let told = home.run(&[&["approvals", verb, &id], more].concat()).with(2);
        assert!(told.errors.contains("--as missing: expected the user"), "{}", told.errors);
    }
    // Twelve digits name it.
    home.run(&["approvals", "approve", &id, "--digest", &digest[..12], "--as", "bo"]).with(0);
    assert!(note(&home, "a").exists());

    // Reading needs no such rights.
    home.printed(&["tool", "require-approval", "echo"]);
    let id = asked(&home, &["echo", "text=a", "--as", "cleo"]);
    let read = decide(&home, "approve", &id, "service:indexer").with(0).json();
    assert_eq!(read["results"][0]["text"], "a");
}

#[test]
fn a_request_is_named_by_the_beginning_of_its_id() {
    let home = home();
    let id = asked(&home, &["notes_create", "name=a", "text=b", "--as", "cleo"]);
    assert_eq!(shown(&home, &id[..4], "ada")["id"], id);
    let cases = [(&id[..3], "bad_id"), ("zzzzzzzzzzzz", "not_found"), ("../../x", "bad_id")];
    for (name, expected) in cases {
        let refused = home.run(&["approvals", "show", name, "--as", "ada", "--json"]).with(3);
        assert_eq!(code(&refused), expected, "{name}");
    }
}

#[test]
fn a_preview_is_for_those_who_may_read_what_it_is_about() {
    // Edge case 64.
    let home = home();
    let id = asked(&home, &["notes_create", "name=a", "text=b", "--as", "cleo"]);
    let preview = |who: &str| shown(&home, &id, who)["calls"][0]["preview"].clone();
    let lines = json!({ "state": "lines", "lines": ["create a.md, 2 bytes:", "+ b"] });
    assert_eq!((preview("cleo"), preview("ada")), (lines.clone(), lines));
    assert_eq!(preview("bo"), json!({ "state": "withheld" }));
    let text = home.printed(&["approvals", "show", &id, "--as", "bo"]);
    assert!(text.contains("withheld: you may not read what it is about"), "{text}");
    assert_eq!(
        shown(&home, &id, "bo")["calls"][0]["arguments"],
        json!({ "name": "a", "text": "b" })
    );
    let refused = home.run(&["approvals", "show", &id, "--as", "dan", "--json"]).with(3);
    assert_eq!(code(&refused), "not_permitted");

    home.printed(&["tool", "require-approval", "misbehave"]);
    for (mode, expected) in [
        ("mode=panic", json!({ "state": "failed", "class": "fault" })),
        ("mode=well", json!({ "state": "lines", "lines": ["would answer well"] })),
    ] {
        let id = asked(&home, &["misbehave", mode, "--as", "cleo"]);
        assert_eq!(shown(&home, &id, "cleo")["calls"][0]["preview"], expected);
    }
    home.printed(&["tool", "require-approval", "echo"]);
    let id = asked(&home, &["echo", "text=a", "--as", "cleo"]);
    assert_eq!(shown(&home, &id, "cleo")["calls"][0]["preview"], json!({ "state": "none" }));
}

#[test]
fn what_would_do_something_else_by_now_is_shown_again() {
    // Edge case 65.
    let home = home();
    fs::write(note(&home, "a"), "one\n").unwrap();
    let id = asked(&home, &["notes_append", "name=a", "text=two", "--as", "cleo"]);
    let before = digest(&home, &id);
    fs::write(note(&home, "a"), "one and a half\n").unwrap();
    let refused = decide(&home, "approve", &id, "ada").with(3);
    assert_eq!(code(&refused), "preview_changed");
    assert_eq!(fs::read_to_string(note(&home, "a")).unwrap(), "one and a half\n");

    let again = shown(&home, &id, "ada");
    assert_eq!((&again["state"], &again["calls"][0]["changed"]), (&json!("changed"), &json!(true)));
    assert_ne!(again["digest"], before);
    let listed = home.printed(&["approvals", "list"]);
    assert!(listed.contains("changed, waits for approval"), "{listed}");
    let text = home.printed(&["approvals", "show", &id, "--as", "ada"]);
    assert!(text.contains("changed since it was first shown"), "{text}");
    decide(&home, "approve", &id, "ada").with(0);
    assert_eq!(fs::read_to_string(note(&home, "a")).unwrap(), "one and a half\ntwo\n");
}

#[test]
fn with_four_eyes_whoever_asked_denies_and_does_not_approve() {
    // Edge case 58.
    let home = home();
    home.printed(&["agent", "create", "helper", "--four-eyes", "true"]);
    for (asker, other) in [("cleo", "bo"), ("ada", "bo")] {
        let call = ["notes_create", "name=a", "text=b", "--agent", "helper", "--as", asker];
        let id = asked(&home, &call);
        let refused = decide(&home, "approve", &id, asker).with(3);
        assert_eq!(code(&refused), "second_person", "{asker}");
        let own = shown(&home, &id, asker);
        assert_eq!(own["commands"]["approve"], Value::Null);
        assert_eq!(own["obstacle"], "agent helper needs a second person to approve it");
        let text = home.printed(&["approvals", "show", &id, "--as", asker]);
        assert!(text.contains("you can't") && text.contains("to deny"), "{text}");
        assert!(shown(&home, &id, other)["commands"]["approve"].is_string());
        decide(&home, "deny", &id, asker).with(0);
        home.run(&[&["call"][..], &call].concat()).with(3);

        let id = asked(&home, &call);
        decide(&home, "approve", &id, other).with(0);
        fs::remove_file(note(&home, "a")).unwrap();
        home.run(&[&["call"][..], &call].concat()).with(0);
    }
}

#[test]
fn of_several_who_approve_at_once_one_does_and_the_write_happens_once() {
    // Edge case 55.
    const TERMINALS: usize = 4;
    let home = home();
    for round in 0..3 {
        fs::write(note(&home, "a"), "begun\n").unwrap();
        let text = format!("text=round {round}");
        let id = asked(&home, &["notes_append", "name=a", &text, "--as", "cleo"]);
        let digest = digest(&home, &id);
        let words = ["approvals", "approve", &id, "--digest", &digest, "--as", "ada", "--json"];
        let started: Vec<_> = (0..TERMINALS).map(|_| home.start(&words)).collect();
        let ended = started.into_iter().map(|child| Ended::of(child.wait_with_output().unwrap()));
        let (done, refused): (Vec<_>, Vec<_>) = ended.partition(|ended| ended.code == 0);
        assert_eq!((done.len(), refused.len()), (1, TERMINALS - 1), "{refused:?}");
        for refused in refused {
            let code = code(&refused.with(3));
            assert!(
                ["already_resuming", "not_waiting"].contains(&code.as_str().unwrap()),
                "{code}"
            );
        }
        let written = fs::read_to_string(note(&home, "a")).unwrap();
        assert_eq!(written, format!("begun\nround {round}\n"));
    }
}

#[test]
fn a_person_types_in_what_a_tool_asks_for() {
    let home = home();
    home.printed(&["tool", "enable", "asked"]);
    // The model's own word for it counts for nothing (edge case 66).
    let call = ["asked", "text=model", "word=its own", "--as", "cleo"];
    let id = asked(&home, &call);
    let row = shown(&home, &id, "cleo");
    assert_eq!((&row["need"], &row["input"]["call"]), (&json!("input"), &json!(0)));
    let fields = json!([
        { "name": "word", "takes": "string", "required": true, "description": "The word." },
        { "name": "times", "takes": "integer", "required": false, "description": null },
    ]);
    assert_eq!(row["input"]["fields"], fields);
    let submit = row["commands"]["submit"].as_str().unwrap();
    assert!(submit.contains("approvals submit") && submit.ends_with("'word=...'"), "{submit}");
    let text = home.printed(&["approvals", "show", &id, "--as", "cleo"]);
    for words in ["waits for input", "field word", "The word.", "to type in"] {
        assert!(text.contains(words), "{words:?} is missing in {text}");
    }

    let digest = digest(&home, &id);
    let submit = |more: &[&str]| {
        home.run(
            &[&["approvals", "submit", &id, "--digest", &digest, "--as", "cleo", "--json"], more]
                .concat(),
        )
    };
    let cases: [(&[&str], &str); 4] = [
        (&[], "invalid_input"),
        (&["word=x"], "invalid_input"),
        (&["word=well", "times=often"], "invalid_input"),
        (&["[1]"], "invalid_input"),
    ];
    for (words, expected) in cases {
        let refused = submit(words).with(3);
        assert_eq!(code(&refused), expected, "{words:?}");
    }
    assert_eq!(submit(&["word=x"]).json()["error"]["violations"][0]["argument"], "word");
    assert_eq!(code(&decide(&home, "approve", &id, "ada").with(3)), "other_need");
    let service = decide(&home, "submit", &id, "service:indexer").with(3);
    assert!(["invalid_input", "may_not_release"].contains(&code(&service).as_str().unwrap()));
    assert_eq!(states(&home), ["waiting"]);

    let done = submit(&["word=hello", "times=2", "text=nobody asked for that"]).with(0).json();
    let expected = json!({ "text": "model", "word": "hello", "times": 2 });
    let answer: Value = serde_json::from_str(done["results"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(answer, expected);
    let answer: Value =
        serde_json::from_str(&home.printed(&[&["call"][..], &call].concat())).unwrap();
    assert_eq!(answer, expected);
}

#[test]
fn of_an_agent_that_is_no_more_a_request_can_only_be_denied() {
    let home = home();
    home.printed(&["agent", "create", "helper"]);
    let id =
        asked(&home, &["notes_create", "name=a", "text=b", "--agent", "helper", "--as", "cleo"]);
    let deleted = home.run(&["agent", "delete", "helper"]).with(0);
    assert!(deleted.errors.contains("can only be denied now: 1"), "{}", deleted.errors);
    assert_eq!(code(&decide(&home, "approve", &id, "ada").with(3)), "owner_gone");
    let row = shown(&home, &id, "ada");
    assert_eq!(row["commands"]["approve"], Value::Null);
    assert_eq!(row["obstacle"], "agent helper is no more: it can only be denied");
    decide(&home, "deny", &id, "ada").with(0);
    assert_eq!(states(&home), ["denied"]);
}

#[test]
fn an_approved_call_runs_with_the_rights_that_its_owner_has_then() {
    let home = home();
    let text = fs::read_to_string(home.path().join("toolbay.toml")).unwrap();
    home.printed(&["tool", "require-approval", "for_admins"]);
    let id = asked(&home, &["for_admins", "--as", "ada"]);
    home.configuration(&text.replace("admins = [\"ada\"]", "admins = [\"al\"]"));
    let row = shown(&home, &id, "al");
    let words = ["--digest", row["digest"].as_str().unwrap(), "--as", "al", "--json"];
    let refused = home.run(&[&["approvals", "approve", &id][..], &words].concat()).with(3).json();
    assert_eq!(refused["results"][0]["error"]["code"], "requires_admin");

    home.configuration(&text);
    home.printed(&["tool", "require-approval", "echo"]);
    let id = asked(&home, &["echo", "text=a", "--as", "service:indexer"]);
    home.configuration(&text.replace("[services.indexer]", "[services.crawler]"));
    assert_eq!(code(&decide(&home, "approve", &id, "ada").with(3)), "owner_gone");
    assert_eq!(
        shown(&home, &id, "ada")["obstacle"],
        "service:indexer is no more: it can only be denied"
    );
}

#[test]
fn what_can_not_be_read_is_not_nothing() {
    // Edge case 84.
    let home = home();
    let nothing = home.run(&["approvals", "list"]).with(0);
    assert_eq!(
        (nothing.output.as_str(), nothing.errors.as_str()),
        ("", "note: nothing waits for a person\n")
    );
    assert_eq!(home.json(&["approvals", "list"]), json!({ "requests": [], "problems": [] }));

    let id = asked(&home, &["notes_create", "name=a", "text=b", "--as", "cleo"]);
    let folder = home.path().join("approvals");
    let file = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.to_string_lossy().contains(&id)).unwrap();
    fs::write(&file, "{").unwrap();
    let listed = home.run(&["approvals", "list"]).with(5);
    assert!(listed.errors.starts_with("warning: ") && !listed.errors.contains("nothing waits"));
    let listed = home.run(&["approvals", "list", "--json"]).with(5).json();
    assert_eq!(
        (&listed["requests"], listed["problems"].as_array().unwrap().len()),
        (&json!([]), 1)
    );
    // Edge case 62.
    let refused = home.run(&["approvals", "show", &id, "--as", "ada", "--json"]).with(5);
    assert_eq!(code(&refused), "store");
    assert_eq!(fs::read(&file).unwrap(), b"{");
}

#[test]
fn a_request_whose_time_is_over_was_denied_by_nobody() {
    let home = home();
    let id = asked(&home, &["notes_create", "name=a", "text=b", "--as", "cleo"]);
    let row = shown(&home, &id, "cleo");
    let hour = |key: &str| row[key].as_str().unwrap()[11..13].parse::<u32>().unwrap();
    assert_eq!(
        hour("requested"),
        hour("expires"),
        "a day, unless the configuration says otherwise"
    );
    let text = fs::read_to_string(home.path().join("toolbay.toml")).unwrap();
    home.configuration(&format!("{text}[approvals]\nexpire_hours = 2\n"));
    let id = asked(&home, &["notes_create", "name=b", "text=b", "--as", "cleo"]);
    let row = shown(&home, &id, "cleo");
    let hour = |key: &str| row[key].as_str().unwrap()[11..13].parse::<u32>().unwrap();
    assert_eq!((hour("requested") + 2) % 24, hour("expires"));
}

#[test]
fn nothing_that_is_approved_can_hide_from_the_eye() {
    let home = home();
    let text = "text=safe \u{202e}txt.exe\u{1b}[2K";
    let id = asked(&home, &["notes_create", "name=a", text, "--as", "cleo"]);
    let shown = home.printed(&["approvals", "show", &id, "--as", "cleo"]);
    assert!(shown.contains("safe \\u{202e}txt.exe\\u001b[2K"), "{shown}");
}
