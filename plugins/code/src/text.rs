//! Files as lines of text: how they are split, and how a line is shown.

use std::ops::Range;

use grep_matcher::LineTerminator;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

/// The bytes of file content that one answer holds; what stands around it stays below 4 KB.
pub(crate) const MAX_ANSWER: usize = 36_000;

/// A searcher that numbers lines, takes a file with a zero byte as binary, and reads UTF-16 where its mark says so.
pub(crate) fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .build()
}

/// A line without its end, cut to about `max` bytes around `focus`. What is no text becomes U+FFFD.
pub(crate) fn shown(line: &[u8], focus: Range<usize>, max: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (mut start, mut end) = (0, line.len());
    if line.len() > max {
        // A quarter of the room goes to what stands before the focus.
        start = focus.start.min(line.len()).saturating_sub(max / 4).min(line.len() - max);
        end = start + max;
        while start > 0 && is_continuation(line[start]) {
            start -= 1;
        }
        while end < line.len() && is_continuation(line[end]) {
            end += 1;
        }
    }
    let mut shown = String::with_capacity(end - start + 6);
    if start > 0 {
        shown.push('…');
    }
    shown.push_str(&plain(&String::from_utf8_lossy(&line[start..end])));
    if end < line.len() {
        shown.push('…');
    }
    shown
}

/// The text with U+FFFD for control characters but tabs: no file's name or content may break a line of an answer, or steer a terminal.
pub(crate) fn plain(text: &str) -> String {
    text.replace(|char: char| char.is_control() && char != '\t', "\u{fffd}")
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// `1 file`, `2 files`.
pub(crate) fn counted(number: u64, noun: &str, plural: &str) -> String {
    format!("{number} {}", if number == 1 { noun } else { plural })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_around_its_focus_and_never_inside_a_character() {
        let cases: [(&[u8], Range<usize>, usize, &str); 9] = [
            (b"short\n", 0..1, 8, "short"),
            (b"short\r\n", 0..1, 8, "short"),
            (b"exactly8", 0..1, 8, "exactly8"),
            (b"0123456789", 0..1, 4, "0123…"),
            (b"0123456789", 5..6, 4, "…4567…"),
            (b"0123456789", 9..10, 4, "…6789"),
            ("äöüäöü".as_bytes(), 4..6, 4, "…öüä…"),
            (b"\xff ok \x1b[31m\t!", 0..1, 40, "\u{fffd} ok \u{fffd}[31m\t!"),
            (b"0123456789", 40..50, 4, "…6789"),
        ];
        for (line, focus, max, expected) in cases {
            assert_eq!(shown(line, focus, max), expected, "{line:?}");
        }
    }

    #[test]
    fn a_line_of_continuation_bytes_alone_is_cut_too() {
        let line = [0x80; 5000];
        assert!(shown(&line, 2500..2501, 100).len() <= 3 * 5000 + 6);
    }
}
