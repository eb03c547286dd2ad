//! The records that were asked for, one after the other.

use toolbay_loader::{AuditEntry, AuditFilter, AuditItem, AuditTrail, DamagedLine};

use super::AuditError;
use crate::commands::CommandError;

/// The records of a log that a filter admits.
pub(super) struct Records {
    trail: Option<AuditTrail>,
    filter: AuditFilter,
    limit: Option<usize>,
    shown: usize,
    damaged: u64,
    first_damaged: Option<DamagedLine>,
}

impl Records {
    pub(super) fn new(trail: AuditTrail, filter: AuditFilter, limit: Option<usize>) -> Self {
        Self { trail: Some(trail), filter, limit, shown: 0, damaged: 0, first_damaged: None }
    }

    /// Hands out each record, once. Without a limit, one is in memory at a time.
    pub(super) fn each(
        &mut self,
        mut show: impl FnMut(&AuditEntry) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let Some(trail) = self.trail.take() else { return Ok(()) };
        if let Some(limit) = self.limit {
            let tail = trail.last(limit, &self.filter).map_err(AuditError::from)?;
            tail.damaged.into_iter().for_each(|line| self.pass_over(line));
            self.shown = tail.entries.len();
            return tail.entries.iter().try_for_each(show);
        }
        for item in trail.entries() {
            match item.map_err(AuditError::from)? {
                AuditItem::Damaged(line) => self.pass_over(line),
                AuditItem::Entry(entry) if self.filter.admits(&entry) => {
                    self.shown += 1;
                    show(&entry)?;
                }
                AuditItem::Entry(_) => {}
            }
        }
        Ok(())
    }

    fn pass_over(&mut self, line: DamagedLine) {
        self.damaged += 1;
        self.first_damaged.get_or_insert(line);
    }

    /// How many records there were.
    pub(super) fn shown(&self) -> usize {
        self.shown
    }

    /// How many lines were none.
    pub(super) fn damaged(&self) -> u64 {
        self.damaged
    }

    /// What to tell of damaged lines, where there were some.
    pub(super) fn damage(&self) -> Option<String> {
        let DamagedLine { path, line } = self.first_damaged.as_ref()?;
        let path = path.display();
        Some(match self.damaged {
            1 => format!("line {line} of {path} is no record, and was left out"),
            count => format!(
                "{count} lines are no records, and were left out; the first is line {line} of {path}"
            ),
        })
    }
}
