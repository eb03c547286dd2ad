//! Keeps notes: Markdown files in one folder, which models list and read, and write where a person approves.
//!
//! A writer takes these steps, each of which can refuse with words for the model:
//!
//! 1. Its arguments become an order: a name and a text that are within the rules (`name`, `order`).
//! 2. The folder is opened, so that nothing below is reached by a path, and locked, so that one writes at a time (`folder`, `locked`).
//! 3. The order and what is there now become a change: what stands in the note before and after (`change`).
//! 4. The change is carried out: the note is the old one or the new one, and never half of it.
//!
//! A preview goes the same way up to the change, and shows it (`preview`). So it says what would be done, and why it would fail. Readers need
//! a name and the folder (`list`, `read`). Without a folder in its [`Config`] the provider offers no tools.

mod append;
mod change;
mod config;
mod create;
mod delete;
mod folder;
mod list;
mod locked;
mod name;
mod order;
mod preview;
mod provider;
mod read;
mod text;

pub use config::Config;
pub use provider::Notes;

toolbay_plugin_api::export_provider! {
    id: "notes",
    state: Notes,
    tools: [
        list::notes_list,
        read::notes_read,
        create::notes_create,
        append::notes_append,
        delete::notes_delete,
    ],
}
