//! The tool `notes_read`.

use toolbay_plugin_api::{Completeness, serde_json::json};

use crate::shelf::Shelf;

#[test]
fn a_whole_note_is_complete_and_a_window_is_not() {
    let shelf = Shelf::new(&[("list.md", "milk\n\tbread\neggs"), ("empty.md", "")]);
    for (arguments, expected, completeness) in [
        (
            json!({ "name": "list" }),
            "list, lines 1 to 3 of 3.\n\nmilk\n\tbread\neggs\n",
            Completeness::Complete,
        ),
        (
            json!({ "name": "list.md", "line_count": 1 }),
            "list, lines 1 to 1 of 3. Read on with `start_line` 2.\n\nmilk\n",
            Completeness::Partial,
        ),
        (
            json!({ "name": "list", "start_line": 3, "line_count": 9 }),
            "list, lines 3 to 3 of 3.\n\neggs\n",
            Completeness::Partial,
        ),
        (json!({ "name": "empty" }), "The note \"empty\" is empty.\n\n", Completeness::Complete),
    ] {
        let answer = shelf.call("notes_read", arguments.clone());
        assert_eq!(answer.text, expected, "{arguments}");
        assert_eq!(answer.completeness, Some(completeness), "{arguments}");
        assert_eq!(answer.write, None);
    }
}

#[test]
fn what_is_not_there_is_told_with_what_to_do() {
    let shelf = Shelf::new(&[("list.md", "milk\n"), ("empty.md", "")]);
    for (arguments, expected) in [
        (json!({ "name": "lost" }), "there is no note \"lost\"; notes_list shows which there are"),
        (
            json!({ "name": "list", "start_line": 2 }),
            "the note \"list\" has 1 line; `start_line` 2 is after its end",
        ),
        (
            json!({ "name": "empty", "start_line": 2 }),
            "the note \"empty\" has 0 lines; `start_line` 2 is after its end",
        ),
    ] {
        assert_eq!(shelf.refusal("notes_read", arguments), expected);
    }
}

#[test]
fn an_answer_is_bounded_and_says_what_is_cut() {
    let long = "ä".repeat(4_001);
    let shelf = Shelf::new(&[
        ("many.md", &"0123456789\n".repeat(5_000)),
        ("long.md", &format!("{long}\nafter\n")),
        ("fits.md", &long[2..]),
        ("wide.md", &format!("{}\n", "x".repeat(8_000)).repeat(9)),
    ]);
    let answer = shelf.call("notes_read", json!({ "name": "many", "line_count": 1000 }));
    assert!(
        answer.text.starts_with("many, lines 1 to 1000 of 5000. Read on with `start_line` 1001.\n"),
        "{}",
        answer.text
    );
    assert_eq!(answer.completeness, Some(Completeness::Partial));

    let answer = shelf.call("notes_read", json!({ "name": "long" }));
    let cut = &long[..8_000];
    assert_eq!(
        answer.text,
        format!(
            "long, lines 1 to 2 of 2. 1 line cut after 8000 bytes, where … stands.\n\n{cut}…\nafter\n"
        )
    );
    assert_eq!(answer.completeness, Some(Completeness::Partial));
    let answer = shelf.call("notes_read", json!({ "name": "fits" }));
    assert_eq!(answer.completeness, Some(Completeness::Complete));

    let answer = shelf.call("notes_read", json!({ "name": "wide" }));
    assert!(answer.text.starts_with("wide, lines 1 to 4 of 9. Read on with `start_line` 5.\n"));
    assert!(answer.text.len() < 40_000);
    let rest = shelf.call("notes_read", json!({ "name": "wide", "start_line": 9 }));
    assert!(rest.text.starts_with("wide, lines 9 to 9 of 9.\n"));
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let shelf = Shelf::new(&[]);
    shelf.write("latin.md", b"Gr\xfc\xdfe \x1b[31m\n");
    let answer = shelf.call("notes_read", json!({ "name": "latin" }));
    assert_eq!(
        answer.text,
        "latin, lines 1 to 1 of 1. U+FFFD stands for what is no UTF-8.\n\nGr\u{fffd}\u{fffd}e \u{fffd}[31m\n"
    );
    shelf.write("utf8.md", "Grüße\n");
    let answer = shelf.call("notes_read", json!({ "name": "utf8" }));
    assert_eq!(answer.text, "utf8, lines 1 to 1 of 1.\n\nGrüße\n");
}
