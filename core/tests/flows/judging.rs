//! Rules of a host: each call is judged on its final arguments and on what its run has called before.

use std::{
    error::Error,
    io,
    sync::{Arc, Mutex},
};

use toolbay_core::{
    BackendError, CallError, CallRequest, Clock, DuplicateRule, Invocation, InvocationRule,
    Judgement, Outcome, PastCall, RawReply, ReplyStatus, RuleId, Rules, RunHistory,
};

use crate::{
    desk::{Desk, acme, admin, asking, guarded, writer},
    fixture::{Fake, reader, user},
    memory::Step,
};

type Judge =
    dyn Fn(&Invocation<'_>) -> Result<Judgement, Box<dyn Error + Send + Sync>> + Send + Sync;

/// A rule that says what the test says, and keeps what it was asked.
struct Rule {
    id: RuleId,
    needs_history: bool,
    judge: Box<Judge>,
    asked: Mutex<Vec<String>>,
}

impl InvocationRule for Rule {
    fn id(&self) -> &RuleId {
        &self.id
    }

    fn needs_history(&self) -> bool {
        self.needs_history
    }

    fn judge(&self, call: &Invocation<'_>) -> Result<Judgement, Box<dyn Error + Send + Sync>> {
        let arguments = serde_json::to_string(call.arguments).unwrap();
        let (tool, past) = (call.entry.definition().name(), call.history.len());
        self.asked.lock().unwrap().push(format!("{tool} {arguments} {past}"));
        (self.judge)(call)
    }
}

fn rule(
    id: &str,
    judge: impl Fn(&Invocation<'_>) -> Result<Judgement, Box<dyn Error + Send + Sync>>
    + Send
    + Sync
    + 'static,
) -> Rule {
    let (judge, asked) = (Box::new(judge), Mutex::default());
    Rule { id: id.parse().unwrap(), needs_history: false, judge, asked }
}

fn allow(id: &str) -> Rule {
    rule(id, |_| Ok(Judgement::Allow))
}

/// A desk with these rules, each of which the test can ask what it was asked.
fn desk(tools: Vec<(toolbay_core::DefinitionParts, Arc<Fake>)>, rules: &[Arc<Rule>]) -> Desk {
    let rules = rules.iter().map(|rule| rule.clone() as Arc<dyn InvocationRule>).collect();
    Desk::with_rules(vec![acme("1", tools)], rules)
}

fn asked(rule: &Rule) -> Vec<String> {
    rule.asked.lock().unwrap().clone()
}

fn past(outcome: Outcome) -> PastCall {
    PastCall { tool: "read".parse().unwrap(), outcome, target: None }
}

#[test]
fn the_first_rule_that_refuses_a_call_stops_it() {
    let backend = Fake::echo();
    let rules = [
        Arc::new(allow("a.first")),
        Arc::new(rule("b", |call| {
            Ok(match call.arguments.contains_key("bad") {
                true => Judgement::Deny("no_bad_ones"),
                false => Judgement::Allow,
            })
        })),
        Arc::new(allow("c")),
    ];
    let desk = desk(vec![(reader("read"), backend.clone())], &rules);
    let bo = user("bo", false);
    desk.call(&bo, "read", r#"{"good":1}"#).unwrap();
    match desk.call(&bo, "read", r#"{"bad":1}"#) {
        Err(CallError::Rule { tool, source }) => {
            let found = (tool.as_str(), source.rule.as_str(), source.code.as_str());
            assert_eq!(found, ("read", "b", "no_bad_ones"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(backend.invocations(), 1);
    assert_eq!(asked(&rules[0]), [r#"read {"good":1} 0"#, r#"read {"bad":1} 0"#]);
    assert_eq!(asked(&rules[2]), [r#"read {"good":1} 0"#]);
    let record = desk.records.calls().pop().unwrap();
    assert_eq!((record.outcome, record.code), (Outcome::Refused, Some("invocation_denied")));
}

#[test]
fn a_rule_that_can_not_judge_refuses() {
    let backend = Fake::echo();
    let broken = Arc::new(rule("b", |_| Err(io::Error::other("hunter2").into())));
    let desk = desk(vec![(reader("read"), backend.clone())], &[broken]);
    let error = desk.call(&user("bo", false), "read", "{}").unwrap_err();
    let told = error.model_text();
    assert_eq!(told, "The tool \"read\" was not run: rule b refused it (rule_failed).");
    match error {
        CallError::Rule { source, .. } => {
            assert!(source.source().unwrap().to_string().contains("hunter2"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(backend.invocations(), 0);
}

#[test]
fn a_rule_is_asked_about_what_would_run_alone() {
    let rule = Arc::new(allow("a"));
    let tools = vec![
        (
            crate::fixture::with_schema("read", r#"{"type":"object","required":["a"]}"#),
            Fake::echo(),
        ),
        (asking("ask"), Fake::echo()),
    ];
    let desk = desk(tools, std::slice::from_ref(&rule));
    let bo = user("bo", false);
    desk.call(&bo, "absent", "{}").unwrap_err();
    desk.call(&bo, "read", "{}").unwrap_err();
    assert_eq!(asked(&rule), Vec::<String>::new());
    // What an agent gives is not final before a person has given the rest.
    desk.call(&bo, "ask", r#"{"note":"n","code":"evil"}"#).unwrap_err();
    assert_eq!(asked(&rule), Vec::<String>::new());
    desk.submit(&admin(), r#"{"code":"1234"}"#).unwrap();
    assert!(asked(&rule).iter().all(|line| line == r#"ask {"code":"1234","note":"n"} 0"#));
    assert!(!asked(&rule).is_empty());
}

#[test]
fn without_a_known_history_a_rule_that_needs_one_refuses() {
    let known = RunHistory::of(vec![past(Outcome::Ok); 2]);
    let incomplete = RunHistory::incomplete();
    let new = RunHistory::new();
    let cases = [
        (Some(&new), true, None),
        (Some(&known), true, None),
        (Some(&incomplete), true, Some("history_incomplete")),
        (None, true, Some("history_incomplete")),
        // Who does not ask for it gets none.
        (Some(&known), false, None),
        (Some(&incomplete), false, None),
        (None, false, None),
    ];
    for (history, needs_history, refused) in cases {
        let calls = history.and_then(RunHistory::calls);
        let rule = Arc::new(Rule { needs_history, ..allow("a") });
        let backend = Fake::echo();
        let desk = desk(vec![(reader("read"), backend.clone())], std::slice::from_ref(&rule));
        let bo = user("bo", false);
        let mut request = CallRequest::new("read", "{}", &bo);
        if let Some(history) = history {
            request = request.with_history(history);
        }
        let code = match desk.pipeline.call(&request) {
            Ok(_) => None,
            Err(CallError::Rule { source, .. }) => Some(source.code),
            Err(error) => panic!("{error:?}"),
        };
        assert_eq!(
            (code.as_deref(), backend.invocations()),
            (refused, usize::from(refused.is_none()))
        );
        let known = if needs_history { calls.as_ref().map_or(0, Vec::len) } else { 0 };
        let expected = refused.is_none().then(|| format!("read {{}} {known}"));
        assert_eq!(asked(&rule), expected.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_run_remembers_how_each_of_its_calls_ended() {
    let desk = desk(
        vec![
            (reader("read"), Fake::echo()),
            (reader("fails"), Fake::new(|_| Ok(RawReply::text(ReplyStatus::Failed, "no")))),
            (reader("late"), Fake::new(|_| Err(BackendError::DeadlineExceeded))),
        ],
        &[],
    );
    let (bo, history) = (user("bo", false), RunHistory::new());
    for (tool, arguments) in
        [("read", "{}"), ("absent", "{}"), ("read", "[]"), ("fails", ""), ("late", "")]
    {
        let _ = desk.pipeline.call(&CallRequest::new(tool, arguments, &bo).with_history(&history));
    }
    let calls = history.calls().unwrap();
    let found: Vec<_> = calls.iter().map(|call| (call.tool.as_str(), call.outcome)).collect();
    // What was refused has not been called.
    let expected = [("read", Outcome::Ok), ("fails", Outcome::Failed), ("late", Outcome::TimedOut)];
    assert_eq!(found, expected);
}

#[test]
fn each_call_of_a_turn_is_judged_by_those_before_it() {
    // Two of the same turn must not pass a rule that lets one pass: neither at once, nor when they are approved.
    let once = || {
        let judge = |call: &Invocation<'_>| {
            Ok(match call.history {
                [] => Judgement::Allow,
                _ => Judgement::Deny("once"),
            })
        };
        Arc::new(Rule { needs_history: true, ..rule("once", judge) })
    };
    for approved in [false, true] {
        let backend = Fake::echo();
        let parts = if approved { writer("t") } else { reader("t") };
        let desk = desk(vec![(parts, backend.clone())], &[once()]);
        let (bo, history) = (user("bo", false), RunHistory::new());
        let requests = [r#"{"a":1}"#, r#"{"a":2}"#]
            .map(|arguments| CallRequest::new("t", arguments, &bo).with_history(&history));
        let mut results = desk.pipeline.turn(&requests);
        if approved {
            assert!(results.iter().all(|result| matches!(result, Err(CallError::Pending { .. }))));
            let decided = desk.approve(&admin()).unwrap();
            results = decided.results.into_iter().map(|(_, result)| result).collect();
        }
        assert!(results[0].is_ok(), "{results:?}");
        assert!(matches!(results[1], Err(CallError::Rule { .. })), "{results:?}");
        assert_eq!(backend.invocations(), 1);
        let outcomes: Vec<_> =
            desk.records.calls().iter().rev().take(2).map(|record| record.outcome).collect();
        assert_eq!(outcomes, [Outcome::Refused, Outcome::Ok]);
    }
}

#[test]
fn the_history_of_a_run_waits_with_its_calls() {
    let rule = Arc::new(Rule { needs_history: true, ..allow("a") });
    for (history, expected) in [
        (RunHistory::of(vec![past(Outcome::Ok); 2]), Some("write {} 2")),
        (RunHistory::new(), Some("write {} 0")),
    ] {
        let write = Fake::echo();
        let desk = desk(vec![(writer("write"), write.clone())], std::slice::from_ref(&rule));
        let bo = user("bo", false);
        let request = CallRequest::new("write", "{}", &bo).with_history(&history);
        desk.pipeline.call(&request).unwrap_err();
        rule.asked.lock().unwrap().clear();
        desk.approve(&admin()).unwrap();
        assert!(
            asked(&rule).iter().all(|line| Some(line.as_str()) == expected),
            "{:?}",
            asked(&rule)
        );
        assert_eq!((write.invocations(), asked(&rule).is_empty()), (1, false));
    }
}

#[test]
fn a_history_that_was_not_known_is_not_known_when_the_call_is_approved() {
    let write = Fake::echo();
    let desk = desk(vec![(writer("write"), write.clone())], &[]);
    let (bo, incomplete) = (user("bo", false), RunHistory::incomplete());
    let request = CallRequest::new("write", "{}", &bo).with_history(&incomplete);
    desk.pipeline.call(&request).unwrap_err();
    assert_eq!(desk.store.newest().request.history, None);
    desk.approve(&admin()).unwrap();
    desk.pipeline.call(&request).unwrap();
    assert_eq!((write.invocations(), incomplete.calls()), (1, None));
}

#[test]
fn a_run_remembers_a_call_that_ran_when_it_was_approved() {
    let fails = Fake::new(|_| Ok(RawReply::text(ReplyStatus::Failed, "no")));
    let late = Fake::new(|_| Err(BackendError::DeadlineExceeded));
    let tools = vec![
        (writer("write"), Fake::echo()),
        (guarded("fails"), fails),
        (guarded("late"), late),
        (guarded("denied"), Fake::echo()),
        (writer("broken_off"), Fake::echo()),
    ];
    let desk = desk(tools, &[]);
    let (bo, history) = (user("bo", false), RunHistory::new());
    for tool in ["write", "fails", "late", "denied", "broken_off"] {
        let request = CallRequest::new(tool, "{}", &bo).with_history(&history);
        desk.pipeline.call(&request).unwrap_err();
        assert!(!history.calls().unwrap().iter().any(|call| call.tool.as_str() == tool));
        match tool {
            "denied" => desk.deny(&admin()).unwrap(),
            "broken_off" => {
                desk.store.break_at(Step::Settle);
                desk.approve(&admin()).unwrap_err();
                desk.store.break_at(None);
                desk.store.recover(desk.clock.now());
            }
            _ => drop(desk.approve(&admin()).unwrap()),
        }
        let _ = desk.pipeline.call(&request);
    }
    let calls = history.calls().unwrap();
    let found: Vec<_> = calls.iter().map(|call| (call.tool.as_str(), call.outcome)).collect();
    let expected = [
        ("write", Outcome::Ok),
        ("fails", Outcome::Failed),
        ("late", Outcome::TimedOut),
        // It may have written.
        ("broken_off", Outcome::Aborted),
    ];
    assert_eq!(found, expected);
}

#[test]
fn each_rule_has_an_id_of_its_own() {
    let rules = |ids: &[&str]| {
        let rule = |id: &&str| Arc::new(allow(id)) as Arc<dyn InvocationRule>;
        Rules::new(ids.iter().map(rule).collect())
    };
    assert!(rules(&["a", "b", "a.b"]).is_ok());
    assert_eq!(rules(&["a", "b", "a"]).unwrap_err(), DuplicateRule("a".parse().unwrap()));
    assert_eq!(format!("{:?}", rules(&["a", "b"]).unwrap()), r#"["a", "b"]"#);
}
