//! The instances that the host has made: handles outside, providers inside.
//!
//! Only a number crosses. A host that passes one that is not alive gets a fault, not memory that is gone.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use serde_json::value::RawValue;
use toolbay_abi::{
    CallInput, PluginReply,
    wire::{Fault, ViewerQuestion},
};

use crate::{
    config,
    context::Context,
    logging,
    provider::{Arguments, Provider, ToolDefinition},
};

/// A provider of any type, as the entries use it.
pub(crate) trait Instance: Send + Sync {
    fn tools(&self) -> Result<Vec<u8>, Fault>;
    fn execute(&self, input: CallInput<'_>) -> Result<PluginReply, Fault>;
    fn preview(&self, input: CallInput<'_>) -> Result<Vec<u8>, Fault>;
    fn may_viewer_read(&self, question: &[u8]) -> Result<Vec<u8>, Fault>;
}

impl<P: Provider> Instance for P {
    fn tools(&self) -> Result<Vec<u8>, Fault> {
        let definitions: Vec<_> = Provider::tools(self)
            .into_iter()
            .map(ToolDefinition::encode)
            .collect::<Result<_, _>>()?;
        to_json(&definitions)
    }

    fn execute(&self, input: CallInput<'_>) -> Result<PluginReply, Fault> {
        let context = Context::new(logging::host(), input);
        let arguments = Arguments::new(input.arguments.as_str());
        match Provider::execute(self, input.tool.as_str(), &arguments, &context) {
            Ok(reply) => reply.encode(),
            Err(failure) => Ok(failure.encode(input.tool.as_str())),
        }
    }

    fn preview(&self, input: CallInput<'_>) -> Result<Vec<u8>, Fault> {
        let context = Context::new(logging::host(), input);
        let arguments = Arguments::new(input.arguments.as_str());
        to_json(&Provider::preview(self, input.tool.as_str(), &arguments, &context))
    }

    fn may_viewer_read(&self, question: &[u8]) -> Result<Vec<u8>, Fault> {
        let question: ViewerQuestion<'_> = serde_json::from_slice(question).map_err(|error| {
            Fault::Contract { problem: format!("expected a question about a viewer: {error}") }
        })?;
        let tool_config = question.tool_config.map_or("", RawValue::get);
        let viewer = Context::of_viewer(logging::host(), question.viewer, tool_config.as_bytes());
        let arguments = Arguments::new(question.arguments.get());
        to_json(&Provider::may_viewer_read(self, &question.tool, &arguments, &viewer))
    }
}

fn to_json(value: &impl serde::Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(value).map_err(|error| Fault::Provider {
        problem: format!("the answer can't be written: {error}"),
    })
}

/// Slots by handle; a handle is its slot's place plus one, and a slot is never used again. Calls read it without a lock, and what they
/// have read stays alive while they use it.
static INSTANCES: ArcSwapOption<Slots> = ArcSwapOption::const_empty();

type Slots = Vec<Option<Arc<dyn Instance>>>;

/// Makes an instance and returns its handle.
pub(crate) fn create<P: Provider>(configuration: &[u8]) -> Result<u64, Fault> {
    let provider: Arc<dyn Instance> = Arc::new(P::create(config::parse(configuration)?)?);
    let before = change(|slots| slots.push(Some(Arc::clone(&provider))));
    Ok(before.len() as u64 + 1)
}

/// Does something with the instance of a handle, which stays alive meanwhile.
pub(crate) fn with<T>(
    handle: u64,
    work: impl FnOnce(&dyn Instance) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let slots = INSTANCES.load();
    let instance =
        slots.as_ref().zip(slot(handle)).and_then(|(slots, place)| slots.get(place)?.as_deref());
    match instance {
        Some(instance) => work(instance),
        None => Err(not_alive(handle)),
    }
}

/// Forgets a handle. The provider is dropped here, or by the last of the calls that run now.
pub(crate) fn destroy(handle: u64) -> Result<(), Fault> {
    let place = slot(handle).ok_or_else(|| not_alive(handle))?;
    let before = change(|slots| {
        if let Some(slot) = slots.get_mut(place) {
            *slot = None;
        }
    });
    match before.get(place) {
        Some(Some(_)) => Ok(()),
        _ => Err(not_alive(handle)),
    }
}

/// Replaces the slots by changed ones, and returns what they were.
fn change(change: impl Fn(&mut Slots)) -> Arc<Slots> {
    let before = INSTANCES.rcu(|slots| {
        let mut slots = slots.as_deref().cloned().unwrap_or_default();
        change(&mut slots);
        Some(Arc::new(slots))
    });
    before.unwrap_or_default()
}

fn slot(handle: u64) -> Option<usize> {
    usize::try_from(handle.checked_sub(1)?).ok()
}

fn not_alive(handle: u64) -> Fault {
    Fault::Contract {
        problem: format!(
            "expected the handle of an instance that create made and destroy did not end, found {handle}"
        ),
    }
}
