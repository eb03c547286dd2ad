//! Reading the audit log back: its records from the oldest file to the newest, chosen by filters, and counted.

mod entry;
mod filter;
mod moment;
mod summary;
#[cfg(test)]
mod tests;
mod trail;

pub use self::{
    entry::{AuditCall, AuditDecision, AuditEntry, AuditEvent, AuditWrite},
    filter::AuditFilter,
    moment::{Moment, MomentError},
    summary::{ActorUsage, AuditSummary, ToolUsage},
    trail::{AuditEntries, AuditItem, AuditReadError, AuditTail, AuditTrail, DamagedLine},
};
