//! Searches and reads source code under configured folders.
//!
//! A call takes these steps:
//!
//! 1. The arguments become a query: a compiled pattern, file patterns and caps (`search`).
//! 2. The path in them becomes a place below a root (`roots`).
//! 3. A walk opens the files from there on, one folder's descriptor at a time, and no link is followed (`folder`, `walk`).
//! 4. What is found is collected within the caps and told to the model, with what was left out.
//!
//! Without a root in its [`Config`] the provider offers no tools.

mod config;
mod folder;
mod provider;
mod read;
mod roots;
mod search;
mod text;
mod walk;

pub use config::{Config, Limits};
pub use provider::Code;

toolbay_plugin_api::export_provider! {
    id: "code",
    state: Code,
    tools: [search::code_search, read::code_read],
}
