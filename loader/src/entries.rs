//! The functions of a running plugin, wherever it runs: in this process, or in a worker. Above them nobody can tell.

use std::{sync::Arc, time::Instant};

use bytes::Bytes;
use toolbay_abi::wire::Fault;
use toolbay_core::{CancelToken, ProgressSink};

use crate::encode;

/// The functions of one instance of a provider. Dropping it ends the instance.
pub(crate) trait Entries: Send + Sync {
    /// Runs one tool.
    fn execute(&self, call: &EntryCall<'_>) -> Result<EntryReply, Broken>;

    /// What a call would do: a JSON array of lines, or `null`.
    fn preview(&self, call: &EntryCall<'_>) -> Result<Bytes, Broken>;

    /// What an extension answers to a payload; `None` where the plugin does not have it.
    fn extension(&self, id: &str, version: u32, payload: &[u8]) -> Result<Option<Bytes>, Broken>;

    /// Why nothing answers any more; `None` while it does.
    fn ended(&self) -> Option<Crash> {
        None
    }

    /// Whether its code runs in this process, where nobody can end it.
    fn is_in_host(&self) -> bool {
        false
    }
}

/// What a function that is about a call receives.
#[derive(Clone, Copy)]
pub(crate) struct EntryCall<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a str,
    /// Who calls, as JSON.
    pub(crate) context: &'a [u8],
    /// The agent's configuration of the tool as JSON; empty where there is none.
    pub(crate) tool_config: &'a [u8],
    pub(crate) cancel: Option<&'a CancelToken>,
    pub(crate) progress: Option<&'a Arc<dyn ProgressSink>>,
    pub(crate) deadline: Option<Instant>,
}

impl EntryCall<'_> {
    /// What is left of the time, as it crosses; 0 where there is no deadline.
    pub(crate) fn remaining_ms(&self) -> u64 {
        self.deadline.map_or(0, |deadline| {
            encode::milliseconds(deadline.saturating_duration_since(Instant::now()))
        })
    }
}

/// What a tool returned, before anybody has looked at it.
#[derive(Debug)]
pub(crate) struct EntryReply {
    pub(crate) status: u32,
    pub(crate) text: Bytes,
    pub(crate) rest: Bytes,
}

/// Why a function gave no result.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The plugin's code broke off, and its guard says why.
    Fault(Fault),
    /// Its process ended.
    Crashed(Crash),
    /// It did not come back in time.
    DeadlineExceeded,
    /// Nobody wanted the result any more.
    Cancelled,
}

/// How the process of a plugin ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crash {
    /// In words, such as `killed by signal 11 (SIGSEGV)`.
    pub(crate) how: String,
    /// Whether the host ended it, because the plugin did not come back in time.
    pub(crate) hung: bool,
}
