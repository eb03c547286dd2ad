//! The tools that write.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt, PermissionsExt},
};

use toolbay_plugin_api::{
    WriteKind,
    serde_json::{Value, json},
    testing::{Answer, Call},
};

use crate::shelf::Shelf;

const MIB: usize = 1 << 20;

/// What an answer says that it wrote.
fn wrote(answer: &Answer) -> (WriteKind, &str, &str, bool) {
    let write = answer.write.as_ref().unwrap();
    (write.kind, &write.target.r#type, &write.target.id, write.hook_failed)
}

#[test]
fn a_note_is_made_grows_and_goes() {
    let shelf = Shelf::new(&[("other.md", "other\n")]);
    let answer = shelf.call("notes_create", json!({ "name": "list.md", "text": "milk\nbread" }));
    assert_eq!(answer.text, "There is a note \"list\" now, with 11 bytes.");
    assert_eq!(wrote(&answer), (WriteKind::Created, "note", "list.md", false));
    assert_eq!(shelf.text("list.md"), "milk\nbread\n");

    let answer = shelf.call("notes_append", json!({ "name": "list", "text": "eggs\n" }));
    assert_eq!(answer.text, "The note \"list\" has 16 bytes now, 5 more than before.");
    assert_eq!(wrote(&answer), (WriteKind::Updated, "note", "list.md", false));
    assert_eq!(shelf.text("list.md"), "milk\nbread\neggs\n");

    let answer = shelf.call("notes_delete", json!({ "name": "list" }));
    assert_eq!(answer.text, "The note \"list\" is gone. It had 16 bytes.");
    assert_eq!(wrote(&answer), (WriteKind::Deleted, "note", "list.md", false));
    assert_eq!(shelf.content().into_keys().collect::<Vec<_>>(), ["other.md"], "and no draft");
    assert_eq!(shelf.text("other.md"), "other\n");
}

#[test]
fn what_is_added_begins_on_a_line_of_its_own() {
    for (before, expected) in [
        ("", "more\n"),
        ("a", "a\nmore\n"),
        ("a\n", "a\nmore\n"),
        ("a\n\n", "a\n\nmore\n"),
        ("a\r\n", "a\r\nmore\n"),
    ] {
        let shelf = Shelf::new(&[("n.md", before)]);
        shelf.call("notes_append", json!({ "name": "n", "text": "more" }));
        assert_eq!(shelf.text("n.md"), expected, "{before:?}");
    }
    let shelf = Shelf::new(&[]);
    shelf.write("latin.md", b"Gr\xfc\xdfe");
    shelf.call("notes_append", json!({ "name": "latin", "text": "ü" }));
    assert_eq!(fs::read(shelf.path("latin.md")).unwrap(), b"Gr\xfc\xdfe\n\xc3\xbc\n");
}

#[test]
fn a_note_is_never_made_twice_and_never_deleted_twice() {
    let shelf = Shelf::new(&[]);
    let create = |text: &str| json!({ "name": "list", "text": text });
    shelf.call("notes_create", create("milk"));
    assert_eq!(
        shelf.refusal("notes_create", create("milk\n")),
        "there is a note \"list\" already, with exactly this text"
    );
    assert_eq!(
        shelf.refusal("notes_create", create("eggs")),
        "there is a note \"list\" already; choose another name, or add to it with notes_append"
    );
    shelf.call("notes_delete", json!({ "name": "list" }));
    let gone = "there is no note \"list\"; notes_list shows which there are";
    assert_eq!(shelf.refusal("notes_delete", json!({ "name": "list" })), gone);
    assert_eq!(shelf.refusal("notes_append", create("eggs")), gone);
}

#[test]
fn texts_end_at_their_limits() {
    let shelf = Shelf::new(&[]);
    let text = |len: usize| "x".repeat(len);
    let create = |name: &str, len: usize| json!({ "name": name, "text": text(len) });

    shelf.call("notes_create", create("largest", MIB - 1));
    assert_eq!(
        shelf.refusal("notes_create", create("larger", MIB)),
        "expected a text of at most 1048576 bytes, found 1048577; write it in parts"
    );
    assert_eq!(
        shelf.refusal("notes_append", create("largest", 1)),
        "the note \"largest\" would have 1048578 bytes, expected at most 1048576; begin another note"
    );

    shelf.write("list.md", text(MIB - (64 << 10) - 1) + "\n");
    assert_eq!(
        shelf.refusal("notes_append", create("list", 64 << 10)),
        "expected a text of at most 65536 bytes, found 65537; write it in parts"
    );
    shelf.call("notes_append", create("list", (64 << 10) - 1));
    assert_eq!(shelf.text("list.md").len(), MIB);

    for tool in ["notes_create", "notes_append"] {
        let blank = json!({ "name": "list", "text": " \n" });
        assert_eq!(
            shelf.refusal(tool, blank),
            "expected a text, found nothing that could be read in it"
        );
    }
}

#[test]
fn there_are_at_most_10_000_notes() {
    let shelf = Shelf::new(&[("readme.txt", ""), (".hidden.md", "")]);
    for at in 0..9_999 {
        shelf.write(&format!("n{at}.md"), "");
    }
    let create = |name: &str| json!({ "name": name, "text": "x" });
    shelf.call("notes_create", create("last"));
    let full = "there are 10000 notes, which is the most; add to one of them with notes_append";
    assert_eq!(shelf.ask("notes_create", create("more")).text, full);
    assert_eq!(
        shelf.preview("notes_create", create("more")),
        [format!("this call would fail: {full}")]
    );
    shelf.call("notes_append", create("last"));
    assert!(shelf.call("notes_list", json!({})).text.starts_with("10000 notes. "));
    shelf.write("n9999.md", "");
    let answer = shelf.call("notes_list", json!({}));
    let more = "There are more than 10000 notes; the others can't be listed.";
    assert!(answer.text.contains(more), "{}", answer.text);

    shelf.call("notes_delete", json!({ "name": "n0" }));
    shelf.call("notes_delete", json!({ "name": "n1" }));
    shelf.call("notes_create", create("more"));
}

/// The file is another afterwards, and who may read it must not be.
#[test]
fn a_changed_note_keeps_its_rights() {
    let shelf = Shelf::new(&[("secret.md", "x\n"), ("shared.md", "x\n")]);
    for (file, mode) in [("secret.md", 0o600), ("shared.md", 0o664)] {
        fs::set_permissions(shelf.path(file), Permissions::from_mode(mode)).unwrap();
        let before = fs::metadata(shelf.path(file)).unwrap();
        shelf.call("notes_append", json!({ "name": file, "text": "y" }));
        let after = fs::metadata(shelf.path(file)).unwrap();
        assert_eq!(after.mode() & 0o7777, mode, "{file}");
        assert_ne!(after.ino(), before.ino(), "it was put in its place whole");
    }
}

#[test]
fn a_cancelled_call_changes_nothing() {
    let shelf = Shelf::new(&[("list.md", "milk\n")]);
    let before = shelf.content();
    let cancelled = Call { cancelled: true, ..Call::default() };
    let calls = [
        ("notes_list", json!({})),
        ("notes_read", json!({ "name": "list" })),
        ("notes_create", json!({ "name": "new", "text": "x" })),
        ("notes_append", json!({ "name": "list", "text": "x" })),
        ("notes_delete", json!({ "name": "list" })),
    ];
    for (tool, arguments) in &calls {
        let answer = shelf.plugin.call_with(tool, arguments, &cancelled).unwrap();
        assert!(answer.cancelled, "{tool}: {}", answer.text);
    }
    assert_eq!(shelf.content(), before);
    for (tool, arguments) in calls {
        shelf.call(tool, arguments);
    }
}

#[test]
fn a_folder_that_may_not_be_written_is_told_without_its_path() {
    let shelf = Shelf::new(&[("list.md", "milk\n")]);
    // What stands there is no file that could be removed, for administrators either.
    fs::create_dir(shelf.path(".toolbay-notes.draft")).unwrap();
    let refused = "the notes can't be changed now; nothing was changed; tell the operator";
    let writes: [(&str, Value); 2] = [
        ("notes_create", json!({ "name": "new", "text": "x" })),
        ("notes_append", json!({ "name": "list", "text": "x" })),
    ];
    for (tool, arguments) in &writes {
        assert_eq!(shelf.refusal(tool, arguments.clone()), refused);
    }
    fs::remove_dir(shelf.path(".toolbay-notes.draft")).unwrap();
    for (tool, arguments) in writes {
        shelf.call(tool, arguments);
    }
}

#[test]
fn what_a_crash_has_left_is_in_nobodys_way() {
    let shelf = Shelf::new(&[("list.md", "milk\n")]);
    let draft = shelf.path(".toolbay-notes.draft");
    // After a crash between the two steps of making a note, the draft is a second name of the note.
    fs::hard_link(shelf.path("list.md"), &draft).unwrap();
    shelf.call("notes_create", json!({ "name": "new", "text": "x" }));
    assert_eq!(shelf.text("list.md"), "milk\n");
    // After one before them, it is half of a text.
    fs::write(&draft, "half of a te").unwrap();
    shelf.call("notes_append", json!({ "name": "list", "text": "eggs" }));
    assert_eq!(shelf.text("list.md"), "milk\neggs\n");
    assert_eq!(shelf.content().into_keys().collect::<Vec<_>>(), ["list.md", "new.md"]);
}
