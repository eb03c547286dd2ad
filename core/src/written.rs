//! What a host hears of every write that succeeded.

use crate::{
    caller::Caller,
    name::{ApprovalId, ProviderId, ToolName},
    reply::Write,
};

/// A write that has landed. It tells what was written to, not what was written.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Written<'a> {
    /// The tool.
    pub tool: &'a ToolName,
    /// Who contributed it.
    pub provider: &'a ProviderId,
    /// On whose authority, within which run.
    pub caller: &'a Caller,
    /// The request that was approved, where the call waited for one.
    pub approval: Option<&'a ApprovalId>,
    /// What was written to, where the tool says so.
    pub write: Option<&'a Write>,
}

/// Hears of writes, once each, after they have landed and before the call returns.
pub trait WriteListener: Send + Sync {
    /// Takes note of it. Nothing that it does changes the call: it must not panic.
    fn written(&self, written: &Written<'_>);
}
