//! The static audit: a policy's judgement of what a library's tables say, before anything of it runs.
//!
//! The audit is a pure function of tables, host and policy, so that whoever packs a plugin gets the verdict of whoever loads it. It keeps mistakes
//! and careless builds out, and makes some attacks more work; it is no security boundary, as a loaded library may do what it likes.

mod check;
mod host_system;
mod judgement;
mod policy;

use std::collections::BTreeSet;

pub use self::{
    check::{Check, Level, UnknownAuditWord},
    host_system::HostSystem,
    policy::{
        BUILT_IN_LIBRARIES, DENIED_IMPORTS, DeniedCrate, LooserSetting, PolicySetting,
        StaticAuditPolicy,
    },
};

use self::judgement::Subject;
use crate::{inspect::LibraryFacts, rejection::Reason};

/// Something that a check found, and that the policy does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check.
    pub check: Check,
    /// What follows: [`Level::Warn`] or [`Level::Deny`].
    pub level: Level,
    /// What was expected and found, and what to do.
    pub reason: Reason,
}

/// Judges a library: all findings at once, in the order of [`Check::ALL`], one for each check at most. What the policy allows is left out.
///
/// `companions` are the file names and sonames of the other libraries in the same bundle, which a library may need.
pub fn static_audit(
    facts: &LibraryFacts,
    host: &HostSystem,
    policy: &StaticAuditPolicy,
    companions: &BTreeSet<String>,
) -> Vec<Finding> {
    let subject = Subject { facts, host, policy, companions };
    let judged = Check::ALL.iter().filter_map(|&check| {
        let level = policy.level(check);
        if level == Level::Allow {
            return None;
        }
        let reason = subject.judge(check)?;
        Some(Finding { check, level, reason })
    });
    judged.collect()
}

/// The reason for which a library that aborts on panic is refused.
pub(crate) fn panic_abort(found: &str) -> Reason {
    judgement::panic_abort(found)
}

#[cfg(test)]
mod tests;
