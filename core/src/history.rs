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
pub struct RunHistory(Mutex<Option<Vec<PastCall>>>);

impl RunHistory {
    /// The most calls that are kept. A run that makes more has a history that is incomplete.
    pub const MAX_CALLS: usize = 1_000;

    /// The history of a run that begins.
    pub fn new() -> Self {
        Self::of(Vec::new())
    }

    /// The history of a run that goes on after these calls.
    pub fn of(calls: Vec<PastCall>) -> Self {
        Self(Mutex::new(Some(calls).filter(|calls| calls.len() <= Self::MAX_CALLS)))
    }

    /// The history of a run of which some calls are not known.
    pub fn incomplete() -> Self {
        Self(Mutex::new(None))
    }

    /// The calls, where all of them are known.
    pub fn calls(&self) -> Option<Vec<PastCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn add(&self, call: PastCall) {
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *calls = calls.take().filter(|calls| calls.len() < Self::MAX_CALLS).map(|mut calls| {
            calls.push(call);
            calls
        });
    }
}

impl Default for RunHistory {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_that_grows_too_long_is_incomplete_for_good() {
        let call = || PastCall { tool: "t".parse().unwrap(), outcome: Outcome::Ok, target: None };
        let history = RunHistory::new();
        for _ in 0..RunHistory::MAX_CALLS {
            history.add(call());
        }
        assert_eq!(history.calls().map(|calls| calls.len()), Some(RunHistory::MAX_CALLS));
        history.add(call());
        assert_eq!(history.calls(), None);
        history.add(call());
        assert_eq!(history.calls(), None);
    }
}
