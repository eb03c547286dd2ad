//! One text for each JSON value, so that equal values have equal digests.

use std::fmt;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a canonical text. As text it is 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The fewest digits by which a person names a digest.
    pub const MIN_DIGITS: usize = 12;

    /// Whether these are the digits of this digest, or enough of the first of them.
    pub fn is_named_by(&self, digits: &str) -> bool {
        digits.len() >= Self::MIN_DIGITS && self.to_string().starts_with(digits)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The digest of a value's canonical text.
pub fn digest(value: &Value) -> Digest {
    Digest(Sha256::digest(canonical(value).as_bytes()).into())
}

/// The value as text: members sorted, no white space.
pub fn canonical(value: &Value) -> String {
    value.to_string()
}
