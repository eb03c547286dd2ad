//! The form of a request's file, apart from the types that it is read into: changing those does not change the file.
//!
//! Times are milliseconds since the start of 1970. A call that can't be read is left out, and stays in the file; anything else that can't
//! be read makes the whole request unreadable, but for the history, without which rules that need one refuse.

mod state;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;
use toolbay_core::{
    Actor, ApprovalId, Attachment, NameError, Need, Outcome, Owner, PastCall, PendingCall,
    PendingRequest, Preview, Schema, SchemaError, StoredRequest, UnknownWord, WriteTarget,
};

use self::state::FileState;
use super::lost::Lost;
use crate::sealed_file::stated;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRequest {
    id: String,
    owner: FileOwner,
    calls: Vec<Box<RawValue>>,
    need: FileNeed,
    history: Option<Vec<FilePastCall>>,
    requested_ms: u64,
    expires_ms: u64,
    state: FileState,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileOwner {
    actor: FileActor,
    #[serde(deserialize_with = "stated")]
    agent: Option<String>,
    #[serde(deserialize_with = "stated")]
    run: Option<String>,
    attachments: Vec<FileAttachment>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum FileActor {
    User { name: String, admin: bool },
    ServiceAccount { name: String, scopes: Vec<String> },
    Anonymous,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileAttachment {
    name: String,
    media_type: String,
    uri: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCall {
    tool: String,
    provider: String,
    content: String,
    effect: String,
    arguments: String,
    preview: FilePreview,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FilePreview {
    Absent,
    Lines(Vec<String>),
    Failed(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum FileNeed {
    Approval,
    Input { call: usize, schema: Box<RawValue> },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePastCall {
    tool: String,
    outcome: String,
    target: Option<FileTarget>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileTarget {
    kind: String,
    id: String,
}

/// Why well-formed content is no request.
#[derive(Debug, Error)]
pub(super) enum DecodeError {
    #[error("content in another form: {0}")]
    Form(#[from] serde_json::Error),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Word(#[from] UnknownWord),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error("no call that can be read")]
    NoCall,
    #[error("an input for call {place}, which can't be read or is not there")]
    NoCallForInput { place: usize },
    #[error("{what} {found:?}, which this release does not know")]
    UnknownWord { what: &'static str, found: String },
}

pub(super) fn encode(
    stored: &StoredRequest,
    lost: &Lost,
) -> Result<Box<RawValue>, serde_json::Error> {
    let StoredRequest { id, request, state } = stored;
    let calls = request.calls.iter().map(call_to_file).collect::<Result<_, _>>()?;
    let file = FileRequest {
        id: id.to_string(),
        owner: owner_to_file(&request.owner),
        calls: lost.put_back(calls, RawValue::to_owned),
        need: match &request.need {
            Need::Approval => FileNeed::Approval,
            Need::Input { call, schema } => {
                FileNeed::Input { call: lost.to_all(*call), schema: schema.as_raw().to_owned() }
            }
        },
        history: request.history.as_ref().map(|calls| calls.iter().map(past_to_file).collect()),
        requested_ms: to_ms(request.requested),
        expires_ms: to_ms(request.expires),
        state: state::to_file(state, lost),
    };
    serde_json::to_string_pretty(&file).and_then(RawValue::from_string)
}

pub(super) fn decode(content: &RawValue) -> Result<(StoredRequest, Lost), DecodeError> {
    let file: FileRequest = serde_json::from_str(content.get())?;
    let id: ApprovalId = file.id.parse()?;
    let mut lost = Lost::default();
    let mut calls = Vec::new();
    for (place, call) in file.calls.into_iter().enumerate() {
        match call_from_file(&call) {
            Ok(call) => calls.push(call),
            Err(error) => {
                log::warn!("call {place} of request {id} can't be read and is left out: {error}");
                lost.push(place, call);
            }
        }
    }
    if calls.is_empty() {
        return Err(DecodeError::NoCall);
    }
    let need = match file.need {
        FileNeed::Approval => Need::Approval,
        FileNeed::Input { call: place, schema } => {
            let call = lost.to_read(place).filter(|call| *call < calls.len());
            let call = call.ok_or(DecodeError::NoCallForInput { place })?;
            Need::Input { call, schema: Schema::parse(schema.get())? }
        }
    };
    let past = |calls: Vec<FilePastCall>| calls.into_iter().map(past_from_file).collect();
    let request = PendingRequest {
        owner: owner_from_file(file.owner)?,
        calls,
        need,
        history: file.history.and_then(past),
        requested: Duration::from_millis(file.requested_ms),
        expires: Duration::from_millis(file.expires_ms),
    };
    let state = state::from_file(file.state, &lost)?;
    Ok((StoredRequest { id, request, state }, lost))
}

fn to_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn owner_to_file(owner: &Owner) -> FileOwner {
    let attachment = |attachment: &Attachment| FileAttachment {
        name: attachment.name.clone(),
        media_type: attachment.media_type.clone(),
        uri: attachment.uri.clone(),
    };
    FileOwner {
        actor: match &owner.actor {
            Actor::User { name, admin } => {
                FileActor::User { name: name.to_string(), admin: *admin }
            }
            Actor::ServiceAccount { name, scopes } => {
                FileActor::ServiceAccount { name: name.to_string(), scopes: scopes.clone() }
            }
            Actor::Anonymous => FileActor::Anonymous,
        },
        agent: owner.agent.as_ref().map(ToString::to_string),
        run: owner.run.as_ref().map(ToString::to_string),
        attachments: owner.attachments.iter().map(attachment).collect(),
    }
}

fn owner_from_file(file: FileOwner) -> Result<Owner, DecodeError> {
    let attachment =
        |FileAttachment { name, media_type, uri }| Attachment { name, media_type, uri };
    Ok(Owner {
        actor: match file.actor {
            FileActor::User { name, admin } => Actor::User { name: name.parse()?, admin },
            FileActor::ServiceAccount { name, scopes } => {
                Actor::ServiceAccount { name: name.parse()?, scopes }
            }
            FileActor::Anonymous => Actor::Anonymous,
        },
        agent: file.agent.map(|agent| agent.parse()).transpose()?,
        run: file.run.map(|run| run.parse()).transpose()?,
        attachments: file.attachments.into_iter().map(attachment).collect(),
    })
}

fn call_to_file(call: &PendingCall) -> Result<Box<RawValue>, serde_json::Error> {
    let file = FileCall {
        tool: call.tool.to_string(),
        provider: call.provider.to_string(),
        content: call.content.clone(),
        effect: call.effect.to_string(),
        arguments: call.arguments.clone(),
        preview: match &call.preview {
            Preview::Absent => FilePreview::Absent,
            Preview::Lines(lines) => FilePreview::Lines(lines.clone()),
            Preview::Failed(class) => FilePreview::Failed(class.clone()),
        },
    };
    serde_json::value::to_raw_value(&file)
}

fn call_from_file(call: &RawValue) -> Result<PendingCall, DecodeError> {
    let file: FileCall = serde_json::from_str(call.get())?;
    Ok(PendingCall {
        tool: file.tool.parse()?,
        provider: file.provider.parse()?,
        content: file.content,
        effect: file.effect.parse()?,
        arguments: file.arguments,
        preview: match file.preview {
            FilePreview::Absent => Preview::Absent,
            FilePreview::Lines(lines) => Preview::Lines(lines),
            FilePreview::Failed(class) => Preview::Failed(class),
        },
    })
}

fn past_to_file(past: &PastCall) -> FilePastCall {
    let target = |target: &WriteTarget| FileTarget {
        kind: target.kind().to_owned(),
        id: target.id().to_owned(),
    };
    FilePastCall {
        tool: past.tool.to_string(),
        outcome: past.outcome.to_string(),
        target: past.target.as_ref().map(target),
    }
}

fn past_from_file(file: FilePastCall) -> Option<PastCall> {
    Some(PastCall {
        tool: file.tool.parse().ok()?,
        outcome: Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == file.outcome)?,
        target: match file.target {
            Some(FileTarget { kind, id }) => Some(WriteTarget::new(kind, id).ok()?),
            None => None,
        },
    })
}
