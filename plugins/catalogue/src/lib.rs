//! Full-text search over a catalogue in a CSV or JSON-lines file.
//!
//! The provider is made in these steps, each of which can refuse its [`Config`] with the place that is wrong:
//!
//! 1. The file is read, within limits and without trusting what it is (`file`).
//! 2. Its text becomes a table; a faulty row is logged and left out (`table`).
//! 3. The columns get their roles: id, title, searched (`columns`).
//! 4. The searched columns go into an SQLite full-text index in memory (`fold`, `index`, `vocabulary`), and stay as they are.
//!
//! A search looks for its words as they are, then for what begins with them, then for what is spelt nearly like them (`search`).
//! Without a file the provider offers no tools.

mod columns;
mod config;
mod entries;
mod entry;
mod file;
mod fold;
mod index;
mod provider;
mod search;
mod table;
mod text;
mod vocabulary;

pub use config::{Config, Limits};
pub use provider::Catalogue;

toolbay_plugin_api::export_provider! {
    id: "catalogue",
    state: Catalogue,
    tools: [search::catalogue_search, entry::catalogue_entry],
}
