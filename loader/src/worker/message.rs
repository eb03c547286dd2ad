//! What host and worker say to each other.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use toolbay_core::Progress;

use super::sandbox::Sandbox;
use crate::{deadlines::LoadPhase, not_opened::NotOpened};

/// The version of these messages: a host and a worker of one must be of the same.
pub(super) const PROTOCOL: u32 = 1;

/// The number of the one answer that nobody has asked for.
pub(super) const HELLO: u64 = 0;

/// What a host says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker<'a> {
    /// To be answered under the same number.
    Request {
        number: u64,
        #[serde(borrow)]
        request: Request<'a>,
    },
    /// Nobody wants the answer of this number any more.
    Cancel { number: u64 },
    /// End the provider, and then the process.
    Stop,
}

/// What a host asks for. The first three come once each, in this order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request<'a> {
    Open(Open<'a>),
    Create {
        configuration: Option<&'a str>,
    },
    Tools,
    Execute(#[serde(borrow)] Call<'a>),
    Preview(#[serde(borrow)] Call<'a>),
    Extension {
        id: &'a str,
        version: u32,
        #[serde(with = "serde_bytes")]
        payload: &'a [u8],
    },
}

/// Which library to open.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Open<'a> {
    pub(super) provider: &'a str,
    pub(super) library: HashedFile,
    /// The libraries that travel with it.
    pub(super) companions: Vec<HashedFile>,
    /// What is given up before.
    pub(super) sandbox: Sandbox,
    /// The most detailed level of log records that anybody wants, as `log` numbers them.
    pub(super) log_level: u8,
}

/// A file with the hash of what the host has verified.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HashedFile {
    /// Its path, which need not be text.
    #[serde(with = "serde_bytes")]
    pub(super) path: Vec<u8>,
    pub(super) hash: String,
}

/// A call.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Call<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a str,
    #[serde(with = "serde_bytes")]
    pub(super) context: &'a [u8],
    #[serde(with = "serde_bytes")]
    pub(super) tool_config: &'a [u8],
    pub(super) remaining_ms: u64,
    /// Whether somebody listens to its progress.
    pub(super) listens: bool,
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromWorker<'a> {
    /// The answer of a number. The first message is [`Answer::Hello`], whose form is the same in every version.
    Answer {
        number: u64,
        #[serde(borrow)]
        answer: Answer<'a>,
    },
    /// A phase of loading begins.
    Phase(LoadPhase),
    /// How far the call of this number is.
    Progress { number: u64, done: f64, total: Option<f64>, message: Option<Cow<'a, str>> },
    /// The plugin logs something.
    Log { level: u8, target: Cow<'a, str>, message: Cow<'a, str> },
}

/// What a worker answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer<'a> {
    Hello {
        protocol: u32,
    },
    Opened {
        #[serde(with = "serde_bytes")]
        path: &'a [u8],
        device: &'a str,
        inode: u64,
    },
    NotOpened(NotOpened),
    Created,
    Replied {
        status: u32,
        #[serde(with = "serde_bytes")]
        text: &'a [u8],
        #[serde(with = "serde_bytes")]
        rest: &'a [u8],
    },
    /// Bytes that the plugin gave; `None` where it does not have what was asked for.
    Given(#[serde(with = "serde_bytes")] Option<&'a [u8]>),
    /// Why there is none: a fault as JSON.
    Fault(#[serde(with = "serde_bytes")] &'a [u8]),
}

impl FromWorker<'_> {
    /// A progress as a message.
    pub(super) fn progress(number: u64, progress: Progress) -> Self {
        let Progress { done, total, message } = progress;
        Self::Progress { number, done, total, message: message.map(Cow::Owned) }
    }
}
