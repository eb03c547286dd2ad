//! What a call gave, known in size and encoding.

mod artifact;
mod content;
pub(crate) mod wire;
mod write;

use std::{borrow::Cow, fmt, ops::Deref};

use bytes::Bytes;
use bytestring::ByteString;
use serde_json::value::RawValue;

pub use self::{
    artifact::{Artifact, ArtifactBody},
    content::{ContentBlock, Resource, ResourceBody, ResourceLink},
    wire::ReplyError,
    write::{Completeness, Write, WriteKind, WriteTarget},
};
use crate::backend::ReplyStatus;

/// Text known to be UTF-8, in the buffer in which it came.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ReplyText(ByteString);

impl ReplyText {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The buffer that holds the text.
    pub fn as_bytes(&self) -> &Bytes {
        self.0.as_bytes()
    }

    /// The text of a buffer; bytes that are no UTF-8 are substituted, which copies it.
    pub(crate) fn lossy(bytes: Bytes) -> Self {
        Self(match str::from_utf8(&bytes) {
            // It is checked once more: that costs a short text, as most are, less than sharing the buffer for the other case.
            Ok(_) => ByteString::try_from(bytes).unwrap_or_default(),
            Err(_) => String::from_utf8_lossy(&bytes).into_owned().into(),
        })
    }
}

impl From<String> for ReplyText {
    fn from(text: String) -> Self {
        Self(ByteString::from(text))
    }
}

impl Deref for ReplyText {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for ReplyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// The result of a call, within the limits of the pipeline.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(crate) status: ReplyStatus,
    pub(crate) text: ReplyText,
    pub(crate) truncated: bool,
    /// Apart, because most replies are a text and nothing else, and a reply moves through many hands.
    pub(crate) beside: Option<Box<Beside>>,
}

/// What a reply has beside a text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    pub(crate) content: Option<Vec<ContentBlock>>,
    pub(crate) structured: Option<Box<RawValue>>,
    pub(crate) artifacts: Vec<Artifact>,
    pub(crate) write: Option<Write>,
    pub(crate) completeness: Completeness,
}

impl Reply {
    /// How the call ended, in the tool's own judgement.
    pub fn status(&self) -> ReplyStatus {
        self.status
    }

    /// The text, where the reply is text alone; empty where it has content blocks.
    pub fn text(&self) -> &ReplyText {
        &self.text
    }

    /// The content blocks, where the reply has them.
    pub fn content(&self) -> Option<&[ContentBlock]> {
        self.beside.as_ref()?.content.as_deref()
    }

    /// The result as a JSON value, where the tool gave one.
    pub fn structured(&self) -> Option<&RawValue> {
        self.beside.as_ref()?.structured.as_deref()
    }

    /// What people may see of the call. No model ever does.
    pub fn artifacts(&self) -> &[Artifact] {
        self.beside.as_ref().map_or(&[], |beside| &beside.artifacts)
    }

    /// What the call changed, where the tool says so.
    pub fn write(&self) -> Option<&Write> {
        self.beside.as_ref()?.write.as_ref()
    }

    /// Whether the reply is all that there was to say, in the tool's own judgement.
    pub fn completeness(&self) -> Completeness {
        self.beside.as_ref().map_or(Completeness::Unstated, |beside| beside.completeness)
    }

    /// Whether a limit left anything out.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// What a model reads of it: the text, or the text blocks with a blank line between them, or else the structured result.
    pub fn model_text(&self) -> Cow<'_, str> {
        let text = match self.content() {
            None => Cow::Borrowed(self.text.as_str()),
            Some(blocks) => joined(blocks),
        };
        match self.structured() {
            Some(structured) if text.is_empty() => Cow::Borrowed(structured.get()),
            _ => text,
        }
    }
}

fn joined(blocks: &[ContentBlock]) -> Cow<'_, str> {
    let texts: Vec<&str> = blocks.iter().filter_map(ContentBlock::as_text).collect();
    match texts.as_slice() {
        [] => Cow::Borrowed(""),
        [text] => Cow::Borrowed(text),
        texts => Cow::Owned(texts.join(ContentBlock::SEPARATOR)),
    }
}
