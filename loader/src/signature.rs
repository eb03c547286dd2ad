//! Who signed a manifest: minisign's signatures, which anybody can check and make with the tool of that name.
//!
//! `minisign -Vm toolbay.json -P KEY` verifies the same file as [`SignatureText::verify`] does, and `minisign -Sm toolbay.json` makes it. A
//! signature covers the manifest's exact bytes and, through the hashes in it, every file of the bundle. It says who, not how good; whether
//! a key is trusted, and for what, is decided elsewhere.

use std::{fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::STANDARD};
use minisign_verify::{Error as MinisignError, Signature};
use thiserror::Error;

use crate::{
    plugin_text::one_line,
    rejection::{Reason, Stage},
};

const REMEDY: &str = "sign the manifest again with minisign";

/// The number that a key pair is known by; as text, 16 hexadecimal digits, as minisign prints it. It identifies nobody: another key can be
/// made to have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(u64);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016X}", self.0)
    }
}

/// A text that is no [`KeyId`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("key id: expected 16 hexadecimal digits, found {found:?}")]
pub struct NotAKeyId {
    found: String,
}

impl FromStr for KeyId {
    type Err = NotAKeyId;

    fn from_str(text: &str) -> Result<Self, NotAKeyId> {
        let is_id = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| is_id);
        number.map(Self).ok_or_else(|| NotAKeyId { found: text.chars().take(80).collect() })
    }
}

/// What minisign puts before a key and before a signature: two bytes for the algorithm, then the key's number.
struct Header {
    algorithm: [u8; 2],
    key: KeyId,
}

impl Header {
    /// The content's hash is signed. The old algorithm, `Ed`, signs the content itself.
    const PREHASHED: [u8; 2] = *b"ED";

    fn of_base64(line: &str) -> Option<Self> {
        let bytes = STANDARD.decode(line).ok()?;
        let (algorithm, rest) = bytes.split_first_chunk()?;
        let (key, _) = rest.split_first_chunk()?;
        Some(Self { algorithm: *algorithm, key: KeyId(u64::from_le_bytes(*key)) })
    }
}

/// A key that signatures are verified with. As text it is one line of base64.
///
/// ```
/// use toolbay_loader::PublicKey;
///
/// let key: PublicKey = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3".parse()?;
/// assert_eq!(key.id().to_string(), "E7620F1842B4E81F");
/// # Ok::<(), toolbay_loader::NotAKey>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    text: Box<str>,
    id: KeyId,
    key: minisign_verify::PublicKey,
}

/// A text that is no public key of minisign.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "public key: expected the text of a minisign .pub file, or its base64 line alone, found {found:?}"
)]
pub struct NotAKey {
    found: String,
}

impl PublicKey {
    /// Its number.
    pub fn id(&self) -> KeyId {
        self.id
    }
}

impl FromStr for PublicKey {
    type Err = NotAKey;

    /// Reads the text of a `.pub` file, or its base64 line alone.
    fn from_str(text: &str) -> Result<Self, NotAKey> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut line = lines.next().unwrap_or_default();
        if line.starts_with("untrusted comment:") {
            line = lines.next().unwrap_or_default();
        }
        let key = minisign_verify::PublicKey::from_base64(line).ok();
        match (key, Header::of_base64(line), lines.next()) {
            (Some(key), Some(header), None) => Ok(Self { text: line.into(), id: header.key, key }),
            _ => Err(NotAKey { found: text.chars().take(80).collect() }),
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A signature file that was read, and not verified yet.
#[derive(Clone)]
pub struct SignatureText {
    signature: Signature,
    key: KeyId,
    is_legacy: bool,
}

impl fmt::Debug for SignatureText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureText")
            .field("key", &self.key)
            .field("is_legacy", &self.is_legacy)
            .finish_non_exhaustive()
    }
}

/// The comment that was signed with the manifest, on one line and of at most 1,000 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedComment(String);

impl TrustedComment {
    /// The comment, fit to be shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TrustedComment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl SignatureText {
    /// Reads a signature file: two comments and two lines of base64, and nothing else.
    ///
    /// # Errors
    ///
    /// [`RejectionReason`](crate::RejectionReason) with the code `bad_signature_file`, or `signature_algorithm` for one that minisign does
    /// not know.
    pub fn parse(bytes: &[u8]) -> Result<Self, Reason> {
        let bad = |found: &str| {
            let expected = "a signature file of minisign: four lines, of comments and base64";
            refused("bad_signature_file", expected, found, REMEDY)
        };
        let text = str::from_utf8(bytes).map_err(|error| bad(&error.to_string()))?;
        let lines: Vec<_> = text.lines().take(5).collect();
        let [comment, signature, _, _] = lines[..] else {
            return Err(bad("fewer or more lines"));
        };
        if !comment.starts_with("untrusted comment:") {
            return Err(bad("no untrusted comment in the first line"));
        }
        let header = Header::of_base64(signature).ok_or_else(|| bad("no base64 in the second"))?;
        let signature = Signature::decode(text).map_err(|error| match error {
            MinisignError::UnsupportedAlgorithm => {
                other_algorithm("one that minisign does not know")
            }
            error => bad(&error.to_string()),
        })?;
        let is_legacy = header.algorithm != Header::PREHASHED;
        Ok(Self { signature, key: header.key, is_legacy })
    }

    /// The key that it claims to be made with.
    pub fn key(&self) -> KeyId {
        self.key
    }

    /// Whether it is made with minisign's old algorithm, which [`verify`](Self::verify) refuses.
    pub fn is_legacy(&self) -> bool {
        self.is_legacy
    }

    /// Verifies that the holder of this key signed exactly these bytes, and the comment with them.
    ///
    /// # Errors
    ///
    /// [`RejectionReason`](crate::RejectionReason) with the code `signature_algorithm`, `other_key` where the signature names another key,
    /// or `bad_signature`.
    pub fn verify(&self, manifest: &[u8], key: &PublicKey) -> Result<TrustedComment, Reason> {
        if self.is_legacy {
            return Err(other_algorithm("the legacy one"));
        }
        if self.key != key.id {
            return Err(refused(
                "other_key",
                &format!("a signature by the key {}", key.id),
                &format!("one by {}", self.key),
                "name the key that the vendor signs with, or ask why it changed",
            ));
        }
        match key.key.verify(manifest, &self.signature, false) {
            Ok(()) => Ok(TrustedComment(one_line(self.signature.trusted_comment(), 1000))),
            Err(error) => Err(refused(
                "bad_signature",
                &format!("a signature of this manifest by the key {}", key.id),
                &error.to_string(),
                "fetch the bundle again; if it stays so, don't use it, and ask the vendor",
            )),
        }
    }
}

fn other_algorithm(found: &str) -> Reason {
    let expected = "minisign's prehashed algorithm (ED)";
    refused("signature_algorithm", expected, found, "sign again with minisign 0.10 or later")
}

fn refused(code: &'static str, expected: &str, found: &str, remedy: &str) -> Reason {
    Reason::plugin(Stage::Signature, code, expected, one_line(found, 300), remedy)
}

#[cfg(test)]
mod tests;
