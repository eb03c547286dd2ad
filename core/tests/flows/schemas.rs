//! Schemas: what is normalised, what is kept, and what is refused.

use serde_json::json;
use toolbay_core::{Schema, SchemaError};

// Edge case 31.
#[test]
fn empty_properties_are_an_object_and_everything_else_is_kept() {
    let kept = "{ \"properties\" : {\"a\": {\"type\":\"string\"}},\n \"type\":\"object\" }";
    let cases = [
        (r#"{"type":"object"}"#, r#"{"type":"object","properties":{}}"#),
        (r#"{"properties": [ ], "type":"object"}"#, r#"{"type":"object","properties":{}}"#),
        (r#"{"type":"object","properties":{}}"#, r#"{"type":"object","properties":{}}"#),
        (
            r#"{"title":"1.50 \u00e9","x":[1.0, 2],"type":"object","properties":[]}"#,
            r#"{"title":"1.50 \u00e9","x":[1.0, 2],"type":"object","properties":{}}"#,
        ),
        (kept, kept),
    ];
    for (text, expected) in cases {
        let schema = Schema::parse(text).unwrap();
        assert_eq!(schema.as_str(), expected, "{text}");
        assert_eq!(Schema::parse(schema.as_str()).unwrap(), schema, "it reads back as itself");
    }
}

#[test]
fn a_root_that_is_not_exactly_an_object_is_refused() {
    for (text, expected) in [
        (r#"{"type":["object","null"]}"#, r#"["object","null"]"#),
        (r#"{"type":"string"}"#, r#""string""#),
        (r#"{"properties":{}}"#, "none"),
    ] {
        match Schema::parse(text) {
            Err(SchemaError::NotOfObjects { found }) => assert_eq!(found, expected),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_text_that_is_no_object_with_distinct_members_is_refused() {
    for text in
        ["", "[]", "true", "{", r#"{"type":"object","type":"object"}"#, "{\"type\":\"object\"} x"]
    {
        assert!(matches!(Schema::parse(text), Err(SchemaError::NotAnObject(_))), "{text}");
    }
}

#[test]
fn size_is_limited_to_the_byte() {
    let of = |bytes: usize| {
        let frame = r#"{"type":"object","properties":{},"description":""}"#.len();
        let filler = "x".repeat(bytes - frame);
        format!(r#"{{"type":"object","properties":{{}},"description":"{filler}"}}"#)
    };
    assert!(Schema::parse(&of(Schema::MAX_BYTES)).is_ok());
    let found = Schema::MAX_BYTES + 1;
    match Schema::parse(&of(found)) {
        Err(SchemaError::TooLarge { limit, found: told }) => {
            assert_eq!((limit, told), (Schema::MAX_BYTES, found));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn depth_is_limited_to_the_level() {
    let of = |levels: usize| {
        let (open, close) = (r#"{"not":"#.repeat(levels - 2), "}".repeat(levels - 2));
        format!(r#"{{"type":"object","x":{open}{{}}{close}}}"#)
    };
    assert!(Schema::parse(&of(Schema::MAX_DEPTH)).is_ok());
    match Schema::parse(&of(Schema::MAX_DEPTH + 1)) {
        Err(SchemaError::TooDeep { limit, found }) => assert_eq!((limit, found), (32, 33)),
        other => panic!("{other:?}"),
    }
    // Far deeper than any stack: the reader must not recurse.
    let hostile =
        format!(r#"{{"type":"object","x":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000));
    assert!(matches!(Schema::parse(&hostile), Err(SchemaError::TooDeep { .. })));
}

#[test]
fn a_schema_that_its_dialect_refuses_does_not_compile() {
    let cases = [
        (r#"{"type":"object","properties":{"a":{"type":"strin"}}}"#, "/properties/a/type"),
        (r#"{"type":"object","required":"a"}"#, "/required"),
        (r#"{"type":"object","properties":{"a":{"pattern":"("}}}"#, "/properties/a/pattern"),
    ];
    for (text, expected) in cases {
        match Schema::parse(text).unwrap().compile() {
            Err(SchemaError::Invalid { pointer, .. }) => assert_eq!(pointer, expected, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn no_reference_leaves_the_text() {
    let outside = [
        "https://example.com/schema.json",
        "http://127.0.0.1:1/x",
        "file:///etc/hostname",
        "other.json",
        "#/$defs/absent",
    ];
    for reference in outside {
        let text = format!(r#"{{"type":"object","properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
        let compiled = Schema::parse(&text).unwrap().compile();
        assert!(matches!(compiled, Err(SchemaError::Invalid { .. })), "{reference}");
    }
    let inside = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}"##;
    let validator = Schema::parse(inside).unwrap().compile().unwrap();
    assert!(validator.is_valid(&json!({"a": 1})));
    assert!(!validator.is_valid(&json!({"a": "1"})));
}

#[test]
fn references_that_lead_back_to_themselves_end() {
    let circles = [
        r##"{"type":"object","$ref":"#"}"##,
        r##"{"type":"object","allOf":[{"$ref":"#"}]}"##,
        r##"{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}"##,
        r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##,
        r##"{"type":"object","not":{"$ref":"#"}}"##,
        r##"{"type":"object","$dynamicAnchor":"x","$dynamicRef":"#x"}"##,
        r##"{"type":"object","if":{"$ref":"#"},"then":{"$ref":"#"},"else":{"$ref":"#"}}"##,
        r##"{"type":"object","unevaluatedProperties":{"$ref":"#"}}"##,
        r##"{"type":"object","anyOf":[{"$ref":"#"},{"$ref":"#"},{"$ref":"#"}]}"##,
        r##"{"type":"object","propertyNames":{"$ref":"#"},"dependentSchemas":{"a":{"$ref":"#"}}}"##,
    ];
    for text in circles {
        if let Ok(validator) = Schema::parse(text).unwrap().compile() {
            let _ = validator.is_valid(&json!({"next": {"next": {}}, "a": {"a": {}}}));
        }
    }
}

#[test]
fn dialects_are_told_apart() {
    // `items` as a list is a tuple in draft 7 and an error in 2020-12.
    let of = |dialect: &str| {
        let text = format!(
            r#"{{"$schema":"{dialect}","type":"object","properties":{{"a":{{"items":[{{"type":"integer"}}]}}}}}}"#
        );
        Schema::parse(&text).unwrap().compile()
    };
    let draft7 = of("http://json-schema.org/draft-07/schema#").unwrap();
    assert!(!draft7.is_valid(&json!({"a": ["x"]})) && draft7.is_valid(&json!({"a": [1]})));
    assert!(of("https://json-schema.org/draft/2020-12/schema").is_err());
    assert!(of("https://example.com/unknown-dialect").is_err());
}
