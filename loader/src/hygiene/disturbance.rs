//! What of a process was changed while a plugin was loaded in it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::signal_name::signal_name;

/// Something of the host's process that is no longer as it was before a plugin was loaded in it.
///
/// It is what can be seen from outside: another thread of the host may have changed it in the same moments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Disturbance {
    /// What it is.
    #[serde(flatten)]
    pub change: Change,
    /// Whether it was put back as it was.
    pub restored: bool,
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// What happens at a signal.
    SignalHandler {
        /// Its number.
        signal: i32,
        /// What happened before.
        before: Handler,
        /// What happens now.
        after: Handler,
    },
    /// Which signals are kept from the thread that loads.
    BlockedSignals {
        /// Those that were let through before.
        blocked: Vec<i32>,
        /// Those that were kept from it before.
        unblocked: Vec<i32>,
    },
    /// How the thread that loads computes: the control bits of MXCSR or FPCR.
    FloatingPoint {
        /// The bits before.
        before: u64,
        /// The bits now.
        after: u64,
    },
    /// The locale of the process, as far as the C library names it.
    Locale {
        /// The category, such as `LC_NUMERIC`.
        category: String,
        /// Its locale before.
        before: String,
        /// Its locale now.
        after: String,
    },
    /// The working directory.
    WorkingDirectory {
        /// The one before.
        before: String,
        /// The one now.
        after: String,
    },
    /// The rights that new files do not get.
    Umask {
        /// Those before.
        before: u32,
        /// Those now.
        after: u32,
    },
    /// A variable of the environment, whose value may be a secret and is not told.
    Variable {
        /// Its name.
        name: String,
        /// What became of it.
        became: Became,
    },
    /// Descriptor 0, 1 or 2.
    StandardStream {
        /// Its number.
        number: u8,
        /// Whether it is closed, and otherwise another file.
        closed: bool,
    },
    /// A limit of the process.
    ResourceLimit {
        /// Its name, such as `RLIMIT_NOFILE`.
        resource: String,
        /// The soft and the hard limit before; none is no limit.
        before: [Option<u64>; 2],
        /// Those now.
        after: [Option<u64>; 2],
    },
    /// Who may look into the process, and whether it leaves a core: `PR_GET_DUMPABLE`.
    Dumpable {
        /// The number before.
        before: i32,
        /// The number now.
        after: i32,
    },
    /// Descriptors that are open now.
    Descriptors {
        /// How many more.
        count: usize,
        /// What the first of them lead to.
        first: Vec<String>,
    },
    /// Threads that are running now.
    Threads {
        /// How many more.
        count: usize,
        /// The names of the first of them.
        first: Vec<String>,
    },
    /// What was printed.
    Output {
        /// `stdout` or `stderr`.
        stream: String,
        /// Bytes.
        bytes: u64,
    },
    /// Nothing is known, since another load took too long.
    NotWatched,
}

/// What happens at a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Handler {
    /// What the system does by itself.
    Default,
    /// Nothing.
    Ignored,
    /// A function is called, the one at this address.
    Function(u64),
}

/// What became of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Became {
    /// It is new.
    Set,
    /// It has another value.
    Changed,
    /// It is gone.
    Removed,
}

impl Change {
    /// Whether it disturbs others in the process. A provider may need threads and files of its own, and what is printed was taken away from
    /// where it could harm; other threads of the host do the same at any time.
    pub fn is_disturbing(&self) -> bool {
        !matches!(
            self,
            Self::Descriptors { .. }
                | Self::Threads { .. }
                | Self::Output { .. }
                | Self::NotWatched
        )
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.change.fmt(f)?;
        match (self.change.is_disturbing(), self.restored) {
            (false, _) => Ok(()),
            (true, true) => f.write_str(" (restored)"),
            (true, false) => f.write_str(" (not restored)"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignalHandler { signal, before, after } => {
                write!(f, "{}: {before}, now {after}", Signal(*signal))
            }
            Self::BlockedSignals { blocked, unblocked } => {
                let named = |signals: &[i32]| {
                    let named: Vec<_> = signals.iter().map(|signal| Signal(*signal)).collect();
                    named.iter().map(Signal::to_string).collect::<Vec<_>>().join(" ")
                };
                let says = [("blocked", blocked), ("no longer blocked", unblocked)];
                let says = says.iter().filter(|(_, signals)| !signals.is_empty());
                let says: Vec<_> =
                    says.map(|(word, signals)| format!("{word}: {}", named(signals))).collect();
                write!(f, "signals {}", says.join(", "))
            }
            Self::FloatingPoint { before, after } => {
                write!(f, "floating-point control: {before:#x}, now {after:#x}")
            }
            Self::Locale { category, before, after } => {
                write!(f, "{category}: {before}, now {after}")
            }
            Self::WorkingDirectory { before, after } => {
                write!(f, "working directory: {before}, now {after}")
            }
            Self::Umask { before, after } => write!(f, "umask: {before:03o}, now {after:03o}"),
            Self::Variable { name, became } => {
                let became = match became {
                    Became::Set => "new",
                    Became::Changed => "another value",
                    Became::Removed => "gone",
                };
                write!(f, "environment variable {name}: {became}")
            }
            Self::StandardStream { number, closed } => {
                let now = if *closed { "closed" } else { "another file" };
                write!(f, "descriptor {number}: now {now}")
            }
            Self::ResourceLimit { resource, before, after } => {
                write!(f, "{resource}: {}, now {}", Limit(*before), Limit(*after))
            }
            Self::Dumpable { before, after } => write!(f, "dumpable: {before}, now {after}"),
            Self::Descriptors { count, first } => more(f, *count, "descriptor", "open", first),
            Self::Threads { count, first } => more(f, *count, "thread", "running", first),
            Self::Output { stream, bytes } => write!(f, "{bytes} bytes on {stream}"),
            Self::NotWatched => f.write_str("not known, since another load took too long"),
        }
    }
}

fn more(
    f: &mut fmt::Formatter<'_>,
    count: usize,
    word: &str,
    state: &str,
    first: &[String],
) -> fmt::Result {
    let plural = if count == 1 { "" } else { "s" };
    write!(f, "{count} more {word}{plural} {state}: {}", first.join(", "))?;
    if count > first.len() { f.write_str(", ...") } else { Ok(()) }
}

impl fmt::Display for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Ignored => f.write_str("ignored"),
            Self::Function(address) => write!(f, "handler at {address:#x}"),
        }
    }
}

struct Limit([Option<u64>; 2]);

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [soft, hard] =
            self.0.map(|limit| limit.map_or("unlimited".to_owned(), |limit| limit.to_string()));
        write!(f, "{soft} of {hard}")
    }
}

/// A signal by its name, where it has one that is known everywhere.
struct Signal(i32);

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match signal_name(self.0) {
            Some(name) => f.write_str(name),
            None => write!(f, "signal {}", self.0),
        }
    }
}
