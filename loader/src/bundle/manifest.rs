//! The manifest: what a bundle says about itself, with the hash of everything that is in it.

mod check;
mod format;

use serde_json::Value;
use toolbay_core::{UniqueMembers, canonical};

pub(super) use self::format::canonical_text;
use super::{ManifestParts, refused};
use crate::{plugin_text::one_line, rejection::Reason};

const REMEDY: &str = "ask the vendor for a bundle whose manifest is correct, or pack it again";

/// A manifest that was read and is consistent in itself. Nothing of it is compared with the files, and nothing of it is trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    bytes: Box<[u8]>,
    value: Value,
    parts: ManifestParts,
}

impl Manifest {
    /// The version of the format that this host reads, the value of `toolbay_bundle`. It also keeps a signed manifest from being taken
    /// for anything else that the same key signs.
    pub const FORMAT: u64 = 1;

    /// The most bytes of a manifest.
    pub const MAX_BYTES: usize = 4 * 1024 * 1024;

    /// Reads a manifest. Members that are not known are kept, in [`bytes`](Self::bytes) and in [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// [`RejectionReason`](crate::RejectionReason) where the bytes are too many, no JSON or no manifest of this format, name a member
    /// twice, nest deeper than 127 levels, or contradict themselves. It names the place.
    pub fn parse(bytes: &[u8]) -> Result<Self, Reason> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(too_large(bytes.len() as u64));
        }
        let text = str::from_utf8(bytes).map_err(|error| no_json(&error.to_string()))?;
        let value = value(text)?;
        check_format(&value)?;
        // However it is spelled, it says the same, down to the text of a schema.
        let parts = format::read(&canonical(&value))?;
        check::check(&parts)?;
        Ok(Self { bytes: bytes.into(), value, parts })
    }

    /// The exact bytes that were read: what is hashed and signed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All of it as JSON, also the members that this host does not know.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What it says.
    pub fn parts(&self) -> &ManifestParts {
        &self.parts
    }

    /// Checks that the manifest is the one spelling of what it says, as [`ManifestParts::to_manifest`] writes it, so that there is one
    /// signature for it.
    ///
    /// # Errors
    ///
    /// `manifest_not_canonical` for any other spelling.
    pub fn check_canonical(&self) -> Result<(), Reason> {
        if canonical_bytes(&self.value) == *self.bytes {
            return Ok(());
        }
        Err(refused(
            "manifest_not_canonical",
            "a signed manifest in canonical JSON: members sorted, no space, a line feed at the end",
            "another spelling",
            "pack the bundle again before it is signed",
        ))
    }
}

/// Why a manifest of this size is not read.
pub(super) fn too_large(found: u64) -> Reason {
    refused(
        "manifest_too_large",
        format!("a manifest of at most {} bytes", Manifest::MAX_BYTES),
        format!("{found} bytes"),
        REMEDY,
    )
}

fn canonical_bytes(value: &Value) -> Vec<u8> {
    let mut text = canonical(value);
    text.push('\n');
    text.into_bytes()
}

fn value(text: &str) -> Result<Value, Reason> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut json);
    let UniqueMembers(value) = read.map_err(|error: serde_path_to_error::Error<_>| {
        let found = error.to_string();
        let error: serde_json::Error = error.into_inner();
        if error.is_data() {
            let found = one_line(&found, 300);
            refused("duplicate_member", "each member of an object once", found, REMEDY)
        } else {
            no_json(&error.to_string())
        }
    })?;
    json.end().map_err(|error| no_json(&error.to_string()))?;
    Ok(value)
}

fn check_format(value: &Value) -> Result<(), Reason> {
    let found = match value.get("toolbay_bundle") {
        Some(format) if format.as_u64() == Some(Manifest::FORMAT) => return Ok(()),
        Some(format) => one_line(&format.to_string(), 80),
        None => "none".to_owned(),
    };
    Err(refused(
        "bundle_format",
        format!("\"toolbay_bundle\": {}, which this host reads", Manifest::FORMAT),
        found,
        "update the host, or ask the vendor for a bundle of that format",
    ))
}

fn no_json(found: &str) -> Reason {
    refused("manifest_not_json", "a manifest in JSON", one_line(found, 300), REMEDY)
}

/// A mistake at a place in the manifest, such as `targets.x86_64-linux-gnu.epoch`.
fn mistake(place: &str, expected: impl Into<String>, found: &str) -> Reason {
    let found = one_line(&format!("{place}: {found}"), 400);
    refused("bad_manifest", expected, found, REMEDY)
}

#[cfg(test)]
mod tests;
