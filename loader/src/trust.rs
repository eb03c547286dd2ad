//! Whose plugins may run: the keys that an operator trusts, each for one publisher, and what that says of a bundle.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use toolbay_core::{AuditError, Party};

use crate::{
    access_error::NotAdmin,
    bundle::Bundle,
    home_file::{Document, HomeFileError},
    policy::{Policy, Unsigned},
    rejection::{Reason, Stage},
    signature::{KeyId, NotAKey, PublicKey, SignatureText},
};

/// Who stands for a plugin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signer {
    /// Nobody: it runs because the operator's policy lets unsigned plugins run.
    Nobody,
    /// A publisher, by a key of theirs that the operator trusts.
    Publisher {
        /// The key.
        key: KeyId,
        /// The publisher whose key it is.
        name: String,
    },
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("nobody"),
            Self::Publisher { key, name } => write!(f, "{name}, key {key}"),
        }
    }
}

/// A key in the trust file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrustedKey {
    /// The key, as minisign writes it in one line.
    pub key: String,
    /// The publisher for whose bundles alone it counts: the `vendor` of their manifests.
    pub publisher: String,
    /// When it was added, in seconds since the epoch.
    pub added: u64,
    /// Since when it does not count any more, where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revocation>,
}

/// The end of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Revocation {
    /// When, in seconds since the epoch.
    pub at: u64,
    /// Why, for people.
    pub reason: String,
}

/// Why a key was not added or revoked. Nothing has changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrustError {
    /// Whoever wants it is no administrator.
    ///
    /// Resolution: ask one.
    #[error("{actor} may not do that: expected an administrator")]
    NotAdmin {
        /// Who wanted it.
        actor: String,
    },
    /// The text is no key.
    ///
    /// Resolution: give the file that `minisign -G` wrote as the public key, or its second line.
    #[error("not a public key of minisign")]
    Key(#[from] NotAKey),
    /// A publisher's name breaks the rule.
    ///
    /// Resolution: use the name in the manifests' `vendor`.
    #[error(
        "publisher {found:?}: expected 1 to 100 visible characters, as in a manifest's `vendor`"
    )]
    Publisher {
        /// The name.
        found: String,
    },
    /// The key is known already, for another publisher.
    ///
    /// Resolution: revoke it, where it is somebody else's; a key stands for one publisher.
    #[error("key {key} is {publisher}'s already: expected a key that is nobody else's")]
    OtherPublisher {
        /// The key.
        key: KeyId,
        /// Whose it is.
        publisher: String,
    },
    /// The key was revoked, which is for good.
    ///
    /// Resolution: ask the publisher for their new key.
    #[error(
        "key {key} was revoked ({reason}), which is for good: expected another key of the publisher"
    )]
    Revoked {
        /// The key.
        key: KeyId,
        /// Why.
        reason: String,
    },
    /// No key has the id.
    ///
    /// Resolution: use one that `toolbay trust list` shows.
    #[error("key {key} unknown: expected one of the trusted ones{}", suggested(.known))]
    Unknown {
        /// The id.
        key: String,
        /// The keys that are there.
        known: Vec<String>,
    },
    /// The decision can't be recorded.
    ///
    /// Resolution: make the audit log writable.
    #[error("the decision can't be recorded, so it was not made")]
    NotAuditable(#[from] AuditError),
    /// The trust file can't be read or written.
    ///
    /// Resolution: as the source says.
    #[error("the trusted keys can't be read or kept")]
    File(#[from] HomeFileError),
}

impl From<NotAdmin> for TrustError {
    fn from(NotAdmin { actor }: NotAdmin) -> Self {
        Self::NotAdmin { actor }
    }
}

impl TrustError {
    /// Who can do something about it.
    pub fn party(&self) -> Party {
        match self {
            Self::NotAuditable(_) | Self::File(_) => Party::Environment,
            _ => Party::Caller,
        }
    }

    /// The word by which programs know the error. It never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAdmin { .. } => NotAdmin::CODE,
            Self::Key(_) => "bad_key",
            Self::Publisher { .. } => "bad_publisher",
            Self::OtherPublisher { .. } => "key_of_another_publisher",
            Self::Revoked { .. } => "revoked_key",
            Self::Unknown { .. } => "unknown",
            Self::NotAuditable(_) => "not_auditable",
            Self::File(_) => "file",
        }
    }
}

fn suggested(known: &[String]) -> String {
    if known.is_empty() {
        ", of which there are none".to_owned()
    } else {
        format!(": {}", known.join(", "))
    }
}

/// The trusted keys and those that are not any more, by their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TrustedKeys(BTreeMap<String, TrustedKey>);

impl Document for TrustedKeys {
    const NAME: &'static str = "trust";
    const FORMAT: u32 = 1;
    const FOUND_ANEW: bool = false;
}

impl TrustedKeys {
    /// Adds a key for a publisher. One that is there already for the same publisher stays as it is.
    pub(crate) fn add(
        &mut self,
        text: &str,
        publisher: &str,
        at: u64,
    ) -> Result<KeyId, TrustError> {
        let key = PublicKey::from_str(text)?;
        let publisher = publisher.trim();
        let visible = !publisher.is_empty() && !publisher.chars().any(char::is_control);
        if !visible || publisher.chars().count() > 100 {
            return Err(TrustError::Publisher { found: publisher.chars().take(120).collect() });
        }
        let id = key.id();
        match self.0.get(&id.to_string()) {
            Some(TrustedKey { revoked: Some(Revocation { reason, .. }), .. }) => {
                return Err(TrustError::Revoked { key: id, reason: reason.clone() });
            }
            Some(there) if there.key != key.to_string() || there.publisher != publisher => {
                return Err(TrustError::OtherPublisher {
                    key: id,
                    publisher: there.publisher.clone(),
                });
            }
            Some(_) => {}
            None => {
                let (key, publisher) = (key.to_string(), publisher.to_owned());
                let trusted = TrustedKey { key, publisher, added: at, revoked: None };
                self.0.insert(id.to_string(), trusted);
            }
        }
        Ok(id)
    }

    /// Ends a key for good. One that has ended already keeps when and why.
    pub(crate) fn revoke(
        &mut self,
        id: &str,
        reason: &str,
        at: u64,
    ) -> Result<TrustedKey, TrustError> {
        let found = self.0.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(id));
        let Some((_, key)) = found else {
            let known = self.0.keys().cloned().collect();
            return Err(TrustError::Unknown { key: id.chars().take(80).collect(), known });
        };
        key.revoked.get_or_insert_with(|| Revocation { at, reason: reason.to_owned() });
        Ok(key.clone())
    }

    /// Every key with its id.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &TrustedKey)> {
        self.0.iter().map(|(id, key)| (id.as_str(), key))
    }

    /// The key, where it counts.
    fn of(&self, id: KeyId) -> Result<(&TrustedKey, PublicKey), Reason> {
        let Some(trusted) = self.0.get(&id.to_string()) else {
            return Err(Reason::plugin(
                Stage::Signature,
                "unknown_key",
                "a signature of a key that is trusted here",
                format!("one of key {id}"),
                "where the key is the publisher's: toolbay trust add KEYFILE --publisher NAME",
            )
            .by_environment());
        };
        if let Some(Revocation { reason, .. }) = &trusted.revoked {
            return Err(Reason::plugin(
                Stage::Signature,
                "revoked_key",
                "a signature of a key that still counts",
                format!("one of key {id}, which was revoked: {reason}"),
                "ask the publisher for a bundle that is signed with their new key, and trust that key",
            ));
        }
        let key = PublicKey::from_str(&trusted.key).map_err(|error| {
            let (expected, remedy) = (
                "a key of minisign in the trust file",
                "put the version before it, or a copy of your own, in its place",
            );
            Reason::plugin(
                Stage::Signature,
                "trust_unreadable",
                expected,
                error.to_string(),
                remedy,
            )
            .by_environment()
        })?;
        Ok((trusted, key))
    }
}

/// What is trusted, as it is known now.
#[derive(Debug, Clone)]
pub(crate) struct Trust<'a> {
    /// The keys, or why they can't be read: then no signature counts.
    pub(crate) keys: Result<&'a TrustedKeys, String>,
    pub(crate) policy: &'a Policy,
}

impl Trust<'_> {
    /// Who stands for a bundle: the publisher whose trusted key signed this very manifest, or nobody where the policy allows that.
    pub(crate) fn signer(&self, bundle: &Bundle) -> Result<Signer, Reason> {
        let Some(signature) = bundle.signature() else { return self.unsigned() };
        let keys = self.readable_keys()?;
        let signature = SignatureText::parse(signature)?;
        let manifest = bundle.manifest();
        let (trusted, key) = keys.of(signature.key())?;
        signature.verify(manifest.bytes(), &key)?;
        let vendor = &manifest.parts().vendor;
        if trusted.publisher != *vendor {
            return Err(Reason::plugin(
                Stage::Signature,
                "key_of_another_publisher",
                format!("a bundle of {:?}, for whom alone the key counts", trusted.publisher),
                format!("one of {vendor:?}"),
                "ask the publisher which of the two is right; a key counts for the bundles of one publisher",
            ));
        }
        Ok(Signer::Publisher { key: key.id(), name: trusted.publisher.clone() })
    }

    /// Whether somebody who stood for a plugin still may.
    pub(crate) fn still(&self, signer: &Signer) -> Result<(), Reason> {
        match signer {
            Signer::Nobody => self.unsigned().map(drop),
            Signer::Publisher { key, .. } => self.readable_keys()?.of(*key).map(drop),
        }
    }

    fn readable_keys(&self) -> Result<&TrustedKeys, Reason> {
        let expected = "trusted keys that can be read";
        let remedy = "correct the trust file: until then no signature counts";
        self.keys.as_ref().copied().map_err(|problem| {
            Reason::plugin(Stage::Signature, "trust_unreadable", expected, problem.as_str(), remedy)
                .by_environment()
        })
    }

    /// What the policy says of a plugin that nobody has signed.
    pub(crate) fn unsigned(&self) -> Result<Signer, Reason> {
        match self.policy.unsigned {
            Unsigned::Allow => Ok(Signer::Nobody),
            Unsigned::Refuse => Err(Reason::plugin(
                Stage::Signature,
                "unsigned",
                "a bundle with a signature of a key that is trusted here",
                "no signature",
                "ask the publisher for a signed bundle; to develop a plugin, write unsigned = \"allow\" under [trust] in toolbay.toml",
            )
            .by_environment()),
        }
    }
}

#[cfg(test)]
mod tests {
    use minisign::KeyPair;

    use super::*;

    fn key() -> String {
        KeyPair::generate_unencrypted_keypair().unwrap().pk.to_base64()
    }

    #[test]
    fn a_key_stands_for_one_publisher_until_it_is_revoked_for_good() {
        let mut keys = TrustedKeys::default();
        let text = key();
        let id = keys.add(&text, " Example Ltd ", 1).unwrap();
        assert_eq!(keys.add(&text, "Example Ltd", 2).unwrap(), id, "once more changes nothing");
        let (trusted, _) = keys.of(id).unwrap();
        assert_eq!((trusted.publisher.as_str(), trusted.added), ("Example Ltd", 1));
        assert!(matches!(
            keys.add(&text, "Somebody", 2),
            Err(TrustError::OtherPublisher { publisher, .. }) if publisher == "Example Ltd"
        ));

        let lower = id.to_string().to_lowercase();
        keys.revoke(&lower, "stolen", 3).unwrap();
        let again = keys.revoke(&lower, "another reason", 4).unwrap();
        let revoked = again.revoked.unwrap();
        assert_eq!((revoked.at, revoked.reason.as_str()), (3, "stolen"), "the first one counts");
        assert_eq!(keys.of(id).unwrap_err().code, "revoked_key");
        assert!(matches!(keys.add(&text, "Example Ltd", 5), Err(TrustError::Revoked { .. })));
    }

    #[test]
    fn what_is_no_key_or_no_publisher_is_refused() {
        let mut keys = TrustedKeys::default();
        assert!(matches!(keys.add("RWQ", "Example Ltd", 1), Err(TrustError::Key(_))));
        let long = "x".repeat(101);
        for publisher in ["", "  ", "a\nb", long.as_str()] {
            let refused = keys.add(&key(), publisher, 1);
            assert!(matches!(refused, Err(TrustError::Publisher { .. })), "{publisher:?}");
        }
        assert!(matches!(keys.revoke("0123456789ABCDEF", "", 1), Err(TrustError::Unknown { .. })));
        assert_eq!(keys, TrustedKeys::default(), "nothing was added");
    }

    #[test]
    fn whoever_stood_for_a_plugin_is_asked_for_again() {
        let mut keys = TrustedKeys::default();
        let id = keys.add(&key(), "Example Ltd", 1).unwrap();
        let signer = Signer::Publisher { key: id, name: "Example Ltd".to_owned() };
        let (strict, mut loose) = (Policy::default(), Policy::default());
        loose.unsigned = Unsigned::Allow;
        let code = |keys: Result<&TrustedKeys, String>, policy, signer| {
            Trust { keys, policy }.still(signer).err().map(|reason| reason.code)
        };
        assert_eq!(code(Ok(&keys), &strict, &signer), None);
        assert_eq!(code(Ok(&keys), &strict, &Signer::Nobody), Some("unsigned"));
        assert_eq!(code(Ok(&keys), &loose, &Signer::Nobody), None);
        let unreadable = || Err("damaged".to_owned());
        assert_eq!(code(unreadable(), &strict, &signer), Some("trust_unreadable"));
        assert_eq!(code(unreadable(), &loose, &Signer::Nobody), None);
        keys.revoke(&id.to_string(), "stolen", 2).unwrap();
        assert_eq!(code(Ok(&keys), &loose, &signer), Some("revoked_key"));
    }
}
