//! What an operator lets run: unsigned plugins or not, only what is locked or everything, and what the static audit denies.

use thiserror::Error;

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
        self.static_audit
            .is_at_least_as_strict_as(&other.static_audit)
            .map_err(|setting| Loosened { setting: format!("static_audit.{setting}") })
    }
}
