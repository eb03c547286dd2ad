//! What a search finds, how it tells it, and what it leaves out.

use toolbay_plugin_api::{
    serde_json::{Value, json},
    testing::{Call, take_progress},
};

use crate::tree::{Tree, files_of};

#[test]
fn lines_are_told_with_path_and_number_and_as_values() {
    let tree = Tree::new(&[
        ("src/lib.rs", "one\nneedle here\nthree\n"),
        ("a.rs", "a needle\r\nno\r\nneedle\r\n"),
    ]);
    let answer = tree.search(json!({ "pattern": "needle" }));
    assert_eq!(
        answer.text,
        "3 matching lines in 2 files, of 2 searched.\n\
         \na.rs:1: a needle\na.rs:3: needle\n\
         \nsrc/lib.rs:2: needle here\n"
    );
    let line = |number: u64, text: &str| json!({ "number": number, "text": text, "matched": true });
    assert_eq!(
        answer.structured.unwrap(),
        json!({
            "files": [
                { "path": "a.rs", "lines": [line(1, "a needle"), line(3, "needle")], "more_matches": 0 },
                { "path": "src/lib.rs", "lines": [line(2, "needle here")], "more_matches": 0 },
            ],
            "matches": 3,
            "files_searched": 2,
            "skipped": { "binary": 0, "too_large": 0, "unreadable": 0, "too_deep": 0 },
            "stopped": null,
        })
    );
}

#[test]
fn context_lines_are_marked_and_gaps_are_shown() {
    let tree = Tree::new(&[("a", "1\n2\nx\n4\n5\n6\n7\nx\nx\n")]);
    let answer = tree.search(json!({ "pattern": "x", "context": 1 }));
    let (_, lines) = answer.text.split_once("\n\n").unwrap();
    assert_eq!(lines, "a-2- 2\na:3: x\na-4- 4\n--\na-7- 7\na:8: x\na:9: x\n");
}

#[test]
fn a_pattern_is_taken_as_the_arguments_say() {
    let tree = Tree::new(&[("a", "Foo.bar\n"), ("b", "fooxbar\n"), ("c", "foo.BAR\n")]);
    let cases: [(Value, &[&str]); 9] = [
        (json!({ "pattern": "foo.bar" }), &["a", "b", "c"]),
        (json!({ "pattern": "Foo.bar" }), &["a"]),
        (json!({ "pattern": "foo.bar", "literal": true }), &["a", "c"]),
        (json!({ "pattern": "foo.bar", "case": "sensitive" }), &["b"]),
        (json!({ "pattern": "FOO.BAR", "case": "insensitive" }), &["a", "b", "c"]),
        (json!({ "pattern": "FOO.BAR" }), &[]),
        (json!({ "pattern": "bar$", "case": "sensitive" }), &["a", "b"]),
        (json!({ "pattern": r"^foo\b" }), &["a", "c"]),
        (json!({ "pattern": "(", "literal": true }), &[]),
    ];
    for (arguments, expected) in cases {
        assert_eq!(tree.files(arguments.clone()), expected, "{arguments}");
    }
}

#[test]
fn a_pattern_that_is_none_is_refused_with_the_reason() {
    let tree = Tree::new(&[("a", "x\n")]);
    let cases = [
        (json!({ "pattern": "a(b" }), "unclosed group"),
        (json!({ "pattern": r"a\nb" }), "is not allowed in a regex"),
        (json!({ "pattern": "a\nb", "literal": true }), "can't be searched for as text"),
        (json!({ "pattern": r"\w{1000}{1000}" }), "size limit"),
        (json!({ "pattern": "" }), "found an empty one"),
        (json!({ "pattern": "x", "files": ["a[b"] }), "\"a[b\" in `files` is no pattern of paths"),
        (json!({ "pattern": "x", "case": "upper" }), "argument case: unknown variant `upper`"),
    ];
    for (arguments, expected) in cases {
        let answer = tree.plugin().call("code_search", &arguments).unwrap();
        assert!(!answer.ok && answer.text.contains(expected), "{arguments}: {}", answer.text);
    }
}

#[test]
fn path_and_file_patterns_narrow_the_search() {
    let paths = ["a.rs", "a.toml", "src/b.rs", "src/deep/c.rs", "tests/d.rs", "src2/e.rs"];
    let tree = Tree::new(&paths.map(|path| (path, "x\n")));
    let cases: [(Value, &[&str]); 11] = [
        (json!({ "files": ["*.toml"] }), &["a.toml"]),
        (json!({ "files": ["src/**"] }), &["src/b.rs", "src/deep/c.rs"]),
        (json!({ "files": ["src/"] }), &["src/b.rs", "src/deep/c.rs"]),
        (
            json!({ "files": ["*.rs", "!tests/**", "!src2/"] }),
            &["a.rs", "src/b.rs", "src/deep/c.rs"],
        ),
        (json!({ "files": ["!*.rs"] }), &["a.toml"]),
        (json!({ "files": ["/*.rs"] }), &["a.rs"]),
        (json!({ "path": "src" }), &["src/b.rs", "src/deep/c.rs"]),
        (json!({ "path": "./src/deep/" }), &["src/deep/c.rs"]),
        (json!({ "path": "src/b.rs" }), &["src/b.rs"]),
        (json!({ "path": "src", "files": ["c.*"] }), &["src/deep/c.rs"]),
        (json!({ "path": "." }), &paths),
    ];
    for (mut arguments, expected) in cases {
        arguments["pattern"] = json!("x");
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        let mut found = tree.files(arguments.clone());
        found.sort_unstable();
        assert_eq!(found, expected, "{arguments}");
    }
}

#[test]
fn hidden_and_ignored_files_stay_out_whatever_the_patterns_say() {
    let tree = Tree::new(&[
        (".gitignore", "*.log\n/build/\n!keep.log\n"),
        (".env", "x\n"),
        (".git/config", "x\n"),
        ("seen.rs", "x\n"),
        ("debug.log", "x\n"),
        ("keep.log", "x\n"),
        ("build/out.rs", "x\n"),
        ("src/build/in.rs", "x\n"),
        ("src/.gitignore", "secret*\n"),
        ("src/.ignore", "!secret.md\n"),
        ("src/secret.rs", "x\n"),
        ("src/logs/.gitignore", "!app.log\n"),
        ("src/logs/app.log", "x\n"),
        ("src/logs/other.log", "x\n"),
        ("src/secret.md", "x\n"),
        ("secret.rs", "x\n"),
    ]);
    let visible = [
        "keep.log",
        "secret.rs",
        "seen.rs",
        "src/build/in.rs",
        "src/logs/app.log",
        "src/secret.md",
    ];
    assert_eq!(tree.files(json!({ "pattern": "x" })), visible);
    for files in [".env", "debug.log", "**/*secret.rs", "build/**"] {
        let found = tree.files(json!({ "pattern": "x", "files": [files] }));
        assert!(found.iter().all(|file| visible.contains(&file.as_str())), "{files}: {found:?}");
    }
    for path in
        [".env", ".git", ".git/config", "debug.log", "build", "build/out.rs", "src/secret.rs"]
    {
        for (tool, arguments) in [
            ("code_search", json!({ "pattern": "x", "path": path })),
            ("code_read", json!({ "path": path })),
        ] {
            let answer = tree.plugin().call(tool, &arguments).unwrap();
            assert!(!answer.ok, "{tool} {path}: {}", answer.text);
            assert!(answer.text.starts_with("there is nothing to read at"), "{}", answer.text);
        }
    }
    assert!(tree.read(json!({ "path": "src/secret.md" })).ok);
}

#[test]
fn binary_and_large_files_are_left_out_and_counted() {
    let tree = Tree::new(&[("text", "needle\n")]);
    tree.write("zero", b"needle\n\0");
    let mut late = "needle\n".repeat(20_000).into_bytes();
    late.push(0);
    tree.write("late", late);
    tree.write("large", format!("needle\n{}", "x".repeat(2 << 20)));
    let mut utf16 = vec![0xff, 0xfe];
    utf16.extend("needle\n".encode_utf16().flat_map(u16::to_le_bytes));
    tree.write("utf16", utf16);
    tree.write("utf8", "\u{feff}needle\n");

    let arguments = json!({ "pattern": "^needle$", "max_per_file": 3 });
    let answer = tree.search(arguments);
    assert_eq!(files_of(&answer), ["text", "utf16", "utf8"]);
    let first = answer.text.lines().next().unwrap();
    assert_eq!(
        first,
        "3 matching lines in 3 files, of 5 searched. Left out: 2 binary, 1 larger than 2097152 bytes."
    );
}

#[test]
fn contents_and_names_that_are_no_text_are_shown_as_far_as_they_are() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    let tree = Tree::new(&[]);
    std::fs::write(tree.root().join(OsStr::from_bytes(b"na\xffme\nb")), b"a\xff needle \x1b[2J\n")
        .unwrap();
    let answer = tree.search(json!({ "pattern": "needle" }));
    assert!(
        answer.text.ends_with("\nna\u{fffd}me\u{fffd}b:1: a\u{fffd} needle \u{fffd}[2J\n"),
        "{}",
        answer.text
    );
}

#[test]
fn a_long_line_is_shown_around_its_match() {
    let line = format!("{}needle{}\n", "a".repeat(50_000), "b".repeat(50_000));
    let tree = Tree::new(&[("min.js", &line)]);
    let answer = tree.search(json!({ "pattern": "needle" }));
    let shown = answer.text.lines().last().unwrap();
    assert!(shown.contains("aneedleb") && shown.len() < 300, "{shown}");
}

#[test]
fn matches_above_the_caps_are_told_and_not_returned() {
    let tree = Tree::new(&[("a", &"x\n".repeat(30)), ("b", &"x\n".repeat(30))]);
    let counts = |arguments: Value| {
        let answer = tree.search(arguments);
        let structured = answer.structured.unwrap();
        (structured["matches"].as_u64().unwrap(), structured["stopped"].clone(), answer.text)
    };

    let (matches, stopped, text) = counts(json!({ "pattern": "x" }));
    assert_eq!((matches, stopped), (40, Value::Null));
    assert!(text.contains("\na: 10 more matching lines; raise `max_per_file`"), "{text}");

    let (matches, stopped, text) = counts(json!({ "pattern": "x", "max_results": 7 }));
    assert_eq!((matches, stopped), (7, json!("matches")));
    assert!(text.contains("There may be more: `max_results` is 7. Narrow"), "{text}");

    let all = json!({ "pattern": "x", "max_results": 60, "max_per_file": 30 });
    let (matches, stopped, text) = counts(all);
    assert_eq!((matches, stopped), (60, Value::Null), "the last match that fits is no overflow");
    assert!(!text.contains("more"), "{text}");
}

#[test]
fn no_match_that_is_left_out_leaves_its_context_behind() {
    let tree = Tree::new(&[("a", "x\n2\n3\n4\nx\n6\n7\n8\nx\n10\n")]);
    for cap in ["max_results", "max_per_file"] {
        let answer = tree.search(json!({ "pattern": "x", "context": 1, cap: 2 }));
        let lines =
            answer.text.lines().filter(|line| line.starts_with("a:") || line.starts_with("a-"));
        let lines = lines.filter(|line| !line.contains("more")).collect::<Vec<_>>();
        assert_eq!(lines, ["a:1: x", "a-2- 2", "a-4- 4", "a:5: x", "a-6- 6"], "{cap}");
    }
}

#[test]
fn a_large_tree_is_answered_within_the_caps() {
    let tree = Tree::new(&[]);
    let line = format!("{}needle{}\n", "\"".repeat(300), "\\".repeat(300));
    for folder in 0..20 {
        for file in 0..100 {
            tree.write(&format!("folder-{folder:02}/file-{file:03}.rs"), line.repeat(3));
        }
    }
    take_progress();

    let answer = tree.search(json!({ "pattern": "needle", "max_results": 200, "context": 10 }));
    assert!(answer.text.len() < 40_000, "{}", answer.text.len());
    let structured = answer.structured.unwrap();
    assert!(structured.to_string().len() < 80_000, "{}", structured.to_string().len());
    assert_eq!(structured["stopped"], json!("answer_full"));
    assert!(answer.text.contains("There may be more: the answer is full."));

    let answer = tree.search(json!({ "pattern": "absent" }));
    assert_eq!(answer.text, "No match in 2000 files.\n");
    let again = tree.search(json!({ "pattern": "absent" }));
    assert_eq!(again.text, answer.text, "the same tree gives the same answer");
    let done = take_progress().iter().map(|progress| progress.done).collect::<Vec<_>>();
    assert!(done.contains(&1792.0), "{done:?}");

    let plugin = tree.plugin_with(json!({ "max_milliseconds": 1 }));
    let answer = plugin.call("code_search", &json!({ "pattern": "absent" })).unwrap();
    assert!(answer.ok && answer.text.contains("There may be more: the time was up."));
}

#[test]
fn a_search_that_has_read_enough_says_so() {
    let tree = Tree::new(&[("a", "needle\n"), ("b", "needle\n"), ("c", "needle\n")]);
    let arguments = json!({ "pattern": "needle" });

    let answer =
        tree.plugin_with(json!({ "max_total_bytes": 14 })).call("code_search", &arguments).unwrap();
    assert_eq!(files_of(&answer), ["a", "b"]);
    assert!(answer.text.contains("There may be more: 14 bytes were read."), "{}", answer.text);

    let answer =
        tree.plugin_with(json!({ "max_total_bytes": 21 })).call("code_search", &arguments).unwrap();
    assert_eq!(files_of(&answer), ["a", "b", "c"]);
    assert!(!answer.text.contains("more"), "{}", answer.text);
}

#[test]
fn a_single_file_can_not_outlast_the_time() {
    let tree = Tree::new(&[("a", &"x\n".repeat(1 << 20))]);
    let plugin = tree.plugin_with(json!({ "max_milliseconds": 1 }));
    let answer = plugin.call("code_search", &json!({ "pattern": "x" })).unwrap();
    assert_eq!(answer.structured.unwrap()["stopped"], json!("time"));
}

#[test]
fn a_cancelled_call_stops() {
    let tree = Tree::new(&[("a", "needle\n")]);
    let plugin = tree.plugin();
    for (tool, arguments) in
        [("code_search", json!({ "pattern": "needle" })), ("code_read", json!({ "path": "a" }))]
    {
        let call = Call { cancelled: true, ..Call::default() };
        let answer = plugin.call_with(tool, &arguments, &call).unwrap();
        assert!(answer.cancelled && !answer.ok, "{tool}");
        let call = Call { remaining_ms: 60_000, ..Call::default() };
        assert!(plugin.call_with(tool, &arguments, &call).unwrap().ok, "{tool}");
    }
}
