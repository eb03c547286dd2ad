//! A reply or an error as programs read it, under keys that never change.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use toolbay_loader::{
    ArgumentsError, Artifact, ArtifactBody, CallError, Reply, ReplyStatus, ToolName, Violation,
};

use crate::{commands::row::party_word, mcp::content, report};

#[derive(Serialize)]
pub(super) struct ReplyJson<'a> {
    outcome: &'static str,
    /// What a model reads.
    text: Cow<'a, str>,
    /// Content blocks as the Model Context Protocol has them.
    content: Vec<rmcp::model::ContentBlock>,
    structured: Option<&'a RawValue>,
    artifacts: Vec<ArtifactJson<'a>>,
    truncated: bool,
}

#[derive(Serialize)]
struct ArtifactJson<'a> {
    label: &'a str,
    #[serde(flatten)]
    body: BodyJson<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BodyJson<'a> {
    Table { columns: &'a [String], rows: &'a [Vec<Value>] },
    Text { text: &'a str },
    Unknown,
}

impl<'a> From<&'a Reply> for ReplyJson<'a> {
    fn from(reply: &'a Reply) -> Self {
        Self {
            outcome: match reply.status() {
                ReplyStatus::Ok => "ok",
                ReplyStatus::Failed => "failed",
                ReplyStatus::Cancelled => "cancelled",
            },
            text: reply.model_text(),
            content: content::blocks(reply),
            structured: reply.structured(),
            artifacts: reply.artifacts().iter().map(ArtifactJson::from).collect(),
            truncated: reply.truncated(),
        }
    }
}

impl<'a> From<&'a Artifact> for ArtifactJson<'a> {
    fn from(artifact: &'a Artifact) -> Self {
        let body = match &artifact.body {
            ArtifactBody::Table { columns, rows } => BodyJson::Table { columns, rows },
            ArtifactBody::Text(text) => BodyJson::Text { text },
            _ => BodyJson::Unknown,
        };
        Self { label: &artifact.label, body }
    }
}

#[derive(Serialize)]
pub(super) struct ErrorJson<'a> {
    error: CallErrorJson<'a>,
}

#[derive(Serialize)]
struct CallErrorJson<'a> {
    code: &'static str,
    party: &'static str,
    /// The error with its causes, for the operator.
    message: String,
    /// Names that an unknown one may have stood for.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    nearest: Vec<&'a str>,
    /// What is wrong with the arguments.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    violations: Vec<ViolationJson<'a>>,
}

#[derive(Serialize)]
struct ViolationJson<'a> {
    argument: &'a str,
    expected: &'a str,
    found: &'a str,
}

impl<'a> From<&'a CallError> for ErrorJson<'a> {
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
        let violations = violations.iter().map(|Violation { argument, expected, found }| {
            ViolationJson { argument, expected, found }
        });
        Self {
            error: CallErrorJson {
                code: error.code(),
                party: party_word(error.party()),
                message: report::chain(error),
                nearest: nearest.iter().map(ToolName::as_str).collect(),
                violations: violations.collect(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbay_loader::RawReply;

    use super::*;
    use crate::sample;

    #[test]
    fn a_reply_keeps_what_each_reader_needs_apart() {
        let rest = json!({
            "content": [{ "type": "text", "text": "two rows" }],
            "structured": { "rows": 2 },
            "artifacts": [
                { "type": "table", "label": "rows", "data": { "columns": ["a"], "rows": [[1], [null]] } },
                { "type": "text", "label": "notes", "data": { "text": "for people" } },
            ],
        });
        let reply = sample::reply(ReplyStatus::Failed, "", &rest);
        let expected = json!({
            "outcome": "failed",
            "text": "two rows",
            "content": [{ "type": "text", "text": "two rows" }],
            "structured": { "rows": 2 },
            "artifacts": [
                { "label": "rows", "type": "table", "columns": ["a"], "rows": [[1], [null]] },
                { "label": "notes", "type": "text", "text": "for people" },
            ],
            "truncated": false,
        });
        assert_eq!(serde_json::to_value(ReplyJson::from(&reply)).unwrap(), expected);
    }

    #[test]
    fn an_error_names_who_can_do_what() {
        let raw = || RawReply::text(ReplyStatus::Ok, "a");
        let cases = [
            (
                sample::call(raw(), "say", "{}"),
                json!({ "code": "not_registered", "party": "caller", "nearest": ["says"] }),
            ),
            (
                sample::call(raw(), "says", r#"{"language": "fr"}"#),
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
                sample::call(RawReply { rest: "[]".into(), ..raw() }, "says", "{}"),
                json!({ "code": "malformed_reply", "party": "host" }),
            ),
        ];
        for (result, mut expected) in cases {
            let error = result.unwrap_err();
            expected["message"] = report::chain(&error).into();
            let found = serde_json::to_value(ErrorJson::from(&error)).unwrap();
            assert_eq!(found, json!({ "error": expected }));
        }
    }
}
