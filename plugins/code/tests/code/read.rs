//! What `code_read` tells of a file.

use toolbay_plugin_api::serde_json::json;

use crate::tree::Tree;

fn numbered(lines: std::ops::RangeInclusive<u32>) -> String {
    lines.map(|line| format!("line {line}\n")).collect()
}

#[test]
fn lines_come_with_their_numbers_and_what_is_left() {
    let tree = Tree::new(&[("src/a.rs", &numbered(1..=5))]);
    let answer = tree.read(json!({ "path": "src/a.rs", "start_line": 2, "line_count": 2 }));
    assert!(answer.ok);
    assert_eq!(
        answer.text,
        "src/a.rs, lines 2 to 3 of 5. Read on with `start_line` 4.\n    2  line 2\n    3  line 3\n"
    );
    assert_eq!(
        answer.structured.unwrap(),
        json!({ "path": "src/a.rs", "start_line": 2, "end_line": 3, "total_lines": 5, "text": "line 2\nline 3" })
    );
    let answer = tree.read(json!({ "path": "src/a.rs", "start_line": 4 }));
    assert_eq!(answer.text, "src/a.rs, lines 4 to 5 of 5.\n    4  line 4\n    5  line 5\n");
}

#[test]
fn a_range_without_an_end_has_200_lines_and_no_more_than_1000_are_read() {
    let tree = Tree::new(&[("a", &numbered(1..=1500))]);
    for (arguments, end) in [
        (json!({ "path": "a" }), 200),
        (json!({ "path": "a", "line_count": 1000 }), 1000),
        (json!({ "path": "a", "line_count": 4000 }), 1000),
    ] {
        let answer = tree.read(arguments.clone());
        assert_eq!(answer.structured.unwrap()["end_line"], end, "{arguments}");
    }
}

#[test]
fn an_answer_that_would_be_too_long_ends_early_and_says_where_to_go_on() {
    let pair = format!("{}\ny\n", "x".repeat(1000));
    let tree = Tree::new(&[("a", &pair.repeat(100))]);
    let answer = tree.read(json!({ "path": "a" }));
    assert!(answer.text.len() < 40_000, "{}", answer.text.len());
    let structured = answer.structured.unwrap();
    let last = structured["end_line"].as_u64().unwrap();
    assert!((60..72).contains(&last), "{last}");
    assert!(
        pair.repeat(100).starts_with(structured["text"].as_str().unwrap()),
        "no line is left out between"
    );
    let next = format!("Read on with `start_line` {}.", last + 1);
    assert!(answer.text.contains(&next), "{}", &answer.text[..100]);

    let tree = Tree::new(&[("a", &"x".repeat(100_000))]);
    let answer = tree.read(json!({ "path": "a" }));
    assert!(answer.text.ends_with("x…\n") && answer.text.len() < 2100);
}

#[test]
fn what_can_not_be_read_is_refused_with_what_to_do() {
    let tree = Tree::new(&[("src/a.rs", "x\n"), ("src/b/c", ""), ("empty", "")]);
    std::fs::create_dir(tree.path("none")).unwrap();
    tree.write("binary", b"a\n\0\n");
    tree.write("large", vec![b'x'; (2 << 20) + 1]);
    tree.write("limit", vec![b'x'; 2 << 20]);
    let cases = [
        (
            json!({ "path": "src/a.rs", "start_line": 2 }),
            "\"src/a.rs\" has 1 line; `start_line` 2 is after its end",
        ),
        (json!({ "path": "src" }), "expected a file, found the folder \"src\" with a.rs, b/"),
        (
            json!({ "path": "none" }),
            "expected a file, found the folder \"none\" with nothing to read",
        ),
        (json!({ "path": "binary" }), "\"binary\" is a binary file; only text can be read"),
        (
            json!({ "path": "large" }),
            "\"large\" can't be read: expected at most 2097152 bytes, found 2097153; code_search finds nothing in it either",
        ),
        (
            json!({ "path": "absent.rs" }),
            "there is nothing to read at \"absent.rs\"; hidden and ignored files, and links that lead out of the root, \
             count as absent; find paths with code_search",
        ),
    ];
    for (arguments, expected) in cases {
        let answer = tree.read(arguments.clone());
        assert!(!answer.ok, "{arguments}");
        assert_eq!(answer.text, expected, "{arguments}");
    }
    assert_eq!(tree.read(json!({ "path": "empty" })).text, "empty is empty.\n");
    assert!(tree.read(json!({ "path": "limit" })).ok);
}
