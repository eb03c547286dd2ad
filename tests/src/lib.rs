//! What the tests share: where the built libraries are, homes to put them into, and tests that run in several processes.

pub mod bay;
mod build;
pub mod bundle;
pub mod child;
mod home;
pub mod processes;
mod program;
mod transcript;
pub mod verdicts;
pub mod violent;

pub use build::{c_library, corpus_binary, host_binary, library, python, stripped, xtask_binary};
pub use home::{Home, call, nobody, refreshed_beside_a_good_plugin};
pub use program::Ended;
pub use toolbay_corpus::{changed_note_define, note_define};
pub use transcript::Transcript;
