//! Whether this process may do what whoever started it may not.

use rustix::process::{getegid, geteuid, getgid, getuid};
use rustix::thread::{CapabilitySet, capabilities};

/// Whether the process runs setuid or setgid, or with capabilities that an ordinary user has not. Then its environment comes from somebody
/// who must not choose which code it runs.
///
/// It is what the dynamic linker calls secure mode, read from the process itself, and also holds where a service was given capabilities.
pub fn has_raised_rights() -> bool {
    let other_identity = getuid() != geteuid() || getgid() != getegid();
    // What can't be read counts as raised.
    let capable = capabilities(None).map_or(true, |sets| sets.permitted != CapabilitySet::empty());
    other_identity || (!getuid().is_root() && capable)
}
