//! The Model Context Protocol: what clients see of the tools, in both of its eras.

pub(crate) mod content;
mod identity;
mod progress;
mod run;
mod tool;

mod server;
mod session;

pub use self::{identity::Identity, server::McpServer, session::ServeError};
