//! Texts within bounds: lines for people and models, numbers with their nouns, times.

use std::time::{Duration, UNIX_EPOCH};

/// The text without line end, cut to at most `max` bytes and an ellipsis. Control characters other than tabs, and those that turn the
/// direction of what follows, stand there as escapes: what a person approves must be what it looks like.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let end = text.floor_char_boundary(max);
    let mut line = String::with_capacity(end);
    for character in text[..end].chars() {
        if character != '\t' && (character.is_control() || turns(character)) {
            line.extend(character.escape_unicode());
        } else {
            line.push(character);
        }
    }
    if end < text.len() {
        line.push('…');
    }
    line
}

/// Whether it only changes the direction of the text around it.
const fn turns(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// `1 byte`, `2 bytes`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// When something was last changed, to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Changed(u64);

impl Changed {
    /// The last second that RFC 3339 can write.
    const LAST: i64 = 253_402_300_799;

    /// From seconds since 1970. A file system may hold any number; what can't be written becomes the nearest that can.
    pub(crate) fn from_seconds(seconds: i64) -> Self {
        Self(seconds.clamp(0, Self::LAST).unsigned_abs())
    }
}

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(self.0)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_it_looks_like() {
        for (text, max, expected) in [
            ("short", 5, "short"),
            ("longer", 5, "longe…"),
            ("äöü", 3, "ä…"),
            ("a\tb", 9, "a\tb"),
            ("a\u{1b}[2Jb\r", 99, "a\\u{1b}[2Jb\\u{d}"),
            ("pay \u{202e}001\u{2069}", 99, "pay \\u{202e}001\\u{2069}"),
            ("\u{200d}ä\u{301}", 99, "\u{200d}ä\u{301}"),
            ("x", 0, "…"),
            ("", 0, ""),
        ] {
            assert_eq!(one_line(text, max), expected, "{text:?}");
        }
    }

    #[test]
    fn every_time_can_be_written() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1970-01-01T00:00:00Z"),
            (1_785_412_800, "2026-07-30T12:00:00Z"),
            (Changed::LAST, "9999-12-31T23:59:59Z"),
            (Changed::LAST + 1, "9999-12-31T23:59:59Z"),
            (i64::MAX, "9999-12-31T23:59:59Z"),
            (i64::MIN, "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(Changed::from_seconds(seconds).to_string(), expected);
        }
    }
}
