//! The program `toolbay`: everything is in the library.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use toolbay::{Exit, Stdio};

fn main() -> ExitCode {
    // A worker has neither a command line nor streams of its own.
    toolbay_loader::run_if_worker();
    // Before anything else, so that no code of a plugin ever sees the real output.
    let exit = match Stdio::take() {
        Ok(stdio) => toolbay::run(std::env::args_os(), stdio),
        Err(error) => {
            // Nobody is left to tell where standard error can't be written to.
            let _ = writeln!(io::stderr(), "error: {error}");
            Exit::Unavailable
        }
    };
    toolbay_loader::end_where_linker_is_held(exit as u8);
    exit.into()
}
