//! How a worker begins: alone with its connection to the host, before anything of a plugin's is there.
#![expect(unsafe_code, reason = "close_range has no safe form")]

use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
};

use rustix::{
    process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit},
    stdio::{dup2_stdin, stdin},
};

/// The lowest number of a descriptor that is no standard stream.
const FIRST: libc::c_uint = 3;

/// Takes the connection, which is the standard input, to a number that no plugin knows of, and closes whatever else was inherited.
pub(super) fn take_connection() -> io::Result<UnixStream> {
    // Before another descriptor takes the place of one that was inherited.
    close_from(FIRST)?;
    let connection: OwnedFd = rustix::io::fcntl_dupfd_cloexec(stdin(), FIRST as i32)?;
    dup2_stdin(File::open("/dev/null")?)?;
    Ok(connection.into())
}

/// Lets the process leave no image of its memory behind.
pub(super) fn leave_no_core() -> io::Result<()> {
    limit(Resource::Core, 0)
}

/// Lets the process use at most so much, or less where that has been decided before.
pub(super) fn limit(resource: Resource, most: u64) -> io::Result<()> {
    let allowed = getrlimit(resource).maximum.map_or(most, |allowed| allowed.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(allowed), maximum: Some(allowed) })?)
}

/// Lets the kernel end the process with the thread of the host that started it. It would not end what the process has started; the end of the
/// connection does that, and comes later.
pub(super) fn end_with_host() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(Signal::KILL))?)
}

/// Closes every descriptor from this number on.
fn close_from(first: libc::c_uint) -> io::Result<()> {
    // SAFETY: it takes two numbers. Nothing in this process owns one of these descriptors: it runs before anything was opened, first of all in
    // `main`, and what was inherited belongs to the host.
    match unsafe { libc::close_range(first, libc::c_uint::MAX, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
