//! What a tool answers.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{json, value::RawValue};
use toolbay_abi::{
    PluginReply, reply_status,
    wire::{Completeness, Fault, ReplyRest, Write, WriteKind, WriteTarget},
};

use crate::config::ConfigError;

/// What a tool answers when it did what it was asked.
///
/// The text and the content blocks are for the model; a host cuts text above its limit, 50,000 bytes unless the operator says
/// otherwise. Artifacts are for people: they never reach a model.
///
/// ```
/// use toolbay_plugin_api::{Artifact, Reply};
///
/// let reply = Reply::text("3 courses start in May")
///     .structured(serde_json::json!({ "count": 3 }))
///     .artifact(Artifact::text("query", "start >= 2026-05-01"));
/// ```
#[derive(Debug, Default, Clone)]
pub struct Reply {
    text: String,
    blocks: Vec<Block>,
    /// What a value that is no JSON gave is told by `encode`: a tool has no use for it.
    structured: Option<Result<Box<RawValue>, String>>,
    artifacts: Vec<Artifact>,
    write: Option<Write>,
    hook_failed: bool,
    completeness: Option<Completeness>,
}

impl Reply {
    /// An answer in words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Adds a content block after what is there.
    #[must_use]
    pub fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Adds the answer as a JSON value, for callers that are programs: anything that serde can write, such as a type with the
    /// [`output`](crate::output) attribute.
    #[must_use]
    pub fn structured(mut self, value: impl Serialize) -> Self {
        self.structured =
            Some(serde_json::value::to_raw_value(&value).map_err(|error| error.to_string()));
        self
    }

    /// Adds something that people may see of this call and no model does.
    #[must_use]
    pub fn artifact(mut self, artifact: Artifact) -> Self {
        self.artifacts.push(artifact);
        self
    }

    /// Says what the call wrote: what became of it, what it is and which one, in terms that people find it by.
    ///
    /// It is for records and for people; no model reads it. Say it where the write has landed, and only there: a [`Failure`] says
    /// that nothing was written, and has no way to say this.
    ///
    /// ```
    /// use toolbay_plugin_api::{Reply, WriteKind};
    ///
    /// let reply = Reply::text("There is a note groceries now.")
    ///     .wrote(WriteKind::Created, "note", "groceries.md");
    /// ```
    #[must_use]
    pub fn wrote(
        mut self,
        kind: WriteKind,
        target_type: impl Into<String>,
        id: impl Into<String>,
    ) -> Self {
        let target = WriteTarget { r#type: target_type.into(), id: id.into() };
        self.write = Some(Write { kind, target, hook_failed: false });
        self
    }

    /// Says that what should have followed the write of [`wrote`](Self::wrote) failed, such as the rebuilding of an index. The call
    /// succeeded all the same: a failure would be an invitation to write twice. Tell the model in the text, where it matters to it.
    #[must_use]
    pub fn hook_failed(mut self) -> Self {
        self.hook_failed = true;
        self
    }

    /// Says that there is more than the reply holds. Say in the text, too, how to get at the rest.
    #[must_use]
    pub fn partial(mut self) -> Self {
        self.completeness = Some(Completeness::Partial);
        self
    }

    /// Says that the reply holds all that there is to say. Without this and [`partial`](Self::partial) it is unstated.
    #[must_use]
    pub fn complete(mut self) -> Self {
        self.completeness = Some(Completeness::Complete);
        self
    }

    pub(crate) fn encode(self) -> Result<PluginReply, Fault> {
        let mut text = self.text;
        let mut content = Vec::new();
        if !self.blocks.is_empty() {
            if !text.is_empty() {
                content.push(raw(&Block::Text { text: std::mem::take(&mut text) })?);
            }
            for block in &self.blocks {
                content.push(raw(block)?);
            }
        }
        let structured = self.structured.transpose().map_err(not_json)?;
        let artifacts = self.artifacts.iter().map(raw).collect::<Result<Vec<_>, _>>()?;
        let (hook_failed, completeness) = (self.hook_failed, self.completeness);
        let write = self.write.map(|write| Write { hook_failed, ..write });
        let rest = if content.is_empty()
            && structured.is_none()
            && artifacts.is_empty()
            && write.is_none()
            && completeness.is_none()
        {
            Vec::new()
        } else {
            let rest = ReplyRest { content, structured, artifacts, write, completeness };
            serde_json::to_vec(&rest).map_err(|error| not_json(error.to_string()))?
        };
        Ok(PluginReply {
            status: reply_status::OK,
            text: text.into_bytes().into(),
            rest: rest.into(),
        })
    }
}

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, Fault> {
    serde_json::value::to_raw_value(value).map_err(|error| not_json(error.to_string()))
}

fn not_json(error: String) -> Fault {
    Fault::Provider { problem: format!("the reply can't be written as JSON: {error}") }
}

/// One piece of an answer, in the forms that MCP has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture; make it with [`Block::image`].
    Image {
        /// The bytes in base64.
        data: String,
        /// Such as `image/png`.
        #[serde(rename = "mimeType")]
        media_type: String,
    },
    /// A sound; make it with [`Block::audio`].
    Audio {
        /// The bytes in base64.
        data: String,
        /// Such as `audio/wav`.
        #[serde(rename = "mimeType")]
        media_type: String,
    },
    /// A document with its content.
    Resource {
        /// The document.
        resource: Resource,
    },
}

impl Block {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture from its bytes.
    pub fn image(bytes: &[u8], media_type: impl Into<String>) -> Self {
        Self::Image { data: STANDARD.encode(bytes), media_type: media_type.into() }
    }

    /// A sound from its bytes.
    pub fn audio(bytes: &[u8], media_type: impl Into<String>) -> Self {
        Self::Audio { data: STANDARD.encode(bytes), media_type: media_type.into() }
    }

    /// A document of text.
    pub fn text_resource(
        uri: impl Into<String>,
        media_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let (uri, media_type) = (uri.into(), media_type.into());
        Self::Resource {
            resource: Resource { uri, media_type, text: Some(text.into()), blob: None },
        }
    }

    /// A document of bytes.
    pub fn binary_resource(
        uri: impl Into<String>,
        media_type: impl Into<String>,
        bytes: &[u8],
    ) -> Self {
        let (uri, media_type) = (uri.into(), media_type.into());
        let blob = Some(STANDARD.encode(bytes));
        Self::Resource { resource: Resource { uri, media_type, text: None, blob } }
    }
}

/// A document in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resource {
    /// Where it would be found again.
    uri: String,
    /// Such as `text/markdown`.
    #[serde(rename = "mimeType")]
    media_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blob: Option<String>,
}

/// Something that people may see of a call and no model does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    label: String,
    body: ArtifactBody,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ArtifactBody {
    Text(String),
    Table { columns: Vec<String>, rows: Vec<Vec<String>> },
}

impl Artifact {
    /// A text under a label.
    pub fn text(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), body: ArtifactBody::Text(text.into()) }
    }

    /// A table under a label.
    pub fn table(label: impl Into<String>, columns: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        Self { label: label.into(), body: ArtifactBody::Table { columns, rows } }
    }
}

impl Serialize for Artifact {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, data) = match &self.body {
            ArtifactBody::Text(text) => ("text", json!({ "text": text })),
            ArtifactBody::Table { columns, rows } => {
                ("table", json!({ "columns": columns, "rows": rows }))
            }
        };
        json!({ "type": kind, "label": self.label, "data": data }).serialize(serializer)
    }
}

/// What a tool answers when it did not do what it was asked, and has written nothing. It carries no artifacts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    status: u32,
    message: String,
    detail: Option<String>,
}

impl Failure {
    /// A failure in words for the model: what is wrong, and what to do instead. Keep secrets and paths out of it.
    pub fn new(message: impl Into<String>) -> Self {
        Self { status: reply_status::FAILED, message: message.into(), detail: None }
    }

    /// A failure whose cause goes to the host's log alone, as a warning under the tool's name; the model reads `message`.
    pub fn with_cause(message: impl Into<String>, cause: &dyn std::error::Error) -> Self {
        let mut detail = cause.to_string();
        let mut next = cause.source();
        while let Some(cause) = next {
            detail.push_str(": ");
            detail.push_str(&cause.to_string());
            next = cause.source();
        }
        Self { detail: Some(detail), ..Self::new(message) }
    }

    /// The call was cancelled and the tool stopped; see [`Context::is_cancelled`](crate::Context::is_cancelled).
    pub fn cancelled() -> Self {
        let message = "the call was cancelled before it was done".to_owned();
        Self { status: reply_status::CANCELLED, message, detail: None }
    }

    /// What the model reads.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn encode(self, tool: &str) -> PluginReply {
        if let Some(detail) = &self.detail {
            log::warn!(target: tool, "{}: {detail}", self.message);
        }
        PluginReply {
            status: self.status,
            text: self.message.into_bytes().into(),
            rest: Vec::new().into(),
        }
    }
}

/// An agent's configuration that does not fit: the model can go on without the tool, and the operator corrects what the log says.
impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::with_cause("the tool is not configured correctly for this agent", &error)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rest(reply: Reply) -> Value {
        let reply = reply.encode().unwrap();
        assert_eq!(reply.status, reply_status::OK);
        serde_json::from_slice(&reply.rest).unwrap_or_default()
    }

    #[test]
    fn what_was_written_and_what_is_left_out_stand_beside_every_form_of_answer() {
        let target = json!({ "type": "note", "id": "groceries.md" });
        let wrote = |reply: Reply, kind| reply.wrote(kind, "note", "groceries.md");
        let text = || Reply::text("done");
        let cases = [
            (text(), Value::Null),
            (
                wrote(text(), WriteKind::Created),
                json!({ "write": { "kind": "created", "target": target } }),
            ),
            (
                wrote(text(), WriteKind::Updated).hook_failed(),
                json!({ "write": { "kind": "updated", "target": target, "hook_failed": true } }),
            ),
            (
                wrote(text().hook_failed().partial(), WriteKind::Deleted),
                json!({
                    "write": { "kind": "deleted", "target": target, "hook_failed": true },
                    "completeness": "partial",
                }),
            ),
            // Where nothing was written, no hook ran.
            (text().hook_failed(), Value::Null),
            (text().partial().complete(), json!({ "completeness": "complete" })),
            (
                text().structured(7).complete(),
                json!({ "structured": 7, "completeness": "complete" }),
            ),
            (
                wrote(text(), WriteKind::Created).wrote(WriteKind::Updated, "index", "all"),
                json!({ "write": { "kind": "updated", "target": { "type": "index", "id": "all" } } }),
            ),
            (
                wrote(Reply::default().block(Block::text("done")), WriteKind::Created),
                json!({
                    "content": [{ "type": "text", "text": "done" }],
                    "write": { "kind": "created", "target": target },
                }),
            ),
        ];
        for (reply, expected) in cases {
            let shown = format!("{reply:?}");
            assert_eq!(rest(reply), expected, "{shown}");
        }
    }

    /// What a host of this release reads where a plugin of an older one answers.
    #[test]
    fn a_rest_without_them_leaves_both_unstated() {
        let rest: ReplyRest = serde_json::from_str(r#"{"structured":7}"#).unwrap();
        assert_eq!((rest.write, rest.completeness), (None, None));
    }
}
