//! Texts within bounds: fields for a list, and errors with their causes.

use std::error::Error;

/// The text in one line of at most `max` bytes and an ellipsis. Control characters become spaces.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut line = text[..boundary(text, max)].replace(char::is_control, " ");
    if line.len() < text.len() {
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    line
}

/// The text with its lines, at most `max` bytes and an ellipsis. Control characters other than line ends and tabs become spaces.
pub(crate) fn many_lines(text: &str, max: usize) -> String {
    let control = |char: char| char.is_control() && char != '\n' && char != '\t';
    let mut lines = text[..boundary(text, max)].replace(control, " ");
    if lines.len() < text.len() {
        lines.push('…');
    }
    lines
}

/// The last place up to `max` where the text can be cut.
fn boundary(text: &str, max: usize) -> usize {
    text.floor_char_boundary(max)
}

/// The error with its causes.
pub(crate) fn in_full(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        words.push_str(": ");
        words.push_str(&cause.to_string());
        next = cause.source();
    }
    words
}

/// `1 entry`, `2 entries`.
pub(crate) fn entries(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        for (text, max, expected) in [
            ("short", 5, "short"),
            ("longer", 5, "longe…"),
            ("äöü", 3, "ä…"),
            ("a\nb\u{1b}c", 9, "a b c"),
            ("one two", 4, "one…"),
            ("x", 0, "…"),
            ("", 0, ""),
        ] {
            assert_eq!(one_line(text, max), expected, "{text:?}");
        }
        assert_eq!(many_lines("a\n\tb\u{7}\r\nc", 9), "a\n\tb  \nc");
        assert_eq!(many_lines("a\nöl", 3), "a\n…");
    }
}
