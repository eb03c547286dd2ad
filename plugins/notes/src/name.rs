//! The names of notes: one part of a path, of letters, digits and a few signs, in one form of Unicode.

use std::{ffi::OsStr, fmt};

use toolbay_plugin_api::Failure;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark, is_nfc};

/// The ending of a note's file.
const ENDING: &str = ".md";

const MAX_CHARACTERS: usize = 100;
const MAX_BYTES: usize = 200;

/// Why a name is none of a note.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum NameError {
    /// There is nothing in it.
    ///
    /// Resolution: say which note is meant.
    #[error("expected the name of a note, found nothing")]
    Empty,
    /// It is longer than names may be.
    ///
    /// Resolution: choose a shorter one.
    #[error(
        "expected a name of at most {MAX_CHARACTERS} characters and {MAX_BYTES} bytes, found {characters} characters and {bytes} bytes"
    )]
    TooLong {
        /// How many characters it has.
        characters: usize,
        /// How many bytes it has.
        bytes: usize,
    },
    /// It has a character that names don't have, or has it where names don't.
    ///
    /// Resolution: leave the character out.
    #[error(
        "expected a name of letters, digits, spaces and _ - . that begins with none of space and . and does not end with a space; \
         found {found:?} as character {at}"
    )]
    Character {
        /// The character.
        found: char,
        /// Which one it is, counted from 1.
        at: usize,
    },
    /// It ends with the ending of the files twice.
    ///
    /// Resolution: leave the ending out.
    #[error("expected a name that does not end with {ENDING}, which is the ending of its file")]
    Ending,
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Self::new(error.to_string())
    }
}

/// The name of a note: within the rules, in Unicode's form NFC, without the ending of its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NoteName(String);

impl NoteName {
    /// The name that a model means. The ending of the file may be there, and any form of Unicode is taken.
    pub(crate) fn parse(asked: &str) -> Result<Self, NameError> {
        let name: String = asked.nfc().collect();
        Self::within_the_rules(without_ending(&name).unwrap_or(&name))
    }

    /// The name that a file has, unless it is one that no model could give.
    pub(crate) fn of_file(file: &OsStr) -> Option<Self> {
        let name = file.to_str()?.strip_suffix(ENDING)?;
        if is_nfc(name) { Self::within_the_rules(name).ok() } else { None }
    }

    /// Whether a file has this name in another form of Unicode, so that people can't tell them apart.
    pub(crate) fn looks_like(&self, file: &OsStr) -> bool {
        file.to_str().is_some_and(|file| !is_nfc(file) && file.nfc().eq(self.file().chars()))
    }

    fn within_the_rules(name: &str) -> Result<Self, NameError> {
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        let (characters, bytes) = (name.chars().count(), name.len());
        if characters > MAX_CHARACTERS || bytes > MAX_BYTES {
            return Err(NameError::TooLong { characters, bytes });
        }
        let mut before = None;
        for (at, found) in name.chars().enumerate() {
            let fits = match found {
                ' ' => before.is_some() && at + 1 < characters,
                '.' => before.is_some(),
                // A mark belongs to the letter before it.
                _ if is_combining_mark(found) => before.is_some_and(is_of_word),
                _ => found.is_alphanumeric() || found == '_' || found == '-',
            };
            if !fits || is_invisible(found) {
                return Err(NameError::Character { found, at: at + 1 });
            }
            before = Some(found);
        }
        if without_ending(name).is_some() {
            return Err(NameError::Ending);
        }
        Ok(Self(name.to_owned()))
    }

    /// The name.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its file, which is also its path below the folder.
    pub(crate) fn file(&self) -> String {
        format!("{}{ENDING}", self.0)
    }
}

impl fmt::Display for NoteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn without_ending(name: &str) -> Option<&str> {
    let at = name.len().checked_sub(ENDING.len())?;
    let (name, ending) = name.split_at_checked(at)?;
    ending.eq_ignore_ascii_case(ENDING).then_some(name)
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || is_combining_mark(character)
}

/// The letters and marks that nobody sees: two names could differ by one of them alone.
const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_language_are_taken() {
        let longest = "x".repeat(100);
        for (asked, expected) in [
            ("groceries", "groceries"),
            ("groceries.md", "groceries"),
            ("groceries.MD", "groceries"),
            ("v1.2-rc_3 final", "v1.2-rc_3 final"),
            ("a..b", "a..b"),
            ("a.", "a."),
            ("md", "md"),
            ("-", "-"),
            ("Einkäufe", "Einkäufe"),
            // The same, with the marks apart.
            ("Einka\u{308}ufe", "Einkäufe"),
            ("買い物", "買い物"),
            ("किराना", "किराना"),
            ("ของชำ ๒", "ของชำ ๒"),
            ("قائمة", "قائمة"),
            (&longest, &longest),
        ] {
            let name = NoteName::parse(asked).unwrap();
            assert_eq!(name.as_str(), expected, "{asked:?}");
            let file = name.file();
            assert_eq!(NoteName::of_file(file.as_ref()), Some(name), "{asked:?}");
        }
    }

    #[test]
    fn what_could_lead_elsewhere_or_be_mistaken_is_refused() {
        let character = |found, at| NameError::Character { found, at };
        let too_long = |characters, bytes| NameError::TooLong { characters, bytes };
        let (long, wide) = ("x".repeat(101), "ä".repeat(101));
        for (asked, expected) in [
            ("", NameError::Empty),
            (".md", NameError::Empty),
            ("..", character('.', 1)),
            (".hidden", character('.', 1)),
            ("../x", character('.', 1)),
            ("/etc/passwd", character('/', 1)),
            ("a/b", character('/', 2)),
            ("a\\b", character('\\', 2)),
            ("a\0b", character('\0', 2)),
            ("a\nb", character('\n', 2)),
            ("a\u{1b}[31m", character('\u{1b}', 2)),
            ("a\u{202e}b", character('\u{202e}', 2)),
            ("a\u{200d}b", character('\u{200d}', 2)),
            ("a\u{fe0f}", character('\u{fe0f}', 2)),
            ("a\u{3164}", character('\u{3164}', 2)),
            ("a\u{a0}b", character('\u{a0}', 2)),
            (" a", character(' ', 1)),
            ("a ", character(' ', 2)),
            ("a .md", character(' ', 2)),
            // A mark without a letter, which would join whatever stands before the name.
            ("\u{308}a", character('\u{308}', 1)),
            ("a-\u{308}", character('\u{308}', 3)),
            ("a*", character('*', 2)),
            ("a:b", character(':', 2)),
            ("~", character('~', 1)),
            ("a.md.md", NameError::Ending),
            ("a.Md.md", NameError::Ending),
            (&long, too_long(101, 101)),
            (&wide, too_long(101, 202)),
        ] {
            assert_eq!(NoteName::parse(asked), Err(expected), "{asked:?}");
        }
    }

    #[test]
    fn a_file_in_another_form_of_unicode_has_no_name_and_looks_like_one() {
        let name = NoteName::parse("Einkäufe").unwrap();
        let apart = OsStr::new("Einka\u{308}ufe.md");
        assert_eq!(NoteName::of_file(apart), None);
        assert!(name.looks_like(apart));
        for other in ["Einkäufe.md", "Einkaufe.md", "Einka\u{308}ufe.txt", "Einka\u{308}ufe"] {
            assert!(!name.looks_like(OsStr::new(other)), "{other}");
        }
    }
}
