//! How a process ended, in words.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

use crate::signal_name::signal_name;

/// What signals tell that end processes which do something wrong.
const CAUSES: &[(i32, &str)] = &[
    (libc::SIGILL, "an illegal instruction"),
    (libc::SIGABRT, "it gave up by itself"),
    (libc::SIGBUS, "memory that is not there"),
    (libc::SIGFPE, "an impossible division"),
    (libc::SIGKILL, "from outside"),
    (libc::SIGSEGV, "memory that is not its own"),
    (libc::SIGXCPU, "more processor time than it may have"),
    (libc::SIGXFSZ, "a larger file than it may write"),
    (libc::SIGSYS, "a system call that it may not make"),
];

/// How a process ended.
pub(super) fn in_words(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let cause = CAUSES.iter().find(|(number, _)| *number == signal);
            let cause = cause.map(|(_, cause)| format!(", {cause}")).unwrap_or_default();
            let name = signal_name(signal).map(|name| format!(" ({name}{cause})"));
            format!("ended by signal {signal}{}", name.unwrap_or_default())
        }
        (None, Some(code)) => format!("ended by itself, with exit status {code}"),
        (None, None) => format!("ended in a way that nobody knows: {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_by_its_cause() {
        let cases = [
            (0, "ended by itself, with exit status 0"),
            (101 << 8, "ended by itself, with exit status 101"),
            (11, "ended by signal 11 (SIGSEGV, memory that is not its own)"),
            (6 | 0x80, "ended by signal 6 (SIGABRT, it gave up by itself)"),
            (15, "ended by signal 15 (SIGTERM)"),
            (40, "ended by signal 40"),
        ];
        for (raw, expected) in cases {
            assert_eq!(in_words(ExitStatus::from_raw(raw)), expected);
        }
    }
}
