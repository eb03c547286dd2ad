//! The Model Context Protocol: what clients see of the tools, in both of its eras.

pub(crate) mod content;
mod progress;
mod tool;

mod server;
mod session;

pub use self::{server::McpServer, session::ServeError};
