//! The keys that administrators trust and revoke.

use toolbay_core::{Actor, DecisionKind};

use super::Toolbay;
use crate::{
    home_file::HomeFileError,
    signature::KeyId,
    trust::{TrustError, TrustedKey, TrustedKeys},
};

impl Toolbay {
    /// Trusts a key for the bundles of one publisher. `key` is the content of the file that minisign writes, or its second line.
    ///
    /// # Errors
    ///
    /// [`TrustError`]: nothing has changed.
    pub fn trust_key(&self, key: &str, publisher: &str, by: &Actor) -> Result<KeyId, TrustError> {
        let at = self.now().as_secs();
        self.decide_key(by, DecisionKind::TrustKey, publisher, |keys| keys.add(key, publisher, at))
    }

    /// Ends the trust in a key for good: nothing that it signed is loaded any more, in no process of this home.
    ///
    /// # Errors
    ///
    /// [`TrustError`]: nothing has changed.
    pub fn revoke_key(
        &self,
        key: &str,
        reason: &str,
        by: &Actor,
    ) -> Result<TrustedKey, TrustError> {
        let at = self.now().as_secs();
        self.decide_key(by, DecisionKind::RevokeKey, key, |keys| keys.revoke(key, reason, at))
    }

    /// Every key that was trusted, also those that are not any more, with its id.
    ///
    /// # Errors
    ///
    /// [`HomeFileError`] where they can't be read: then no signature counts.
    pub fn trusted_keys(&self) -> Result<Vec<(String, TrustedKey)>, HomeFileError> {
        let keys = self.vetting.trust.read()?;
        Ok(keys.iter().map(|(id, key)| (id.to_owned(), key.clone())).collect())
    }

    /// Decides about keys: checks that an administrator wants it, changes it, records it and keeps it, in this order, and takes it over.
    fn decide_key<T>(
        &self,
        by: &Actor,
        kind: DecisionKind,
        subject: &str,
        change: impl FnOnce(&mut TrustedKeys) -> Result<T, TrustError>,
    ) -> Result<T, TrustError> {
        self.decide_and_keep(by, kind, subject, "key", TrustError::code, |record| {
            self.vetting.trust.update(|keys| {
                let changed = change(keys)?;
                record()?;
                Ok(changed)
            })
        })
    }
}
