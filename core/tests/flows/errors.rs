//! Errors: who is told what. A model never reads what a plugin wrote as it broke off.

use std::{error::Error as _, io};

use toolbay_core::{
    BackendError, CallError, Caller, Outcome, Party, Pipeline, RawReply, Registry, Reply,
    ReplyStatus,
};

use crate::fixture::{Bench, Fake, offer, offered, reader, with_schema};

const SECRET: &str = "password=hunter2 in /etc/acme.conf";

fn ended(end: impl Fn() -> Result<RawReply, BackendError> + Send + Sync + 'static) -> CallError {
    Bench::of(reader("t"), Fake::new(move |_| end())).call("t", "").unwrap_err()
}

/// What the operator reads below the error's own line.
fn chain(error: &CallError) -> Vec<String> {
    let mut lines = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        lines.push(cause.to_string());
        next = cause.source();
    }
    lines
}

#[test]
fn what_a_plugin_said_is_for_the_operator_and_never_for_the_model() {
    let fault = ended(|| {
        let location = Some("src/acme.rs:7:9".to_owned());
        Err(BackendError::Fault { message: SECRET.to_owned(), location })
    });
    let unavailable = ended(|| {
        let source = Box::new(io::Error::other(SECRET));
        Err(BackendError::Unavailable { party: Party::Plugin, source })
    });
    let malformed = ended(|| {
        let rest = format!(r#"{{"content":[{{"type":"{SECRET}"}}]}}"#);
        Ok(RawReply { status: ReplyStatus::Ok, text: SECRET.into(), rest: rest.into() })
    });
    for error in [&fault, &unavailable, &malformed] {
        let told = error.model_text();
        assert!(!told.contains("hunter2") && !told.contains("acme"), "{told}");
        assert!(!error.to_string().contains("hunter2"), "each layer speaks for itself: {error}");
        assert!(chain(error).join(" ").contains("hunter2"), "{:?}", chain(error));
    }
    assert_eq!(
        chain(&fault),
        ["the tool's code broke off at src/acme.rs:7:9: \"password=hunter2 in /etc/acme.conf\""]
    );
}

#[test]
fn what_a_plugin_said_is_one_bounded_line() {
    let error = ended(|| {
        Err(BackendError::Fault {
            message: "a\nINFO all is well\u{1b}[2J".repeat(1_000),
            location: None,
        })
    });
    let told = &chain(&error)[0];
    assert!(told.len() < 3_000 && !told.contains(char::is_control), "{told}");
}

#[test]
fn an_unknown_name_comes_with_the_nearest_ones() {
    let plugin = || offer("acme", [reader("search_files"), reader("search_text"), reader("greet")]);
    let cases = [
        (
            "serch_files",
            "There is no tool \"serch_files\". The nearest names are \"search_files\".",
        ),
        (
            "search",
            "There is no tool \"search\". The nearest names are \"search_files\", \"search_text\".",
        ),
        ("xyz", "There is no tool \"xyz\". Use one of the tools that were offered."),
    ];
    for (tool, expected) in cases {
        let error = Bench::new(vec![plugin()]).call(tool, "").unwrap_err();
        assert_eq!(error.model_text(), expected);
    }
    match Bench::new(vec![plugin()]).call(&"x".repeat(100_000), "") {
        Err(CallError::NotRegistered { tool, nearest }) => {
            assert_eq!((tool.chars().count(), nearest), (80, vec![]));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn refused_arguments_tell_the_model_what_to_correct() {
    let schema = r#"{"type":"object","properties":{"language":{"enum":["en","de"]}}}"#;
    let error = Bench::of(with_schema("greet", schema), Fake::echo())
        .call("greet", r#"{"language":"fr"}"#)
        .unwrap_err();
    assert_eq!(
        error.model_text(),
        "The tool \"greet\" was not run: argument \"language\": expected one of \"en\", \"de\", found \"fr\". \
         Correct the arguments and call it again."
    );
}

#[test]
fn a_broken_schema_is_the_plugins_fault_and_its_text_is_not_for_the_model() {
    let backend = Fake::echo();
    let parts = with_schema("t", r#"{"type":"object","properties":{"a":{"type":"hunter2"}}}"#);
    let error = Bench::of(parts, backend.clone()).call("t", "").unwrap_err();
    assert!(matches!(error, CallError::Schema { .. }), "{error:?}");
    assert_eq!((error.party(), backend.invocations()), (Party::Plugin, 0));
    assert!(!error.model_text().contains("hunter2"));
    assert!(chain(&error).join(" ").contains("hunter2"));
}

#[test]
fn each_error_names_who_can_do_something_about_it() {
    let unavailable = |party| {
        ended(move || {
            Err(BackendError::Unavailable { party, source: Box::new(io::Error::other("x")) })
        })
    };
    let fault = || Err(BackendError::Fault { message: String::new(), location: None });
    let cases = [
        (ended(fault), Party::Plugin),
        (ended(|| Err(BackendError::DeadlineExceeded)), Party::Plugin),
        (ended(|| Err(BackendError::Cancelled)), Party::Caller),
        (unavailable(Party::Plugin), Party::Plugin),
        (unavailable(Party::Environment), Party::Environment),
        (Bench::new(vec![]).call("absent", "").unwrap_err(), Party::Caller),
        (Bench::of(reader("t"), Fake::echo()).call("t", "[]").unwrap_err(), Party::Caller),
    ];
    for (error, expected) in cases {
        assert_eq!(error.party(), expected, "{error}");
    }
}

#[test]
fn a_fault_of_the_hosts_own_tool_is_the_hosts() {
    let bench = Bench::new(vec![]);
    let backend =
        Fake::new(|_| Err(BackendError::Fault { message: String::new(), location: None }));
    let core =
        toolbay_core::Offer { tools: vec![offered(reader("own"), backend)], ..offer("core", []) };
    let (plan, _) = toolbay_core::Plan::new(core, vec![]).unwrap();
    bench.pipeline.registry().replace(plan.commit(8, &toolbay_core::Access::default()));
    let error = bench.call("own", "").unwrap_err();
    assert_eq!((error.party(), bench.record().outcome), (Party::Host, Outcome::Fault));
}

#[test]
fn what_threads_share_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Pipeline>();
    shared::<Registry>();
    shared::<Caller>();
    shared::<Reply>();
    shared::<CallError>();
}
