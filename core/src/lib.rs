//! Tools, the registry that holds them, and the one way to call them: pure and deterministic.
#![forbid(unsafe_code)]

mod excerpt;
mod json;
mod nearest;

mod name;

mod declaration;
mod schema;

mod definition;

mod backend;

mod registry;

mod caller;
mod request;

mod gate;

mod arguments;

mod limits;
mod reply;

mod bound;

mod audit;
mod error;
mod pipeline;

pub use crate::{
    arguments::{ArgumentsError, ValidCall, Violation, validate},
    audit::{AuditRecord, AuditSink, Clock, Outcome},
    backend::{BackendError, RawReply, ReplyStatus, ToolBackend},
    caller::{Actor, Agent, Attachment, Caller},
    declaration::{DataClass, Declarations, Effect, Egress, Kind, UnknownWord},
    definition::{DefinitionError, DefinitionParts, ToolDefinition},
    error::{CallError, Party},
    gate::{Authorized, Availability, Decision, Reason, authorize, decide, nearest, offered},
    limits::Limits,
    name::{ActorName, AgentName, GroupName, NameError, NameKind, ProviderId, RunId, ToolName},
    pipeline::{Pipeline, PipelineConfig},
    registry::{Collision, Entry, Offer, OfferedTool, Plan, PlanError, Registry, RegistryCell},
    reply::{
        Artifact, ArtifactBody, ContentBlock, Reply, ReplyError, ReplyText, Resource, ResourceBody,
        ResourceLink,
    },
    request::{CallRequest, CancelToken, Progress, ProgressSink},
    schema::{Schema, SchemaError, Validator},
};
