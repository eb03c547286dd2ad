//! What a host offers to a plugin.

use abi_stable::{
    StableAbi,
    std_types::{ROption, RSlice, RStr},
};

use crate::Extension;

/// The host's functions, handed over once at `create`. They stay valid for the life of the process, and none of them unwinds.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct HostServices {
    /// The host's number for this provider, passed back with each record.
    pub provider: u64,

    /// The most verbose level that the host wants from this provider: 0 off, 1 error, 2 warn, 3 info, 4 debug, 5 trace.
    ///
    /// `[any-thread] [always]`
    pub log_level: extern "C" fn(u64) -> u32,

    /// Logs one record: provider, level as above, target, message.
    ///
    /// `[any-thread] [always] [strings: plugin's, borrowed until it returns]`
    pub log: extern "C" fn(u64, u32, RStr<'_>, RStr<'_>),

    /// Whether the call of this number was cancelled. True for a call that is over.
    ///
    /// `[any-thread] [always]`
    pub cancelled: extern "C" fn(u64) -> bool,

    /// Reports progress of the call of this number: a [`wire::Progress`](crate::wire::Progress) as JSON. Ignored for a call that is over.
    ///
    /// `[any-thread] [always] [payload: plugin's, borrowed until it returns]`
    pub progress: extern "C" fn(u64, RSlice<'_, u8>),

    /// Looks an extension of the host up by id and version.
    ///
    /// `[any-thread] [always] [id: plugin's, borrowed; the result lives as long as the process]`
    pub extension: extern "C" fn(RStr<'_>, u32) -> ROption<Extension>,
}
