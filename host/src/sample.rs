//! Replies for tests, bounded by a real pipeline: there is no other way to one.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use toolbay_loader::{
    Access, Actor, AuditError, AuditRecord, AuditSink, BackendError, CallError, CallRequest,
    Caller, Clock, DecisionRecord, Declarations, DefinitionParts, Effect, Offer, OfferedTool,
    Pipeline, PipelineConfig, Plan, ProviderId, RawReply, Reply, ReplyStatus, Schema, ToolBackend,
    ToolDefinition, ValidCall,
};

struct Says(RawReply);

impl ToolBackend for Says {
    fn invoke(&self, _call: &ValidCall<'_>) -> Result<RawReply, BackendError> {
        Ok(self.0.clone())
    }
}

struct Nowhere;

impl AuditSink for Nowhere {
    fn record(&self, _record: &AuditRecord<'_>) {}

    fn decide(&self, _: &DecisionRecord<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

impl Clock for Nowhere {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

/// What a pipeline makes of a tool's reply.
pub(crate) fn reply(status: ReplyStatus, text: &str, rest: &Value) -> Reply {
    let raw = RawReply {
        status,
        text: text.to_owned().into(),
        rest: if rest.is_null() { String::new() } else { rest.to_string() }.into(),
    };
    call(raw, "says", "{}").unwrap()
}

/// What a pipeline answers that has one tool, `says`, with one optional argument.
pub(crate) fn call(raw: RawReply, tool: &str, arguments: &str) -> Result<Reply, CallError> {
    let definition = ToolDefinition::new(DefinitionParts {
        name: "says".parse().unwrap(),
        aliases: Vec::new(),
        label: None,
        summary: None,
        description: "Says something.".to_owned(),
        schema: Schema::parse(
            r#"{"type": "object", "properties": {"language": {"enum": ["en", "de"]}}}"#,
        )
        .unwrap(),
        output_schema: None,
        declarations: Declarations {
            effect: Effect::ReadOnly,
            enabled_by_default: true,
            requires_approval: false,
            ..Declarations::default()
        },
    });
    let tools = vec![OfferedTool {
        definition: Arc::new(definition.unwrap()),
        backend: Arc::new(Says(raw)),
    }];
    let core = Offer::new(ProviderId::core(), "1.0.0", tools);
    let pipeline = Pipeline::new(PipelineConfig::new(Arc::new(Nowhere), Arc::new(Nowhere)));
    pipeline
        .registry()
        .replace(Plan::new(core, Vec::new()).unwrap().0.commit(1, &Access::default()));
    pipeline.call(&CallRequest::new(tool, arguments, &Caller::new(Actor::Anonymous)))
}
