//! Arguments: what reaches a tool, what is refused, and whether a model could correct itself by the message.

use std::{
    collections::BTreeMap,
    sync::{Arc, mpsc},
    time::Duration,
};

use serde_json::value::RawValue;
use toolbay_core::{
    Agent, ArgumentsError, CallError, CallRequest, CancelToken, Limits, Offer, Progress,
    ProgressSink, RawReply, ReplyStatus, TrustZone,
};

use crate::fixture::{Bench, Fake, anonymous, offer, offered, with_aliases, with_schema};

const SCHEMA: &str = r##"{
    "type": "object",
    "properties": {
        "language": {"enum": ["en", "de"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "urls": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": true},
        "filter": {
            "type": "object",
            "properties": {"tags": {"type": "array", "items": {"type": "string", "maxLength": 3}}, "mode": {}},
            "required": ["mode"],
            "additionalProperties": false
        },
        "ratio": {"type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 1, "multipleOf": 0.25},
        "id": {"type": "string", "pattern": "^[a-z]+$"},
        "version": {"const": 2},
        "maybe": {"anyOf": [{"$ref": "#/$defs/point"}, {"type": "null"}, {"type": "integer"}]}
    },
    "additionalProperties": false,
    "$defs": {"point": {"type": "object", "required": ["x"]}}
}"##;

fn refusal(schema: &str, arguments: &str) -> String {
    let backend = Fake::echo();
    let bench = Bench::of(with_schema("t", schema), backend.clone());
    match bench.call("t", arguments) {
        Err(CallError::Arguments { tool, source }) => {
            assert_eq!((tool.as_str(), backend.invocations()), ("t", 0));
            source.to_string()
        }
        other => panic!("{arguments}: {other:?}"),
    }
}

#[test]
fn a_name_that_is_there_twice_is_refused_and_told() {
    // What is checked is the last one, and a tool may take the first.
    let twice = [r#"{"count":"x","count":1}"#, r#"{"filter":{"mode":1,"mode":2}}"#];
    for arguments in twice {
        let told = refusal(SCHEMA, arguments);
        assert!(told.contains("have a name twice") && told.contains("line 1 column"), "{told}");
    }
    let bench = Bench::of(with_schema("t", SCHEMA), Fake::echo());
    bench.call("t", r#"{"count":1,"filter":{"mode":{"count":1}}}"#).unwrap();
}

#[test]
fn each_violation_names_the_argument_what_was_expected_and_what_was_found() {
    let cases = [
        (r#"{"language":"fr"}"#, r#"argument "language": expected one of "en", "de", found "fr""#),
        // Edge case 38.
        (r#"{"count":"3.5"}"#, r#"argument "count": expected an integer, found "3.5""#),
        (r#"{"count":3.5}"#, r#"argument "count": expected an integer, found 3.5"#),
        (r#"{"count":0}"#, r#"argument "count": expected at least 1, found 0"#),
        (r#"{"count":10}"#, r#"argument "count": expected at most 9, found 10"#),
        (r#"{"count":null}"#, r#"argument "count": expected an integer, found null"#),
        (
            r#"{"url":"x","count":0}"#,
            r#"argument "count": expected at least 1, found 0; argument "url": expected a declared name such as "urls", found an unknown name"#,
        ),
        (r#"{"urls":["a",7]}"#, r#"argument "urls[1]": expected a string, found 7"#),
        (
            r#"{"urls":["a","b","c"]}"#,
            r#"argument "urls": expected at most 2 items, found ["a","b","c"]"#,
        ),
        (
            r#"{"urls":["a","a"]}"#,
            r#"argument "urls": expected items that differ from each other, found ["a","a"]"#,
        ),
        (
            r#"{"filter":{}}"#,
            r#"argument "filter.mode": expected a value (required), found nothing"#,
        ),
        (
            r#"{"filter":{"tags":["abc","abcd"],"mode":1,"x":2}}"#,
            r#"argument "filter.tags[1]": expected at most 3 characters, found "abcd"; argument "filter.x": expected a declared name: "mode", "tags", found an unknown name"#,
        ),
        (r#"{"ratio":"x"}"#, r#"argument "ratio": expected null or a number, found "x""#),
        (r#"{"ratio":0}"#, r#"argument "ratio": expected more than 0, found 0"#),
        (r#"{"ratio":1}"#, r#"argument "ratio": expected less than 1, found 1"#),
        (r#"{"ratio":0.3}"#, r#"argument "ratio": expected a multiple of 0.25, found 0.3"#),
        (
            r#"{"id":"A"}"#,
            r#"argument "id": expected a text that matches the pattern ^[a-z]+$, found "A""#,
        ),
        (r#"{"version":1}"#, r#"argument "version": expected 2, found 1"#),
        (
            r#"{"maybe":{}}"#,
            r#"argument "maybe": expected an object with "x" or null or an integer, found {}"#,
        ),
        (
            r#"{"maybe":"p"}"#,
            r#"argument "maybe": expected an object or null or an integer, found "p""#,
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(refusal(SCHEMA, arguments), expected, "{arguments}");
    }
}

// Edge case 36.
#[test]
fn a_missing_null_or_blank_required_argument_is_named() {
    let schema = r#"{"type":"object","properties":{
        "query":{"type":"string"}, "mode":{"type":["string","null"]}, "new":{"type":"string","minLength":0}
    },"required":["query","mode","new"]}"#;
    let cases = [
        (
            r#"{"mode":"m","new":""}"#,
            r#"argument "query": expected a string (required), found nothing"#,
        ),
        (
            r#"{"query":null,"mode":"m","new":""}"#,
            r#"argument "query": expected a string, found null"#,
        ),
        (
            r#"{"query":" \n","mode":"m","new":""}"#,
            r#"argument "query": expected a text that is not blank (required), found a blank one"#,
        ),
        (
            r#"{"query":"q","new":""}"#,
            r#"argument "mode": expected a string or null (required), found nothing"#,
        ),
    ];
    for (arguments, expected) in cases {
        assert_eq!(refusal(schema, arguments), expected, "{arguments}");
    }
    let bench = Bench::of(with_schema("t", schema), Fake::echo());
    assert!(
        bench.call("t", r#"{"query":"q","mode":null,"new":""}"#).is_ok(),
        "the schema allows it"
    );
}

#[test]
fn what_is_told_of_violations_is_bounded() {
    let long = "é".repeat(50_000);
    let message = refusal(SCHEMA, &format!(r#"{{"language":"{long}"}}"#));
    let expected =
        format!(r#"argument "language": expected one of "en", "de", found "{}…"#, "é".repeat(78));
    assert_eq!(message, expected);

    let unknown: Vec<String> =
        (0..100).map(|n| format!(r#""{n:03}{}":1"#, "x".repeat(200))).collect();
    let message = refusal(SCHEMA, &format!(r#"{{"count":0,{}}}"#, unknown.join(",")));
    assert!(message.contains(r#"argument "count": expected at least 1"#), "{message}");
    assert_eq!(message.matches("found an unknown name").count(), 10);
    assert!(message.len() < 11 * 400, "{} bytes", message.len());
    let open =
        SCHEMA.replace("false,\n    \"$defs\"", "false, \"minProperties\": 1,\n    \"$defs\"");
    let message = refusal(&open, &format!("{{{}}}", unknown.join(",")));
    assert_eq!(message.matches("found an unknown name").count(), 10);

    let each = r#"{"type":"object","properties":{"a":{"items":{"type":"null"}}}}"#;
    let message = refusal(each, &format!(r#"{{"a":[{}]}}"#, ["1"; 30].join(",")));
    assert_eq!(message.matches("expected null").count(), 10);

    let large = refusal(each, &format!(r#"{{"a":[{}]}}"#, ["1"; 40_000].join(",")));
    assert_eq!(large, r#"argument "a[0]": expected null, found 1"#);

    let many: Vec<String> = (0..30).map(|n| n.to_string()).collect();
    let schema =
        format!(r#"{{"type":"object","properties":{{"a":{{"enum":[{}]}}}}}}"#, many.join(","));
    let message = refusal(&schema, r#"{"a":"x"}"#);
    assert_eq!(
        message,
        format!(
            r#"argument "a": expected one of {} and 10 more, found "x""#,
            many[..20].join(", ")
        )
    );
}

#[test]
fn text_that_is_no_json_is_refused_at_its_place() {
    let bench = || Bench::of(with_schema("t", SCHEMA), Fake::echo());
    let cases = [("{", 1, 1), ("{\n \"a\" 1}", 2, 6), ("{} {}", 1, 4), ("nul", 1, 3)];
    for (arguments, expected_line, expected_column) in cases {
        match bench().call("t", arguments) {
            Err(CallError::Arguments {
                source: ArgumentsError::NotJson { line, column, .. },
                ..
            }) => {
                assert_eq!((line, column), (expected_line, expected_column), "{arguments}");
            }
            other => panic!("{arguments}: {other:?}"),
        }
    }
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    let result = bench().call("t", &deep);
    assert!(
        matches!(result, Err(CallError::Arguments { source: ArgumentsError::NotJson { .. }, .. })),
        "it must not recurse as deep as a caller likes"
    );
}

#[test]
fn json_that_is_no_object_is_refused_with_what_it_is() {
    let cases = [
        ("null", "null"),
        ("true", "a boolean"),
        ("1", "a number"),
        (r#""{}""#, "a string"),
        ("[]", "an array"),
    ];
    for (arguments, expected) in cases {
        let bench = Bench::of(with_schema("t", SCHEMA), Fake::echo());
        match bench.call("t", arguments) {
            Err(CallError::Arguments { source: ArgumentsError::NotAnObject { found }, .. }) => {
                assert_eq!(found, expected);
            }
            other => panic!("{arguments}: {other:?}"),
        }
    }
}

#[test]
fn arguments_at_the_limit_pass_and_one_byte_more_does_not() {
    let of = |bytes: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes - 8));
    let plugin = || Offer {
        tools: vec![offered(with_schema("t", r#"{"type":"object"}"#), Fake::echo())],
        ..offer("acme", [])
    };
    let bench =
        Bench::with_limits(vec![plugin()], Limits { argument_bytes: 100, ..Limits::default() });
    assert!(bench.call("t", &of(100)).is_ok());
    match bench.call("t", &of(101)) {
        Err(CallError::Arguments {
            source: ArgumentsError::TooLarge { limit, scope: None, found },
            ..
        }) => {
            assert_eq!((limit, found), (100, 101));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(Limits::default().argument_bytes, 1024 * 1024);
}

#[test]
fn the_tool_gets_the_text_as_the_caller_wrote_it() {
    let cases = [
        // Edge case 31.
        ("", "{}"),
        (" \n", "{}"),
        ("{}", "{}"),
        ("{ \"a\" : 1.50, \"b\":\"\\u00e9\" }", "{ \"a\" : 1.50, \"b\":\"\\u00e9\" }"),
    ];
    for (arguments, expected) in cases {
        let bench = Bench::of(with_schema("t", r#"{"type":"object"}"#), Fake::echo());
        assert_eq!(bench.call("t", arguments).unwrap().text().as_str(), expected);
    }
}

#[test]
fn a_call_carries_its_request_to_the_tool() {
    struct Sent(mpsc::Sender<Progress>);
    impl ProgressSink for Sent {
        fn progress(&self, progress: Progress) {
            self.0.send(progress).unwrap();
        }
    }
    let backend = Fake::new(|call| {
        let progress = Progress { done: 1.0, total: Some(2.0), message: None };
        call.progress().unwrap().progress(progress);
        let seen =
            format!("{} {:?} {}", call.caller().label(), call.deadline(), call.is_cancelled());
        call.cancel().unwrap().cancel();
        Ok(RawReply::text(ReplyStatus::Cancelled, seen + &format!(" {}", call.is_cancelled())))
    });
    let bench = Bench::of(with_schema("t", r#"{"type":"object"}"#), backend);
    let (sender, receiver) = mpsc::channel();
    let (sink, cancel, caller) =
        (Arc::new(Sent(sender)) as Arc<dyn ProgressSink>, CancelToken::new(), anonymous());
    let request = CallRequest::new("t", "", &caller)
        .with_deadline(Duration::from_millis(20))
        .with_cancel(&cancel)
        .with_progress(&sink);
    let reply = bench.pipeline.call(&request).unwrap();
    assert_eq!(reply.text().as_str(), "anonymous Some(20ms) false true");
    assert_eq!(receiver.recv().unwrap().done, 1.0);
}

#[test]
fn an_agents_settings_reach_the_tool_unchanged_also_under_a_former_name() {
    // Edge case 16.
    let backend = || {
        Fake::new(|call| {
            let config = call.tool_config().map_or("none", RawValue::get).to_owned();
            Ok(RawReply::text(ReplyStatus::Ok, format!("{} {config}", call.definition().name())))
        })
    };
    let cases = [
        (vec![("new", "{\"k\": 1.0 }")], "new {\"k\": 1.0 }"),
        (vec![("old", "[ ]")], "new [ ]"),
        (vec![("old", "1"), ("new", "2")], "new 2"),
        (vec![("other", "1")], "new none"),
        (vec![], "new none"),
    ];
    for (configs, expected) in cases {
        let tool_config: BTreeMap<_, _> = configs
            .into_iter()
            .map(|(name, json)| {
                (name.parse().unwrap(), RawValue::from_string(json.to_owned()).unwrap())
            })
            .collect();
        let bot = Agent::new("bot".parse().unwrap());
        let caller = anonymous().with_agent(Agent { tool_config, zone: TrustZone::Local, ..bot });
        let bench = Bench::of(with_aliases("new", &["old"]), backend());
        let reply = bench.pipeline.call(&CallRequest::new("old", "", &caller)).unwrap();
        assert_eq!(reply.text().as_str(), expected);
    }
}
