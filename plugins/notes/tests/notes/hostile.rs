//! Names and files that try to lead out of the folder, to block a call or to pass for another; beside each, its harmless twin.

use std::{fs, os::unix::net::UnixListener};

use toolbay_plugin_api::serde_json::json;

use crate::shelf::{Shelf, at_once, calls_of};

#[test]
fn no_name_leads_out_of_the_folder() {
    let shelf = Shelf::new(&[("list.md", "milk\n")]);
    shelf.write("../outside.md", "secret\n");
    let outside = shelf.path("../outside.md").display().to_string();
    let inside = shelf.path("list.md").display().to_string();
    for name in [
        "../outside",
        "../outside.md",
        "./list",
        "..",
        ".",
        "/",
        "a/../list",
        "..\\outside",
        "list/",
        ".toolbay-notes.draft",
        "list\0",
        "%2e%2e/outside",
        "~root",
        &outside,
        &inside,
    ] {
        for (tool, arguments) in calls_of(name) {
            let words = shelf.refusal(tool, arguments);
            assert!(words.starts_with("expected a name of "), "{tool} {name:?}: {words}");
        }
    }
    assert_eq!(shelf.text("../outside.md"), "secret\n");
    for (tool, arguments) in calls_of("list") {
        assert_eq!(shelf.ask(tool, arguments).ok, tool != "notes_create", "{tool}");
    }
}

#[test]
fn what_is_no_regular_file_is_no_note_and_stays() {
    let shelf = Shelf::new(&[("real.md", "milk\n")]);
    shelf.write("../outside", "secret\n");
    shelf.link("link.md", "real.md");
    shelf.link("out.md", "../outside");
    shelf.link("nowhere.md", "../absent");
    shelf.link("loop.md", "loop.md");
    shelf.link("device.md", "/dev/zero");
    fs::create_dir(shelf.path("folder.md")).unwrap();
    fs::create_dir(shelf.path("full.md")).unwrap();
    fs::write(shelf.path("full.md/x"), "x").unwrap();
    shelf.pipe("pipe.md");
    let _socket = UnixListener::bind(shelf.path("socket.md")).unwrap();

    let shelf = at_once(move || {
        for name in ["link", "out", "nowhere", "loop", "device", "folder", "full", "pipe", "socket"]
        {
            for (tool, arguments) in calls_of(name) {
                assert_eq!(
                    shelf.refusal(tool, arguments),
                    format!(
                        "{name:?} is no note: expected a regular file, found something else; choose another name, or tell the operator"
                    ),
                    "{tool}"
                );
            }
        }
        shelf
    });
    assert_eq!(shelf.text("../outside"), "secret\n");
    assert!(!shelf.path("../absent").exists());
    for (tool, arguments) in calls_of("real") {
        assert_eq!(shelf.ask(tool, arguments).ok, tool != "notes_create", "{tool}");
    }
}

/// A second name of the file stands outside: what is written to the note must not be written there.
#[test]
fn a_note_with_a_second_name_outside_is_changed_only_here() {
    let shelf = Shelf::new(&[("list.md", "milk\n")]);
    fs::hard_link(shelf.path("list.md"), shelf.path("../outside")).unwrap();
    shelf.call("notes_append", json!({ "name": "list", "text": "eggs" }));
    assert_eq!(shelf.text("list.md"), "milk\neggs\n");
    assert_eq!(shelf.text("../outside"), "milk\n");
    shelf.call("notes_delete", json!({ "name": "list" }));
    assert_eq!(shelf.text("../outside"), "milk\n");
}

#[test]
fn a_draft_that_is_a_link_is_not_written_through() {
    let shelf = Shelf::new(&[("list.md", "milk\n")]);
    shelf.write("../outside", "secret\n");
    for (tool, arguments) in [
        ("notes_create", json!({ "name": "new", "text": "x" })),
        ("notes_append", json!({ "name": "list", "text": "eggs" })),
    ] {
        shelf.link(".toolbay-notes.draft", "../outside");
        shelf.call(tool, arguments);
    }
    assert_eq!(shelf.text("../outside"), "secret\n");
    assert_eq!(shelf.text("list.md"), "milk\neggs\n");
    assert_eq!(shelf.content().into_keys().collect::<Vec<_>>(), ["list.md", "new.md"]);
}

#[test]
fn a_name_in_another_form_of_unicode_is_the_same_name() {
    let (whole, apart) = ("Einkäufe", "Einka\u{308}ufe");
    let shelf = Shelf::new(&[]);
    shelf.call("notes_create", json!({ "name": apart, "text": "milk" }));
    assert_eq!(shelf.text("Einkäufe.md"), "milk\n");
    assert_eq!(
        shelf.refusal("notes_create", json!({ "name": whole, "text": "milk" })),
        "there is a note \"Einkäufe\" already, with exactly this text"
    );
    shelf.call("notes_append", json!({ "name": apart, "text": "eggs" }));
    assert_eq!(shelf.text("Einkäufe.md"), "milk\neggs\n");
    assert_eq!(shelf.content().len(), 1);
}

#[test]
fn a_file_whose_name_only_looks_like_a_notes_is_in_the_way() {
    let shelf = Shelf::new(&[("Einka\u{308}ufe.md", "milk\n")]);
    let create = |name: &str| json!({ "name": name, "text": "x" });
    assert_eq!(
        shelf.refusal("notes_create", create("Einkäufe")),
        "a file that looks as if it were called \"Einkäufe\" is there already, in another form of Unicode; choose another name, or \
         tell the operator"
    );
    shelf.refusal("notes_read", json!({ "name": "Einkäufe" }));
    shelf.call("notes_create", create("Einkaufe"));
}

#[test]
fn a_huge_note_is_not_read() {
    let shelf = Shelf::new(&[("largest.md", &"x".repeat(1 << 20)), ("huge.md", "")]);
    // It has no blocks: a file of any size costs nothing.
    let file = fs::File::options().write(true).open(shelf.path("huge.md")).unwrap();
    let huge = 1_u64 << 40;
    file.set_len(huge).unwrap();
    let words = format!(
        "the note \"huge\" is too large for these tools: expected at most 1048576 bytes, found {huge}"
    );
    let exists =
        "there is a note \"huge\" already; choose another name, or add to it with notes_append";
    for (tool, arguments) in calls_of("huge") {
        let answer = shelf.ask(tool, arguments);
        let expected = if tool == "notes_create" { exists } else { &words };
        assert_eq!((answer.ok, answer.text.as_str()), (false, expected), "{tool}");
    }
    assert!(shelf.call("notes_list", json!({})).text.contains(&format!("\nhuge  {huge} bytes")));
    shelf.call("notes_read", json!({ "name": "largest" }));
    shelf.call("notes_delete", json!({ "name": "largest" }));
}

#[test]
fn no_answer_holds_a_path_of_the_host() {
    let shelf = Shelf::new(&[("list.md", "milk\n")]);
    shelf.pipe("pipe.md");
    let host = shelf.path("..").canonicalize().unwrap().display().to_string();
    let mut calls = vec![("notes_list", json!({}))];
    for name in ["list", "lost", "pipe", "../x", "list"] {
        calls.extend(calls_of(name));
    }
    for (tool, arguments) in calls {
        let lines = shelf.plugin.preview(tool, &arguments).unwrap();
        let answer = shelf.ask(tool, arguments.clone());
        let all = format!("{answer:?}{lines:?}");
        assert!(!all.contains(&host), "{tool} {arguments}: {all}");
    }
}
