//! Where a request stands, as its file says it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolbay_core::{CallResult, DecidedBy, ReplyStatus, RequestState, Settled, StoredReply};

use super::{DecodeError, to_ms};
use crate::approval_store::lost::Lost;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum FileState {
    Waiting { stale: Vec<usize> },
    Claimed { by: String, at_ms: u64 },
    Settled { by: String, at_ms: u64, delivered: bool, outcome: FileOutcome },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum FileOutcome {
    Done { results: Vec<FileResult> },
    Denied { by: String },
    Interrupted,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum FileResult {
    Reply { status: String, text: String, rest: Option<Box<RawValue>> },
    Refused { code: String, model_text: String },
}

const DECIDED_BY: [DecidedBy; 3] = [DecidedBy::Owner, DecidedBy::Other, DecidedBy::Nobody];

const STATUSES: [ReplyStatus; 3] = [ReplyStatus::Ok, ReplyStatus::Failed, ReplyStatus::Cancelled];

fn status_word(status: ReplyStatus) -> &'static str {
    match status {
        ReplyStatus::Ok => "ok",
        ReplyStatus::Failed => "failed",
        ReplyStatus::Cancelled => "cancelled",
    }
}

pub(super) fn to_file(state: &RequestState, lost: &Lost) -> FileState {
    match state {
        RequestState::Waiting { stale } => {
            FileState::Waiting { stale: stale.iter().map(|place| lost.to_all(*place)).collect() }
        }
        RequestState::Claimed { by, at } => {
            FileState::Claimed { by: by.clone(), at_ms: to_ms(*at) }
        }
        RequestState::Settled { by, at, settled, delivered } => FileState::Settled {
            by: by.clone(),
            at_ms: to_ms(*at),
            delivered: *delivered,
            outcome: match settled {
                Settled::Done { results } => FileOutcome::Done {
                    results: lost
                        .results(results.clone())
                        .into_iter()
                        .map(result_to_file)
                        .collect(),
                },
                Settled::Denied { by } => FileOutcome::Denied { by: by.as_str().to_owned() },
                Settled::Interrupted => FileOutcome::Interrupted,
            },
        },
    }
}

pub(super) fn from_file(file: FileState, lost: &Lost) -> Result<RequestState, DecodeError> {
    Ok(match file {
        FileState::Waiting { stale } => RequestState::Waiting {
            stale: stale.into_iter().filter_map(|place| lost.to_read(place)).collect(),
        },
        FileState::Claimed { by, at_ms } => {
            RequestState::Claimed { by, at: Duration::from_millis(at_ms) }
        }
        FileState::Settled { by, at_ms, delivered, outcome } => RequestState::Settled {
            by,
            at: Duration::from_millis(at_ms),
            settled: match outcome {
                FileOutcome::Done { results } => Settled::Done {
                    results: lost
                        .leave_out(results)
                        .into_iter()
                        .map(result_from_file)
                        .collect::<Result<_, _>>()?,
                },
                FileOutcome::Denied { by } => {
                    let known = DECIDED_BY.into_iter().find(|known| known.as_str() == by);
                    let by =
                        known.ok_or(DecodeError::UnknownWord { what: "decider", found: by })?;
                    Settled::Denied { by }
                }
                FileOutcome::Interrupted => Settled::Interrupted,
            },
            delivered,
        },
    })
}

fn result_to_file(result: CallResult) -> FileResult {
    match result {
        CallResult::Reply(StoredReply { status, text, rest }) => {
            FileResult::Reply { status: status_word(status).to_owned(), text, rest }
        }
        CallResult::Refused { code, model_text } => FileResult::Refused { code, model_text },
    }
}

fn result_from_file(file: FileResult) -> Result<CallResult, DecodeError> {
    Ok(match file {
        FileResult::Reply { status, text, rest } => {
            let known = STATUSES.into_iter().find(|known| status_word(*known) == status);
            let status = known.ok_or(DecodeError::UnknownWord { what: "status", found: status })?;
            CallResult::Reply(StoredReply { status, text, rest })
        }
        FileResult::Refused { code, model_text } => CallResult::Refused { code, model_text },
    })
}
