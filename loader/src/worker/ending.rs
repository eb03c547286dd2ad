//! How a process ended, in words.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

/// The signals that end processes which do something wrong, by their numbers on Linux.
const SIGNALS: &[(i32, &str)] = &[
    (libc::SIGHUP, "SIGHUP"),
    (libc::SIGINT, "SIGINT"),
    (libc::SIGQUIT, "SIGQUIT"),
    (libc::SIGILL, "SIGILL, an illegal instruction"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGABRT, "SIGABRT, it gave up by itself"),
    (libc::SIGBUS, "SIGBUS, memory that is not there"),
    (libc::SIGFPE, "SIGFPE, an impossible division"),
    (libc::SIGKILL, "SIGKILL, from outside"),
    (libc::SIGUSR1, "SIGUSR1"),
    (libc::SIGSEGV, "SIGSEGV, memory that is not its own"),
    (libc::SIGUSR2, "SIGUSR2"),
    (libc::SIGPIPE, "SIGPIPE"),
    (libc::SIGALRM, "SIGALRM"),
    (libc::SIGTERM, "SIGTERM"),
    (libc::SIGXCPU, "SIGXCPU, more processor time than it may have"),
    (libc::SIGXFSZ, "SIGXFSZ, a larger file than it may write"),
    (libc::SIGSYS, "SIGSYS, a system call that it may not make"),
];

/// How a process ended.
pub(super) fn in_words(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let name = SIGNALS.iter().find(|(number, _)| *number == signal);
            let name = name.map(|(_, name)| format!(" ({name})")).unwrap_or_default();
            format!("ended by signal {signal}{name}")
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
            (40, "ended by signal 40"),
        ];
        for (raw, expected) in cases {
            assert_eq!(in_words(ExitStatus::from_raw(raw)), expected);
        }
    }
}
