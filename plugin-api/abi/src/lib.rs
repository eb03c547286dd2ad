//! The binary interface between Toolbay hosts and plugins.
//!
//! Vendors use `toolbay-plugin-api`, which re-exports what they need; this crate is for hosts and for that crate alone.
//!
//! 1. A plugin carries a [`note`]: bytes in its file that name it and its tools, readable without running any of its code.
//! 2. It exports one [`PluginRoot`], the table of functions that a host calls. It is frozen: `abi_stable` refuses a plugin whose
//!    root has fewer functions than the host expects, so adding one would refuse every plugin that exists.
//! 3. The host hands [`HostServices`] to the plugin once, and a [`CallInput`] to each call.
//! 4. Whatever comes later arrives as an [`Extension`], asked for by id and version; [`extensions`] names them.
//! 5. Payloads are JSON bytes, whose shapes stand in [`wire`]. The text of a reply is the exception: it crosses as plain UTF-8, so
//!    that a host can bound it without parsing it.
//!
//! The types that cross are spelled out in [`shape`], and their digest stands in every note: a host compares two strings before it
//! opens a library.

pub mod extensions;
pub mod note;
mod root;
mod services;
pub mod shape;
pub mod wire;

pub use root::{
    CallInput, Extension, PluginReply, PluginRoot, PluginRootFields, PluginRootRef, reply_status,
};
pub use services::HostServices;

/// The `abi_stable` that both sides must be built with; its minor version is part of the interface.
pub use abi_stable;

/// The mangled name of the one symbol that a plugin exports, as `abi_stable` 0.11 derives it.
pub const ROOT_SYMBOL: &str = "_1as_0lib_1header_0root_bmodule_bloader";
