//! The reference Toolbay host: the command line and the MCP server of the program `toolbay`.
//!
//! 1. [`Stdio::take`] moves standard input and output to descriptors that no plugin knows. It is the first thing that `main` does.
//! 2. [`run`] reads the command line, then the [`HostConfig`] of the home folder, and does what the command says. The loader's
//!    [`Toolbay`](toolbay_loader::Toolbay) takes plugins and calls their tools; this crate only asks it.
//! 3. What people and programs read goes to standard output, and everything else to standard error: a client of
//!    `toolbay serve --stdio` sees nothing but its protocol.
//! 4. A session of `toolbay serve` is a [`McpServer`], which other programs can serve over any pair of streams. It works for one
//!    [`Identity`], and follows what is decided about its tools and its agent while it runs.
//! 5. The [`Exit`] code tells a script who can do something about a failure.
//!
//! ```no_run
//! use toolbay::{Exit, Stdio};
//!
//! let exit = match Stdio::take() {
//!     Ok(stdio) => toolbay::run(std::env::args_os(), stdio),
//!     Err(_) => Exit::Unavailable,
//! };
//! let code: std::process::ExitCode = exit.into();
//! ```

mod diff;
mod exit;
mod json_text;
mod nearest;
mod output;
mod program;
mod report;
mod stdio;

mod cli;

mod config;
mod home;

mod arguments;
mod caller;

mod mcp;

mod commands;

#[cfg(test)]
mod sample;

pub use crate::{
    commands::run,
    config::{ConfigError, FILE_NAME as CONFIG_FILE_NAME, HostConfig, People},
    exit::Exit,
    mcp::{Identity, McpServer, ServeError},
    stdio::{Stdio, StdioError},
};
