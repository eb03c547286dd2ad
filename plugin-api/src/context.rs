//! What a call knows of its caller.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;
use toolbay_abi::{
    CallInput, HostServices,
    abi_stable::std_types::RSlice,
    wire::{Actor, Attachment, Context as WireContext, Progress},
};

use crate::config::{self, ConfigError};

/// What a call knows of its caller, and its way back to the host while it runs.
///
/// Nothing here is ambient: a tool that asks who calls asks this value, and gets what the host said of this very call.
#[derive(Debug)]
pub struct Context<'a> {
    host: Option<&'a HostServices>,
    input: CallInput<'a>,
    deadline: Option<Instant>,
    caller: OnceLock<WireContext<'a>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(host: Option<&'a HostServices>, input: CallInput<'a>) -> Self {
        let deadline = match input.remaining_ms {
            0 => None,
            left => Instant::now().checked_add(Duration::from_millis(left)),
        };
        Self { host, input, deadline, caller: OnceLock::new() }
    }

    /// What a tool knows of somebody who is no caller: there is no call that could be cancelled or get on.
    pub(crate) fn of_viewer(
        host: Option<&'a HostServices>,
        viewer: WireContext<'a>,
        tool_config: &'a [u8],
    ) -> Self {
        let input = CallInput {
            tool: "".into(),
            arguments: "".into(),
            context: RSlice::EMPTY,
            tool_config: tool_config.into(),
            call: 0,
            remaining_ms: 0,
        };
        Self { host, input, deadline: None, caller: OnceLock::from(viewer) }
    }

    /// Who calls. It is read when it is first asked for: most tools never ask.
    fn caller(&self) -> &WireContext<'a> {
        self.caller.get_or_init(|| {
            serde_json::from_slice(self.input.context.as_slice()).unwrap_or_else(|error| {
                log::warn!("the caller can't be read and counts as anonymous: {error}");
                WireContext::default()
            })
        })
    }

    /// On whose authority the call runs. An actor that can't be read is anonymous.
    pub fn actor(&self) -> &Actor<'a> {
        &self.caller().actor
    }

    /// The agent's name, where an agent calls.
    pub fn agent(&self) -> Option<&str> {
        self.caller().agent.as_deref()
    }

    /// The run that the call belongs to, where there is one.
    pub fn run_id(&self) -> Option<&str> {
        self.caller().run.as_deref()
    }

    /// What the user attached to the conversation.
    pub fn attachments(&self) -> &[Attachment<'a>] {
        &self.caller().attachments
    }

    /// The agent's configuration of this tool, or `None` where it has none.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with the JSON path of what does not fit `T`.
    pub fn tool_config<T: DeserializeOwned>(&self) -> Result<Option<T>, ConfigError> {
        match self.input.tool_config.as_slice() {
            [] => Ok(None),
            json => config::parse(json).map(Some),
        }
    }

    /// When the caller stops waiting, where it said so.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether to stop: the call was cancelled, or its deadline has passed. Ask in loops, and answer
    /// [`Failure::cancelled`](crate::Failure::cancelled).
    pub fn is_cancelled(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
            || (self.input.call != 0
                && self.host.is_some_and(|host| (host.cancelled)(self.input.call)))
    }

    /// Tells whoever waits how far the call is. `done` never goes back; `total` is what it will be at the end.
    pub fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let Some(host) = self.host.filter(|_| self.input.call != 0) else { return };
        let progress = Progress { done, total, message: message.map(str::to_owned) };
        if let Ok(json) = serde_json::to_vec(&progress) {
            (host.progress)(self.input.call, json.as_slice().into());
        }
    }
}
