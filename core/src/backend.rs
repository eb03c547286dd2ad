//! The seam between the pipeline and whatever executes a tool: a plugin, a worker, the host itself or a test.

use std::error::Error as StdError;

use bytes::Bytes;
use thiserror::Error;

use crate::{arguments::ValidCall, caller::Caller, error::Party, excerpt::excerpt};

/// What executes a tool. The pipeline can't tell one implementation from another.
pub trait ToolBackend: Send + Sync {
    /// Executes the call, on the thread that asked for it.
    ///
    /// It should watch the call's deadline and cancellation; the pipeline has no way to stop it. Whatever it returns is bounded
    /// before anybody sees it.
    ///
    /// # Errors
    ///
    /// [`BackendError`] where the tool gave no result. A tool that ran and failed is a reply with [`ReplyStatus::Failed`].
    fn invoke(&self, call: &ValidCall<'_>) -> Result<RawReply, BackendError>;

    /// What the call would do, in lines for the person who must approve it, or `None` where the tool can't tell. It changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`BackendError`] where the tool gave no preview.
    fn preview(&self, _call: &ValidCall<'_>) -> Result<Option<Vec<String>>, BackendError> {
        Ok(None)
    }

    /// Whether somebody may read the preview of this call, as far as the tool says so: it shows what the call is about. It changes
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`BackendError`] where the tool could not be asked, which is no yes.
    fn may_viewer_read(
        &self,
        _call: &ValidCall<'_>,
        _viewer: &Caller,
    ) -> Result<Option<bool>, BackendError> {
        Ok(None)
    }
}

/// How a call ended, in the tool's own judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyStatus {
    /// It did what was asked.
    Ok,
    /// It could not, and the text says why.
    Failed,
    /// It stopped because the call was cancelled.
    Cancelled,
}

/// What a backend returned: two buffers that nobody has looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawReply {
    /// How the call ended.
    pub status: ReplyStatus,
    /// The text for the model; it should be UTF-8.
    pub text: Bytes,
    /// Empty, or a JSON object `{"content": [MCP content blocks], "structured": any value, "artifacts": [...], "write": {"kind":
    /// "created" | "updated" | "deleted", "target": {"type": "note", "id": "7"}, "hook_failed": false}, "completeness": "complete" |
    /// "partial"}`, each member optional. With `content` the text is empty, and only a call that succeeded has a `write`.
    pub rest: Bytes,
}

impl RawReply {
    /// A reply of nothing but text.
    pub fn text(status: ReplyStatus, text: impl Into<Bytes>) -> Self {
        Self { status, text: text.into(), rest: Bytes::new() }
    }
}

/// Why a backend gave no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The tool's code panicked or broke its contract.
    ///
    /// Resolution: report it to the vendor, with message and location.
    #[error("the tool's code broke off{}: {:?}", at(.location.as_deref()), excerpt(.message, 2_000))]
    Fault {
        /// What the code said as it broke off. It is the plugin's text, for the operator only.
        message: String,
        /// Where in the code, as far as it is known.
        location: Option<String>,
    },
    /// The process that ran the tool's code ended, or was ended because it did not keep to its limits. The host goes on.
    ///
    /// Resolution: report it to the vendor, with what ended the process.
    #[error("the process of the tool's code ended: {}", excerpt(.how, 2_000))]
    Crashed {
        /// What ended it, for the operator only.
        how: String,
    },
    /// The code that would execute the tool can't be reached, such as a library that does not open.
    ///
    /// Resolution: the source says what is missing.
    #[error("the tool's code is out of reach")]
    Unavailable {
        /// Whose fault it is: the plugin's or the environment's.
        party: Party,
        /// Why.
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The call was cancelled before the tool had a result.
    ///
    /// Resolution: none; whoever asked for the call wanted that.
    #[error("the call was cancelled")]
    Cancelled,
    /// The tool had no result when the time was over.
    ///
    /// Resolution: allow more time, or ask the tool for less.
    #[error("the call ran out of time")]
    DeadlineExceeded,
}

fn at(location: Option<&str>) -> String {
    location.map(|location| format!(" at {}", excerpt(location, 200))).unwrap_or_default()
}
