//! What the tests share: where the built libraries are, homes to put them into, and tests that run in several processes.

pub mod bay;
mod build;
pub mod bundle;
pub mod child;
mod home;
mod note;
pub mod processes;
mod program;
mod transcript;
pub mod violent;

pub use build::{
    c_library, changed_note_define, host_binary, library, note_define, python, stripped,
    xtask_binary,
};
pub use home::{Home, call, nobody, refreshed_beside_a_good_plugin};
pub use note::change_note;
pub use program::Ended;
pub use transcript::Transcript;
