//! What is taken of a file: good ones in every form, faulty ones without their faults, and hostile ones not at all.

use std::{os::unix::fs::symlink, path::Path, sync::mpsc, thread, time::Duration};

use tempfile::TempDir;
use toolbay_plugin_api::serde_json::{Value, json};

use crate::{
    config::refusal,
    served::{OneFile, Served, create},
};

const ALL: &str = "word";

#[test]
fn tables_are_read_in_every_usual_form() {
    let expected = "id: 2\nTitel: Öl; und \"Essig\"\nnote: word\n";
    let cases: [(&str, &str, String); 8] = [
        ("commas", "c.csv", "id,Titel,note\n1,One,word\n2,\"Öl; und \"\"Essig\"\"\",word\n".to_owned()),
        ("no last line end", "c.csv", "id,Titel,note\n2,\"Öl; und \"\"Essig\"\"\",word".to_owned()),
        ("semicolons", "c.csv", "id;Titel;note\n2;\"Öl; und \"\"Essig\"\"\";word\n".to_owned()),
        ("tabs", "c.csv", "id\tTitel\tnote\n2\t\"Öl; und \"\"Essig\"\"\"\tword\n".to_owned()),
        ("a tsv file", "c.TSV", "id\tTitel\tnote\n2\t\"Öl; und \"\"Essig\"\"\"\tword\n".to_owned()),
        (
            "a spreadsheet's",
            "c.csv",
            "\u{feff}id;Titel;note;\r\n\r\n2;\"Öl; und \"\"Essig\"\"\"; word ;\r\n".to_owned(),
        ),
        (
            "JSON lines",
            "c.jsonl",
            "{\"id\":2,\"Titel\":\"Öl; und \\\"Essig\\\"\",\"note\":\"word\"}\n".to_owned(),
        ),
        (
            "JSON lines with a mark, gaps and CRLF",
            "c.ndjson",
            "\u{feff}{\"id\":2,\"Titel\":\"Öl; und \\\"Essig\\\"\"}\r\n\r\n{\"note\":\"x\",\"id\":1}\r\n".to_owned(),
        ),
    ];
    for (what, name, content) in cases {
        let served = Served::file(name, content);
        let text = served.entry("2").text;
        let expected =
            if what.contains("gaps") { expected.replace("word", "") } else { expected.to_owned() };
        assert_eq!(text, expected, "{what}");
    }
}

#[test]
fn json_values_become_text() {
    let line = r#"{"id":1,"a":null,"b":true,"c":1.50,"d":["x",2,null],"e":{"f":[1]},"g":"ö"}"#;
    let served = Served::file("c.jsonl", line);
    assert_eq!(
        served.entry("1").text,
        "id: 1\na: \nb: true\nc: 1.5\nd: x, 2, \ne: {\"f\":[1]}\ng: ö\n"
    );
}

#[test]
fn faulty_rows_are_left_out_and_the_rest_is_served() {
    let long = "x".repeat(33);
    let csv = format!(
        "id,title,note\n1,a,word\n2,b\n3,c,word,d\n,e,word\n1,f,word\n4,{long},word\n5,g,word\n6,\"open,word\n"
    );
    let json = format!(
        "{{\"id\":1,\"note\":\"word\"}}\n{{\"id\":2,\"note\":\n[3]\n7\n{{\"note\":\"word\"}}\n{{\"id\":\"1\"}}\n{{\"id\":4,\"note\":\"{long}\"}}\n{}\n{{\"id\":5,\"note\":\"word\"}}\n",
        "[".repeat(100_000),
    );
    let limits = json!({ "limits": { "max_field_bytes": 32 } });
    for (name, content) in [("c.csv", csv), ("c.jsonl", json)] {
        let served = Served::with(name, content, limits.clone());
        assert_eq!(served.ids(&json!({ "query": ALL })), ["1", "5"], "{name}");
    }
    let served = Served::with("c.csv", format!("id,title\n1,{}\n", &long[1..]), limits);
    assert!(served.entry("1").ok, "a field may be as long as the limit");
}

#[test]
fn what_is_no_table_is_refused_with_what_to_do() {
    let wide = |columns: usize| {
        let names = (0..columns).map(|at| format!("c{at}")).collect::<Vec<_>>();
        format!("{0}\n{0}\n", names.join(","))
    };
    let latin1 = b"id,title\n1,Gr\xfc\xdfe\n".to_vec();
    let utf16 = "\u{feff}id,title\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let long_name = format!("id,{}\n", "x".repeat(101));
    let cases: [(&str, Vec<u8>, &str); 12] = [
        ("c.csv", Vec::new(), "expected a first row with the columns' names, found none"),
        ("c.csv", b"\n\n".to_vec(), "expected a first row"),
        ("c.csv", b";;\n1;2;3\n".to_vec(), "expected a first row"),
        ("c.jsonl", b"\n".to_vec(), "expected a first row"),
        (
            "c.csv",
            b"id,Name,name\n".to_vec(),
            "expected columns with different names, found \"name\" twice",
        ),
        ("c.csv", wide(101).into_bytes(), "expected at most 100 columns, found more"),
        (
            "c.csv",
            b"id,title\n1\n".to_vec(),
            "found none without a fault: line 2 is left out: expected 2 fields, found 1",
        ),
        (
            "c.jsonl",
            b"{\"id\":1} 7\n".to_vec(),
            "line 1 is left out: expected a JSON object, found what is none from column 10 on",
        ),
        (
            "c.csv",
            b"\r\nid,\"a\r\nb\"\r\n\r\n1\r\n".to_vec(),
            "line 5 is left out: expected 2 fields, found 1",
        ),
        ("c.csv", long_name.into_bytes(), "expected columns with names of at most 100 bytes"),
        (
            "c.csv",
            latin1,
            "found another encoding in line 2, such as Latin-1; save the file as UTF-8, or convert it: iconv",
        ),
        ("c.csv", utf16, "expected UTF-8, found UTF-16; save the file as \"CSV UTF-8\""),
    ];
    for (name, content, expected) in cases {
        let file = OneFile::new(name, content);
        let (path, problem) = refusal(&json!({ "file": file.path }));
        assert_eq!(path, "file");
        assert!(problem.contains(expected), "{problem}");
    }
    for (name, content) in [("c.csv", "id,title\n".to_owned()), ("c.csv", wide(100))] {
        assert!(create(&OneFile::new(name, content), json!({})).is_ok());
    }
}

#[test]
fn a_catalogue_without_entries_is_served() {
    let served = Served::file("c.csv", "id,title\n");
    assert_eq!(served.search(&json!({ "query": ALL })).text, "No entry matches.\n");
    assert!(served.plugin.tools().unwrap()[0].description.contains("has 0 entries"));
}

#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path("pipe.csv"), fifo, mode, 0).unwrap();
    std::fs::create_dir(path("folder.csv")).unwrap();
    symlink("/dev/zero", path("device.csv")).unwrap();
    symlink("loop.csv", path("loop.csv")).unwrap();
    std::fs::write(path("real.csv"), "id\n1\n").unwrap();
    symlink("real.csv", path("link.csv")).unwrap();

    for name in ["pipe.csv", "folder.csv", "device.csv"] {
        let (place, problem) = at_once(refused(path(name).as_path()));
        assert_eq!(
            (place.as_str(), problem.as_str()),
            ("file", "expected a regular file, found something else")
        );
    }
    let (_, problem) = at_once(refused(path("loop.csv").as_path()));
    assert!(problem.starts_with("expected a file that can be read: "), "{problem}");
    let config = json!({ "file": path("link.csv") });
    assert!(
        toolbay_plugin_api::testing::Plugin::create::<toolbay_plugin_catalogue::ExportedProvider>(
            &config
        )
        .is_ok()
    );
}

fn refused(path: &Path) -> impl FnOnce() -> (String, String) + Send + 'static {
    let config = json!({ "file": path });
    move || refusal(&config)
}

/// Runs what must not block, and fails where it does.
fn at_once<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(Duration::from_secs(30)).expect("it blocks, or it has panicked")
}

#[test]
fn no_query_reaches_the_index_as_anything_but_words() {
    let rows = "id,title,note\n1,alpha,word\n2,beta,word\n3,NEAR OR and,word\n";
    let served = Served::file("c.csv", rows);
    let cases: [(&str, &[&str]); 16] = [
        ("\"alpha", &["1"]),
        ("alpha\"\"\"", &["1"]),
        ("alpha*", &["1"]),
        ("title:alpha", &["1"]),
        ("-alpha", &["1"]),
        ("^alpha", &["1"]),
        ("{title note}:alpha", &["1"]),
        ("(alpha", &["1"]),
        ("alpha + word", &["1"]),
        ("alpha'; DROP TABLE entries; --", &["1"]),
        ("alpha\0beta", &["1", "2"]),
        ("NEAR(and or)", &["3"]),
        ("NOT", &[]),
        ("AND", &["3"]),
        ("?1 :a @b $c", &["1"]),
        ("𝒶𝓁𝓅𝒽𝒶 \u{301}\u{200d}", &["1"]),
    ];
    for (query, expected) in cases {
        assert_eq!(served.ids(&json!({ "query": query })), expected, "{query:?}");
    }
    assert_eq!(served.ids(&json!({ "query": ALL })).len(), 3, "nothing was dropped");
}

#[test]
fn names_and_values_in_the_file_are_only_text() {
    let evil = "x\", \"y'); DROP TABLE entries; --";
    let header = format!("id,title,\"{}\"", evil.replace('"', "\"\""));
    let served = Served::file("c.csv", format!("{header}\n1,\u{1b}[31mred,word\n"));
    let answer = served.search(&json!({ "query": ALL, "filters": { evil: "word" } }));
    assert!(answer.text.contains("1.  [31mred [1]"), "{}", answer.text);
    assert!(!served.entry("1").text.contains('\u{1b}'));
    let answer = served.search(&json!({ "filters": { "title": "' OR 1=1 --" } }));
    assert!(answer.text.starts_with("No entry matches."), "{}", answer.text);
}

#[test]
fn the_longest_queries_are_answered() {
    let words = (0..40).map(|at| format!("wordnumber{at}")).collect::<Vec<_>>();
    let rows = words.iter().enumerate().map(|(at, word)| format!("{at},{word}\n"));
    let served = Served::file("c.csv", format!("id,title\n{}", rows.collect::<String>()));
    for query in [words.join(" "), "wordnumbre ".repeat(50), "a".repeat(500), "ä ".repeat(250)] {
        let answer = served.ask(&json!({ "query": query }));
        assert!(answer.ok, "{}", answer.text);
    }
}

#[test]
fn words_after_the_twelfth_are_not_looked_for() {
    let words = ('a'..='l').map(|letter| format!("word{letter}")).collect::<Vec<_>>().join(" ");
    let served = Served::file("c.csv", format!("id,title\n1,{words}\n"));
    for query in [format!("{words} absent"), format!("{words} worda WORDB absent")] {
        let answer = served.search(&json!({ "query": query }));
        assert_eq!(answer.structured.unwrap()["words"], json!("all"), "{query}");
    }
    let answer = served.search(&json!({ "query": format!("absent {words}") }));
    assert_eq!(answer.structured.unwrap()["words"], json!("some"));
}

#[test]
fn no_answer_holds_the_path_of_the_file() {
    let file = OneFile::new("c.csv", "id,title\n1,word\n");
    let plugin = create(&file, json!({})).unwrap();
    let host = file.path.parent().unwrap().display().to_string();
    for (tool, arguments) in [
        ("catalogue_search", json!({ "query": ALL })),
        ("catalogue_search", json!({})),
        ("catalogue_entry", json!({ "id": "1" })),
        ("catalogue_entry", json!({ "id": "x" })),
    ] {
        let answer = plugin.call(tool, &arguments).unwrap();
        let all = format!("{}{:?}{:?}", answer.text, answer.structured, answer.artifacts);
        assert!(!all.contains(&host), "{all}");
    }
    let tools = plugin.tools().unwrap();
    assert!(tools.iter().all(|tool| !tool.description.contains(&host)));
}

/// What a search needs is in memory: the file may go.
#[test]
fn the_file_is_read_once() {
    let served = Served::file("c.csv", "id,title\n1,word\n");
    let Served { plugin, .. } = served;
    let answer = plugin.call("catalogue_search", &json!({ "query": ALL })).unwrap();
    assert_eq!(answer.structured.unwrap()["total"], Value::from(1));
}
