//! Tools, the registry that holds them, and the one way to call them.
//!
//! The crate is pure and deterministic: it reads no file, no clock and no environment, starts no thread, and knows nothing of
//! plugins but the trait that they stand behind. What it needs of the world it gets handed.
//!
//! # From providers to a registry
//!
//! 1. A provider describes each tool in a [`ToolDefinition`]: names that are parsed once, a [`Schema`] that stays text, and the
//!    [`Declarations`] of its code. What is not declared is the strictest.
//! 2. The tools go into an [`Offer`], each with the [`ToolBackend`] that executes it.
//! 3. A [`Plan`] decides who has which name, before anything changes. What it leaves out it tells as [`Collision`]s. The order in
//!    which offers come changes nothing.
//! 4. The plan is committed to a [`Registry`], which a [`RegistryCell`] puts in the place of the former one, under the eyes of
//!    readers that never wait.
//!
//! # From a request to a reply
//!
//! 5. A [`CallRequest`] names a tool, its arguments as text and the [`Caller`]. The [`Pipeline`] opens the record of the call,
//!    which is written whatever happens.
//! 6. The gates decide, as [`decide`] tells everybody who asks: the request is authorized, or the first gate that refuses names
//!    the [`Reason`].
//! 7. The arguments are read as the types that the schema wants, as [`Coercion`] tells, and checked against it: a [`ValidCall`], or
//!    [`ArgumentsError`] in words by which a model can correct itself. A tool that writes then waits for a person's approval.
//! 8. The backend executes the call and returns a [`RawReply`].
//! 9. The reply is bounded: a [`Reply`] has a known size and encoding, whatever came. The record goes to the [`AuditSink`].
//!
//! Each type on the way can only be made by the step before it, and the steps from 6 on only by the pipeline: no backend is ever
//! reached around it.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use toolbay_core::{
//!     Access, Actor, AuditError, AuditRecord, AuditSink, BackendError, CallRequest, Caller, Clock, Declarations,
//!     DecisionRecord, DefinitionParts, Effect, Offer, OfferedTool, Pipeline, PipelineConfig, Plan, ProviderId,
//!     RawReply, ReplyStatus, Schema, ToolBackend, ToolDefinition, ValidCall,
//! };
//!
//! struct Echo;
//!
//! impl ToolBackend for Echo {
//!     // 8. The arguments are a JSON object that fits the schema.
//!     fn invoke(&self, call: &ValidCall<'_>) -> Result<RawReply, BackendError> {
//!         Ok(RawReply::text(ReplyStatus::Ok, call.arguments().to_owned()))
//!     }
//! }
//!
//! struct Stderr;
//!
//! impl AuditSink for Stderr {
//!     fn record(&self, record: &AuditRecord<'_>) {
//!         eprintln!("{} called {}: {}", record.actor, record.tool, record.outcome);
//!     }
//!
//!     fn decide(&self, decision: &DecisionRecord<'_>) -> Result<(), AuditError> {
//!         eprintln!("{} decided about {}", decision.actor, decision.subject);
//!         Ok(())
//!     }
//! }
//!
//! struct Stopped;
//!
//! impl Clock for Stopped {
//!     fn now(&self) -> Duration {
//!         Duration::ZERO
//!     }
//! }
//!
//! // 1.
//! let definition = ToolDefinition::new(DefinitionParts {
//!     name: "echo".parse()?,
//!     aliases: Vec::new(),
//!     label: None,
//!     summary: None,
//!     description: "Says its arguments again.".to_owned(),
//!     schema: Schema::parse(r#"{"type": "object", "properties": {"language": {"enum": ["en", "de"]}}}"#)?,
//!     output_schema: None,
//!     declarations: Declarations {
//!         effect: Effect::ReadOnly,
//!         enabled_by_default: true,
//!         requires_approval: false,
//!         ..Declarations::default()
//!     },
//! })?;
//! // 2.
//! let tools = vec![OfferedTool { definition: Arc::new(definition), backend: Arc::new(Echo) }];
//! let core = Offer::new(ProviderId::core(), "1.0.0", tools);
//! // 3.
//! let (plan, collisions) = Plan::new(core, Vec::new())?;
//! assert!(collisions.is_empty());
//! // 4.
//! let pipeline = Pipeline::new(PipelineConfig::new(Arc::new(Stderr), Arc::new(Stopped)));
//! pipeline.registry().replace(plan.commit(1, &Access::default()));
//!
//! // 5.
//! let ada = Caller::new(Actor::User { name: "ada".parse()?, admin: false });
//! // 6. to 9.
//! let reply = pipeline.call(&CallRequest::new("echo", r#"{"language": "de"}"#, &ada))?;
//! assert_eq!(reply.model_text(), r#"{"language": "de"}"#);
//!
//! let refused = pipeline.call(&CallRequest::new("echo", r#"{"language": "fr"}"#, &ada)).unwrap_err();
//! assert_eq!(
//!     refused.model_text(),
//!     "The tool \"echo\" was not run: argument \"language\": expected one of \"en\", \"de\", found \"fr\". \
//!      Correct the arguments and call it again."
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod excerpt;
mod json;
mod nearest;
mod words;

mod canonical;

mod name;
mod vocabulary;

mod declaration;
mod schema;

mod definition;

mod backend;

mod access;
mod pin;
mod registry;

mod zone;

mod agent;
mod profile;

mod signal;

mod caller;
mod history;
mod request;

mod gate;

mod arguments;

mod rules;

mod approval;

mod limits;
mod reply;

mod bound;

mod audit;
mod limiter;

mod error;
mod pipeline;
mod written;

mod agent_loop;
mod inference;
mod redact;

pub use crate::{
    access::{Access, Availability},
    agent::Agent,
    agent_loop::{
        CallSignature, ForcedSearch, Repeat, RoundSignature, RunSignatures, batch_budget,
        forced_search, loop_budget, search_score,
    },
    approval::{
        ApprovalError, ApprovalStore, CallResult, Claim, ClaimError, DecidedBy, Decider, Need,
        Owner, PendingCall, PendingRequest, Preview, RequestState, Settled, StoreError,
        StoredReply, StoredRequest, Suspension,
    },
    arguments::{ArgumentsError, UniqueMembers, ValidCall, Violation},
    audit::{
        AuditError, AuditRecord, AuditSink, Clock, DecisionKind, DecisionRecord, Outcome, Privacy,
    },
    backend::{BackendError, RawReply, ReplyStatus, ToolBackend},
    caller::{Actor, Attachment, Caller},
    canonical::{Digest, canonical, digest},
    declaration::{DataClass, Declarations, Effect, Egress, Kind, Origin},
    definition::{DefinitionError, DefinitionParts, ToolDefinition},
    error::{CallError, Party},
    gate::{
        Decision, Reason, Verdict, axes, decide, explain, filter_offerable, nearest, offered,
        unattended, unavailable,
    },
    history::{PastCall, RunHistory},
    inference::{InferredPolicy, PolicyHints, PolicySource, infer_policy},
    limiter::LimitUse,
    limits::{CallLimits, LimitError, LimitScope, Limits},
    name::{
        ActorName, AgentName, ApprovalId, GroupName, NameError, NameKind, ProviderId, RuleId,
        RunId, ToolName,
    },
    nearest::similar,
    pin::{Change, Pin},
    pipeline::{Approvals, Decided, Pipeline, PipelineConfig, Simulation, SimulationVerdict},
    profile::{AgentProfile, PendingLoadout, ToolSet, Visibility, skills_allow, tool_list},
    redact::{redact_json, redact_text},
    registry::{Collision, Entry, Offer, OfferedTool, Plan, PlanError, Registry, RegistryCell},
    reply::{
        Artifact, ArtifactBody, Completeness, ContentBlock, Reply, ReplyError, ReplyText, Resource,
        ResourceBody, ResourceLink, Write, WriteKind, WriteTarget,
    },
    request::{CallRequest, CancelToken, Progress, ProgressSink},
    rules::{DuplicateRule, Invocation, InvocationRule, Judgement, RuleDenial, Rules},
    schema::{Coercion, Schema, SchemaError, Validator},
    vocabulary::UnknownWord,
    written::{WriteListener, Written},
    zone::{Enforcement, TrustZone},
};
