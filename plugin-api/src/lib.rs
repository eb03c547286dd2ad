//! What the vendor of a Toolbay plugin depends on.
//!
//! A plugin goes through these steps; the numbers stand in the example below.
//!
//! 1. An **arguments** type: its JSON Schema is what the model reads and what the host validates against ([`arguments`]).
//! 2. A **tool**: a function, with what it declares about itself ([`tool`], [`ToolSpec`]). What it leaves out counts as the
//!    strictest: a write, off by default, approved by a person each time.
//! 3. The **export**: the library's note, which a host reads without running any code, and its root module ([`export_provider!`]).
//! 4. The host makes an instance from the provider's **configuration** ([`State`], [`ConfigError`]).
//! 5. It lists the tools; a [`Provider`] computes that list at run time.
//! 6. It **calls**, from any thread, with a [`Context`] that says who calls; the tool answers a [`Reply`] or a [`Failure`].
//! 7. It drops the instance. The library stays loaded until the process ends.
//!
//! Each of 4 to 7 runs inside one guard: a panic becomes a fault that the host records, and the next call works.
//!
//! ```
//! use toolbay_plugin_api::prelude::*;
//!
//! /// What to add. (1)
//! #[arguments]
//! struct Addition {
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     b: i64,
//! }
//!
//! /// Adds two numbers. (2)
//! #[tool(effect = ReadOnly, enabled)]
//! fn add(numbers: Addition) -> Result<Reply, Failure> {
//!     match numbers.a.checked_add(numbers.b) {
//!         Some(sum) => Ok(Reply::text(sum.to_string())),
//!         None => Err(Failure::new("the sum has more than 64 bits; use smaller numbers")),
//!     }
//! }
//!
//! export_provider! { id: "sums", tools: [add] } // (3)
//!
//! # fn main() -> Result<(), toolbay_plugin_api::wire::Fault> {
//! // What a host does, in a test of yours:
//! use toolbay_plugin_api::testing::Plugin;
//! let plugin = Plugin::create::<ExportedProvider>(&serde_json::json!({}))?; // (4)
//! assert_eq!(plugin.tools()?.len(), 1); // (5)
//! let answer = plugin.call("add", &serde_json::json!({ "a": 2, "b": 3 }))?; // (6)
//! assert_eq!(answer.text, "5");
//! drop(plugin); // (7)
//! # Ok(())
//! # }
//! ```

mod config;
mod configured;
mod context;
mod entry;
mod export;
mod guard;
mod instance;
mod logging;
mod note;
pub mod prelude;
mod provider;
mod reply;
mod spec;
pub mod testing;
mod tool;

pub use config::{ConfigError, NoConfig};
pub use configured::ConfiguredPath;
pub use context::Context;
pub use provider::{Arguments, Provider, ToolDefinition};
pub use reply::{Artifact, Block, Failure, Reply, Resource};
pub use spec::{DataClass, Effect, Egress, Kind, ToolSpec};
pub use tool::{State, Tool, ToolTable, Typed, TypedTool};
pub use toolbay_abi::wire::{self, Completeness, WriteKind};
pub use toolbay_macros::{arguments, config, output, tool};

pub use log;
pub use schemars;
pub use serde;
pub use serde_json;

/// What the macros expand to. It is no part of the interface: use the macros.
#[doc(hidden)]
pub mod macro_support {
    pub use crate::{
        entry::root,
        export::{check_id, check_tools},
        note::{Declared, record, record_len},
    };
    pub use toolbay_abi::{PluginRootRef, abi_stable as abi};
}

/// The vendors' guide, compiled so that it stays true.
#[cfg(doctest)]
#[doc = include_str!("../../docs/vendors.md")]
struct VendorsGuide;
