//! Cuts text that somebody else wrote to a length that fits a message.

use std::borrow::Cow;

/// At most `limit` characters of `text`; what was cut shows as `…`, which counts as one of them.
pub(crate) fn excerpt(text: &str, limit: usize) -> Cow<'_, str> {
    // A text of that many bytes can't have more characters, and most texts are that short.
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some(_) => {
            let head: String = text.chars().take(limit.saturating_sub(1)).collect();
            Cow::Owned(head + "…")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_never_has_more_characters_than_its_limit() {
        let cases = [
            ("", 3, ""),
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("äöü", 3, "äöü"),
            ("äöüß", 3, "äö…"),
            ("🦀🦀", 1, "…"),
        ];
        for (text, limit, expected) in cases {
            assert_eq!(excerpt(text, limit), expected, "{text:?} in {limit}");
        }
    }
}
