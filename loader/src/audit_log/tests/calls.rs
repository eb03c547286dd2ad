//! Calls through a pipeline that records into the log.

use toolbay_core::{
    Access, Actor, ApprovalStore, Approvals, BackendError, CallRequest, CallResult, Caller, Claim,
    ClaimError, Declarations, DefinitionParts, Digest, Offer, OfferedTool, Outcome, PendingRequest,
    Pipeline, PipelineConfig, Plan, ProviderId, RawReply, ReplyStatus, Schema, Settled, StoreError,
    StoredReply, StoredRequest, Suspension, ToolBackend, ToolDefinition, ValidCall, WriteKind,
};

use super::*;
use crate::{
    audit_log::line::{Line, Target},
    clock::SystemClock,
};

/// Answers, fails or breaks off as its argument says.
struct Told;

impl ToolBackend for Told {
    fn invoke(&self, call: &ValidCall<'_>) -> Result<RawReply, BackendError> {
        let arguments: Value = serde_json::from_str(call.arguments()).unwrap();
        let reply = |status| Ok(RawReply::text(status, "what it says"));
        match arguments["end"].as_str().unwrap_or_default() {
            "failed" => reply(ReplyStatus::Failed),
            "cancelled" => Err(BackendError::Cancelled),
            "timed_out" => Err(BackendError::DeadlineExceeded),
            "fault" => Err(BackendError::Fault { message: "hunter2".to_owned(), location: None }),
            "unavailable" => Err(BackendError::Unavailable {
                party: toolbay_core::Party::Environment,
                source: "hunter2".into(),
            }),
            _ => reply(ReplyStatus::Ok),
        }
    }
}

/// Lets each call wait, but for a call that it answers with what it has.
struct Waiting(Option<Settled>);

impl ApprovalStore for Waiting {
    fn answer(&self, _: &Digest, _: Duration) -> Result<Option<Suspension>, StoreError> {
        let id = "7k3f".parse().unwrap();
        Ok(self.0.clone().map(|settled| Suspension::Settled { id, settled }))
    }

    fn suspend(&self, _: PendingRequest, _: Duration) -> Result<Suspension, StoreError> {
        Ok(Suspension::Waiting { id: "7k3f".parse().unwrap(), new: true })
    }

    fn get(
        &self,
        _: &toolbay_core::ApprovalId,
        _: Duration,
    ) -> Result<Option<StoredRequest>, StoreError> {
        Ok(None)
    }

    fn claim(
        &self,
        _: &toolbay_core::ApprovalId,
        _: Duration,
    ) -> Result<Box<dyn Claim + '_>, ClaimError> {
        Err(ClaimError::NotWaiting)
    }
}

fn pipeline(log: AuditLog, settled: Option<Settled>) -> Pipeline {
    let offered = |name: &str, effect, requires_approval| {
        let definition = ToolDefinition::new(DefinitionParts {
            name: name.parse().unwrap(),
            aliases: Vec::new(),
            label: None,
            summary: None,
            description: "Does as it is told.".to_owned(),
            schema: Schema::parse(r#"{"type":"object","properties":{"end":{"type":"string"}}}"#)
                .unwrap(),
            output_schema: None,
            declarations: Declarations {
                effect,
                enabled_by_default: true,
                requires_approval,
                ..Declarations::default()
            },
        });
        OfferedTool { definition: Arc::new(definition.unwrap()), backend: Arc::new(Told) }
    };
    let tools = vec![
        offered("reads", Effect::ReadOnly, false),
        offered("asks", Effect::NonIdempotentWrite, true),
    ];
    let approvals =
        Approvals { store: Arc::new(Waiting(settled)), expire_after: Duration::from_secs(60) };
    let pipeline = Pipeline::new(PipelineConfig {
        approvals: Some(approvals),
        ..PipelineConfig::new(Arc::new(log), Arc::new(SystemClock))
    });
    let core = Offer::new(ProviderId::core(), "1.0.0", tools);
    let (plan, _) = Plan::new(core, Vec::new()).unwrap();
    pipeline.registry().replace(plan.commit(1, &Access::default()));
    pipeline
}

fn ada() -> Caller {
    Caller::new(Actor::User { name: "ada".parse().unwrap(), admin: false })
        .with_run("run-7".parse().unwrap())
}

fn settled() -> Settled {
    let reply =
        StoredReply { status: ReplyStatus::Ok, text: "what it says".to_owned(), rest: None };
    Settled::Done { results: vec![CallResult::Reply(reply)] }
}

const LEVELS: [Privacy; 4] = [Privacy::None, Privacy::Metadata, Privacy::Redacted, Privacy::Full];

/// How to call, and how the call ends.
const CALLS: [(&str, &str, Outcome); 9] = [
    ("reads", "ok", Outcome::Ok),
    ("reads", "failed", Outcome::Failed),
    ("reads", "cancelled", Outcome::Cancelled),
    ("reads", "timed_out", Outcome::TimedOut),
    ("reads", "fault", Outcome::Fault),
    ("reads", "unavailable", Outcome::Unavailable),
    ("unknown", "ok", Outcome::Refused),
    ("asks", "ok", Outcome::Suspended),
    ("asks", "ok", Outcome::Delivered),
];

#[test]
fn every_end_of_a_call_leaves_one_line_with_what_its_level_keeps() {
    for privacy in LEVELS {
        for (tool, end, outcome) in CALLS {
            let home = Home::new();
            let log = home.open(AuditConfig { privacy, ..AuditConfig::default() });
            let answer = (outcome == Outcome::Delivered).then(settled);
            let pipeline = pipeline(log, answer);
            let arguments = json!({ "end": end }).to_string();
            let result = pipeline.call(&CallRequest::new(tool, &arguments, &ada()));
            drop(pipeline);

            let case = format!("{privacy}, {tool} {end}");
            let (entries, damaged) = home.read();
            let ([entry], []) = (&entries[..], &damaged[..]) else { panic!("{case}: {entries:?}") };
            assert_eq!((&entry["tool"], &entry["actor"]), (&json!(tool), &json!("user:ada")));
            assert_eq!(entry["outcome"], outcome.as_str(), "{case}");
            let code = result.as_ref().err().map(|error| error.code());
            assert_eq!(entry["code"].as_str(), code, "{case}");
            let request = (tool == "asks").then_some("7k3f");
            assert_eq!(entry["approval"].as_str(), request, "{case}");
            assert!(entry["observed_only"].is_null() && entry["time"].is_string(), "{case}");

            let measures = ["run", "duration_us", "argument_bytes", "reply_bytes", "generation"];
            for member in measures {
                assert_eq!(entry[member].is_null(), privacy == Privacy::None, "{case}: {member}");
            }
            let content = matches!(privacy, Privacy::Redacted | Privacy::Full);
            assert_eq!(entry["arguments"].as_str(), content.then_some(&*arguments), "{case}");
            let said = result.is_ok().then_some("what it says");
            assert_eq!(entry["reply"].as_str(), said.filter(|_| content), "{case}");
            // Edge case 35.
            assert!(!entry.to_string().contains("hunter2"), "{case}");
        }
    }
}

#[test]
fn what_was_written_to_is_named_without_the_secret_in_its_address() {
    let address = "https://example.org/notes?token=hunter2hunter2";
    let masked = "https://example.org/notes?token=***";
    let kept = [None, Some(masked), Some(masked), Some(address)];
    for (privacy, expected) in LEVELS.into_iter().zip(kept) {
        let line = Line {
            tool: "t",
            actor: "user:ada",
            provider: None,
            agent: None,
            run: None,
            approval: None,
            target: Some(Target { written: WriteKind::Updated, kind: "note", id: address }),
            effect: Some(Effect::IdempotentWrite),
            outcome: Outcome::Ok,
            reason: None,
            observed_only: false,
            code: None,
            started: Duration::ZERO,
            duration: Duration::ZERO,
            argument_bytes: 0,
            reply_bytes: 0,
            generation: 1,
            content: None,
        };
        let mut out = Vec::new();
        Encoder::new(privacy).call(&line, &mut out);
        let entry: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(entry["target"].as_str(), expected, "{privacy}");
    }
}

#[test]
fn a_decision_comes_after_the_calls_before_it_although_those_may_wait() {
    let home = Home::new();
    let log = Arc::new(home.open(AuditConfig::default()));
    struct Shared(Arc<AuditLog>);
    impl AuditSink for Shared {
        fn record(&self, record: &AuditRecord<'_>) {
            self.0.record(record);
        }
        fn decide(&self, decision: &DecisionRecord<'_>) -> Result<(), AuditError> {
            self.0.decide(decision)
        }
    }
    let pipeline = Pipeline::new(PipelineConfig::new(
        Arc::new(Shared(Arc::clone(&log))),
        Arc::new(SystemClock),
    ));
    for round in 0..3 {
        pipeline.call(&CallRequest::new("unknown", "{}", &ada())).unwrap_err();
        log.decide(&decision("notes")).unwrap();
        let decisions = home.all("decision");
        let decisions: Vec<_> = decisions.iter().map(Value::as_str).collect();
        assert_eq!(decisions, [None, Some("enable")].repeat(round + 1));
    }
}

#[test]
fn content_is_cut_to_its_bound_and_a_call_without_any_keeps_none() {
    let home = Home::new();
    let log = home.open(AuditConfig { privacy: Privacy::Full, ..AuditConfig::default() });
    let pipeline = pipeline(log, None);
    let long = json!({ "end": "ä".repeat(100_000) }).to_string();
    pipeline.call(&CallRequest::new("reads", &long, &ada())).unwrap();
    pipeline.call(&CallRequest::new("reads", "no JSON \u{1}", &ada())).unwrap_err();
    drop(pipeline);
    let (entries, _) = home.read();
    let [cut, refused] = &entries[..] else { panic!("{entries:?}") };
    let kept = cut["arguments"].as_str().unwrap();
    assert!(kept.len() <= 16 * 1024 && kept.len() > 16 * 1024 - 8, "{}", kept.len());
    assert!(long.starts_with(kept.strip_suffix("…[cut]").unwrap()));
    assert_eq!(cut["argument_bytes"], long.len());
    assert_eq!(refused["arguments"], "no JSON \u{1}");
    assert_eq!(refused["reply"], Value::Null);
}
