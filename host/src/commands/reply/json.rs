//! A reply as programs read it, under keys that never change.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use toolbay_loader::{Artifact, ArtifactBody, Completeness, Reply, ReplyStatus, Write};

use crate::mcp::content;

#[derive(Serialize)]
pub(in crate::commands) struct ReplyJson<'a> {
    outcome: &'static str,
    /// What a model reads.
    text: Cow<'a, str>,
    /// Content blocks as the Model Context Protocol has them.
    content: Vec<rmcp::model::ContentBlock>,
    structured: Option<&'a RawValue>,
    artifacts: Vec<ArtifactJson<'a>>,
    truncated: bool,
    /// What the call changed, where the tool says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<WriteJson<'a>>,
    /// Whether the reply is all that there was to say, where the tool says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    completeness: Option<&'static str>,
}

#[derive(Serialize)]
struct WriteJson<'a> {
    kind: &'static str,
    target_type: &'a str,
    target_id: &'a str,
    hook_failed: bool,
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
            write: reply.write().map(WriteJson::from),
            completeness: match reply.completeness() {
                Completeness::Unstated => None,
                Completeness::Complete => Some("complete"),
                Completeness::Partial => Some("partial"),
            },
        }
    }
}

impl<'a> From<&'a Write> for WriteJson<'a> {
    fn from(write: &'a Write) -> Self {
        Self {
            kind: write.kind.as_str(),
            target_type: write.target.kind(),
            target_id: write.target.id(),
            hook_failed: write.hook_failed,
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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
}
