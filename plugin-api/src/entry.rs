//! The entries of the root module: each calls safe code inside the guard, and nothing else.

use toolbay_abi::{
    CallInput, Extension, HostServices, PluginReply, PluginRoot, PluginRootRef,
    abi_stable::{
        prefix_type::PrefixTypeTrait,
        std_types::{ROption, RResult, RSlice, RStr, RVec},
    },
    extensions::MAY_VIEWER_READ,
};

use crate::{guard::guard, instance, logging, provider::Provider};

/// The root module of the provider `P`.
pub fn root<P: Provider>() -> PluginRootRef {
    PluginRoot { create: create::<P>, tools, execute, preview, destroy, extension }
        .leak_into_prefix()
}

extern "C" fn create<P: Provider>(
    host: HostServices,
    configuration: RSlice<'_, u8>,
) -> RResult<u64, RVec<u8>> {
    guard(|| {
        logging::connect(host);
        instance::create::<P>(configuration.as_slice())
    })
}

extern "C" fn tools(handle: u64) -> RResult<RVec<u8>, RVec<u8>> {
    guard(|| instance::with(handle, |instance| instance.tools()).map(Into::into))
}

extern "C" fn execute(handle: u64, input: CallInput<'_>) -> RResult<PluginReply, RVec<u8>> {
    guard(|| instance::with(handle, |instance| instance.execute(input)))
}

extern "C" fn preview(handle: u64, input: CallInput<'_>) -> RResult<RVec<u8>, RVec<u8>> {
    guard(|| instance::with(handle, |instance| instance.preview(input)).map(Into::into))
}

extern "C" fn destroy(handle: u64) -> RResult<(), RVec<u8>> {
    guard(|| instance::destroy(handle))
}

extern "C" fn extension(id: RStr<'_>, version: u32) -> ROption<Extension> {
    match (id.as_str(), version) {
        MAY_VIEWER_READ => ROption::RSome(Extension { invoke: may_viewer_read }),
        _ => ROption::RNone,
    }
}

extern "C" fn may_viewer_read(
    handle: u64,
    question: RSlice<'_, u8>,
) -> RResult<RVec<u8>, RVec<u8>> {
    guard(|| {
        instance::with(handle, |instance| instance.may_viewer_read(question.as_slice()))
            .map(Into::into)
    })
}
