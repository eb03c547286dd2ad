//! An error as programs read it, under keys that never change.

use std::time::Duration;

use serde::Serialize;
use toolbay_loader::{
    AccessError, ApprovalError, ApprovalId, ArgumentsError, CallError, Party, ToolName, Violation,
};

use crate::{
    caller::CallerError,
    commands::{CommandError, row::party_word},
    report,
};

/// What a command with `--json` prints where it fails.
#[derive(Serialize)]
pub(super) struct Failure<'a> {
    error: FailureRow<'a>,
}

#[derive(Serialize)]
pub(super) struct FailureRow<'a> {
    code: &'a str,
    party: &'static str,
    /// The error with its causes, for the operator.
    message: String,
    /// The request for approval that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    /// After how long the same can be tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// Names that an unknown one may have stood for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<&'a str>,
    /// What is wrong with the arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<ViolationRow<'a>>,
}

#[derive(Serialize)]
pub(super) struct ViolationRow<'a> {
    argument: &'a str,
    expected: &'a str,
    found: &'a str,
}

impl<'a> From<&'a Violation> for ViolationRow<'a> {
    fn from(violation: &'a Violation) -> Self {
        let Violation { argument, expected, found } = violation;
        Self { argument, expected, found }
    }
}

impl<'a> Failure<'a> {
    /// The error, where it is one that programs tell apart; others are for people alone.
    pub(super) fn of(error: &'a CommandError) -> Option<Self> {
        let error = match error {
            CommandError::Call(error) => FailureRow::from(&**error),
            CommandError::Access(error) | CommandError::Caller(CallerError::Agent(error)) => {
                FailureRow::from(error)
            }
            CommandError::Approval(error) => FailureRow::from(error),
            CommandError::Install(error) => {
                FailureRow::new(error.code(), error.party(), report::chain(error))
            }
            CommandError::Trust(error) => {
                FailureRow::new(error.code(), error.party(), report::chain(error))
            }
            CommandError::Quarantine(error) => {
                FailureRow::new(error.code(), error.party(), report::chain(error))
            }
            CommandError::RequestId(error) => {
                FailureRow::new(error.code(), Party::Caller, report::chain(error))
            }
            CommandError::Caller(error @ CallerError::UnknownService { .. }) => {
                FailureRow::new("unknown", Party::Caller, report::chain(error))
            }
            _ => return None,
        };
        Some(Self { error })
    }
}

impl<'a> FailureRow<'a> {
    fn new(code: &'a str, party: Party, message: String) -> Self {
        let (nearest, violations) = (Vec::new(), Vec::new());
        let (id, retry_after_ms) = (None, None);
        Self { code, party: party_word(party), message, id, retry_after_ms, nearest, violations }
    }
}

impl<'a> From<&'a CallError> for FailureRow<'a> {
    fn from(error: &'a CallError) -> Self {
        let nearest: &[ToolName] = match error {
            CallError::NotRegistered { nearest, .. } => nearest,
            _ => &[],
        };
        let violations: &[Violation] = match error {
            CallError::Arguments { source: ArgumentsError::Invalid { violations }, .. } => {
                violations
            }
            _ => &[],
        };
        Self {
            id: error.approval().map(ApprovalId::as_str),
            retry_after_ms: error.retry_after().map(milliseconds),
            nearest: nearest.iter().map(ToolName::as_str).collect(),
            violations: violations.iter().map(ViolationRow::from).collect(),
            ..Self::new(error.code(), error.party(), report::chain(error))
        }
    }
}

impl<'a> From<&'a AccessError> for FailureRow<'a> {
    fn from(error: &'a AccessError) -> Self {
        let nearest: &[String] = match error {
            AccessError::Unknown { nearest, .. } => nearest,
            _ => &[],
        };
        Self {
            nearest: nearest.iter().map(String::as_str).collect(),
            ..Self::new(error.code(), error.party(), report::chain(error))
        }
    }
}

impl<'a> From<&'a ApprovalError> for FailureRow<'a> {
    fn from(error: &'a ApprovalError) -> Self {
        let violations: &[Violation] = match error {
            ApprovalError::Input { violations } => violations,
            _ => &[],
        };
        let retry_after = match error {
            ApprovalError::Limit { source, .. } => source.retry_after(),
            _ => None,
        };
        Self {
            retry_after_ms: retry_after.map(milliseconds),
            violations: violations.iter().map(ViolationRow::from).collect(),
            ..Self::new(error.code(), error.party(), report::chain(error))
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use serde_json::json;
    use toolbay_loader::{LimitError, LimitScope, RawReply, ReplyStatus};

    use super::*;
    use crate::sample;

    #[test]
    fn an_error_names_who_can_do_what() {
        let raw = || RawReply::text(ReplyStatus::Ok, "a");
        let call = |result: Result<_, CallError>| CommandError::from(result.map(drop).unwrap_err());
        let pending = CallError::Pending {
            tool: "says".parse().unwrap(),
            id: "7k3f".parse().unwrap(),
            running: false,
            input: false,
        };
        let limited = CallError::Limit {
            tool: "says".parse().unwrap(),
            source: LimitError::Rate {
                scope: LimitScope::Tool("says".parse().unwrap()),
                per_minute: NonZeroU32::MIN,
                retry_after: Duration::from_millis(2),
            },
        };
        let unknown = AccessError::Unknown {
            kind: "tool",
            name: "say".to_owned(),
            nearest: vec!["says".to_owned()],
        };
        let cases = [
            (
                call(sample::call(raw(), "say", "{}")),
                json!({ "code": "not_registered", "party": "caller", "nearest": ["says"] }),
            ),
            (
                call(sample::call(raw(), "says", r#"{"language": "fr"}"#)),
                json!({
                    "code": "invalid_arguments",
                    "party": "caller",
                    "violations": [{
                        "argument": "language",
                        "expected": "one of \"en\", \"de\"",
                        "found": "\"fr\"",
                    }],
                }),
            ),
            (
                call(sample::call(RawReply { rest: "[]".into(), ..raw() }, "says", "{}")),
                json!({ "code": "malformed_reply", "party": "host" }),
            ),
            (
                CommandError::from(pending),
                json!({ "code": "approval_pending", "party": "caller", "id": "7k3f" }),
            ),
            (
                CommandError::from(limited),
                json!({ "code": "rate_limited", "party": "caller", "retry_after_ms": 2 }),
            ),
            (
                CommandError::from(unknown),
                json!({ "code": "unknown", "party": "caller", "nearest": ["says"] }),
            ),
        ];
        for (error, mut expected) in cases {
            expected["message"] = report::chain(&error).into();
            let found = serde_json::to_value(Failure::of(&error).unwrap()).unwrap();
            assert_eq!(found, json!({ "error": expected }));
        }
    }
}
