//! The tool `notes_list`.

use std::{
    fs::{self, File},
    time::{Duration, UNIX_EPOCH},
};

use toolbay_plugin_api::{
    Completeness,
    serde_json::{Value, json},
};

use crate::shelf::Shelf;

fn names(found: &Value) -> Vec<&str> {
    found["notes"].as_array().unwrap().iter().map(|note| note["name"].as_str().unwrap()).collect()
}

#[test]
fn notes_are_listed_with_size_and_time() {
    let shelf = Shelf::new(&[("b.md", "12345"), ("Ä.md", "")]);
    let changed = UNIX_EPOCH + Duration::from_secs(1_785_412_800);
    for file in ["b.md", "Ä.md"] {
        File::options().write(true).open(shelf.path(file)).unwrap().set_modified(changed).unwrap();
    }
    let answer = shelf.call("notes_list", json!({}));
    assert_eq!(
        answer.text,
        "2 notes.\nb  5 bytes  2026-07-30T12:00:00Z\nÄ  0 bytes  2026-07-30T12:00:00Z\n"
    );
    assert_eq!(
        answer.structured,
        Some(json!({
            "total": 2,
            "notes": [
                { "name": "b", "bytes": 5, "changed": "2026-07-30T12:00:00Z" },
                { "name": "Ä", "bytes": 0, "changed": "2026-07-30T12:00:00Z" },
            ],
        }))
    );
    assert_eq!(answer.completeness, Some(Completeness::Complete));
}

#[test]
fn a_query_is_a_part_of_the_name_in_any_case_and_form() {
    let shelf = Shelf::new(&[("Einkäufe.md", ""), ("einkauf.md", ""), ("plan.md", "")]);
    for (query, expected) in [
        ("eink", vec!["Einkäufe", "einkauf"]),
        ("KÄUF", vec!["Einkäufe"]),
        ("ka\u{308}uf", vec!["Einkäufe"]),
        (" plan ", vec!["plan"]),
        (".md", vec![]),
        (".*", vec![]),
        ("", vec!["Einkäufe", "einkauf", "plan"]),
    ] {
        let answer = shelf.call("notes_list", json!({ "query": query }));
        assert_eq!(names(&answer.structured.unwrap()), expected, "{query:?}");
    }
    let answer = shelf.call("notes_list", json!({ "query": "eink" }));
    assert!(
        answer.text.starts_with("2 of 3 notes with \"eink\" in the name.\n"),
        "{}",
        answer.text
    );
    let answer = shelf.call("notes_list", json!({ "query": "x\n" }));
    assert_eq!(answer.text, "No note has \"x\" in its name, of 3.\n");
    let answer = Shelf::new(&[]).call("notes_list", json!({}));
    assert_eq!(answer.text, "There are no notes.\n");
    assert_eq!(answer.completeness, Some(Completeness::Complete));
}

#[test]
fn pages_join_and_say_that_they_are_not_all() {
    let shelf = Shelf::new(&[]);
    for at in 0..130 {
        shelf.write(&format!("n{at:03}.md"), "");
    }
    let page = |limit: usize, offset: usize| {
        shelf.call("notes_list", json!({ "limit": limit, "offset": offset }))
    };
    let (first, second) = (page(100, 0), page(100, 100));
    assert!(
        first.text.starts_with("130 notes. List on with `offset` 100.\nn000  "),
        "{}",
        first.text
    );
    assert!(second.text.starts_with("130 notes.\nn100  "), "{}", second.text);
    for answer in [&first, &second, &page(1000, 0), &page(10, 130), &page(1, usize::MAX)] {
        assert_eq!(answer.completeness, Some(Completeness::Partial), "{}", answer.text);
    }
    let (first, second) = (first.structured.unwrap(), second.structured.unwrap());
    let all = [names(&first), names(&second)].concat();
    assert_eq!((all.len(), all[129]), (130, "n129"));
    assert_eq!(names(&page(1000, 0).structured.unwrap()).len(), 100, "the schema's limit holds");
}

#[test]
fn what_is_no_note_is_left_out_and_counted() {
    let shelf = Shelf::new(&[("good.md", "x"), ("readme.txt", "x"), (".hidden.md", "x")]);
    assert!(shelf.call("notes_list", json!({})).text.starts_with("1 note.\n"));
    fs::create_dir(shelf.path("folder.md")).unwrap();
    shelf.pipe("pipe.md");
    shelf.link("link.md", "good.md");
    shelf.write("bad:name.md", "x");
    shelf.write("Einka\u{308}ufe.md", "x");
    let answer = shelf.call("notes_list", json!({}));
    let expected =
        "1 note. Left out: 5 files of other kinds, or with names that no note has.\ngood  ";
    assert!(answer.text.starts_with(expected), "{}", answer.text);
    assert_eq!(names(&answer.structured.unwrap()), ["good"]);
}
