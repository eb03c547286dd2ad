//! What a writer was asked to do, within the rules for names and texts.

use toolbay_plugin_api::Failure;

use crate::{
    folder::MAX_NOTE,
    name::{NameError, NoteName},
};

/// The most that is appended at once, in bytes.
pub(crate) const MAX_APPENDED: usize = 64 << 10;

/// Why there is nothing to do.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OrderError {
    /// The name is none of a note.
    ///
    /// Resolution: that of the name's error.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The text has nothing but spaces and line ends.
    ///
    /// Resolution: write something.
    #[error("expected a text, found nothing that could be read in it")]
    Blank,
    /// The text is longer than one call may write.
    ///
    /// Resolution: write it in several calls, or in several notes.
    #[error("expected a text of at most {limit} bytes, found {found}; write it in parts")]
    TooLong {
        /// The bytes that are allowed.
        limit: usize,
        /// The bytes that there are.
        found: usize,
    },
}

impl From<OrderError> for Failure {
    fn from(error: OrderError) -> Self {
        Self::new(error.to_string())
    }
}

/// What a writer was asked to do.
#[derive(Debug)]
pub(crate) enum Order {
    /// To make a note of this text.
    Create(NoteName, Text),
    /// To add this text to a note.
    Append(NoteName, Text),
    /// To remove a note.
    Delete(NoteName),
}

impl Order {
    pub(crate) fn create(name: &str, text: String) -> Result<Self, OrderError> {
        Ok(Self::Create(NoteName::parse(name)?, Text::parse(text, MAX_NOTE)?))
    }

    pub(crate) fn append(name: &str, text: String) -> Result<Self, OrderError> {
        Ok(Self::Append(NoteName::parse(name)?, Text::parse(text, MAX_APPENDED)?))
    }

    pub(crate) fn delete(name: &str) -> Result<Self, OrderError> {
        Ok(Self::Delete(NoteName::parse(name)?))
    }
}

/// A text that says something, and ends with a line end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text(String);

impl Text {
    fn parse(mut text: String, limit: usize) -> Result<Self, OrderError> {
        if text.trim().is_empty() {
            return Err(OrderError::Blank);
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let found = text.len();
        if found > limit {
            return Err(OrderError::TooLong { limit, found });
        }
        Ok(Self(text))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_says_something_and_ends_with_a_line_end() {
        for (text, expected) in [
            ("milk", Ok("milk\n")),
            ("milk\n", Ok("milk\n")),
            ("12345678", Err(OrderError::TooLong { limit: 8, found: 9 })),
            ("1234567", Ok("1234567\n")),
            ("1234567\n", Ok("1234567\n")),
            ("ääää", Err(OrderError::TooLong { limit: 8, found: 9 })),
            ("", Err(OrderError::Blank)),
            (" \n\t\u{a0}", Err(OrderError::Blank)),
        ] {
            let parsed = Text::parse(text.to_owned(), 8);
            assert_eq!(parsed, expected.map(|text| Text(text.to_owned())), "{text:?}");
        }
    }
}
