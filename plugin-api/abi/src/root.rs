//! The frozen table of functions that a plugin exports.
//!
//! Each entry ends with its contract: `[thread]`, `[state]`, `[ownership]`.

use abi_stable::{
    StableAbi, declare_root_module_statics,
    library::RootModule,
    package_version_strings,
    sabi_types::VersionStrings,
    std_types::{ROption, RResult, RSlice, RStr, RVec},
};

use crate::HostServices;

/// What a call ended with, as [`PluginReply::status`] says it.
pub mod reply_status {
    /// The tool did what it was asked.
    pub const OK: u32 = 0;
    /// The tool refused or failed, and `text` says why in words meant for the model.
    pub const FAILED: u32 = 1;
    /// The tool stopped because the call was cancelled.
    pub const CANCELLED: u32 = 2;
}

/// The root module: the only thing that a plugin exports.
///
/// Every `RErr` holds a [`wire::Fault`](crate::wire::Fault) as JSON. No entry unwinds: the plugin's guard turns a panic into a fault.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginRootRef, prefix_fields = PluginRootFields)))]
pub struct PluginRoot {
    /// Makes an instance of the provider from its configuration, a JSON document (`null` where none was given), and returns its handle.
    ///
    /// `[any-thread] [first; may be called again for a second instance] [configuration: host's, borrowed; handle: the host passes it to destroy once]`
    pub create: extern "C" fn(HostServices, RSlice<'_, u8>) -> RResult<u64, RVec<u8>>,

    /// Lists the tools that the instance offers now: a JSON array of [`wire::Definition`](crate::wire::Definition).
    ///
    /// `[any-thread] [between create and destroy] [returns: plugin's buffer, freed through its own vtable]`
    pub tools: extern "C" fn(u64) -> RResult<RVec<u8>, RVec<u8>>,

    /// Runs one tool.
    ///
    /// `[any-thread, concurrently] [between create and destroy] [input: host's, borrowed until it returns; reply: plugin's buffers]`
    pub execute: extern "C" fn(u64, CallInput<'_>) -> RResult<PluginReply, RVec<u8>>,

    /// Describes what a call would do, without doing it: a JSON array of lines, or `null` where the tool has no preview.
    ///
    /// `[any-thread, concurrently] [between create and destroy] [as execute; no side effects]`
    pub preview: extern "C" fn(u64, CallInput<'_>) -> RResult<RVec<u8>, RVec<u8>>,

    /// Forgets an instance; calls that are still running finish first, and the last of them drops it.
    ///
    /// `[any-thread] [once per handle] [the handle is dead afterwards]`
    pub destroy: extern "C" fn(u64) -> RResult<(), RVec<u8>>,

    /// Looks an extension up by id and version.
    ///
    /// `[any-thread] [always] [id: host's, borrowed; the result lives as long as the process]`
    #[sabi(last_prefix_field)]
    pub extension: extern "C" fn(RStr<'_>, u32) -> ROption<Extension>,
}

impl RootModule for PluginRootRef {
    declare_root_module_statics! {PluginRootRef}

    const BASE_NAME: &'static str = "toolbay_plugin";
    const NAME: &'static str = "toolbay plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

/// What a call receives.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct CallInput<'a> {
    /// The tool's name, as listed.
    pub tool: RStr<'a>,
    /// The arguments: the caller's JSON text, validated and otherwise untouched.
    pub arguments: RStr<'a>,
    /// Who calls, as JSON ([`wire::Context`](crate::wire::Context)).
    pub context: RSlice<'a, u8>,
    /// The agent's configuration of this tool as JSON; empty where there is none.
    pub tool_config: RSlice<'a, u8>,
    /// The host's number for this call, for `cancelled` and `progress`; 0 where nobody can cancel and nobody listens.
    pub call: u64,
    /// Milliseconds that are left for the call; 0 where there is no deadline.
    pub remaining_ms: u64,
}

/// What a call returns.
#[repr(C)]
#[derive(StableAbi, Debug)]
pub struct PluginReply {
    /// One of [`reply_status`]; a host treats any other value as a fault.
    pub status: u32,
    /// The text for the model, in UTF-8; a host checks it.
    pub text: RVec<u8>,
    /// Empty, or a [`wire::ReplyRest`](crate::wire::ReplyRest) as JSON. Where it has content blocks, `text` is empty.
    pub rest: RVec<u8>,
}

/// A function that either side offers beyond the frozen ones: bytes in, bytes out.
///
/// `[any-thread] [as its extension's documentation says] [payload: the caller's, borrowed; result: the callee's buffer]`
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct Extension {
    /// Takes the instance's handle (0 where none is meant) and a JSON payload.
    pub invoke: extern "C" fn(u64, RSlice<'_, u8>) -> RResult<RVec<u8>, RVec<u8>>,
}
