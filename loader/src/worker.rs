//! A plugin in a process of its own, which the host can end.
//!
//! The worker is a program that runs [`run_if_worker`] first of all: the host program itself, or another. It loads the same library by the
//! same code as the host would, and speaks with the host through a socket that the plugin does not know of; what the plugin prints is
//! captured. Nothing that a worker says is believed more than what a plugin says.
//!
//! On the host's side, [`Worker`] is one plugin's functions; behind it, `client` starts the process, and matches answers with calls. On the
//! worker's side, `served` answers.

mod client;
mod ending;
mod frame;
mod given;
mod latch;
mod message;
mod pending;
mod process;
mod program;
mod reader;
mod sandbox;
mod served;
mod setup;

pub(crate) use client::{MappedThere, Worker};
pub use program::WorkerProgram;
pub(crate) use sandbox::{Held, Reachable, Sandbox, held, is_supported as is_sandbox_supported};
pub use served::run_if_worker;
