//! The JSON in which a backend sends what is not plain text.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use thiserror::Error;

use super::write::{WireCompleteness, WireWrite};
use crate::{
    backend::ReplyStatus,
    excerpt::excerpt,
    limits::LimitScope,
    reply::{
        Artifact, ArtifactBody, Completeness, ContentBlock, Resource, ResourceBody, ResourceLink,
        Write,
    },
};

/// A reply that breaks the contract, which is the fault of whoever wrote the tool, or that an operator's limit does not let through.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplyError {
    /// What came beside the text is larger than any limit would let through.
    ///
    /// Resolution: return less, or a link to it.
    #[error(
        "reply too large to read: expected at most {limit} bytes beside its text, found {found}"
    )]
    TooLarge {
        /// The bytes that are allowed.
        limit: usize,
        /// The bytes that there are.
        found: usize,
    },
    /// The result is larger than an operator allows. What the tool has done is done.
    ///
    /// Resolution: ask the tool for less, or raise the limit.
    #[error("result too large: expected at most {limit} bytes of {scope}, found {found}")]
    OverLimit {
        /// Whose limit it is.
        scope: LimitScope,
        /// The bytes that are allowed.
        limit: usize,
        /// The bytes that there are.
        found: usize,
    },
    /// What came beside the text is no JSON of the agreed shape.
    ///
    /// Resolution: build the plugin with the published API, which writes that shape.
    #[error(
        "reply malformed at line {line} column {column}: expected an object with content, structured, artifacts, write and completeness, found {problem:?}"
    )]
    Malformed {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// What the parser says, cut to 200 characters.
        problem: String,
    },
    /// The structured result is not what the tool's output schema promises.
    ///
    /// Resolution: return what the schema says, or correct the schema.
    #[error("structured result not as promised: {problem:?}")]
    Output {
        /// What does not fit, cut to 200 characters.
        problem: String,
    },
    /// A content block is none that MCP has.
    ///
    /// Resolution: use one of its block types, with all of its members.
    #[error("content block {index} malformed: expected a {expected}, found {found:?}")]
    Block {
        /// Which block, counted from 0.
        index: usize,
        /// What was expected.
        expected: &'static str,
        /// The block's type, cut to 80 characters.
        found: String,
    },
    /// A call that did not do what was asked says that it changed something. Whoever reads that would take a failure for a change
    /// that happened.
    ///
    /// Resolution: return success where the change has happened, with `hook_failed` where something after it failed.
    #[error("write reported with a call that {}: expected it with success alone", ended(*.status))]
    WriteWithoutSuccess {
        /// How the call ended.
        status: ReplyStatus,
    },
    /// The target of a write can't be told from others by what is said of it.
    ///
    /// Resolution: name it by a short word for its type and by its id.
    #[error(
        "{part} of the write's target unusable: expected 1 to {limit} bytes that are not blank and have no control character, found {found:?}"
    )]
    Target {
        /// Which part, `type` or `id`.
        part: &'static str,
        /// The bytes that are allowed.
        limit: usize,
        /// What there is, cut to 80 characters.
        found: String,
    },
}

fn ended(status: ReplyStatus) -> &'static str {
    match status {
        ReplyStatus::Ok => "succeeded",
        ReplyStatus::Failed => "failed",
        ReplyStatus::Cancelled => "was cancelled",
    }
}

/// What came beside the text; empty where nothing did.
#[derive(Default, Deserialize)]
pub(crate) struct Rest<'a> {
    #[serde(default)]
    content: Option<Vec<Block>>,
    #[serde(default, borrow)]
    pub(crate) structured: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(crate) artifacts: Option<&'a RawValue>,
    #[serde(default)]
    write: Option<WireWrite>,
    #[serde(default)]
    completeness: Option<WireCompleteness>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block {
    r#type: String,
    text: Option<String>,
    data: Option<String>,
    mime_type: Option<String>,
    uri: Option<String>,
    name: Option<String>,
    title: Option<String>,
    description: Option<String>,
    size: Option<u64>,
    resource: Option<Contents>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Contents {
    uri: String,
    mime_type: Option<String>,
    text: Option<String>,
    blob: Option<String>,
}

impl<'a> Rest<'a> {
    pub(crate) fn parse(rest: &'a Bytes, limit: usize) -> Result<Self, ReplyError> {
        if rest.is_empty() {
            return Ok(Self::default());
        }
        if rest.len() > limit {
            return Err(ReplyError::TooLarge { limit, found: rest.len() });
        }
        // A derived reader would take a list for the members in their order.
        if !rest.trim_ascii_start().starts_with(b"{") {
            let problem = "no object".to_owned();
            return Err(ReplyError::Malformed { line: 1, column: 1, problem });
        }
        serde_json::from_slice(rest).map_err(|error| ReplyError::Malformed {
            line: error.line(),
            column: error.column(),
            problem: excerpt(&error.to_string(), 200).into_owned(),
        })
    }

    /// The content blocks; `None` where there are none.
    pub(crate) fn take_content(&mut self) -> Result<Option<Vec<ContentBlock>>, ReplyError> {
        let Some(blocks) = self.content.take().filter(|blocks| !blocks.is_empty()) else {
            return Ok(None);
        };
        let blocks = blocks.into_iter().enumerate().map(|(index, block)| block.parse(index));
        blocks.collect::<Result<_, _>>().map(Some)
    }

    /// What a call that ended like this changed.
    pub(crate) fn take_write(&mut self, status: ReplyStatus) -> Result<Option<Write>, ReplyError> {
        self.write.take().map(|write| write.parse(status)).transpose()
    }

    pub(crate) fn completeness(&self) -> Completeness {
        self.completeness.map(Completeness::from).unwrap_or_default()
    }
}

impl Block {
    fn parse(self, index: usize) -> Result<ContentBlock, ReplyError> {
        let found = excerpt(&self.r#type, 80).into_owned();
        let (expected, block) = match self.r#type.as_str() {
            "text" => ("text block with text", self.text.map(ContentBlock::Text)),
            "image" => (
                "image block with data and mimeType",
                self.data
                    .zip(self.mime_type)
                    .map(|(data, mime)| ContentBlock::Image { data, mime }),
            ),
            "audio" => (
                "audio block with data and mimeType",
                self.data
                    .zip(self.mime_type)
                    .map(|(data, mime)| ContentBlock::Audio { data, mime }),
            ),
            "resource" => (
                "resource block with a resource that has a uri and text or blob",
                self.resource.and_then(Contents::parse).map(ContentBlock::Resource),
            ),
            "resource_link" => (
                "resource_link block with uri and name",
                self.uri.zip(self.name).map(|(uri, name)| {
                    ContentBlock::ResourceLink(ResourceLink {
                        uri,
                        name,
                        title: self.title,
                        description: self.description,
                        mime: self.mime_type,
                        size: self.size,
                    })
                }),
            ),
            _ => ("block of type text, image, audio, resource or resource_link", None),
        };
        block.ok_or(ReplyError::Block { index, expected, found })
    }
}

impl Contents {
    fn parse(self) -> Option<Resource> {
        let body = match (self.text, self.blob) {
            (Some(text), None) => ResourceBody::Text(text),
            (None, Some(blob)) => ResourceBody::Blob(blob),
            _ => return None,
        };
        Some(Resource { uri: self.uri, mime: self.mime_type, body })
    }
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WireArtifact {
    Table {
        #[serde(default)]
        label: String,
        data: Table,
    },
    Text {
        #[serde(default)]
        label: String,
        data: Text,
    },
}

#[derive(Deserialize)]
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

impl From<WireArtifact> for Artifact {
    fn from(wire: WireArtifact) -> Self {
        match wire {
            WireArtifact::Table { label, data: Table { columns, rows } } => {
                Self { label, body: ArtifactBody::Table { columns, rows } }
            }
            WireArtifact::Text { label, data: Text { text } } => {
                Self { label, body: ArtifactBody::Text(text) }
            }
        }
    }
}

/// The artifacts of a reply.
pub(crate) fn artifacts(raw: &RawValue) -> Result<Vec<Artifact>, serde_json::Error> {
    let wire: Vec<WireArtifact> = serde_json::from_str(raw.get())?;
    Ok(wire.into_iter().map(Artifact::from).collect())
}
