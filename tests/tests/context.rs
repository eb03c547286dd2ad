//! What a plugin knows of its caller, and its way back to the host while a call runs.
#![cfg(test)]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde_json::{Value, json, value::RawValue};
use toolbay_loader::{
    Actor, Agent, Attachment, CallRequest, Caller, CancelToken, Progress, ProgressSink,
    ReplyStatus, Toolbay, TrustZone,
};
use toolbay_tests::Home;

fn whoami(toolbay: &Toolbay, request: &CallRequest<'_>) -> Value {
    serde_json::from_str(&toolbay.call(request).unwrap().model_text()).unwrap()
}

fn agent_with(tool: &str, config: &str) -> Agent {
    let config = RawValue::from_string(config.to_owned()).unwrap();
    Agent {
        tool_config: BTreeMap::from([(tool.parse().unwrap(), config)]),
        zone: TrustZone::Local,
        ..Agent::new("helper".parse().unwrap())
    }
}

#[test]
fn actor_agent_run_and_attachments_arrive_unchanged() {
    let toolbay = Home::with(&["toolbay-fixture-echo"]).refreshed();
    let attachment = json!({ "name": "a.png", "media_type": "image/png", "uri": "file:///a.png" });
    let ada = Caller::new(Actor::User { name: "ada".parse().unwrap(), admin: true })
        .with_agent(agent_with("whoami", r#"{"greeting": "hi"}"#))
        .with_run("run-7".parse().unwrap())
        .with_attachments(vec![Attachment {
            name: "a.png".to_owned(),
            media_type: "image/png".to_owned(),
            uri: "file:///a.png".to_owned(),
        }]);
    let answer = whoami(&toolbay, &CallRequest::new("whoami", "{}", &ada));
    assert_eq!(
        answer,
        json!({
            "actor": { "kind": "user", "name": "ada", "admin": true },
            "agent": "helper",
            "run": "run-7",
            "attachments": [attachment],
            "config": { "greeting": "hi" },
            "has_deadline": false,
            "cancelled": false,
        })
    );

    let indexer =
        Actor::ServiceAccount { name: "indexer".parse().unwrap(), scopes: vec!["read".to_owned()] };
    let answer = whoami(&toolbay, &CallRequest::new("whoami", "{}", &Caller::new(indexer)));
    assert_eq!(
        answer["actor"],
        json!({ "kind": "service_account", "name": "indexer", "scopes": ["read"] })
    );

    let nobody = Caller::new(Actor::Anonymous);
    let answer = whoami(&toolbay, &CallRequest::new("whoami", "{}", &nobody));
    assert_eq!(answer["actor"], json!({ "kind": "anonymous" }));
    assert_eq!((&answer["agent"], &answer["config"]), (&Value::Null, &Value::Null));
}

#[test]
fn a_tool_sees_its_own_agent_configuration_and_names_what_does_not_fit() {
    let toolbay = Home::with(&["toolbay-fixture-echo"]).refreshed();
    let other =
        Caller::new(Actor::Anonymous).with_agent(agent_with("echo", r#"{"greeting": "hi"}"#));
    assert_eq!(whoami(&toolbay, &CallRequest::new("whoami", "{}", &other))["config"], Value::Null);

    let wrong =
        Caller::new(Actor::Anonymous).with_agent(agent_with("whoami", r#"{"greeting": 7}"#));
    let reply = toolbay.call(&CallRequest::new("whoami", "{}", &wrong)).unwrap();
    assert_eq!(reply.status(), ReplyStatus::Failed);
    assert_eq!(reply.model_text(), "the tool is not configured correctly for this agent");
}

#[test]
fn an_alias_reaches_the_tool() {
    let toolbay = Home::with(&["toolbay-fixture-echo"]).refreshed();
    let nobody = Caller::new(Actor::Anonymous);
    let request = CallRequest::new("repeat", r#"{"text": "again"}"#, &nobody);
    assert_eq!(toolbay.call(&request).unwrap().model_text(), "again");
}

#[derive(Default)]
struct Seen(Mutex<Vec<Progress>>);

impl ProgressSink for Seen {
    fn progress(&self, progress: Progress) {
        self.0.lock().push(progress);
    }
}

#[test]
fn progress_reaches_whoever_listens() {
    let toolbay = Home::with(&["toolbay-fixture-echo"]).refreshed();
    let seen = Arc::new(Seen::default());
    let sink: Arc<dyn ProgressSink> = seen.clone();
    let nobody = Caller::new(Actor::Anonymous);
    let request = CallRequest::new("whoami", "{}", &nobody)
        .with_progress(&sink)
        .with_deadline(Duration::from_secs(60));
    assert_eq!(whoami(&toolbay, &request)["has_deadline"], true);
    let steps: Vec<_> =
        seen.0.lock().iter().map(|step| (step.done, step.total, step.message.clone())).collect();
    let half = Some("half way".to_owned());
    assert_eq!(steps, [(1.0, Some(2.0), half), (2.0, Some(2.0), None)]);
}

/// Cancels a call once it says that it runs.
struct CancelAtFirstStep(CancelToken);

impl ProgressSink for CancelAtFirstStep {
    fn progress(&self, _: Progress) {
        self.0.cancel();
    }
}

#[test]
fn a_running_call_sees_that_it_was_cancelled_or_that_its_time_is_over() {
    let toolbay = Home::with(&["toolbay-fixture-misbehaving"]).refreshed();
    let nobody = Caller::new(Actor::Anonymous);
    let request = CallRequest::new("misbehave", r#"{"mode": "wait"}"#, &nobody);

    let cancel = CancelToken::new();
    let started: Arc<dyn ProgressSink> = Arc::new(CancelAtFirstStep(cancel.clone()));
    let reply = toolbay.call(&request.with_cancel(&cancel).with_progress(&started)).unwrap();
    assert_eq!(reply.status(), ReplyStatus::Cancelled);

    let error = toolbay.call(&request.with_deadline(Duration::from_millis(5))).unwrap_err();
    assert_eq!(error.code(), "deadline_exceeded");
}
