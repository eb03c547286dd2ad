//! How the tools describe themselves, and what their answers look like.

use toolbay_plugin_api::{
    serde_json::{Value, json},
    testing::{Call, Plugin},
};
use toolbay_plugin_catalogue::ExportedProvider;

use crate::served::{Served, ids_of};

#[test]
fn the_tools_say_what_is_in_the_file() {
    let tools = Served::sample().plugin.tools().unwrap();
    let names = tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["catalogue_search", "catalogue_entry"]);
    let summary = "The catalogue \"courses\" has 62 entries with the columns \
                   id, title, subject, level, language, teacher, start, weeks, place, summary.";
    for tool in &tools {
        assert!(tool.description.ends_with(summary), "{}", tool.description);
    }
    let id = "The id is what stands in id, such as PY-101, PY-201.";
    assert!(tools[1].description.contains(id), "{}", tools[1].description);

    let schema = tools[0].input_schema.get();
    let schema = toolbay_plugin_api::serde_json::from_str::<Value>(schema).unwrap();
    let filters = &schema["properties"]["filters"];
    assert_eq!(filters["additionalProperties"], json!(false));
    assert_eq!(
        filters["properties"]["level"],
        json!({ "type": "string", "description": "one of beginner, intermediate, advanced" })
    );
    assert_eq!(filters["properties"]["start"]["description"], "such as 2026-09-14, 2026-10-05");
    assert_eq!(schema["properties"]["limit"]["maximum"], json!(50));
}

#[test]
fn the_note_declares_both_tools_whatever_is_configured() {
    let declared = Plugin::declared::<ExportedProvider>().unwrap();
    let kinds = declared.iter().map(|tool| {
        assert_eq!(tool.effect.as_deref(), Some("read_only"));
        assert_eq!(tool.data_class.as_deref(), Some("public_content"));
        assert_eq!(tool.group.as_deref(), Some("catalogue"));
        assert!(tool.enabled && !tool.approval && !tool.requires_admin);
        (tool.name.as_str(), tool.kind.as_deref().unwrap())
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [("catalogue_search", "search"), ("catalogue_entry", "read")]
    );
}

#[test]
fn an_answer_is_a_list_values_and_a_table() {
    let served = Served::file(
        "tools.csv",
        "id,title,kind,note\nh,Hammer,hand,\ns,Saw,hand,\"cuts,\nwood\"\n",
    );
    let answer = served.search(&json!({ "query": "hand" }));
    assert_eq!(
        answer.text,
        "2 entries found.\n1. Hammer [h]\n   kind: hand\n2. Saw [s]\n   kind: hand; note: cuts, wood\n"
    );
    let entry = |id, title, note| {
        json!({
            "id": id, "title": title, "closeness": "exact",
            "fields": { "id": id, "title": title, "kind": "hand", "note": note },
        })
    };
    assert_eq!(
        answer.structured.unwrap(),
        json!({
            "total": 2, "offset": 0, "next_offset": null, "words": "all",
            "entries": [entry("h", "Hammer", ""), entry("s", "Saw", "cuts, wood")],
        })
    );
    assert_eq!(
        answer.artifacts,
        [json!({
            "type": "table", "label": "tools",
            "data": {
                "columns": ["id", "title", "kind", "note"],
                "rows": [["h", "Hammer", "hand", ""], ["s", "Saw", "hand", "cuts, wood"]],
            },
        })]
    );
    assert_eq!(served.entry("s").text, "id: s\ntitle: Saw\nkind: hand\nnote: cuts,\nwood\n");
}

#[test]
fn pages_follow_one_another_to_the_end() {
    let sample = Served::sample();
    let filters = json!({ "subject": "Programming" });
    let whole = sample.ids(&json!({ "filters": filters, "limit": 50 }));
    assert_eq!(whole.len(), 9);
    let mut pages = Vec::new();
    let mut offset = json!(0);
    let mut texts = Vec::new();
    while !offset.is_null() {
        let answer = sample.search(&json!({ "filters": filters, "limit": 4, "offset": offset }));
        pages.extend(ids_of(&answer));
        texts.push(answer.text.lines().next().unwrap().to_owned());
        offset = answer.structured.unwrap()["next_offset"].clone();
    }
    assert_eq!(pages, whole);
    assert_eq!(
        texts,
        [
            "9 entries found. Here are 1 to 4. Go on with `offset` 4.",
            "9 entries found. Here are 5 to 8. Go on with `offset` 8.",
            "9 entries found. Here are 9 to 9.",
        ]
    );
    let after = sample.search(&json!({ "filters": filters, "offset": 9 }));
    assert_eq!(after.text, "9 entries found. `offset` is after the last of them.\n");
    let far = json!({ "filters": filters, "offset": u64::MAX, "limit": 50 });
    assert_eq!(sample.ids(&far), Vec::<String>::new());
}

#[test]
fn a_search_without_a_result_says_what_there_is() {
    let sample = Served::sample();
    assert_eq!(sample.search(&json!({ "query": "xylophone" })).text, "No entry matches.\n");
    let answer = sample.search(&json!({ "query": "yoga", "filters": { "level": "expert" } }));
    assert_eq!(
        answer.text,
        "No entry matches. No entry has \"expert\" as its level; it is one of beginner, intermediate, advanced.\n"
    );
    let answer = sample.search(&json!({ "query": "yoga", "filters": { "level": "advanced" } }));
    assert_eq!(answer.text, "No entry matches.\n", "the value is known");
}

#[test]
fn a_search_for_nothing_and_an_unknown_column_are_refused() {
    let sample = Served::sample();
    for arguments in
        [json!({}), json!({ "query": " -*\"() " }), json!({ "query": "", "filters": {} })]
    {
        let answer = sample.ask(&arguments);
        assert!(!answer.ok, "{arguments}");
        assert_eq!(answer.text, "expected words in `query` or a value in `filters`, found neither");
    }
    let answer = sample.ask(&json!({ "query": "yoga", "filters": { "price": "0" } }));
    assert!(!answer.ok);
    assert_eq!(
        answer.text,
        "expected a column in `filters`: id, title, subject, level, language, teacher, start, weeks, place, summary; found \"price\""
    );
}

#[test]
fn an_entry_is_found_by_its_id_in_any_case_or_the_nearest_ids_are_told() {
    let sample = Served::sample();
    for id in ["COO-140", "coo-140", " COO-140 "] {
        let answer = sample.entry(id);
        assert!(
            answer.ok && answer.text.contains("title: Käse selber machen\n"),
            "{}",
            answer.text
        );
        assert_eq!(answer.structured.unwrap()["fields"]["weeks"], "2");
    }
    let cases = [
        ("PY-20", "no entry has the id \"PY-20\"; the nearest are PY-201, PY-210, PY-101"),
        ("XYZ", "no entry has the id \"XYZ\"; find it with catalogue_search"),
    ];
    for (id, expected) in cases {
        let answer = sample.entry(id);
        assert!(!answer.ok);
        assert_eq!(answer.text, expected);
    }
}

#[test]
fn without_an_id_column_entries_are_known_by_their_number() {
    let served = Served::file("c.csv", "name,kind\nHammer,hand\nSaw,hand\n");
    assert_eq!(served.ids(&json!({ "query": "saw" })), ["2"]);
    assert_eq!(served.entry("2").text, "name: Saw\nkind: hand\n");
    for id in ["0", "3", "-1", "x"] {
        assert!(!served.entry(id).ok, "{id}");
    }
    let description = &served.plugin.tools().unwrap()[1].description;
    assert!(description.contains("The id is the entry's number, 1 to 2."), "{description}");
}

#[test]
fn a_cancelled_call_stops() {
    let sample = Served::sample();
    for (tool, arguments) in [
        ("catalogue_search", json!({ "query": "yoga" })),
        ("catalogue_entry", json!({ "id": "YOG-101" })),
    ] {
        let call = Call { cancelled: true, ..Call::default() };
        let answer = sample.plugin.call_with(tool, &arguments, &call).unwrap();
        assert!(answer.cancelled && !answer.ok, "{tool}");
        assert!(sample.plugin.call(tool, &arguments).unwrap().ok, "{tool}");
    }
}
