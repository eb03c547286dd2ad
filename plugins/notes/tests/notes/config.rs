//! Which configurations are taken, which tools they give, and what those declare.

use std::{fs, os::unix::fs::symlink};

use tempfile::TempDir;
use toolbay_plugin_api::{
    serde_json::{Value, json},
    testing::Plugin,
    wire::Fault,
};
use toolbay_plugin_notes::ExportedProvider;

use crate::shelf::{Shelf, calls_of};

const TOOLS: [&str; 5] =
    ["notes_list", "notes_read", "notes_create", "notes_append", "notes_delete"];

fn names(plugin: &Plugin) -> Vec<String> {
    plugin.tools().unwrap().into_iter().map(|tool| tool.name).collect()
}

#[test]
fn tools_are_offered_only_with_a_folder() {
    for config in [json!({}), json!({ "readers": ["ada"] })] {
        let plugin = Plugin::create::<ExportedProvider>(&config).unwrap();
        assert_eq!(names(&plugin), Vec::<String>::new(), "{config}");
        let answer = plugin.call("notes_list", &json!({})).unwrap();
        assert_eq!(
            (answer.ok, answer.text.as_str()),
            (false, "there are no notes: the operator has not set a `folder` for them")
        );
    }
    assert_eq!(names(&Shelf::new(&[]).plugin), TOOLS);
}

#[test]
fn the_note_declares_who_writes_and_who_destroys() {
    let declared = Plugin::declared::<ExportedProvider>().unwrap();
    let said = declared.iter().map(|tool| {
        assert_eq!(tool.group.as_deref(), Some("notes"));
        assert_eq!(tool.data_class.as_deref(), Some("editor_content"));
        assert_eq!(tool.egress.as_deref(), Some("none"));
        assert!(tool.enabled && !tool.requires_admin);
        (tool.name.as_str(), tool.effect.as_deref().unwrap(), tool.kind.as_deref().unwrap())
    });
    assert_eq!(
        said.collect::<Vec<_>>(),
        [
            ("notes_list", "read_only", "search"),
            ("notes_read", "read_only", "read"),
            ("notes_create", "idempotent_write", "write"),
            ("notes_append", "non_idempotent_write", "write"),
            ("notes_delete", "idempotent_write", "destructive"),
        ]
    );
}

#[test]
fn a_wrong_configuration_is_refused_at_its_place() {
    let folder = TempDir::new().unwrap();
    let good = folder.path();
    let (file, absent) = (good.join("file"), good.join("absent"));
    fs::write(&file, "").unwrap();
    let cases: [(Value, &str, &str); 9] = [
        (json!({ "folder": "notes" }), "folder", "expected an absolute path, found notes"),
        (json!({ "folder": "" }), "folder", "expected an absolute path, found "),
        (json!({ "folder": absent }), "folder", "No such file or directory"),
        (json!({ "folder": file }), "folder", "found something else"),
        (json!({ "folder": 7 }), "folder", "expected path string"),
        (json!({ "folder": good, "readers": "ada" }), "readers", "expected a sequence"),
        (json!({ "folder": good, "readers": ["ada", 7] }), "readers[1]", "expected a string"),
        (
            json!({ "folder": good, "readers": ["ada", " "] }),
            "readers[1]",
            "expected a user's name, found nothing",
        ),
        (json!({ "root": good }), "root", "unknown field `root`, expected `folder` or `readers`"),
    ];
    for (config, expected_path, expected) in cases {
        let fault = Plugin::create::<ExportedProvider>(&config).unwrap_err();
        let Fault::Config { path, problem } = fault else { panic!("{config}: {fault:?}") };
        assert_eq!(path, expected_path, "{config}");
        assert!(problem.contains(expected), "{config}: {problem}");
    }
    for config in [json!({ "folder": good }), json!({ "folder": good, "readers": [] })] {
        assert_eq!(names(&Plugin::create::<ExportedProvider>(&config).unwrap()), TOOLS);
    }
}

#[test]
fn the_folder_is_what_its_path_leads_to_at_each_call() {
    let shelf = Shelf::new(&[("old.md", "old\n")]);
    let moved = shelf.root().with_file_name("moved");
    fs::rename(shelf.root(), &moved).unwrap();
    let unavailable =
        "the folder of the notes can't be read now; try again later, or tell the operator";
    for (tool, arguments) in calls_of("old").into_iter().chain([("notes_list", json!({}))]) {
        let answer = shelf.ask(tool, arguments);
        assert_eq!((answer.ok, answer.text.as_str()), (false, unavailable), "{tool}");
    }
    let preview = shelf.preview("notes_delete", json!({ "name": "old" }));
    assert_eq!(preview, [format!("this call would fail: {unavailable}")]);

    // The operator's own link is followed.
    symlink(&moved, shelf.root()).unwrap();
    assert_eq!(
        shelf.call("notes_read", json!({ "name": "old" })).text,
        "old, lines 1 to 1 of 1.\n\nold\n"
    );
    shelf.call("notes_append", json!({ "name": "old", "text": "new" }));
    assert_eq!(fs::read_to_string(moved.join("old.md")).unwrap(), "old\nnew\n");
}
