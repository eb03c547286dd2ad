//! Reading arguments as what the schema wants: what changes, what never does, and which names are dropped.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolbay_core::{CallError, RawReply, ReplyStatus, Schema};

use crate::fixture::{Bench, Fake, with_schema};

/// What the tool gets, or the refusal.
fn reaching(schema: &str, arguments: &str) -> Result<String, String> {
    let bench = Bench::of(with_schema("t", schema), Fake::echo());
    match bench.call("t", arguments) {
        Ok(reply) => Ok(reply.text().as_str().to_owned()),
        Err(CallError::Arguments { source, .. }) => Err(source.to_string()),
        Err(other) => panic!("{arguments}: {other:?}"),
    }
}

fn coerced(schema: &Value, value: &Value) -> Value {
    let mut arguments = Map::from_iter([("a".to_owned(), value.clone())]);
    let schema = json!({
        "type": "object",
        "properties": {"a": schema},
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {
                    "value": {"type": "integer"},
                    "next": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
                    "all": {"type": "array", "items": {"$ref": "#/$defs/tree"}}
                }
            },
            "lists": {"type": "array", "items": {"$ref": "#/$defs/lists"}},
            "integer": {"type": "integer"},
            "alias": {"$ref": "#/$defs/integer"},
            "circle": {"$ref": "#/$defs/circle"},
            "either": {"anyOf": [{"$ref": "#/$defs/either"}, {"$ref": "#/$defs/either"}, {"type": "integer"}]},
            "document": {"$id": "https://example.com/d", "type": "integer"}
        }
    });
    Schema::parse(&schema.to_string()).unwrap().coercion().coerce(&mut arguments);
    arguments.remove("a").unwrap()
}

#[test]
fn each_type_is_read_from_what_can_mean_nothing_else() {
    let integer = json!({"type": "integer"});
    let number = json!({"type": "number"});
    let boolean = json!({"type": "boolean"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let integers = json!({"type": "array", "items": {"type": "integer"}});
    let object = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let objects = json!({"type": "array", "items": object});
    let matrix = json!({"type": "array", "items": integers});
    let maybe = json!({"type": ["integer", "null"]});
    let unchanged = |schema: &Value, value: Value| (schema.clone(), value.clone(), value);
    let cases = [
        // Edge case 38.
        (integer.clone(), json!("3"), json!(3)),
        unchanged(&integer, json!("3.5")),
        unchanged(&json!({"type": ["string", "null"]}), json!("null")),
        (integer.clone(), json!("-12"), json!(-12)),
        (integer.clone(), json!("18446744073709551615"), json!(u64::MAX)),
        unchanged(&integer, json!("18446744073709551616")),
        unchanged(&integer, json!("3.0")),
        unchanged(&integer, json!("1e3")),
        unchanged(&integer, json!("+3")),
        unchanged(&integer, json!("03")),
        unchanged(&integer, json!(" 3")),
        unchanged(&integer, json!("3 pages")),
        unchanged(&integer, json!("")),
        unchanged(&integer, json!("true")),
        unchanged(&integer, json!(3.0)),
        unchanged(&integer, json!(true)),
        (number.clone(), json!("3.5"), json!(3.5)),
        (number.clone(), json!("1e3"), json!(1e3)),
        (number.clone(), json!("3"), json!(3)),
        unchanged(&number, json!("1e999")),
        unchanged(&number, json!("NaN")),
        unchanged(&number, json!(".5")),
        (boolean.clone(), json!("true"), json!(true)),
        (boolean.clone(), json!("false"), json!(false)),
        (boolean.clone(), json!("1"), json!(true)),
        (boolean.clone(), json!("0"), json!(false)),
        (boolean.clone(), json!(1), json!(true)),
        (boolean.clone(), json!(0), json!(false)),
        unchanged(&boolean, json!(2)),
        unchanged(&boolean, json!("yes")),
        (texts.clone(), json!("x"), json!(["x"])),
        (texts.clone(), json!(r#"["x", "y"]"#), json!(["x", "y"])),
        unchanged(&texts, json!(["[1]"])),
        unchanged(&texts, json!(" ")),
        unchanged(&texts, json!(null)),
        unchanged(&texts, json!({})),
        (integers.clone(), json!("5"), json!([5])),
        (integers.clone(), json!(5), json!([5])),
        (integers.clone(), json!(["1", 2, "x"]), json!([1, 2, "x"])),
        (integers.clone(), json!(r#"["1"]"#), json!([1])),
        (object.clone(), json!(r#"{"n": "1"}"#), json!({"n": 1})),
        (object.clone(), json!({"n": "1", "m": "1"}), json!({"n": 1, "m": "1"})),
        unchanged(&object, json!("{n: 1}")),
        unchanged(&object, json!("[]")),
        (objects.clone(), json!(r#"{"n": "1"}"#), json!([{"n": 1}])),
        unchanged(&objects, json!("x")),
        unchanged(&integers, json!("x")),
        (matrix.clone(), json!(["1", 2]), json!([[1], [2]])),
        unchanged(&matrix, json!("1")),
        (maybe.clone(), json!("3"), json!(3)),
        (maybe.clone(), json!("null"), json!(null)),
        unchanged(&maybe, json!(null)),
        // What the schema leaves open stays open.
        unchanged(&json!({}), json!("3")),
        unchanged(&json!(true), json!("3")),
        unchanged(&json!({"type": ["string", "integer"]}), json!("3")),
        unchanged(&json!({"type": ["string", "boolean"]}), json!(1)),
        unchanged(&json!({"type": "string"}), json!(3)),
        unchanged(&json!({"enum": ["1", 2]}), json!("2")),
        (json!({"enum": [1, 2]}), json!("2"), json!(2)),
        (json!({"const": true}), json!("true"), json!(true)),
        unchanged(&json!({"const": 0.5}), json!("3")),
    ];
    for (schema, value, expected) in cases {
        assert_eq!(coerced(&schema, &value), expected, "{value} as {schema}");
    }
}

#[test]
fn references_and_alternatives_are_looked_into_and_end() {
    let reference = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let tree = json!({"value": "1", "next": {"value": "2", "next": null}, "all": {"value": "3"}});
    let cases = [
        (reference("alias"), json!("3"), json!(3)),
        (reference("either"), json!("3"), json!("3")),
        (json!({"allOf": [reference("integer")], "description": "d"}), json!("3"), json!(3)),
        (json!({"allOf": [{"type": "number"}, reference("integer")]}), json!("3.5"), json!("3.5")),
        (json!({"oneOf": [{"type": "null"}, reference("alias")]}), json!("3"), json!(3)),
        (json!({"anyOf": [{"type": "string"}, reference("alias")]}), json!("3"), json!("3")),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": reference("alias")}]}),
            json!(["3"]),
            json!([3]),
        ),
        // Which of the two was meant, nobody can tell.
        (
            json!({"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "array"}]}),
            json!(["3"]),
            json!(["3"]),
        ),
        (
            reference("tree"),
            tree.clone(),
            json!({"value": 1, "next": {"value": 2, "next": null}, "all": {"value": "3"}}),
        ),
        (
            reference("tree"),
            json!({"all": [tree.to_string()]}),
            json!({"all": [{"value": 1, "next": {"value": 2, "next": null}, "all": {"value": "3"}}]}),
        ),
        (reference("lists"), json!("x"), json!("x")),
        (reference("circle"), json!("3"), json!("3")),
        (reference("absent"), json!("3"), json!("3")),
        (reference("document"), json!("3"), json!("3")),
        // Some dialects do not read what stands beside a reference.
        (json!({"$ref": "#/$defs/lists", "type": "integer"}), json!("3"), json!("3")),
        (json!({"prefixItems": [true], "items": {"type": "integer"}}), json!(["3"]), json!(["3"])),
    ];
    for (schema, value, expected) in cases {
        assert_eq!(coerced(&schema, &value), expected, "{value} as {schema}");
    }
}

#[test]
fn a_chain_of_references_as_long_as_a_schema_is_no_danger() {
    let link = |n: usize| format!(r##""{n}":{{"$ref":"#/$defs/{}"}}"##, n + 1);
    let chain: Vec<String> = (0..2_000).map(link).collect();
    let item =
        |n: usize| format!(r##""{n}":{{"items":{{"anyOf":[{{"$ref":"#/$defs/{}"}}]}}}}"##, n + 1);
    let nested: Vec<String> = (0..1_200).map(item).collect();
    let either = |n: usize| format!(r##""{n}":{{"allOf":[{{"$ref":"#/$defs/{}"}}]}}"##, n + 1);
    let alternatives: Vec<String> = (0..1_500).map(either).collect();
    for defs in [chain, nested, alternatives] {
        let schema = format!(
            r##"{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/0"}}}},"$defs":{{{}}}}}"##,
            defs.join(",")
        );
        let coercion = Schema::parse(&schema).unwrap().coercion();
        let mut arguments = Map::from_iter([("a".to_owned(), json!("3"))]);
        coercion.coerce(&mut arguments);
        assert_eq!(arguments["a"], json!("3"));
    }
}

#[test]
fn a_text_is_not_read_deeper_than_a_tool_could_read_it() {
    let schema = json!({"$ref": "#/$defs/lists"});
    let of = |levels: usize| json!("[".repeat(levels) + &"]".repeat(levels));
    // The arguments are one level more.
    assert!(coerced(&schema, &of(126)).is_array());
    assert_eq!(coerced(&schema, &of(127)), of(127));
}

#[test]
fn the_tool_gets_the_callers_own_text_where_nothing_had_to_change() {
    let schema =
        r#"{"type":"object","properties":{"n":{"type":"integer"},"big":{},"s":{"type":"string"}}}"#;
    let cases = [
        (r#"{ "n": 3, "s" : "3" }"#, r#"{ "n": 3, "s" : "3" }"#),
        // Only what changed is written anew: a value would not keep those digits.
        (
            r#"{ "s": "\u00e9", "n": "3", "big": [1.50, 123456789012345678901234567890] }"#,
            r#"{"big":[1.50, 123456789012345678901234567890],"n":3,"s":"\u00e9"}"#,
        ),
        (r#"{"x\"":1}"#, "{}"),
    ];
    for (arguments, expected) in cases {
        assert_eq!(reaching(schema, arguments).unwrap(), expected);
    }
    let where_it_is =
        Fake::new(|call| Ok(RawReply::text(ReplyStatus::Ok, format!("{:p}", call.arguments()))));
    let bench = Bench::of(with_schema("t", schema), where_it_is);
    let own = r#"{"n": 3}"#;
    assert_eq!(bench.call("t", own).unwrap().text().as_str(), format!("{own:p}"));
}

#[test]
fn names_that_the_schema_does_not_know_are_dropped_where_it_knows_all_of_them() {
    let known = r#""properties":{"a":{}}"#;
    let cases = [
        (known.to_owned(), r#"{"a":1}"#),
        (format!(r#"{known},"additionalProperties":false"#), r#"{"a":1}"#),
        (format!(r#"{known},"required":["a"]"#), r#"{"a":1}"#),
        // Here the schema says itself what else there may be.
        (format!(r#"{known},"additionalProperties":true"#), r#"{"a":1,"b":2}"#),
        (format!(r#"{known},"additionalProperties":{{"type":"integer"}}"#), r#"{"a":1,"b":2}"#),
        (format!(r#"{known},"patternProperties":{{"^b":{{}}}}"#), r#"{"a":1,"b":2}"#),
        (format!(r#"{known},"required":["b"]"#), r#"{"a":1,"b":2}"#),
        (format!(r#"{known},"allOf":[{{"properties":{{"b":{{}}}}}}]"#), r#"{"a":1,"b":2}"#),
        (r#""properties":{}"#.to_owned(), r#"{"a":1,"b":2}"#),
    ];
    for (schema, expected) in cases {
        let schema = format!(r#"{{"type":"object",{schema}}}"#);
        assert_eq!(reaching(&schema, r#"{"a":1,"b":2}"#).unwrap(), expected, "{schema}");
    }
    let none = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    assert_eq!(
        reaching(none, r#"{"b":2}"#).unwrap_err(),
        r#"argument "b": expected no arguments here, found an unknown name"#
    );
}

// Edge case 37.
#[test]
fn a_misspelt_name_is_never_mapped_and_named_where_the_arguments_are_refused() {
    let schema = r#"{"type":"object","properties":{"urls":{"type":"array"}},"required":["urls"]}"#;
    assert_eq!(
        reaching(schema, r#"{"url":["x"]}"#).unwrap_err(),
        r#"argument "urls": expected an array (required), found nothing; argument "url": expected a declared name such as "urls", found an unknown name"#
    );
    assert_eq!(reaching(schema, r#"{"urls":"x","url":"y"}"#).unwrap(), r#"{"urls":["x"]}"#);
}

#[test]
fn what_can_not_be_read_is_refused_as_the_caller_wrote_it() {
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer","maximum":9},"l":{"type":"array","items":{"type":"integer"}}}}"#;
    let cases = [
        // Edge case 38.
        (r#"{"n":"3.5"}"#, r#"argument "n": expected an integer, found "3.5""#),
        (r#"{"n":"10"}"#, r#"argument "n": expected at most 9, found 10"#),
        (r#"{"l":"x"}"#, r#"argument "l": expected an array, found "x""#),
        (r#"{"l":""}"#, r#"argument "l": expected an array, found """#),
    ];
    for (arguments, expected) in cases {
        assert_eq!(reaching(schema, arguments).unwrap_err(), expected);
    }
}

#[test]
fn whoever_gathers_words_is_told_where_lists_and_texts_go() {
    let schema = r#"{"type":"object","properties":{
        "text":{"type":"string"}, "list":{"type":["array","null"]}, "any":{}, "n":{"type":"integer"}
    }}"#;
    let coercion = Schema::parse(schema).unwrap().coercion();
    let told = ["text", "list", "any", "n", "unknown"]
        .map(|name| (coercion.takes_text(name), coercion.takes_list(name)));
    let expected = [(true, false), (false, true), (true, false), (false, false), (false, false)];
    assert_eq!(told, expected);
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        prop::sample::select(vec![
            "",
            "3",
            "-1",
            "3.5",
            "true",
            "0",
            "null",
            "x",
            "[1]",
            r#"{"a":"1"}"#,
            r#"["2"]"#
        ])
        .prop_map(Value::from),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3).prop_map(Value::from),
        Just(json!(1.5)),
        Just(json!(2.0)),
        text,
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[abc]", inner, 0..3)
                .prop_map(|members| Value::from(Map::from_iter(members))),
        ]
    })
}

fn any_schema() -> impl Strategy<Value = Value> {
    let types = prop::sample::subsequence(
        vec!["null", "boolean", "integer", "number", "string", "array", "object"],
        1..3,
    );
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"$ref": "#/$defs/d"})),
        Just(json!({"$ref": "#"})),
        types.prop_map(|types| json!({"type": types})),
        prop::collection::vec(any_value(), 1..3).prop_map(|values| json!({"enum": values})),
        any_value().prop_map(|value| json!({"const": value})),
        Just(json!({"type": "integer", "maximum": 1})),
        Just(json!({"not": {"type": "integer"}})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let several = || prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (inner.clone(), inner.clone())
                .prop_map(|(first, items)| json!({"prefixItems": [first], "items": items})),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({"type": "object", "properties": {"a": a, "b": b}})),
            several().prop_map(|all| json!({"anyOf": all})),
            several().prop_map(|all| json!({"oneOf": all})),
            several().prop_map(|all| json!({"allOf": all})),
            (inner.clone(), inner.clone())
                .prop_map(|(one, other)| json!({"if": one, "then": other})),
        ]
    })
}

fn any_root() -> impl Strategy<Value = Value> {
    let beside = prop_oneof![
        4 => Just(json!({})),
        1 => Just(json!({"additionalProperties": false})),
        1 => Just(json!({"additionalProperties": {"type": "integer"}})),
        1 => Just(json!({"required": ["c"]})),
        1 => Just(json!({"minProperties": 2})),
        1 => Just(json!({"not": {"required": ["a"], "maxProperties": 1}})),
        1 => Just(json!({"dependentRequired": {"a": ["c"]}})),
        1 => Just(json!({"anyOf": [{"required": ["c"]}, {"required": ["a"]}]})),
    ];
    (any_schema(), any_schema(), any_schema(), beside).prop_map(|(a, b, d, beside)| {
        let mut root = json!({"type": "object", "properties": {"a": a, "b": b}, "$defs": {"d": d}});
        let (Value::Object(root), Value::Object(beside)) = (&mut root, beside) else {
            return root;
        };
        root.extend(beside);
        Value::from(root.clone())
    })
}

proptest! {
    #[test]
    fn valid_arguments_stay_valid_and_keep_every_value(
        schema in any_root(),
        members in prop::collection::btree_map("[abc]", any_value(), 0..3),
    ) {
        let arguments = Value::from(Map::from_iter(members));
        let schema = schema.to_string();
        let Ok(validator) = Schema::parse(&schema).unwrap().compile() else { return Ok(()) };
        if validator.is_valid(&arguments) {
            let text = arguments.to_string();
            let reached = reaching(&schema, &text);
            prop_assert!(reached.is_ok(), "{} became invalid: {:?}", text, reached);
            let reached: Map<String, Value> = serde_json::from_str(&reached.unwrap()).unwrap();
            for (name, value) in reached {
                prop_assert_eq!(&value, &arguments[&name]);
            }
        }
    }

    #[test]
    fn reading_twice_is_reading_once(schema in any_root(), members in prop::collection::btree_map("[abc]", any_value(), 0..3)) {
        let coercion = Schema::parse(&schema.to_string()).unwrap().coercion();
        let mut once = Map::from_iter(members);
        coercion.coerce(&mut once);
        let mut twice = once.clone();
        coercion.coerce(&mut twice);
        prop_assert_eq!(once, twice);
    }
}
