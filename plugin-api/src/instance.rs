//! The instances that the host has made: handles outside, providers inside.
//!
//! Only a number crosses. A host that passes one that is not alive gets a fault, not memory that is gone.

use std::sync::{Arc, PoisonError, RwLock};

use toolbay_abi::{CallInput, PluginReply, wire::Fault};

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
        let arguments = Arguments::new(input.arguments.as_slice());
        match Provider::execute(self, input.tool.as_str(), &arguments, &context) {
            Ok(reply) => reply.encode(),
            Err(failure) => Ok(failure.encode(input.tool.as_str())),
        }
    }

    fn preview(&self, input: CallInput<'_>) -> Result<Vec<u8>, Fault> {
        let context = Context::new(logging::host(), input);
        let arguments = Arguments::new(input.arguments.as_slice());
        to_json(&Provider::preview(self, input.tool.as_str(), &arguments, &context))
    }
}

fn to_json(value: &impl serde::Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(value).map_err(|error| Fault::Provider {
        problem: format!("the answer can't be written: {error}"),
    })
}

/// Slots by handle; a handle is its slot's place plus one, and a slot is never used again.
static INSTANCES: RwLock<Vec<Option<Arc<dyn Instance>>>> = RwLock::new(Vec::new());

/// Makes an instance and returns its handle.
pub(crate) fn create<P: Provider>(configuration: &[u8]) -> Result<u64, Fault> {
    let provider = P::create(config::parse(configuration)?)?;
    let mut instances = INSTANCES.write().unwrap_or_else(PoisonError::into_inner);
    instances.push(Some(Arc::new(provider)));
    Ok(instances.len() as u64)
}

/// The instance of a handle. The caller's share keeps it alive while a call runs.
pub(crate) fn of(handle: u64) -> Result<Arc<dyn Instance>, Fault> {
    let instances = INSTANCES.read().unwrap_or_else(PoisonError::into_inner);
    slot(handle).and_then(|place| instances.get(place)?.clone()).ok_or_else(|| not_alive(handle))
}

/// Forgets a handle. The provider is dropped here, or by the last call that still uses it.
pub(crate) fn destroy(handle: u64) -> Result<(), Fault> {
    let mut instances = INSTANCES.write().unwrap_or_else(PoisonError::into_inner);
    let provider = slot(handle)
        .and_then(|place| instances.get_mut(place)?.take())
        .ok_or_else(|| not_alive(handle))?;
    // Its destructor is the vendor's code and may do anything, also make an instance: not while the lock is held.
    drop(instances);
    drop(provider);
    Ok(())
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
