//! How errors and warnings reach a person: on standard error, with their causes.

use std::{
    error::Error,
    io::{self, Write},
};

use crate::output::visible;

/// The error and its causes in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut chain = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        chain.push_str(": ");
        chain.push_str(&error.to_string());
        cause = error.source();
    }
    chain
}

/// Tells why a command failed, and what to do where that is not said already.
pub(crate) fn failure(error: &dyn Error, help: Option<&str>) {
    line("error", &chain(error));
    if let Some(help) = help {
        line("help", help);
    }
}

/// Tells that a command goes on only when a person has decided, and how.
pub(crate) fn waiting(text: &str, help: Option<&str>) {
    line("waiting", text);
    if let Some(help) = help {
        line("help", help);
    }
}

/// Tells what is wrong although the command goes on.
pub(crate) fn warning(text: &str) {
    line("warning", text);
}

/// Tells what somebody may want to know.
pub(crate) fn note(text: &str) {
    line("note", text);
}

fn line(kind: &str, text: &str) {
    // Nobody is left to tell where standard error can't be written to.
    let _ = writeln!(io::stderr(), "{kind}: {}", visible(text));
}
