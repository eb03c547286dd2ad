//! Trees and paths that try to lead out of the root, to block a call, or to make it endless; beside each, its harmless twin.

use std::fs;

use toolbay_plugin_api::serde_json::json;

use crate::tree::{Tree, at_once};

const ABSENT: &str = "there is nothing to read at";

#[test]
fn no_path_leads_out_of_the_root() {
    let tree = Tree::new(&[("a.rs", "x\n"), ("src/b.rs", "x\n")]);
    tree.write("../outside.rs", "secret\n");
    let outside = tree.path("../outside.rs").display().to_string();
    let inside = tree.path("a.rs").display().to_string();
    for path in
        ["../outside.rs", "src/../../outside.rs", "src/../a.rs", "..", &outside, &inside, "/"]
    {
        for answer in [
            tree.read(json!({ "path": path })),
            tree.plugin().call("code_search", &json!({ "pattern": "", "path": path })).unwrap(),
            tree.plugin().call("code_search", &json!({ "pattern": "x", "path": path })).unwrap(),
        ] {
            assert!(!answer.ok, "{path}: {}", answer.text);
            assert!(answer.text.starts_with("expected a path below a root"), "{}", answer.text);
        }
    }
    for path in ["a.rs", "./a.rs", "src/./b.rs", "src//b.rs"] {
        assert!(tree.read(json!({ "path": path })).ok, "{path}");
    }
}

#[test]
fn a_link_out_of_the_root_is_as_if_it_were_absent() {
    let tree = Tree::new(&[("src/real.rs", "x\n"), (".env", "x\n")]);
    tree.write("../outside/secret.rs", "x\n");
    tree.link("file.rs", tree.path("../outside/secret.rs"));
    tree.link("folder", "../outside");
    tree.link("nowhere.rs", tree.path("../outside/absent.rs"));
    tree.link("hidden.rs", ".env");
    tree.link("loop", "loop");
    tree.link("src/up", "..");
    tree.link("good.rs", "src/real.rs");
    tree.link("absolute.rs", tree.path("src/real.rs"));

    for path in
        ["file.rs", "folder", "folder/secret.rs", "nowhere.rs", "hidden.rs", "loop", "loop/a"]
    {
        let answer = tree.read(json!({ "path": path }));
        assert!(!answer.ok && answer.text.starts_with(ABSENT), "{path}: {}", answer.text);
        let rest = answer.text.split_once(';').unwrap().1;
        let absent = tree.read(json!({ "path": "absent" }));
        assert_eq!(
            rest,
            absent.text.split_once(';').unwrap().1,
            "the words tell nothing of {path}"
        );
    }
    for path in ["good.rs", "absolute.rs", "src/up/good.rs", "src/up/src/real.rs"] {
        assert!(tree.read(json!({ "path": path })).ok, "{path}");
    }
    assert_eq!(tree.files(json!({ "pattern": "x" })), ["src/real.rs"], "a walk follows no link");
    assert_eq!(tree.files(json!({ "pattern": "x", "path": "good.rs" })), ["src/real.rs"]);
}

#[test]
fn a_root_that_is_a_link_is_the_folder_that_it_leads_to() {
    let tree = Tree::new(&[("releases/2/a.rs", "x\n")]);
    tree.link("current", "releases/2");
    let config = json!({ "roots": [tree.path("current")] });
    let plugin =
        toolbay_plugin_api::testing::Plugin::create::<toolbay_plugin_code::ExportedProvider>(
            &config,
        )
        .unwrap();
    let answer = plugin.call("code_search", &json!({ "pattern": "x" })).unwrap();
    assert!(answer.text.contains("\na.rs:1: x\n"), "{}", answer.text);
    assert!(plugin.call("code_read", &json!({ "path": "a.rs" })).unwrap().ok);
}

#[test]
fn a_pipe_blocks_no_call() {
    let tree = Tree::new(&[("a.rs", "x\n")]);
    tree.pipe("pipe.rs");
    let plugin = tree.plugin();
    let (found, read) = at_once(move || {
        let found = plugin.call("code_search", &json!({ "pattern": "x" })).unwrap();
        (found, plugin.call("code_read", &json!({ "path": "pipe.rs" })).unwrap())
    });
    assert!(found.text.contains("\na.rs:1: x\n"), "{}", found.text);
    assert!(!read.ok && read.text.starts_with(ABSENT), "{}", read.text);
}

#[test]
fn ignore_rules_that_are_no_regular_file_count_as_absent() {
    let tree = Tree::new(&[("pipe/a.rs", "x\n"), ("device/a.rs", "x\n"), ("link/a.rs", "x\n")]);
    tree.write("../rules", "*.rs\n");
    tree.pipe("pipe/.gitignore");
    tree.link("device/.gitignore", "/dev/zero");
    tree.link("link/.gitignore", tree.path("../rules"));
    fs::create_dir(tree.path("device/.ignore")).unwrap();
    let plugin = tree.plugin();
    let found = at_once(move || plugin.call("code_search", &json!({ "pattern": "x" })).unwrap());
    assert!(found.text.starts_with("3 matching lines in 3 files"), "{}", found.text);
}

#[test]
fn a_folder_whose_ignore_rules_are_too_long_stays_closed() {
    let rules = "#".repeat((256 << 10) + 1);
    let tree = Tree::new(&[("a.rs", "x\n"), ("closed/b.rs", "x\n"), ("closed/.gitignore", &rules)]);
    let answer = tree.search(json!({ "pattern": "x" }));
    assert!(
        answer
            .text
            .starts_with("1 matching line in 1 file, of 1 searched. Left out: 1 unreadable.")
    );
    assert!(!tree.read(json!({ "path": "closed/b.rs" })).ok);

    tree.write("closed/.gitignore", &rules[1..]);
    assert_eq!(tree.files(json!({ "pattern": "x" })), ["a.rs", "closed/b.rs"]);
    assert!(tree.read(json!({ "path": "closed/b.rs" })).ok);
}

#[test]
fn folders_deeper_than_64_levels_are_counted_and_left_out() {
    let deep = |levels: usize| format!("{}a.rs", "d/".repeat(levels));
    let tree = Tree::new(&[(&deep(63), "x\n")]);
    assert_eq!(tree.files(json!({ "pattern": "x" })), [deep(63)]);
    tree.write(&deep(64), "x\n");
    let answer = tree.search(json!({ "pattern": "x" }));
    assert!(
        answer.text.starts_with(
            "1 matching line in 1 file, of 1 searched. Left out: 1 too deep in folders."
        )
    );
}

#[test]
fn no_answer_holds_a_path_of_the_host() {
    let tree = Tree::new(&[("a.rs", "x\n")]);
    let host = tree.root().parent().unwrap().display().to_string();
    for (tool, arguments) in [
        ("code_search", json!({ "pattern": "x" })),
        ("code_search", json!({ "pattern": "x", "path": "absent" })),
        ("code_read", json!({ "path": "a.rs" })),
        ("code_read", json!({ "path": "." })),
        ("code_read", json!({ "path": "absent" })),
    ] {
        let answer = tree.plugin().call(tool, &arguments).unwrap();
        let all = format!("{}{:?}{:?}", answer.text, answer.structured, answer.content);
        assert!(!all.contains(&host), "{arguments}: {all}");
    }
}
