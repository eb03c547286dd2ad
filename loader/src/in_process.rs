//! A plugin that runs in this process: its functions are called as they are.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;
use toolbay_abi::{
    CallInput, PluginReply, PluginRootRef,
    abi_stable::std_types::{ROption, RResult, RVec},
    wire::Fault,
};
use toolbay_core::ProviderId;

use crate::{
    entries::{Broken, Entries, EntryCall, EntryReply},
    instance::said,
    journal::{Entered, Journal, Running},
    services::{self, CallNumber},
    store::ContentHash,
};

/// An instance of a provider whose library is open here. Dropping it ends the instance; the library stays.
pub(crate) struct InProcess {
    root: PluginRootRef,
    handle: u64,
    journaled: Option<Journaled>,
}

/// Where to write down that a plugin's code runs. A worker's is not: its host sees how it ends.
#[derive(Debug, Clone)]
pub(crate) struct Journaled {
    pub(crate) journal: Arc<Journal>,
    pub(crate) provider: ProviderId,
    pub(crate) content: ContentHash,
}

impl Journaled {
    /// Says that the plugin's code is about to run.
    pub(crate) fn enter(&self, running: Running) -> Entered<'_> {
        self.journal.enter(&self.provider, self.content, running)
    }
}

impl InProcess {
    /// Makes an instance of the provider of an open library. Whoever calls this says before that its code is about to run.
    pub(crate) fn create(
        root: PluginRootRef,
        provider: &ProviderId,
        configuration: Option<&RawValue>,
        journaled: Option<Journaled>,
    ) -> Result<Self, Fault> {
        let services = services::services_for(provider);
        let configuration = configuration.map_or("null", RawValue::get);
        let handle = settle(root.create()(services, configuration.as_bytes().into()))?;
        Ok(Self { root, handle, journaled })
    }

    /// The tools that it lists now, a JSON array of definitions. Whoever calls this says before that its code is about to run.
    pub(crate) fn tools(&self) -> Result<Bytes, Broken> {
        settle(self.root.tools()(self.handle)).map(borrowed).map_err(Broken::Fault)
    }

    fn enter(&self, running: Running) -> Option<Entered<'_>> {
        self.journaled.as_ref().map(|journaled| journaled.enter(running))
    }

    fn with_input<T>(
        call: &EntryCall<'_>,
        entry: impl FnOnce(CallInput<'_>) -> RResult<T, RVec<u8>>,
    ) -> Result<T, Broken> {
        // Most calls are neither cancelled nor listened to, and need no number.
        let number = (call.cancel.is_some() || call.progress.is_some())
            .then(|| CallNumber::new(call.cancel.cloned(), call.progress.cloned()));
        let input = CallInput {
            tool: call.tool.into(),
            arguments: call.arguments.into(),
            context: call.context.into(),
            tool_config: call.tool_config.into(),
            call: number.as_ref().map_or(CallNumber::NONE, CallNumber::get),
            remaining_ms: call.remaining_ms(),
        };
        settle(entry(input)).map_err(Broken::Fault)
    }
}

impl Entries for InProcess {
    fn execute(&self, call: &EntryCall<'_>) -> Result<EntryReply, Broken> {
        let _entered = self.enter(Running::Call);
        let reply = Self::with_input(call, |input| self.root.execute()(self.handle, input))?;
        let PluginReply { status, text, rest } = reply;
        Ok(EntryReply { status, text: borrowed(text), rest: borrowed(rest) })
    }

    fn preview(&self, call: &EntryCall<'_>) -> Result<Bytes, Broken> {
        let _entered = self.enter(Running::Call);
        Self::with_input(call, |input| self.root.preview()(self.handle, input)).map(borrowed)
    }

    fn extension(&self, id: &str, version: u32, payload: &[u8]) -> Result<Option<Bytes>, Broken> {
        let _entered = self.enter(Running::Call);
        let ROption::RSome(extension) = self.root.extension()(id.into(), version) else {
            return Ok(None);
        };
        let answer = settle((extension.invoke)(self.handle, payload.into()));
        answer.map(|answer| Some(borrowed(answer))).map_err(Broken::Fault)
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        let _entered = self.enter(Running::Stop);
        if let Err(fault) = settle(self.root.destroy()(self.handle)) {
            log::warn!("a provider's instance ended with a fault: {}", said(&fault));
        }
    }
}

/// The plugin's buffer as it is: copying it out would cost more than the call of a small tool.
fn borrowed(buffer: RVec<u8>) -> Bytes {
    if buffer.is_empty() { Bytes::new() } else { Bytes::from_owner(buffer) }
}

fn settle<T>(result: RResult<T, RVec<u8>>) -> Result<T, Fault> {
    result.into_result().map_err(|json| {
        serde_json::from_slice(&json).unwrap_or_else(|error| Fault::Contract {
            problem: format!("expected a fault as JSON: {error}"),
        })
    })
}
