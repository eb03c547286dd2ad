//! Values that are words in files and messages.

use thiserror::Error;

use crate::excerpt::excerpt;

/// A word that is none of a declaration's values.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{declaration}: expected one of {}, found {found:?}", .expected.join(", "))]
pub struct UnknownWord {
    declaration: &'static str,
    expected: &'static [&'static str],
    found: String,
}

impl UnknownWord {
    pub(crate) fn new(
        declaration: &'static str,
        expected: &'static [&'static str],
        word: &str,
    ) -> Self {
        Self { declaration, expected, found: excerpt(word, 80).into_owned() }
    }

    /// Which declaration the word stood for, such as `effect`.
    pub fn declaration(&self) -> &'static str {
        self.declaration
    }

    /// The words that it knows.
    pub fn expected(&self) -> &'static [&'static str] {
        self.expected
    }

    /// The word, cut to 80 characters.
    pub fn found(&self) -> &str {
        &self.found
    }
}

/// Makes an enum of words, each of which reads back as the value that wrote it.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident, $title:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every word, in the order of the values.
            pub const WORDS: &[&str] = &[$($word),+];

            /// The word that stands for the value in files and messages.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::vocabulary::UnknownWord;

            fn from_str(word: &str) -> Result<Self, $crate::vocabulary::UnknownWord> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::vocabulary::UnknownWord::new($title, Self::WORDS, word)),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use vocabulary;
