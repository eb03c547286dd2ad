//! What an operator lets run: unsigned plugins or not, only what is locked or everything, and what the static audit denies.

use std::collections::BTreeMap;

use thiserror::Error;
use toolbay_core::ProviderId;

use crate::static_audit::StaticAuditPolicy;

/// The operator's policy about plugins.
///
/// While a process runs, it can only become stricter: [`Toolbay::tighten`](crate::Toolbay::tighten).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// Whether plugins run that nobody has signed.
    pub unsigned: Unsigned,
    /// Whether only what the lock file names runs.
    pub locked: bool,
    /// What is denied of what a library's tables show.
    pub static_audit: StaticAuditPolicy,
    /// Where plugins run.
    pub isolation: IsolationPolicy,
    /// What a worker may use.
    pub worker_limits: WorkerLimits,
    /// What comes of a plugin that changes something of the host's process while it is loaded there.
    pub hygiene: HygienePolicy,
}

/// What comes of a plugin that changes something of the host's process while it is loaded there, such as a signal's handler or the umask. It is
/// put back where that can be done, and told, in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum HygienePolicy {
    /// It runs.
    #[default]
    Report,
    /// It does not run in the host. In a worker it may.
    Refuse,
}

/// What each worker may use at most. The kernel refuses it more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Bytes of address space, of which its code and the stacks of its threads are a part; 4 GiB.
    pub memory_bytes: u64,
    /// Open descriptors; 1,024.
    pub open_files: u64,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self { memory_bytes: 4 << 30, open_files: 1024 }
    }
}

/// Where plugins run: each provider by its own word, and the others by the default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IsolationPolicy {
    /// Where a provider runs that is not named.
    pub default: Isolation,
    /// Where these run.
    pub providers: BTreeMap<ProviderId, Isolation>,
}

/// Where a plugin runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// In the host: fastest, and no boundary. Whatever its code does, it does to the host.
    #[default]
    InProcess,
    /// In the host where a trusted key has signed it and it has not brought a process down before; otherwise in a worker.
    Auto,
    /// In a process of its own, which the host can end.
    Worker,
}

impl IsolationPolicy {
    /// Where a provider runs.
    pub fn of(&self, provider: &ProviderId) -> Isolation {
        self.providers.get(provider).copied().unwrap_or(self.default)
    }

    /// Whether any plugin may have to run in a worker.
    pub(crate) fn is_needed(&self) -> bool {
        let mut places = self.providers.values().chain([&self.default]);
        places.any(|place| *place != Isolation::InProcess)
    }

    /// The first setting that is less strict than in another policy.
    fn looser(&self, other: &Self) -> Option<String> {
        if self.default < other.default {
            return Some("plugins.isolation".to_owned());
        }
        let mut named = self.providers.keys().chain(other.providers.keys());
        let looser = named.find(|provider| self.of(provider) < other.of(provider));
        looser.map(|provider| format!("isolation.{provider}"))
    }
}

/// Whether plugins run that nobody has signed. Loose libraries are always unsigned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsigned {
    /// They run, and each refresh says which: for whoever develops plugins.
    Allow,
    /// They do not run.
    #[default]
    Refuse,
}

/// A policy that is less strict than the one in force.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "setting {setting} is less strict than the one in force: while a process runs, settings only tighten; start it anew"
)]
pub struct Loosened {
    /// The setting.
    pub setting: String,
}

impl Policy {
    /// Whether this policy is in no setting less strict than another.
    ///
    /// # Errors
    ///
    /// [`Loosened`] with the first setting that is.
    pub fn check_tightens(&self, other: &Self) -> Result<(), Loosened> {
        let loosened = |setting: &str| Err(Loosened { setting: setting.to_owned() });
        if self.unsigned < other.unsigned {
            return loosened("trust.unsigned");
        }
        if other.locked && !self.locked {
            return loosened("plugins.locked");
        }
        let (limits, others) = (self.worker_limits, other.worker_limits);
        if limits.memory_bytes > others.memory_bytes {
            return loosened("workers.memory_mb");
        }
        if limits.open_files > others.open_files {
            return loosened("workers.open_files");
        }
        if self.hygiene < other.hygiene {
            return loosened("plugins.hygiene");
        }
        if let Some(setting) = self.isolation.looser(&other.isolation) {
            return Err(Loosened { setting });
        }
        self.static_audit
            .is_at_least_as_strict_as(&other.static_audit)
            .map_err(|setting| Loosened { setting: format!("static_audit.{setting}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isolated(default: Isolation, providers: &[(&str, Isolation)]) -> Policy {
        let named = |&(id, isolation): &(&str, Isolation)| (id.parse().unwrap(), isolation);
        let providers = providers.iter().map(named).collect();
        Policy { isolation: IsolationPolicy { default, providers }, ..Policy::default() }
    }

    #[test]
    fn where_plugins_run_and_what_they_use_only_becomes_stricter() {
        use Isolation::{Auto, InProcess, Worker};
        let mut small = Policy::default();
        small.worker_limits.memory_bytes -= 1;
        let mut few = Policy::default();
        few.worker_limits.open_files -= 1;
        let clean = Policy { hygiene: HygienePolicy::Refuse, ..Policy::default() };
        let cases = [
            (isolated(Auto, &[]), isolated(InProcess, &[]), "plugins.isolation"),
            (isolated(Worker, &[]), isolated(Auto, &[]), "plugins.isolation"),
            (isolated(Worker, &[]), isolated(Worker, &[("a", Auto)]), "isolation.a"),
            (isolated(InProcess, &[("a", Auto)]), isolated(InProcess, &[]), "isolation.a"),
            (small, Policy::default(), "workers.memory_mb"),
            (few, Policy::default(), "workers.open_files"),
            (clean, Policy::default(), "plugins.hygiene"),
        ];
        for (strict, loose, setting) in cases {
            assert_eq!(strict.check_tightens(&loose), Ok(()), "{setting}");
            assert_eq!(strict.check_tightens(&strict), Ok(()), "{setting}");
            let loosened = loose.check_tightens(&strict).unwrap_err();
            assert_eq!(loosened.setting, setting);
        }
        // Named as the default has it, a provider is where it was.
        let named = isolated(Auto, &[("a", Auto)]);
        assert_eq!(isolated(Auto, &[]).check_tightens(&named), Ok(()));
    }
}
