//! The contents that failed, and that administrators let run again.

use std::collections::BTreeSet;

use toolbay_core::{Actor, DecisionKind};

use super::Toolbay;
use crate::{
    home_file::HomeFileError,
    quarantine::{QuarantineError, Quarantined},
};

impl Toolbay {
    /// What is remembered of contents that failed while their code ran, also of those that are tried again, in the order of their hashes.
    ///
    /// ```
    /// # let home = std::env::temp_dir().join("toolbay-doc-quarantine");
    /// use toolbay_loader::{Config, Retry, Toolbay};
    ///
    /// let toolbay = Toolbay::open(Config::new(home))?;
    /// for one in toolbay.quarantine()? {
    ///     let held = if one.retry == Retry::Now { "" } else { ", not yet tried again" };
    ///     println!("{} {}: {}{held}", one.failure.provider, one.content, one.failure.found);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`HomeFileError`] where it can't be read.
    pub fn quarantine(&self) -> Result<Vec<Quarantined>, HomeFileError> {
        self.vetting.failed()
    }

    /// Forgets how the contents of a provider failed, or the one content with this hash, so that they are tried again as if they were new.
    /// Tells what it was.
    ///
    /// # Errors
    ///
    /// [`QuarantineError`]: nothing has changed.
    pub fn release(&self, subject: &str, by: &Actor) -> Result<Vec<Quarantined>, QuarantineError> {
        let code = QuarantineError::code;
        self.decide_and_keep(by, DecisionKind::Release, subject, "quarantine", code, |record| {
            let failed = self.quarantine()?;
            let is_meant = |one: &Quarantined| {
                one.failure.provider == subject || one.content.to_string() == subject
            };
            let (meant, others): (Vec<_>, Vec<_>) = failed.into_iter().partition(is_meant);
            if meant.is_empty() {
                let known: BTreeSet<_> =
                    others.into_iter().map(|one| one.failure.provider).collect();
                let (subject, known) = (subject.to_owned(), known.into_iter().collect());
                return Err(QuarantineError::Unknown { subject, known });
            }
            self.vetting.failures.update(|failures| {
                for one in &meant {
                    failures.forget(one.content);
                }
                record()?;
                Ok::<_, QuarantineError>(())
            })?;
            Ok(meant)
        })
    }
}
