//! Which records filters admit, and how they are counted.

use super::*;

#[test]
fn a_filter_admits_what_it_says_and_nothing_else() {
    let cases: Vec<(&str, AuditFilter, Value, Value)> = vec![
        (
            "tool",
            with(|filter| &mut filter.tools, "greet"),
            call(json!({})),
            call(json!({ "tool": "greeting" })),
        ),
        (
            "tool of a decision",
            with(|filter| &mut filter.tools, "notes_write"),
            decision(json!({})),
            decision(json!({ "subject": "notes" })),
        ),
        (
            "provider",
            with(|filter| &mut filter.providers, "greeting"),
            call(json!({})),
            call(json!({ "provider": null })),
        ),
        (
            "provider of no decision",
            with(|filter| &mut filter.providers, "greeting"),
            call(json!({})),
            decision(json!({ "subject": "greeting" })),
        ),
        (
            "actor",
            with(|filter| &mut filter.actors, "user:ada"),
            call(json!({})),
            call(json!({ "actor": "service:ada" })),
        ),
        (
            "actor's name",
            with(|filter| &mut filter.actors, "ada"),
            call(json!({ "actor": "service:ada" })),
            call(json!({ "actor": "user:adam" })),
        ),
        (
            "actor and not owner",
            with(|filter| &mut filter.actors, "ada"),
            decision(json!({})),
            decision(json!({ "actor": "user:bo", "owner": "user:ada" })),
        ),
        (
            "agent",
            with(|filter| &mut filter.agents, "tutor"),
            call(json!({ "agent": "tutor" })),
            call(json!({})),
        ),
        (
            "run",
            with(|filter| &mut filter.runs, "run-7"),
            call(json!({ "run": "run-7" })),
            call(json!({ "run": "run-70" })),
        ),
        (
            "request",
            with(|filter| &mut filter.approvals, "7k3f"),
            decision(json!({})),
            call(json!({ "approval": "9z9z" })),
        ),
        (
            "outcome",
            with(|filter| &mut filter.outcomes, "refused"),
            call(json!({ "outcome": "refused" })),
            call(json!({})),
        ),
        (
            "outcome of no decision",
            with(|filter| &mut filter.outcomes, "ok"),
            call(json!({})),
            decision(json!({})),
        ),
        (
            "reason",
            with(|filter| &mut filter.reasons, "toolDisabled"),
            call(json!({ "reason": "toolDisabled" })),
            call(json!({})),
        ),
        (
            "code",
            with(|filter| &mut filter.reasons, "invalid_arguments"),
            call(json!({ "code": "invalid_arguments", "reason": "trustZone" })),
            call(json!({ "code": "fault" })),
        ),
        (
            "code of a decision",
            with(|filter| &mut filter.reasons, "stale"),
            decision(json!({ "refused": "stale" })),
            decision(json!({})),
        ),
        (
            "decision",
            with(|filter| &mut filter.decisions, "approve"),
            decision(json!({})),
            decision(json!({ "decision": "deny" })),
        ),
        (
            "decision and no call",
            with(|filter| &mut filter.decisions, "approve"),
            decision(json!({})),
            call(json!({})),
        ),
        (
            "decisions",
            AuditFilter { only_decisions: true, ..AuditFilter::default() },
            decision(json!({})),
            call(json!({})),
        ),
        (
            "errors",
            AuditFilter { only_errors: true, ..AuditFilter::default() },
            call(json!({ "outcome": "fault" })),
            call(json!({ "outcome": "cancelled" })),
        ),
        (
            "refusals are errors",
            AuditFilter { only_errors: true, ..AuditFilter::default() },
            call(json!({ "outcome": "refused" })),
            call(json!({ "outcome": "suspended" })),
        ),
        (
            "what a limit refused is an error",
            AuditFilter { only_errors: true, ..AuditFilter::default() },
            call(json!({ "outcome": "limited" })),
            call(json!({ "outcome": "delivered" })),
        ),
        (
            "errors of decisions",
            AuditFilter { only_errors: true, ..AuditFilter::default() },
            decision(json!({ "refused": "stale" })),
            decision(json!({})),
        ),
        (
            "writes",
            AuditFilter { only_writes: true, ..AuditFilter::default() },
            call(json!({ "effect": "idempotent_write" })),
            call(json!({})),
        ),
        (
            "writes and no decision",
            AuditFilter { only_writes: true, ..AuditFilter::default() },
            call(json!({ "effect": "non_idempotent_write" })),
            decision(json!({})),
        ),
        (
            "since",
            AuditFilter { since: Some(second(1)), ..AuditFilter::default() },
            call(at("1970-01-01T00:00:01Z")),
            call(at("1970-01-01T00:00:00.999Z")),
        ),
        (
            "until",
            AuditFilter { until: Some(second(1)), ..AuditFilter::default() },
            call(at("1970-01-01T00:00:00.999Z")),
            call(at("1970-01-01T00:00:01Z")),
        ),
        (
            "text",
            text("\"ÄPFEL\""),
            call(json!({ "arguments": "{\"fruit\": \"Äpfel\"}" })),
            call(json!({ "arguments": "{}" })),
        ),
        (
            "text of a decision",
            text("bo"),
            decision(json!({})),
            decision(json!({ "owner": "user:eve" })),
        ),
        (
            "text of an artifact",
            text("chart"),
            call(json!({ "artifacts": ["a", "the Chart"] })),
            call(json!({ "artifacts": ["a"] })),
        ),
        (
            "text and no name of a member",
            text("outcome"),
            call(json!({ "reply": "the outcome" })),
            call(json!({})),
        ),
    ];
    for (case, filter, admitted, other) in &cases {
        assert!(filter.admits(&parse(admitted)), "{case}: {admitted}");
        assert!(!filter.admits(&parse(other)), "{case}: {other}");
        assert!(AuditFilter::default().admits(&parse(other)), "{case}");
    }
    let both = AuditFilter { only_errors: true, ..with(|filter| &mut filter.tools, "greet") };
    assert!(both.admits(&parse(&call(json!({ "outcome": "failed" })))));
    assert!(!both.admits(&parse(&call(json!({})))), "every part of a filter counts");
    let either =
        AuditFilter { tools: vec!["a".to_owned(), "greet".to_owned()], ..AuditFilter::default() };
    assert!(either.admits(&parse(&call(json!({})))), "a list names alternatives");
}

fn with(list: fn(&mut AuditFilter) -> &mut Vec<String>, word: &str) -> AuditFilter {
    let mut filter = AuditFilter::default();
    list(&mut filter).push(word.to_owned());
    filter
}

fn text(text: &str) -> AuditFilter {
    AuditFilter { text: Some(text.to_owned()), ..AuditFilter::default() }
}

fn second(second: u64) -> std::time::Duration {
    std::time::Duration::from_secs(second)
}

fn at(time: &str) -> Value {
    json!({ "time": time })
}

/// Edge case 85.
#[test]
fn only_what_was_denied_is_counted_as_a_denial() {
    let observed = |outcome: &str, code: Value| {
        call(
            json!({ "reason": "trustZone", "observed_only": true, "outcome": outcome, "code": code }),
        )
    };
    let cases = [
        (call(json!({})), None),
        (observed("ok", Value::Null), None),
        (observed("failed", Value::Null), None),
        (observed("refused", json!("invalid_arguments")), None),
        // A rule has refused it, and not the gate that observed.
        (observed("refused", json!("invocation_denied")), Some("invocation_denied")),
        (
            call(json!({ "outcome": "refused", "code": "trust_zone", "reason": "trustZone" })),
            Some("trustZone"),
        ),
        (
            call(
                json!({ "outcome": "refused", "code": "not_registered", "reason": "notRegistered" }),
            ),
            Some("notRegistered"),
        ),
        (call(json!({ "outcome": "refused", "code": "approval_denied" })), Some("approval_denied")),
        (call(json!({ "outcome": "refused", "code": "invalid_arguments" })), None),
        (call(json!({ "outcome": "refused", "code": "interrupted" })), None),
        (call(json!({ "outcome": "limited", "code": "rate_limited" })), Some("rate_limited")),
        (call(json!({ "outcome": "timed_out", "code": "deadline_exceeded" })), None),
        (call(json!({ "outcome": "suspended", "code": "approval_pending" })), None),
        (call(json!({ "outcome": "delivered" })), None),
        (call(json!({ "outcome": "cancelled" })), None),
        (call(json!({ "outcome": "fault", "code": "fault" })), None),
    ];
    for (record, expected) in &cases {
        let entry = parse(record);
        assert_eq!(entry.call().unwrap().denial(), *expected, "{record}");
        let mut summary = AuditSummary::default();
        summary.add(&entry);
        let reasons: Vec<_> = summary.denials.keys().map(String::as_str).collect();
        assert_eq!(reasons, Vec::from_iter(*expected), "{record}");
        assert_eq!(summary.actors["user:ada"].denials, u64::from(expected.is_some()), "{record}");
    }
    let mut summary = AuditSummary::default();
    summary.add(&parse(&decision(json!({ "decision": "deny" }))));
    assert!(summary.denials.is_empty(), "a decision is no call");
}

#[test]
fn a_summary_counts_by_tool_outcome_reason_and_actor() {
    let records = [
        call(json!({ "time": "2026-01-01T00:00:01Z" })),
        call(json!({ "duration_us": null, "argument_bytes": null, "reply_bytes": null })),
        call(json!({ "outcome": "fault", "code": "fault", "actor": "anonymous" })),
        call(json!({ "outcome": "cancelled" })),
        call(json!({ "outcome": "refused", "reason": "toolDisabled" })),
        call(
            json!({ "tool": "gret", "provider": null, "outcome": "refused", "reason": "notRegistered" }),
        ),
        decision(json!({ "actor": "user:bo" })),
        decision(json!({ "actor": "user:bo", "refused": "second_person" })),
        decision(json!({ "actor": "user:bo", "decision": "deny", "time": "2026-01-01T00:00:09Z" })),
    ];
    let mut summary = AuditSummary::default();
    records.iter().for_each(|record| summary.add(&parse(record)));

    assert_eq!(summary.first.as_deref(), Some("2026-01-01T00:00:01Z"));
    assert_eq!(summary.last.as_deref(), Some("2026-01-01T00:00:09Z"));
    assert_eq!(summary.calls, 6);
    let counts = |counts: &[(&str, u64)]| {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    assert_eq!(summary.decisions, counts(&[("approve", 1), ("deny", 1)]));
    assert_eq!(summary.attempts, counts(&[("approve", 1)]));
    let greet = ToolUsage {
        calls: 5,
        outcomes: counts(&[("ok", 2), ("fault", 1), ("cancelled", 1), ("refused", 1)]),
        failures: 1,
        denials: 1,
        argument_bytes: 8,
        reply_bytes: 24,
        duration_us: 20,
    };
    assert_eq!(summary.tools[&("greet".to_owned(), Some("greeting".to_owned()))], greet);
    assert_eq!(summary.tools[&("gret".to_owned(), None)].denials, 1);
    assert_eq!(summary.denials["toolDisabled"], counts(&[("greet", 1)]));
    assert_eq!(summary.denials["notRegistered"], counts(&[("gret", 1)]));
    let usage =
        |calls, failures, denials, decisions| ActorUsage { calls, failures, denials, decisions };
    assert_eq!(summary.actors["user:ada"], usage(5, 0, 2, 0));
    assert_eq!(summary.actors["anonymous"], usage(1, 1, 0, 0));
    assert_eq!(summary.actors["user:bo"], usage(0, 0, 0, 2));
}

#[test]
fn a_summary_of_ever_new_names_stays_small() {
    let mut summary = AuditSummary::default();
    for number in 0..1_500 {
        summary.add(&parse(&call(json!({ "tool": format!("guess-{number}"), "provider": null }))));
    }
    assert_eq!(summary.calls, 1_500);
    assert_eq!(summary.tools.len(), 1_001);
    assert_eq!(summary.tools[&(AuditSummary::OTHERS.to_owned(), None)].calls, 500);
}
