//! What a run has called so far, for rules that judge the next call by it.

use std::sync::{Mutex, PoisonError};

use crate::{audit::Outcome, name::ToolName, reply::WriteTarget};

/// A call that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCall {
    /// The tool.
    pub tool: ToolName,
    /// How it ended.
    pub outcome: Outcome,
    /// What it wrote to, where it did.
    pub target: Option<WriteTarget>,
}

/// The calls of one run, in the order in which they ended. The pipeline adds to it: a call when it has run, and one that ran because
/// somebody approved it when its outcome is handed out.
///
/// A history that could not be restored is incomplete for good: a rule that needs one then refuses every call.
///
/// ```
/// use toolbay_core::RunHistory;
///
/// assert_eq!(RunHistory::new().calls(), Some(Vec::new()));
/// assert_eq!(RunHistory::incomplete().calls(), None);
/// ```
#[derive(Debug)]
pub struct RunHistory(Option<Mutex<Vec<PastCall>>>);

impl RunHistory {
    /// The history of a run that begins.
    pub fn new() -> Self {
        Self::of(Vec::new())
    }

    /// The history of a run that goes on after these calls.
    pub fn of(calls: Vec<PastCall>) -> Self {
        Self(Some(Mutex::new(calls)))
    }

    /// The history of a run of which some calls are not known.
    pub fn incomplete() -> Self {
        Self(None)
    }

    /// The calls, where all of them are known.
    pub fn calls(&self) -> Option<Vec<PastCall>> {
        let calls = self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(calls.clone())
    }

    pub(crate) fn add(&self, call: PastCall) {
        if let Some(calls) = &self.0 {
            calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        }
    }
}

impl Default for RunHistory {
    fn default() -> Self {
        Self::new()
    }
}
