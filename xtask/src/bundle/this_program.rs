//! This program once more: as the very file that was started, also where it has been built anew meanwhile.

use std::{env, io, path::PathBuf, process};

/// The path by which other processes start it, as long as this one runs.
pub(super) fn path() -> io::Result<PathBuf> {
    // On Linux. Where it is not there, the file has to stay where it is.
    let running = PathBuf::from(format!("/proc/{}/exe", process::id()));
    if running.exists() { Ok(running) } else { env::current_exe() }
}
