//! Which configurations are taken.

use toolbay_plugin_api::{
    serde_json::{Value, json},
    testing::Plugin,
    wire::Fault,
};
use toolbay_plugin_catalogue::ExportedProvider;

use crate::served::{OneFile, create};

const ROWS: &str = "id,title,note\n1,One,a\n2,Two,b\n";

/// The place and the problem of a configuration that must be refused.
pub(crate) fn refusal(config: &Value) -> (String, String) {
    let fault = Plugin::create::<ExportedProvider>(config).expect_err("it is taken");
    let Fault::Config { path, problem } = fault else { unreachable!("{config}: {fault:?}") };
    (path, problem)
}

#[test]
fn without_a_file_there_are_no_tools_and_a_call_says_why() {
    for config in [json!({}), json!({ "limits": { "max_rows": 5 } }), json!({ "title": "name" })] {
        let plugin = Plugin::create::<ExportedProvider>(&config).unwrap();
        assert!(plugin.tools().unwrap().is_empty(), "{config}");
        let answer = plugin.call("catalogue_search", &json!({ "query": "x" })).unwrap();
        assert!(!answer.ok && answer.text.contains("has not set a `file`"), "{}", answer.text);
    }
    let file = OneFile::new("c.csv", ROWS);
    assert_eq!(create(&file, json!({})).unwrap().tools().unwrap().len(), 2);
}

#[test]
fn a_wrong_value_is_refused_at_its_place() {
    let file = OneFile::new("c.csv", ROWS);
    let odd = OneFile::new("c.xlsx", ROWS);
    let columns = "expected one of the columns id, title, note; found \"nme\"";
    let with = |mut config: Value| {
        config["file"] = json!(file.path);
        config
    };
    let cases = [
        (json!({ "file": "courses.csv" }), "file", "expected an absolute path, found courses.csv"),
        (
            json!({ "file": file.path.with_file_name("no.csv") }),
            "file",
            "No such file or directory",
        ),
        (json!({ "file": 7 }), "file", "expected path string"),
        (json!({ "file": odd.path }), "format", "found \"xlsx\"; set `format`"),
        (with(json!({ "format": "xml" })), "format", "unknown variant `xml`"),
        (with(json!({ "delimiter": "ä" })), "delimiter", "expected one ASCII character, found 'ä'"),
        (with(json!({ "delimiter": ";;" })), "delimiter", "expected a character"),
        (with(json!({ "id": "nme" })), "id", columns),
        (with(json!({ "title": "nme" })), "title", columns),
        (with(json!({ "search": ["title", "nme"] })), "search[1]", columns),
        (with(json!({ "search": [] })), "search", "found an empty list"),
        (with(json!({ "colums": {} })), "colums", "unknown field `colums`"),
        (with(json!({ "limits": { "max_rows": 0 } })), "limits.max_rows", "nonzero"),
        (
            with(json!({ "limits": { "max_rows": 1 } })),
            "file",
            "expected at most 1 rows, found more",
        ),
        (
            with(json!({ "limits": { "max_file_bytes": 29 } })),
            "file",
            "expected at most 29 bytes, found 30",
        ),
    ];
    for (config, path, problem) in cases {
        let refused = refusal(&config);
        assert_eq!(refused.0, path, "{config}: {}", refused.1);
        assert!(refused.1.contains(problem), "{config}: {}", refused.1);
    }
    let good = json!({
        "format": "csv", "delimiter": ",", "id": "ID", "title": "note", "search": ["title", "note"],
        "limits": { "max_rows": 2, "max_file_bytes": 30, "max_field_bytes": 5 },
    });
    assert!(create(&file, good).is_ok());
    assert!(create(&odd, json!({ "format": "csv" })).is_ok());
}
