//! What the library is linked to, and how.

use std::path::{Component, Path};

use super::{Subject, found, listed};
use crate::{
    plugin_text::one_line,
    rejection::{Reason, Stage},
};

const OTHER_SYSTEM: &str = "build the plugin for this system: cargo build --release --target ...";

/// The dynamic linker's word for the folder of the library itself.
const ORIGIN: [&str; 2] = ["$ORIGIN", "${ORIGIN}"];

impl Subject<'_> {
    pub(super) fn machine(&self) -> Option<Reason> {
        let (target, machine) = (self.host.target, self.facts.machine);
        if target.starts_with(machine) {
            return None;
        }
        let found = format!("a library for {machine}");
        Some(Reason::plugin(Stage::Verify, "other_machine", target, found, OTHER_SYSTEM))
    }

    pub(super) fn os_abi(&self) -> Option<Reason> {
        match self.facts.os_abi {
            0 | 3 => None,
            other => found(
                "other_os_abi",
                "the system 0 (any) or 3 (Linux) in the header",
                other.to_string(),
                OTHER_SYSTEM,
            ),
        }
    }

    pub(super) fn other_libc(&self) -> Option<Reason> {
        let others = listed(self.facts.needed.iter().filter(|name| self.is_other_libc(name)))?;
        found("other_libc", format!("the C library of {}", self.host.target), others, OTHER_SYSTEM)
    }

    /// Two C libraries in one process have two heaps and two sets of threads.
    fn is_other_libc(&self, name: &str) -> bool {
        let musl =
            name == "libc.so" || name.starts_with("libc.musl-") || name.starts_with("ld-musl-");
        let glibc = name == "libc.so.6" || name.starts_with("ld-linux-");
        if self.host.target.ends_with("-gnu") {
            musl
        } else if self.host.target.ends_with("-musl") {
            glibc
        } else {
            musl || glibc
        }
    }

    pub(super) fn glibc(&self) -> Option<Reason> {
        let host = self.host.glibc?;
        let needs = self.facts.version_needs.iter().filter(|need| !need.weak);
        let (release, need) = needs
            .filter_map(|need| Some((need.glibc()?, need)))
            .max_by_key(|(release, _)| *release)?;
        if release <= host {
            return None;
        }
        let found = format!(
            "{} of {}",
            one_line(&need.version, super::MAX_NAME),
            one_line(&need.library, super::MAX_NAME)
        );
        let reason = Reason::plugin(
            Stage::Audit,
            "newer_glibc",
            format!("glibc {}.{} at most, which this host runs with", host.0, host.1),
            found,
            "build the plugin on a system that is as old as the oldest host",
        );
        Some(reason.by_environment())
    }

    pub(super) fn needed_libraries(&self) -> Option<Reason> {
        let needed = &self.facts.needed;
        let unknown = needed.iter().filter(|name| {
            !self.policy.allows_library(name)
                && !self.companions.contains(*name)
                // That is a finding by itself.
                && !self.is_other_libc(name)
        });
        if let Some(unknown) = listed(unknown) {
            return found(
                "unlisted_library",
                "libraries of the system, of the bundle, or in allowed_libraries",
                unknown,
                "link the library statically, put it into the bundle, or allow it",
            );
        }
        // Without a run path the linker would take the system's library of that name, or none.
        if self.facts.run_paths.iter().any(|path| is_own_folder(path)) {
            return None;
        }
        let companions = needed
            .iter()
            .filter(|name| self.companions.contains(*name) && !self.policy.allows_library(name));
        found(
            "no_run_path",
            "a run path of $ORIGIN, by which libraries of the bundle are found",
            format!("none, and a need of {}", listed(companions)?),
            "link with -Wl,-rpath,'$ORIGIN'",
        )
    }

    pub(super) fn run_path(&self) -> Option<Reason> {
        let others = self.facts.run_paths.iter().filter(|path| !is_own_folder(path));
        let others = listed(others.map(|path| format!("{path:?}")))?;
        found(
            "foreign_run_path",
            "run paths of $ORIGIN and folders in it",
            others,
            "link with -Wl,-rpath,'$ORIGIN', and put the libraries beside the plugin",
        )
    }

    pub(super) fn linker_hooks(&self) -> Option<Reason> {
        let hooks = listed(&self.facts.linker_hooks)?;
        found(
            "linker_hook",
            "a library that others are linked without",
            hooks,
            "link without --audit, --filter, --auxiliary, -z global, -z initfirst and -z interpose",
        )
    }
}

/// Whether a run path stays in the library's own folder: it starts there, goes nowhere up, and has no other word of the linker's in it.
fn is_own_folder(path: &str) -> bool {
    let below = ORIGIN.iter().find_map(|origin| path.strip_prefix(origin));
    below.is_some_and(|below| {
        (below.is_empty() || below.starts_with('/'))
            && !below.contains('$')
            && Path::new(below).components().all(|part| part != Component::ParentDir)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_paths_stay_in_their_own_folder() {
        for (path, expected) in [
            ("$ORIGIN", true),
            ("${ORIGIN}", true),
            ("$ORIGIN/", true),
            ("$ORIGIN/lib/x", true),
            ("$ORIGIN/..lib", true),
            ("", false),
            (".", false),
            ("lib", false),
            ("/usr/lib", false),
            ("$ORIGIN/../..", false),
            ("${ORIGIN}/lib/../../x", false),
            ("$ORIGINAL", false),
            ("$ORIGIN/$LIB", false),
            ("$LIB", false),
            ("/x/$ORIGIN", false),
        ] {
            assert_eq!(is_own_folder(path), expected, "{path:?}");
        }
    }
}
