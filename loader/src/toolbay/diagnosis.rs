//! Whether the home and this machine are fit for running plugins.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::Toolbay;
use crate::{
    mappings,
    plugins_lock::{PluginsLock, PluginsLockError},
    policy::Unsigned,
    rights::has_raised_rights,
    worker::{self, Held},
};

/// What came of looking at one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// What was looked at, in a word that never changes.
    pub check: &'static str,
    /// How it is.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// What to do, where something is to be done.
    pub remedy: Option<&'static str>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// As it should be.
    Fine,
    /// Worth knowing, and no plugin is kept from running by it.
    Warning,
    /// It keeps plugins from running, or decisions from being kept.
    Broken,
}

impl Health {
    /// The health as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::Warning => "warning",
            Self::Broken => "broken",
        }
    }
}

fn fine(check: &'static str, found: impl Into<String>) -> Diagnosis {
    Diagnosis { check, health: Health::Fine, found: found.into(), remedy: None }
}

fn warning(check: &'static str, found: impl Into<String>, remedy: &'static str) -> Diagnosis {
    Diagnosis { check, health: Health::Warning, found: found.into(), remedy: Some(remedy) }
}

fn broken(check: &'static str, found: impl Into<String>, remedy: &'static str) -> Diagnosis {
    Diagnosis { check, health: Health::Broken, found: found.into(), remedy: Some(remedy) }
}

impl Toolbay {
    /// Looks at everything that plugins need, and at what makes them less safe than they could be. Nothing is changed, and nothing of a plugin is
    /// run.
    pub fn diagnose(&self) -> Vec<Diagnosis> {
        let mut found = vec![rights(), self.home(), self.store(), mapped(), self.libc()];
        found.extend(self.config.plugin_directories.iter().map(|path| directory(path)));
        found.push(self.unsigned());
        found.extend(self.workers());
        found.extend(self.files());
        found
    }

    fn home(&self) -> Diagnosis {
        let home = &self.config.home;
        match others_may_write(home) {
            Some(path) => broken(
                "home",
                format!("{} can be changed by others than the host's user", path.display()),
                "take the right to write from group and others, and give the folder to the host's user",
            ),
            None => fine("home", home.display().to_string()),
        }
    }

    fn store(&self) -> Diagnosis {
        match self.vetting.store.check() {
            Ok(()) => fine("store", "private, and code can be mapped from it"),
            Err(reason) => broken(
                "store",
                format!("{}: {}", reason.code, reason.found),
                "put the home on a file system with exec, and take the right to write to the store from group and others",
            ),
        }
    }

    fn libc(&self) -> Diagnosis {
        match self.vetting.host.glibc {
            Some((major, minor)) => {
                fine("glibc", format!("{major}.{minor}; plugins that need a later one are refused"))
            }
            None => warning(
                "glibc",
                "not the C library of this program, or its version is not told",
                "what plugins need of it can't be compared: build the host for a system with glibc",
            ),
        }
    }

    fn unsigned(&self) -> Diagnosis {
        let keys = self.vetting.trust.read();
        let trusted = keys
            .as_ref()
            .map_or(0, |keys| keys.iter().filter(|(_, key)| key.revoked.is_none()).count());
        match (self.policy().unsigned, trusted) {
            (Unsigned::Allow, _) => warning(
                "signatures",
                "unsigned plugins may run: nobody stands for their code",
                "take unsigned = \"allow\" out of toolbay.toml, unless you develop plugins in this home",
            ),
            (Unsigned::Refuse, 0) => warning(
                "signatures",
                "no key is trusted, so that no plugin can run",
                "trust the key of a publisher: toolbay trust add KEYFILE --publisher NAME",
            ),
            (Unsigned::Refuse, keys) => {
                fine("signatures", format!("needed, of one of {keys} trusted keys"))
            }
        }
    }

    /// Whether workers can be started, and what this kernel holds them to.
    fn workers(&self) -> Vec<Diagnosis> {
        let policy = self.policy();
        let is_needed = policy.isolation.is_needed();
        let worker = match self.vetting.try_worker() {
            Ok(()) => fine("workers", "can be started"),
            Err(_) if !is_needed => fine("workers", "the policy needs none"),
            Err(reason) => broken(
                "workers",
                format!("{}: {}", reason.code, reason.found),
                "name a program of this release that begins with run_if_worker as the worker; until then, what needs one does not run",
            ),
        };
        let sandbox = match (worker::is_sandbox_supported(), is_needed) {
            (true, _) => fine(
                "sandbox",
                "connections, processes and signals as declared and allowed; not limited here: to which addresses, and what is sent without a connection",
            ),
            (false, false) => {
                fine("sandbox", "this kernel has no seccomp filters; the policy needs none")
            }
            (false, true) => broken(
                "sandbox",
                "this kernel has no seccomp filters, without which no worker runs a plugin",
                "use a kernel with CONFIG_SECCOMP_FILTER",
            ),
        };
        let reach = match (worker::held(), is_needed) {
            (Held { files: true, ports: true }, _) => {
                fine("sandbox files", "files and ports as declared and configured")
            }
            (_, false) => {
                fine("sandbox files", "this kernel has no Landlock; the policy needs none")
            }
            (Held { files: true, ports: false }, true) => warning(
                "sandbox files",
                "files as declared and configured; which ports connections lead to is not limited by this kernel",
                "use Linux 6.7 or later, or limit connections in the network",
            ),
            (Held { files: false, .. }, true) => warning(
                "sandbox files",
                "which files workers read and write, and which ports they connect to, is not limited by this kernel",
                "use Linux 6.7 or later with Landlock enabled, or run the host under an account that may read nothing else",
            ),
        };
        vec![worker, sandbox, reach]
    }

    fn files(&self) -> Vec<Diagnosis> {
        let mut found = Vec::new();
        let mut file = |check, problem: Option<String>, remedy| {
            found.push(match problem {
                None => fine(check, "readable, or not there"),
                Some(problem) => broken(check, problem, remedy),
            });
        };
        let text = |error: &dyn std::error::Error| error.to_string();
        file(
            "registry.json",
            self.registry_problem().map(|error| text(&*error)),
            "toolbay refresh, which keeps the damaged file aside",
        );
        file(
            "access.json",
            self.access_problem().map(|error| text(&*error)),
            "put access.previous.json in its place",
        );
        let put_back = "put the version before it, or a copy of your own, in its place";
        file("trust.json", self.vetting.trust.read().err().map(|error| text(&error)), put_back);
        file("installed.json", self.installed.read().err().map(|error| text(&error)), put_back);
        let lock = match PluginsLock::read(&self.config.home) {
            Ok(_) | Err(PluginsLockError::Missing { .. }) => None,
            Err(error) => Some(text(&error)),
        };
        file(
            "plugins.lock",
            lock,
            "put the one of version control back, or remove it and run toolbay lock",
        );
        found
    }
}

/// Rights that a host should not have.
fn rights() -> Diagnosis {
    const REMEDY: &str =
        "run the host under an account of its own that has no more rights than its tools need";
    if has_raised_rights() {
        return warning(
            "rights",
            "setuid or raised capabilities: environment variables do not choose the home",
            REMEDY,
        );
    }
    match rustix::process::geteuid().is_root() {
        true => warning("rights", "root, and so every plugin is", REMEDY),
        false => fine("rights", "an ordinary user"),
    }
}

fn mapped() -> Diagnosis {
    match mappings::all() {
        Ok(_) => fine("attestation", "what is mapped can be compared with what was verified"),
        Err(error) => broken("attestation", format!("/proc/self/maps: {error}"), "mount /proc"),
    }
}

fn directory(path: &Path) -> Diagnosis {
    const CHECK: &str = "plugin directory";
    if let Err(error) = fs::read_dir(path) {
        let found = format!("{}: {error}", path.display());
        return broken(
            CHECK,
            found,
            "create it, correct its permissions, or take it out of toolbay.toml",
        );
    }
    match others_may_write(path) {
        Some(place) => warning(
            CHECK,
            format!("{} can be changed by others than the host's user", place.display()),
            "take the right to write from group and others: whoever can write there chooses which signed plugins, and versions of them, are used",
        ),
        None => fine(CHECK, path.display().to_string()),
    }
}

/// The first of a folder and those above it that somebody else can change: one of another user than this process's and root, or that group or
/// others can write to. Folders with the sticky bit let nobody touch what is another's.
fn others_may_write(path: &Path) -> Option<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    path.ancestors().find_map(|folder| {
        let metadata = fs::metadata(folder).ok()?;
        let (mode, owner) = (metadata.mode(), metadata.uid());
        let is_safe = mode & 0o022 == 0 || mode & 0o1000 != 0;
        (!is_safe || (owner != 0 && owner != own)).then(|| folder.to_owned())
    })
}
