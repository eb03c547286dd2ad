//! What the people who decide about a write are shown, and who of them is.

use std::{
    fs::File,
    time::{Duration, UNIX_EPOCH},
};

use toolbay_plugin_api::{
    serde_json::{Value, json},
    testing::Plugin,
};
use toolbay_plugin_notes::ExportedProvider;

use crate::shelf::Shelf;

/// A shelf with one note that was changed at noon.
fn at_noon(text: &str) -> Shelf {
    let shelf = Shelf::new(&[("list.md", text)]);
    let noon = UNIX_EPOCH + Duration::from_secs(1_785_412_800);
    File::options().write(true).open(shelf.path("list.md")).unwrap().set_modified(noon).unwrap();
    shelf
}

#[test]
fn a_preview_says_what_would_be_written_where() {
    let shelf = at_noon("milk\nbread");
    let before = shelf.content();
    let cases: [(&str, Value, &[&str]); 4] = [
        (
            "notes_create",
            json!({ "name": "New list", "text": "eggs\n\nham" }),
            &["create New list.md, 10 bytes:", "+ eggs", "+ ", "+ ham"],
        ),
        (
            "notes_append",
            json!({ "name": "list", "text": "eggs" }),
            &[
                "append to list.md, 10 bytes before, last changed 2026-07-30T12:00:00Z, 16 bytes afterwards:",
                "+ eggs",
            ],
        ),
        (
            "notes_delete",
            json!({ "name": "list.md" }),
            &[
                "delete list.md, 10 bytes, last changed 2026-07-30T12:00:00Z; this would be lost for good:",
                "- milk",
                "- bread",
            ],
        ),
        (
            "notes_delete",
            json!({ "name": "lost" }),
            &["this call would fail: there is no note \"lost\"; notes_list shows which there are"],
        ),
    ];
    for (tool, arguments, expected) in &cases {
        for _ in 0..2 {
            assert_eq!(shelf.preview(tool, arguments.clone()), *expected, "{tool} {arguments}");
        }
    }
    assert_eq!(shelf.content(), before, "a preview changes nothing");
}

/// A host that makes the preview again sees that it is about another note by now.
#[test]
fn a_preview_differs_where_the_note_has_changed() {
    for text in ["milk\nham", "tea\nmilk"] {
        let shelf = at_noon("milk\ntea");
        let delete = || shelf.preview("notes_delete", json!({ "name": "list" }));
        let before = delete();
        shelf.write("list.md", text);
        assert_ne!(delete(), before, "{text:?}");
    }
}

#[test]
fn a_call_that_would_fail_says_so_as_the_call_does() {
    let shelf = at_noon("milk\n");
    shelf.link("link.md", "list.md");
    for (tool, arguments) in [
        ("notes_create", json!({ "name": "list", "text": "x" })),
        ("notes_create", json!({ "name": "../x", "text": "x" })),
        ("notes_create", json!({ "name": "x", "text": " " })),
        ("notes_append", json!({ "name": "lost", "text": "x" })),
        ("notes_append", json!({ "name": "list", "text": "x".repeat(64 << 10) })),
        ("notes_delete", json!({ "name": "link" })),
    ] {
        let expected = format!("this call would fail: {}", shelf.refusal(tool, arguments.clone()));
        assert_eq!(shelf.preview(tool, arguments), [expected]);
    }
}

#[test]
fn a_preview_is_short_and_what_it_looks_like() {
    let shelf = Shelf::new(&[("long.md", &"0123456789\n".repeat(1_000))]);
    let lines = shelf.preview("notes_delete", json!({ "name": "long" }));
    assert_eq!((lines.len(), lines[16].as_str()), (17, "and 985 lines after them"));

    let text = format!("{}\n\u{1b}[2J\u{202e}\n", "x".repeat(10_000));
    let lines = shelf.preview("notes_create", json!({ "name": "new", "text": text }));
    assert_eq!(lines[1].len(), "+ ".len() + 400 + "…".len());
    assert_eq!(lines[2], "+ \\u{1b}[2J\\u{202e}");
}

#[test]
fn readers_have_no_preview() {
    let shelf = at_noon("milk\n");
    for tool in ["notes_list", "notes_read"] {
        assert_eq!(shelf.plugin.preview(tool, &json!({ "name": "list" })), Ok(None));
    }
    let wrong = json!({ "name": "list", "text": 7 });
    assert_eq!(shelf.plugin.preview("notes_append", &wrong), Ok(None), "arguments of another kind");
}

#[test]
fn the_configuration_says_who_may_read_a_preview() {
    let shelf = at_noon("milk\n");
    let configured = |readers: Value| {
        let config = json!({ "folder": shelf.root(), "readers": readers });
        Plugin::create::<ExportedProvider>(&config).unwrap()
    };
    let user = |name: &str, admin: bool| json!({ "kind": "user", "name": name, "admin": admin });
    let (ada, bob, root) = (user("ada", false), user("bob", false), user("root", true));
    let account = json!({ "kind": "service_account", "name": "ada", "scopes": ["notes"] });
    let cases: [(Value, &Value, bool); 12] = [
        (Value::Null, &ada, true),
        (Value::Null, &user("", false), false),
        (Value::Null, &root, true),
        (Value::Null, &account, false),
        (Value::Null, &json!({ "kind": "anonymous" }), false),
        (json!(["ada"]), &ada, true),
        (json!(["ada"]), &bob, false),
        (json!(["ada"]), &user("Ada", false), false),
        (json!(["ada"]), &root, true),
        (json!(["ada"]), &account, false),
        (json!([]), &ada, false),
        (json!([]), &root, true),
    ];
    for (readers, actor, expected) in cases {
        let plugin = configured(readers.clone());
        let viewer = json!({ "actor": actor });
        let arguments = json!({ "name": "list", "text": "x" });
        let delete = json!({ "name": "list" });
        for (tool, arguments) in
            [("notes_create", &arguments), ("notes_append", &arguments), ("notes_delete", &delete)]
        {
            let found = plugin.may_viewer_read(tool, arguments, &viewer);
            assert_eq!(found, Ok(Some(expected)), "{tool} {readers} {actor}");
        }
        for tool in ["notes_list", "notes_read"] {
            assert_eq!(plugin.may_viewer_read(tool, &json!({}), &viewer), Ok(None));
        }
    }
}
