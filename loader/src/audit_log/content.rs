//! What went into a call and came out of it, as far as the log is told to keep it.

use std::borrow::Cow;

use toolbay_core::{AuditRecord, Privacy, Reply, redact_json};

/// The most bytes that are kept of the arguments, and of the reply, with the marker.
const MAX_BYTES: usize = 16 * 1024;

/// The most bytes in which secrets are looked for. A call with more has its size recorded, and nothing else of it: a secret that a cut
/// goes through can't be told from other text.
const MAX_MASKED: usize = 1024 * 1024;

/// The most artifacts whose names are kept.
const MAX_ARTIFACTS: usize = 16;

/// The most bytes of an artifact's name, with the marker.
const MAX_LABEL_BYTES: usize = 128;

/// What stands where the rest was cut.
const CUT: &str = "…[cut]";

/// The content of one call.
#[derive(Debug)]
pub(super) struct Content {
    /// The arguments, JSON as far as they were.
    pub(super) arguments: String,
    /// What a model reads of the reply, where there was one.
    pub(super) reply: Option<String>,
    /// The names of its artifacts.
    pub(super) artifacts: Vec<String>,
}

impl Content {
    /// What is kept of a call. It is apart from what is kept of every call, since at most hosts there is none.
    pub(super) fn of(record: &AuditRecord<'_>, privacy: Privacy) -> Option<Box<Self>> {
        let masked = match privacy {
            Privacy::None | Privacy::Metadata => return None,
            Privacy::Redacted => true,
            Privacy::Full => false,
        };
        let keep = |text: Cow<'_, str>, limit| {
            let text = if masked { mask(text) } else { text };
            cut(&text, limit)
        };
        let artifacts = record.reply.map_or(&[][..], Reply::artifacts);
        Some(Box::new(Self {
            arguments: keep(record.arguments.into(), MAX_BYTES),
            reply: record.reply.map(|reply| keep(reply.model_text(), MAX_BYTES)),
            artifacts: artifacts
                .iter()
                .take(MAX_ARTIFACTS)
                .map(|artifact| keep(artifact.label.as_str().into(), MAX_LABEL_BYTES))
                .collect(),
        }))
    }

    /// How much memory it takes, about.
    pub(super) fn bytes(&self) -> usize {
        let artifacts: usize = self.artifacts.iter().map(String::len).sum();
        self.arguments.len() + self.reply.as_ref().map_or(0, String::len) + artifacts
    }
}

/// The text with its secrets masked, whatever form it has.
fn mask(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() > MAX_MASKED { CUT.into() } else { redact_json(&text).into() }
}

/// At most so many bytes of a text, with the marker where it was longer. It is made anew, so that the rest takes no memory.
pub(super) fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(limit.saturating_sub(CUT.len()));
    format!("{}{CUT}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_has_its_marker_and_no_more_than_its_limit() {
        let cases = [
            ("", 8, ""),
            ("12345678", 8, "12345678"),
            ("123456789", 8, "…[cut]"),
            ("1234567890", 9, "1…[cut]"),
            ("äöüäöüäöü", 13, "äö…[cut]"),
            ("äöüäöüäöü", 12, "äö…[cut]"),
            ("äöüäöüäöü", 11, "ä…[cut]"),
        ];
        for (text, limit, expected) in cases {
            let cut = cut(text, limit);
            assert_eq!(cut, expected, "{text:?} in {limit}");
            assert!(cut.len() <= limit, "{text:?} in {limit}");
        }
    }
}
