//! Text that a plugin wrote, made fit for a line that a person reads.

/// The text on one line and of at most `max` bytes: control characters are escaped, so that nothing imitates other output or drives a
/// terminal.
pub fn one_line(text: &str, max: usize) -> String {
    let end = text.floor_char_boundary(max);
    let mut line = String::with_capacity(end);
    for character in text[..end].chars() {
        if character.is_control() && character != '\t' {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    if end < text.len() {
        line.push_str(" [cut]");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_on_its_line_and_within_its_limit() {
        assert_eq!(one_line("first\nERROR second\u{1b}[0m", 100), "first\\nERROR second\\u{1b}[0m");
        assert_eq!(one_line("äää", 4), "ää [cut]");
        assert_eq!(one_line("äää", 5), "ää [cut]");
        assert_eq!(one_line("äää", 6), "äää");
    }
}
