//! What the exit code of the program says.

use std::process::ExitCode;

use toolbay_loader::{BackendError, CallError, Party, ReplyStatus};

/// How a command ended. The numbers are documented for scripts and never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything was done.
    Done = 0,
    /// The tool ran and said that it could not, or the call was cancelled.
    Failed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// Refused before anything ran: an unknown tool, wrong arguments, a missing right or approval, a plugin that this host does not
    /// take.
    Refused = 3,
    /// The plugin broke off or broke its contract.
    Broken = 4,
    /// Something in the environment is missing: configuration, files, rights.
    Unavailable = 5,
    /// The call waits for a person, or runs since one has approved it.
    Waiting = 6,
}

impl Exit {
    /// The codes as `toolbay --help` shows them.
    pub(crate) const HELP: &str = "\
Exit codes:
  0  everything was done
  1  the tool ran and said that it could not, or the call was cancelled
  2  the command line is wrong
  3  refused before anything ran: an unknown tool, wrong arguments, a missing right or approval,
     or a plugin that this host does not take
  4  the plugin broke off or broke its contract
  5  something in the environment is missing or can't be used: configuration, files, rights
  6  the call waits for a person: nothing was run yet";

    /// How a call with this reply ends.
    pub(crate) fn of_reply(status: ReplyStatus) -> Self {
        match status {
            ReplyStatus::Ok => Self::Done,
            ReplyStatus::Failed | ReplyStatus::Cancelled => Self::Failed,
        }
    }

    /// How a call with this error ends.
    pub(crate) fn of_call_error(error: &CallError) -> Self {
        match error {
            CallError::Backend { source: BackendError::Cancelled, .. } => Self::Failed,
            CallError::Backend { source: BackendError::Unavailable { .. }, .. } => {
                Self::Unavailable
            }
            CallError::Pending { .. } => Self::Waiting,
            error => Self::of_party(error.party()),
        }
    }

    /// How a command ends that this party could have made succeed.
    pub(crate) fn of_party(party: Party) -> Self {
        match party {
            Party::Caller => Self::Refused,
            Party::Plugin | Party::Host => Self::Broken,
            Party::Environment => Self::Unavailable,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use toolbay_loader::{LimitError, LimitScope};

    use super::*;

    fn backend(source: BackendError) -> CallError {
        let (tool, provider) = ("greet".parse().unwrap(), "greeting".parse().unwrap());
        CallError::Backend { tool, provider, source }
    }

    fn pending() -> CallError {
        let (tool, id) = ("greet".parse().unwrap(), "7k3f".parse().unwrap());
        CallError::Pending { tool, id, running: false, input: false }
    }

    fn limited() -> CallError {
        let scope = LimitScope::Tool("greet".parse().unwrap());
        let source = LimitError::QueueFull { scope, concurrency: NonZeroU32::MIN, queue: 0 };
        CallError::Limit { tool: "greet".parse().unwrap(), source }
    }

    #[test]
    fn the_code_tells_who_can_do_something() {
        let unavailable = |party| BackendError::Unavailable { party, source: "gone".into() };
        let fault = BackendError::Fault { message: String::new(), location: None };
        let cases = [
            (CallError::NotRegistered { tool: "gret".to_owned(), nearest: Vec::new() }, 3),
            (CallError::ApprovalRequired { tool: "greet".parse().unwrap() }, 3),
            (limited(), 3),
            (pending(), 6),
            (backend(fault), 4),
            (backend(BackendError::DeadlineExceeded), 4),
            (backend(BackendError::Cancelled), 1),
            (backend(unavailable(Party::Environment)), 5),
            (backend(unavailable(Party::Plugin)), 5),
        ];
        for (error, code) in cases {
            assert_eq!(Exit::of_call_error(&error) as u8, code, "{error}");
        }
        let statuses =
            [(ReplyStatus::Ok, 0), (ReplyStatus::Failed, 1), (ReplyStatus::Cancelled, 1)];
        for (status, code) in statuses {
            assert_eq!(Exit::of_reply(status) as u8, code, "{status:?}");
        }
    }
}
