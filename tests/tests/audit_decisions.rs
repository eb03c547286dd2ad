//! Decisions in the audit log: what is recorded of a request from asking to getting, and that nothing is done that can't be recorded.
#![cfg(test)]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use toolbay_loader::{
    AccessError, Actor, ApprovalError, ApprovalId, AuditEntry, AuditFilter, AuditTrail, CallError,
    CallRequest, Caller, Decider, RequestState, Switch, Toolbay,
};
use toolbay_tests::{Home, bundle::Key};

const ECHO: &str = "toolbay-fixture-echo";

/// A tool that nobody has declared anything of: it writes, and is off.
const TOOL: &str = "undeclared";

fn user(name: &str, admin: bool) -> Actor {
    Actor::User { name: name.parse().unwrap(), admin }
}

fn ask(toolbay: &Toolbay) -> Result<String, CallError> {
    let ada = Caller::new(user("ada", false)).with_run("run-7".parse().unwrap());
    let arguments = json!({ "text": "x" }).to_string();
    let reply = toolbay.call(&CallRequest::new(TOOL, &arguments, &ada))?;
    Ok(reply.model_text().into_owned())
}

/// Asks, which must make a request, and returns its id and what to approve.
fn asked(toolbay: &Toolbay) -> (ApprovalId, String) {
    let Err(CallError::Pending { id, .. }) = ask(toolbay) else { panic!("it must wait") };
    let digest = toolbay.approval(&id).unwrap().request.digest().to_string();
    (id, digest)
}

fn log(home: &Home) -> PathBuf {
    home.path().join("audit/audit.jsonl")
}

/// Lets the log's file take nothing, until it is put back.
fn fill_the_disk(log: &Path) {
    fs::rename(log, log.with_extension("aside")).unwrap();
    symlink("/dev/full", log).unwrap();
}

fn free_the_disk(log: &Path) {
    fs::rename(log.with_extension("aside"), log).unwrap();
}

#[test]
fn a_request_is_found_by_its_id_from_asking_to_getting_with_one_line_for_each() {
    let home = Home::with(&[ECHO]);
    let toolbay = home.refreshed();
    toolbay.switch_tool(TOOL, Switch::On, &user("root", true)).unwrap();
    let (id, digest) = asked(&toolbay);
    let decider = Decider::new(user("bo", false)).with_grant();
    toolbay.approve(&id, &digest, &decider).unwrap();
    assert_eq!(ask(&toolbay).unwrap(), "deleted x");
    drop(toolbay);

    let words = |entry: &Value| {
        let word = |name: &str| entry[name].as_str().map(str::to_owned);
        (word("actor").unwrap(), word("outcome").or(word("decision")).unwrap())
    };
    let all: Vec<_> = home.audit().iter().map(words).collect();
    let word = |actor: &str, word: &str| (actor.to_owned(), word.to_owned());
    let request = [
        word("user:ada", "suspended"),
        word("user:bo", "approve"),
        word("user:ada", "ok"),
        word("user:ada", "delivered"),
    ];
    assert_eq!(all, [&[word("user:root", "enable")], &request[..]].concat());

    let filter = AuditFilter { approvals: vec![id.to_string()], ..AuditFilter::default() };
    let found = AuditTrail::open(home.path()).unwrap().last(9, &filter).unwrap();
    let line = |entry: &AuditEntry| words(&serde_json::from_str(&entry.line).unwrap());
    assert_eq!(found.entries.iter().map(line).collect::<Vec<_>>(), request);
    let decision = found.entries[1].decision().unwrap();
    assert_eq!((&*decision.subject, decision.owner.as_deref()), (TOOL, Some("user:ada")));
    assert!(found.entries.iter().all(|entry| entry.run.as_deref() == Some("run-7")));
}

#[test]
fn a_write_whose_approval_cannot_be_recorded_is_not_run_and_waits_on() {
    let home = Home::with(&[ECHO]);
    let toolbay = home.refreshed();
    toolbay.switch_tool(TOOL, Switch::On, &user("root", true)).unwrap();
    let (id, digest) = asked(&toolbay);
    let decider = Decider::new(user("bo", true));

    fill_the_disk(&log(&home));
    let error = toolbay.approve(&id, &digest, &decider).unwrap_err();
    assert!(matches!(error, ApprovalError::NotAuditable { .. }), "{error}");
    let state = toolbay.approval(&id).unwrap().state;
    assert!(matches!(state, RequestState::Waiting { .. }), "{state:?}");

    free_the_disk(&log(&home));
    toolbay.approve(&id, &digest, &decider).unwrap();
    drop(toolbay);
    let decisions: Vec<_> = home
        .audit()
        .iter()
        .filter_map(|entry| entry["decision"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(decisions, ["enable", "approve"], "what was not done is not written later");
}

#[test]
fn a_switch_that_cannot_be_recorded_stays_as_it_is() {
    let home = Home::with(&[ECHO]);
    let toolbay = home.refreshed();
    let root = user("root", true);
    fill_the_disk(&log(&home));
    let error = toolbay.switch_tool(TOOL, Switch::On, &root).unwrap_err();
    assert!(matches!(error, AccessError::NotAuditable(_)), "{error}");
    assert_eq!(ask(&toolbay).unwrap_err().code(), "tool_disabled");

    free_the_disk(&log(&home));
    toolbay.switch_tool(TOOL, Switch::On, &root).unwrap();
    assert_eq!(ask(&toolbay).unwrap_err().code(), "approval_pending");
    let decisions: Vec<_> =
        home.audit().into_iter().filter(|entry| entry["decision"].is_string()).collect();
    let [enabled] = &decisions[..] else { panic!("{decisions:?}") };
    assert_eq!((&enabled["decision"], &enabled["subject"]), (&json!("enable"), &json!(TOOL)));
}

#[test]
fn what_was_recorded_and_could_not_be_kept_is_recorded_as_not_done() {
    let home = Home::with(&[ECHO]);
    let toolbay = home.refreshed();
    let root = user("root", true);
    type Decide = fn(&Toolbay, &Actor, &str) -> Result<(), &'static str>;
    let cases: [(&str, &str, Decide); 2] = [
        ("access", "enable", |toolbay, by, _| {
            toolbay.switch_tool(TOOL, Switch::On, by).map(drop).map_err(|error| error.code())
        }),
        ("trust", "trust_key", |toolbay, by, key| {
            toolbay.trust_key(key, "Example Ltd", by).map(drop).map_err(|error| error.code())
        }),
    ];
    let key = Key::new().public();
    for (file, _, decide) in cases {
        let in_the_way = home.path().join(format!(".{file}-new"));
        fs::create_dir(&in_the_way).unwrap();
        assert_eq!(decide(&toolbay, &root, &key), Err("file"), "{file}");
        fs::remove_dir(&in_the_way).unwrap();
        assert_eq!(decide(&toolbay, &root, &key), Ok(()), "{file}");
    }
    drop(toolbay);
    let found: Vec<_> = home
        .audit()
        .iter()
        .map(|entry| ["decision", "refused"].map(|it| entry[it].as_str().map(str::to_owned)))
        .collect();
    let expected = cases.iter().flat_map(|(_, decision, _)| {
        [None, Some("file"), None].map(|refused| [Some(*decision), refused])
    });
    let expected: Vec<_> = expected.map(|row| row.map(|it| it.map(str::to_owned))).collect();
    assert_eq!(found, expected);
}
