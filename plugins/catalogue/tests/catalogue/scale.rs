//! Large catalogues, large answers, and many calls at once.

use std::{fmt::Write, thread};

use toolbay_plugin_api::serde_json::json;

use crate::served::Served;

#[test]
fn twenty_thousand_entries_are_built_and_searched() {
    let mut rows = "id,title,place\n".to_owned();
    for number in 0..20_000 {
        let _ = writeln!(rows, "c{number},Course topic{number},Room {}", number % 7);
    }
    let served = Served::file("c.csv", rows);
    assert!(served.plugin.tools().unwrap()[0].description.contains("has 20000 entries"));
    assert_eq!(served.ids(&json!({ "query": "topic12345" })), ["c12345"]);
    let answer =
        served.search(&json!({ "query": "Course", "filters": { "place": "room 3" }, "limit": 50 }));
    assert_eq!(answer.structured.unwrap()["total"], json!(2857));
    assert_eq!(served.ids(&json!({ "query": "corse topic12345" })), ["c12345"]);
    assert!(served.entry("C19999").ok);
}

#[test]
fn the_largest_answers_stay_within_their_bounds() {
    let names = (0..100).map(|at| format!("column number {at}")).collect::<Vec<_>>().join(",");
    let field = format!("\"{}\"", "word \"\" \\ ".repeat(30));
    let row = vec![field; 100].join(",");
    let served = Served::file("c.csv", format!("{names}\n{}", format!("{row}\n").repeat(60)));
    let answer = served.search(&json!({ "query": "word", "limit": 50 }));
    assert!(answer.text.len() < 40_000, "{}", answer.text.len());
    let artifacts = answer.artifacts[0].to_string();
    assert!(artifacts.len() < 50_000, "{}", artifacts.len());

    let long = "\u{e4}\n".repeat(10_000);
    let served = Served::file("c.csv", format!("id,title,a,b\n1,t,\"{long}\",\"{long}\"\n"));
    let answer = served.entry("1");
    assert!(answer.ok && answer.text.len() < 40_000, "{}", answer.text.len());
    assert!(answer.text.ends_with("…\n"));
}

#[test]
fn calls_from_many_threads_get_the_same_answers() {
    let sample = Served::sample();
    let queries = ["python", "pyhton", "yoga morgen", "käse", "tango zebra telescope"];
    let expected = queries.map(|query| sample.ids(&json!({ "query": query })));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    for (query, expected) in queries.iter().zip(&expected) {
                        assert_eq!(&sample.ids(&json!({ "query": query })), expected, "{query}");
                    }
                }
            });
        }
    });
}
