//! Which configurations are taken, and which tools they give.

use std::fs;

use toolbay_plugin_api::{
    serde_json::{Value, json},
    testing::Plugin,
    wire::Fault,
};
use toolbay_plugin_code::ExportedProvider;

use crate::tree::Tree;

fn names(plugin: &Plugin) -> Vec<String> {
    plugin.tools().unwrap().into_iter().map(|tool| tool.name).collect()
}

#[test]
fn tools_are_offered_only_with_a_root_to_search() {
    let tree = Tree::new(&[]);
    for config in [json!({}), json!({ "roots": [] })] {
        let plugin = Plugin::create::<ExportedProvider>(&config).unwrap();
        assert_eq!(names(&plugin), Vec::<String>::new(), "{config}");
    }
    assert_eq!(names(&tree.plugin()), ["code_search", "code_read"]);
}

#[test]
fn the_note_declares_both_tools_whatever_is_configured() {
    let declared = Plugin::declared::<ExportedProvider>().unwrap();
    let kinds = declared.iter().map(|tool| {
        assert_eq!(tool.effect.as_deref(), Some("read_only"));
        assert_eq!(tool.data_class.as_deref(), Some("source_code"));
        assert_eq!(tool.group.as_deref(), Some("code"));
        assert!(tool.enabled && !tool.approval && !tool.requires_admin);
        (tool.name.as_str(), tool.kind.as_deref().unwrap())
    });
    assert_eq!(kinds.collect::<Vec<_>>(), [("code_search", "search"), ("code_read", "read")]);
}

#[test]
fn a_wrong_root_is_refused_at_its_place() {
    let tree = Tree::new(&[("file", "")]);
    let good = tree.root();
    fs::create_dir(tree.path("sub")).unwrap();
    let named = |name: &str| json!({ "name": name, "path": tree.path("sub") });
    let cases: [(Value, &str, &str); 10] = [
        (json!("src"), "roots[1]", "expected an absolute path, found src"),
        (json!(tree.path("missing")), "roots[1]", "No such file or directory"),
        (json!(tree.path("file")), "roots[1]", "expected a folder"),
        (json!("/"), "roots[1]", "found \"\"; write"),
        (json!(good), "roots[1]", "expected a name of its own, found \"root\" twice"),
        (named("root"), "roots[1]", "expected a name of its own, found \"root\" twice"),
        (named("a/b"), "roots[1]", "expected a name of 1 to 64 bytes"),
        (named(".."), "roots[1]", "expected a name of 1 to 64 bytes"),
        (named("a\nb"), "roots[1]", "expected a name of 1 to 64 bytes"),
        (json!(7), "roots[1]", "expected an absolute path, or a table of `name` and `path`"),
    ];
    for (root, expected_path, expected) in cases {
        let config = json!({ "roots": [good, root] });
        let fault = Plugin::create::<ExportedProvider>(&config).unwrap_err();
        let Fault::Config { path, problem } = fault else { panic!("{root}: {fault:?}") };
        assert_eq!(path, expected_path, "{root}");
        assert!(problem.contains(expected), "{root}: {problem}");
    }
    let config = json!({ "roots": [good, named("sub")] });
    assert_eq!(names(&Plugin::create::<ExportedProvider>(&config).unwrap()).len(), 2);
}

#[test]
fn a_limit_of_zero_and_an_unknown_one_are_refused_by_name() {
    for (limits, expected) in [
        (json!({ "max_milliseconds": 0 }), "limits.max_milliseconds"),
        (json!({ "max_file_bytes": -1 }), "limits.max_file_bytes"),
        (json!({ "max_files": 1 }), "limits.max_files"),
    ] {
        let fault = Plugin::create::<ExportedProvider>(&json!({ "limits": limits })).unwrap_err();
        let Fault::Config { path, .. } = fault else { panic!("{limits}: {fault:?}") };
        assert_eq!(path, expected);
    }
}

#[test]
fn several_roots_are_told_apart_by_their_names() {
    let tree = Tree::new(&[("one/src/a.rs", "needle\n"), ("two/src/a.rs", "needle\n")]);
    let config =
        json!({ "roots": [tree.path("one"), { "name": "second", "path": tree.path("two") }] });
    let plugin = Plugin::create::<ExportedProvider>(&config).unwrap();

    let description = &plugin.tools().unwrap()[0].description;
    assert!(description.ends_with("Each path begins with one of: one, second."), "{description}");

    let answer = plugin.call("code_search", &json!({ "pattern": "needle" })).unwrap();
    assert!(answer.text.contains("\none/src/a.rs:1: needle\n"), "{}", answer.text);
    assert!(answer.text.contains("\nsecond/src/a.rs:1: needle\n"), "{}", answer.text);

    let arguments = json!({ "pattern": "needle", "path": "second/src" });
    let answer = plugin.call("code_search", &arguments).unwrap();
    assert!(answer.text.starts_with("1 matching line in 1 file, of 1 searched.\n"));

    let read = |path: &str| plugin.call("code_read", &json!({ "path": path })).unwrap();
    assert!(read("one/src/a.rs").ok);
    assert_eq!(
        read("src/a.rs").text,
        "expected a path that begins with one of the roots one, second; found \"src/a.rs\""
    );
    assert_eq!(read(".").text, "expected a file, found the folder \".\" with one, second");
}

#[test]
fn a_root_that_goes_away_is_named_without_its_path() {
    let tree = Tree::new(&[("a.rs", "needle\n")]);
    let plugin = tree.plugin();
    let moved = tree.root().with_file_name("moved");
    fs::rename(tree.root(), &moved).unwrap();
    let answer = plugin.call("code_search", &json!({ "pattern": "needle" })).unwrap();
    assert!(!answer.ok);
    assert_eq!(
        answer.text,
        "the root \"root\" can't be opened now; try again later, or tell the operator"
    );
    fs::rename(&moved, tree.root()).unwrap();
    assert!(plugin.call("code_search", &json!({ "pattern": "needle" })).unwrap().ok);
}
