//! Keeps the real standard input and output away from plugins.
//!
//! A library that is loaded into the process can print, and read, whenever it likes. The host therefore moves both streams to
//! descriptors that nobody else knows: what is printed to descriptor 1 goes to standard error, and descriptor 0 is at its end. The log has a
//! descriptor of its own, too, so that what is printed while a plugin is loaded can be told from it.

use std::{fs::File, io};

use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use thiserror::Error;

/// The lowest number for the private descriptors: below are the three standard streams.
const FIRST_PRIVATE: i32 = 3;

/// The streams of the process, under private descriptors.
#[derive(Debug)]
pub struct Stdio {
    /// What the program reads.
    pub input: File,
    /// What the program writes.
    pub output: File,
    /// Where it logs.
    pub log: File,
}

/// Why the streams could not be moved.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StdioError {
    /// The system refused another descriptor for a stream.
    ///
    /// Resolution: allow the process more open files.
    #[error("the standard streams can't be kept apart from plugins: no further descriptor")]
    Duplicate(#[source] io::Error),
    /// The file that takes the place of standard input can't be opened.
    ///
    /// Resolution: make /dev/null readable.
    #[error("the standard streams can't be kept apart from plugins: /dev/null is not readable")]
    NullDevice(#[source] io::Error),
}

impl Stdio {
    /// Takes both streams away from whatever else runs in the process. It belongs at the very start of `main`; what has been
    /// started before may still hold them.
    ///
    /// # Errors
    ///
    /// [`StdioError`] where the system gives no further descriptor, or has no `/dev/null`.
    pub fn take() -> Result<Self, StdioError> {
        let duplicate = |error: rustix::io::Errno| StdioError::Duplicate(error.into());
        let input = rustix::io::fcntl_dupfd_cloexec(stdin(), FIRST_PRIVATE).map_err(duplicate)?;
        let output = rustix::io::fcntl_dupfd_cloexec(stdout(), FIRST_PRIVATE).map_err(duplicate)?;
        let log = rustix::io::fcntl_dupfd_cloexec(stderr(), FIRST_PRIVATE).map_err(duplicate)?;
        let null = File::open("/dev/null").map_err(StdioError::NullDevice)?;
        dup2_stdin(null).map_err(duplicate)?;
        dup2_stdout(stderr()).map_err(duplicate)?;
        Ok(Self { input: input.into(), output: output.into(), log: log.into() })
    }
}
