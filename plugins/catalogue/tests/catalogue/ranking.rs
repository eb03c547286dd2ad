//! What a query finds in the sample, and in which order.

use toolbay_plugin_api::serde_json::{Value, json};

use crate::served::Served;

#[test]
fn queries_find_what_they_mean() {
    let sample = Served::sample();
    let cases: [(&str, &[&str]); 24] = [
        // As it is spelt; the title counts more than the rest.
        ("python", &["PY-210", "PY-201", "PY-101"]),
        ("concurrency", &["RS-201"]),
        ("yoga", &["YOG-201", "YOG-101"]),
        ("PY-201", &["PY-201"]),
        // Without case and accents, from either side.
        ("KÄSE", &["COO-140"]),
        ("kase", &["COO-140"]),
        ("gebardensprache", &["GS-101"]),
        ("Weiss", &["MAT-101", "PHI-101"]),
        ("Şahin datenbanken", &["DB-101"]),
        // Cut off.
        ("photog", &["PHO-101"]),
        ("existenz", &["BUS-240"]),
        ("bird song", &["NAT-101"]),
        // Misspelt: a letter too few, too many, wrong, or two swapped; two of them in a long word.
        ("pythn", &["PY-210", "PY-201", "PY-101"]),
        ("pyhton", &["PY-210", "PY-201", "PY-101"]),
        ("sculpturre", &["ART-301"]),
        ("gardenning", &["GAR-101"]),
        ("bookeping", &["BUS-101", "IT-A1"]),
        ("Sauertieg", &["COO-101"]),
        ("Malerrrei", &[]),
        ("Oelmalerei", &["ART-102"]),
        ("Kalligraphie", &["CAL-101"]),
        // Several words, in any order and any column.
        ("rust threads", &["RS-201"]),
        ("haddad kitchen", &["COO-125"]),
        ("xylophone", &[]),
    ];
    for (query, expected) in cases {
        let found = sample.ids(&json!({ "query": query }));
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn what_is_nearer_comes_first() {
    let rows = [
        "1,Gradening,one letter swapped",
        "2,Gardenings,begins with it",
        "3,Notes,about gardening",
        "4,Gardening,in the title",
        "5,Gardener,two letters off",
        "6,Guarding,three letters off",
    ];
    let served = Served::file("c.csv", format!("id,title,text\n{}\n", rows.join("\n")));
    let answer = served.search(&json!({ "query": "gardening" }));
    let found = answer.structured.unwrap()["entries"].clone();
    let found = found.as_array().unwrap().iter().map(|entry| {
        (entry["id"].as_str().unwrap().to_owned(), entry["closeness"].as_str().unwrap().to_owned())
    });
    let expected = [("4", "exact"), ("3", "exact"), ("2", "prefix"), ("1", "similar")];
    assert_eq!(
        found.collect::<Vec<_>>(),
        expected.map(|(id, closeness)| (id.to_owned(), closeness.to_owned()))
    );
    assert!(answer.text.contains("4. Gradening [1], similar spelling\n"), "{}", answer.text);
}

#[test]
fn some_of_the_words_are_enough_only_where_no_entry_has_all() {
    let sample = Served::sample();
    let all = sample.search(&json!({ "query": "rust tears" }));
    assert_eq!(all.structured.unwrap()["words"], json!("all"));
    let some = sample.search(&json!({ "query": "tango zebra telescope" }));
    assert_eq!(some.structured.as_ref().unwrap()["words"], json!("some"));
    let text = some.text.lines().next().unwrap();
    assert_eq!(text, "No entry has all the words; 2 entries with some of them.");
    let filtered = json!({ "query": "rust tears", "filters": { "level": "advanced" } });
    assert_eq!(
        sample.ids(&filtered),
        ["RS-201"],
        "the filter counts before the words are given up"
    );
}

#[test]
fn filters_take_whole_values_in_any_case() {
    let sample = Served::sample();
    let cases: [(Value, &[&str]); 7] = [
        (json!({ "query": "yoga", "filters": { "language": "GERMAN" } }), &["YOG-101"]),
        (
            json!({ "query": "yoga", "filters": { "Language": "english", "level": "intermediate" } }),
            &["YOG-201"],
        ),
        (
            json!({ "filters": { "subject": "Cooking", "language": "german" } }),
            &["COO-101", "COO-140"],
        ),
        (json!({ "filters": { "teacher": "tülin şahin" } }), &["DB-101", "DB-210", "CHE-105"]),
        (json!({ "filters": { "id": "py-101" } }), &["PY-101"]),
        (json!({ "query": "yoga", "filters": { "language": "Germ" } }), &[]),
        (json!({ "query": "yoga", "filters": { "subject": "Art" } }), &[]),
    ];
    for (arguments, expected) in cases {
        assert_eq!(sample.ids(&arguments), expected, "{arguments}");
    }
}

#[test]
fn only_the_configured_columns_are_searched() {
    let rows = "code,name,note\na1,Weaving,with looms\nb2,Looms,by hand\n";
    let config = json!({ "id": "code", "title": "name", "search": ["Name"] });
    let served = Served::with("c.csv", rows, config);
    assert_eq!(served.ids(&json!({ "query": "looms" })), ["b2"]);
    assert_eq!(served.ids(&json!({ "query": "hand" })), Vec::<String>::new());
    let served = Served::with("c.csv", rows, json!({ "id": "code", "title": "name" }));
    assert_eq!(served.ids(&json!({ "query": "looms" })), ["b2", "a1"]);
}
