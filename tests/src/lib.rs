//! What the tests share: where the built libraries are, and homes to put them into.

mod build;
mod home;
mod transcript;

pub use build::{c_library, host_binary, library, note_define, python};
pub use home::{Home, call, nobody};
pub use transcript::Transcript;
