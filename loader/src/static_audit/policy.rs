//! What a host asks of libraries, and which of two policies asks for more.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use semver::{Version, VersionReq};
use thiserror::Error;

use super::{Check, Level};

/// The libraries that every plugin may need: those of the system that Rust's own standard library is linked to.
pub const BUILT_IN_LIBRARIES: &[&str] = &[
    "ld-linux-aarch64.so.1",
    "ld-linux-x86-64.so.2",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libutil.so.1",
];

/// The functions that end the process, split it, or change what belongs to all of it. A plugin that only computes, reads and writes has none of
/// them; one that starts programs has some, and must be allowed them. `exit` and `abort` are not among them, as every plugin has them from
/// its libraries.
pub const DENIED_IMPORTS: &[&str] = &[
    // They end the process, or a thread that is not the plugin's.
    "_Exit",
    "_exit",
    "quick_exit",
    "kill",
    "killpg",
    "pthread_cancel",
    "pthread_exit",
    "pthread_kill",
    "raise",
    "tgkill",
    // They make another process of it.
    "_Fork",
    "clone",
    "daemon",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execveat",
    "execvp",
    "execvpe",
    "fexecve",
    "fork",
    "vfork",
    // Signals and timers are the whole process's.
    "alarm",
    "bsd_signal",
    "pthread_sigmask",
    "setitimer",
    "sigaction",
    "signal",
    "sigprocmask",
    "sigset",
    "sysv_signal",
    "timer_create",
    "ualarm",
    // So are locale, folder, environment, mask, limits and identity.
    "chdir",
    "chroot",
    "clearenv",
    "fchdir",
    "prctl",
    "putenv",
    "setegid",
    "setenv",
    "seteuid",
    "setgid",
    "setlocale",
    "setresgid",
    "setresuid",
    "setrlimit",
    "setrlimit64",
    "setuid",
    "umask",
    "unsetenv",
    // Numbers of files that are others' come to mean something else.
    "close_range",
    "closefrom",
    "dup2",
    "dup3",
    // They look into the process from outside, or have libraries loaded where nobody sees it.
    "dlmopen",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
];

/// The functions that run when a plain Rust library is opened: `_init`, the C runtime's `frame_dummy`, and the standard library's own.
const PLAIN_CONSTRUCTORS: u64 = 3;

/// What a host asks of libraries. The default is what every plugin that is built with `toolbay-plugin-api` and does nothing special meets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticAuditPolicy {
    /// The levels that differ from [`Check::default_level`]. One below [`Check::least_level`] counts as that.
    pub levels: BTreeMap<Check, Level>,
    /// The libraries that a library may need beside [`BUILT_IN_LIBRARIES`] and those of its bundle.
    pub allowed_libraries: BTreeSet<String>,
    /// The functions that it may not import.
    pub denied_imports: BTreeSet<String>,
    /// The crates that it may not list.
    pub denied_crates: BTreeSet<DeniedCrate>,
    /// The bytes of static TLS that it may have. The C library sets about 1,600 aside for all libraries that are opened after the start.
    pub static_tls_bytes: u64,
    /// The functions that it may have run when it is opened.
    pub constructors: u64,
    /// The oldest compiler that may have made it.
    pub oldest_rustc: Option<Version>,
}

impl Default for StaticAuditPolicy {
    fn default() -> Self {
        Self {
            levels: BTreeMap::new(),
            allowed_libraries: BTreeSet::new(),
            denied_imports: DENIED_IMPORTS.iter().map(|&name| name.to_owned()).collect(),
            denied_crates: BTreeSet::new(),
            static_tls_bytes: 0,
            constructors: PLAIN_CONSTRUCTORS,
            oldest_rustc: None,
        }
    }
}

/// A crate that libraries may not be made of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeniedCrate {
    name: String,
    versions: Option<String>,
}

impl DeniedCrate {
    /// The crate, in the versions that fit, or in all of them.
    pub fn new(name: impl Into<String>, versions: Option<&VersionReq>) -> Self {
        Self { name: name.into(), versions: versions.map(VersionReq::to_string) }
    }

    /// The crate's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a crate of that name and version is denied.
    pub(super) fn denies(&self, name: &str, version: &Version) -> bool {
        let fits = |versions: &String| {
            VersionReq::parse(versions).is_ok_and(|versions| versions.matches(version))
        };
        self.name == name && self.versions.as_ref().is_none_or(fits)
    }

    fn covers(&self, other: &Self) -> bool {
        self.name == other.name && (self.versions.is_none() || self.versions == other.versions)
    }
}

impl fmt::Display for DeniedCrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.versions {
            Some(versions) => write!(f, "{} {versions}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A setting of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicySetting {
    /// The level of a check.
    Level(Check),
    /// [`StaticAuditPolicy::allowed_libraries`].
    AllowedLibraries,
    /// [`StaticAuditPolicy::denied_imports`].
    DeniedImports,
    /// [`StaticAuditPolicy::denied_crates`].
    DeniedCrates,
    /// [`StaticAuditPolicy::static_tls_bytes`].
    StaticTlsBytes,
    /// [`StaticAuditPolicy::constructors`].
    Constructors,
    /// [`StaticAuditPolicy::oldest_rustc`].
    OldestRustc,
}

impl fmt::Display for PolicySetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Level(check) => return write!(f, "level of {check}"),
            Self::AllowedLibraries => "allowed_libraries",
            Self::DeniedImports => "denied_imports",
            Self::DeniedCrates => "denied_crates",
            Self::StaticTlsBytes => "static_tls_bytes",
            Self::Constructors => "constructors",
            Self::OldestRustc => "oldest_rustc",
        })
    }
}

/// A policy asks for less than another in this setting.
///
/// Resolution: while a process runs its policy may only become stricter; a new process takes any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{setting}: expected at least what the policy asks for now, found less")]
pub struct LooserSetting {
    /// The first such setting.
    pub setting: PolicySetting,
}

impl StaticAuditPolicy {
    /// The level of a check.
    pub fn level(&self, check: Check) -> Level {
        let set = self.levels.get(&check).copied().unwrap_or(check.default_level());
        set.max(check.least_level())
    }

    /// Whether libraries may need that one, whatever bundle they are in.
    pub(super) fn allows_library(&self, name: &str) -> bool {
        BUILT_IN_LIBRARIES.contains(&name) || self.allowed_libraries.contains(name)
    }

    /// The policy that asks for what either asks for: the stricter one in each setting.
    #[must_use]
    pub fn stricter(&self, other: &Self) -> Self {
        let levels = Check::ALL.iter().filter_map(|&check| {
            let level = self.level(check).max(other.level(check));
            (level != check.default_level()).then_some((check, level))
        });
        Self {
            levels: levels.collect(),
            allowed_libraries: &self.allowed_libraries & &other.allowed_libraries,
            denied_imports: &self.denied_imports | &other.denied_imports,
            denied_crates: &self.denied_crates | &other.denied_crates,
            static_tls_bytes: self.static_tls_bytes.min(other.static_tls_bytes),
            constructors: self.constructors.min(other.constructors),
            // Without one counts as older than any.
            oldest_rustc: self.oldest_rustc.clone().max(other.oldest_rustc.clone()),
        }
    }

    /// Whether the policy asks for all that `other` asks for.
    ///
    /// # Errors
    ///
    /// [`LooserSetting`] with the first setting in which it asks for less.
    pub fn is_at_least_as_strict_as(&self, other: &Self) -> Result<(), LooserSetting> {
        let looser_level = Check::ALL.iter().find(|&&check| self.level(check) < other.level(check));
        let denies = |denied| self.denied_crates.iter().any(|own| own.covers(denied));
        let looser = if let Some(&check) = looser_level {
            PolicySetting::Level(check)
        } else if !self.allowed_libraries.is_subset(&other.allowed_libraries) {
            PolicySetting::AllowedLibraries
        } else if !self.denied_imports.is_superset(&other.denied_imports) {
            PolicySetting::DeniedImports
        } else if !other.denied_crates.iter().all(denies) {
            PolicySetting::DeniedCrates
        } else if self.static_tls_bytes > other.static_tls_bytes {
            PolicySetting::StaticTlsBytes
        } else if self.constructors > other.constructors {
            PolicySetting::Constructors
        } else if self.oldest_rustc < other.oldest_rustc {
            PolicySetting::OldestRustc
        } else {
            return Ok(());
        };
        Err(LooserSetting { setting: looser })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut StaticAuditPolicy);

    fn denied(name: &str, versions: Option<&str>) -> DeniedCrate {
        DeniedCrate::new(name, versions.map(|versions| versions.parse().unwrap()).as_ref())
    }

    /// Each setting, with a change that makes it stricter than the default.
    const STRICTER: [(PolicySetting, Change); 6] = [
        (PolicySetting::Level(Check::Exports), |policy| {
            policy.levels.insert(Check::Exports, Level::Deny);
        }),
        (PolicySetting::DeniedImports, |policy| {
            policy.denied_imports.insert("open64".to_owned());
        }),
        (PolicySetting::DeniedCrates, |policy| {
            policy.denied_crates.insert(denied("openssl", Some("<1")));
        }),
        (PolicySetting::DeniedCrates, |policy| {
            policy.denied_crates.insert(denied("openssl", None));
        }),
        (PolicySetting::Constructors, |policy| policy.constructors = 2),
        (PolicySetting::OldestRustc, |policy| policy.oldest_rustc = Some(Version::new(1, 80, 0))),
    ];

    /// Each setting, with a change that makes it looser.
    const LOOSER: [(PolicySetting, Change); 5] = [
        (PolicySetting::Level(Check::RunPath), |policy| {
            policy.levels.insert(Check::RunPath, Level::Warn);
        }),
        (PolicySetting::AllowedLibraries, |policy| {
            policy.allowed_libraries.insert("libz.so.1".to_owned());
        }),
        (PolicySetting::DeniedImports, |policy| {
            policy.denied_imports.remove("fork");
        }),
        (PolicySetting::StaticTlsBytes, |policy| policy.static_tls_bytes = 64),
        (PolicySetting::Constructors, |policy| policy.constructors = 4),
    ];

    fn changed(change: Change) -> StaticAuditPolicy {
        let mut policy = StaticAuditPolicy::default();
        change(&mut policy);
        policy
    }

    #[test]
    fn each_setting_that_is_looser_is_named() {
        let default = StaticAuditPolicy::default();
        assert_eq!(default.is_at_least_as_strict_as(&default), Ok(()));
        for (setting, change) in STRICTER {
            let stricter = changed(change);
            assert_eq!(stricter.is_at_least_as_strict_as(&default), Ok(()), "{setting}");
            let refused = Err(LooserSetting { setting });
            assert_eq!(default.is_at_least_as_strict_as(&stricter), refused);
        }
        for (setting, change) in LOOSER {
            let looser = changed(change);
            let refused = Err(LooserSetting { setting });
            assert_eq!(looser.is_at_least_as_strict_as(&default), refused);
            assert_eq!(default.is_at_least_as_strict_as(&looser), Ok(()), "{setting}");
        }
    }

    #[test]
    fn of_two_policies_the_stricter_in_each_setting_asks_for_all_that_either_asks_for() {
        let changes: Vec<_> =
            STRICTER.into_iter().chain(LOOSER).map(|(_, change)| change).collect();
        for one in &changes {
            for other in &changes {
                let (one, other) = (changed(*one), changed(*other));
                let both = one.stricter(&other);
                assert_eq!(both.is_at_least_as_strict_as(&one), Ok(()));
                assert_eq!(both.is_at_least_as_strict_as(&other), Ok(()));
                assert_eq!(both, other.stricter(&one));
                assert_eq!(one.stricter(&one), one);
            }
        }
    }

    #[test]
    fn what_loading_cannot_do_without_stays_denied() {
        let mut policy = StaticAuditPolicy::default();
        for &check in Check::ALL {
            policy.levels.insert(check, Level::Allow);
        }
        let denied = Check::ALL.iter().filter(|&&check| policy.level(check) != Level::Allow);
        assert_eq!(denied.collect::<Vec<_>>(), [&Check::Machine, &Check::RootModule]);
    }

    #[test]
    fn a_crate_is_denied_in_the_versions_that_fit() {
        let old = denied("openssl", Some("<0.10.60"));
        assert!(old.denies("openssl", &Version::new(0, 10, 59)));
        assert!(!old.denies("openssl", &Version::new(0, 10, 60)));
        assert!(!old.denies("openssl-sys", &Version::new(0, 10, 59)));
        assert!(denied("openssl", None).denies("openssl", &Version::new(9, 0, 0)));
        assert_eq!(old.to_string(), "openssl <0.10.60");
    }
}
