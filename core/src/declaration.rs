//! What a tool's code declares about itself, and no administrator can edit.

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::{excerpt::excerpt, name::GroupName};

/// A word that is none of a declaration's values.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{declaration}: expected one of {}, found {found:?}", .expected.join(", "))]
pub struct UnknownWord {
    declaration: &'static str,
    expected: &'static [&'static str],
    found: String,
}

impl UnknownWord {
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

macro_rules! declaration {
    ($(#[$doc:meta])* $name:ident, $title:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            const WORDS: &[&str] = &[$($word),+];

            /// The word that stands for the value in files and messages.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl FromStr for $name {
            type Err = UnknownWord;

            fn from_str(word: &str) -> Result<Self, UnknownWord> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(UnknownWord {
                        declaration: $title,
                        expected: Self::WORDS,
                        found: excerpt(word, 80).into_owned(),
                    }),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

declaration! {
    /// What a call does to the world.
    Effect, "effect" {
        /// It changes nothing.
        ReadOnly = "read_only",
        /// It changes something, and doing it twice is like doing it once.
        IdempotentWrite = "idempotent_write",
        /// It changes something, and doing it twice does it twice.
        NonIdempotentWrite = "non_idempotent_write",
    }
}

impl Effect {
    /// Whether a call changes anything.
    pub const fn is_write(self) -> bool {
        !matches!(self, Self::ReadOnly)
    }

    /// Whether a call of unknown outcome may be made once more.
    pub const fn safe_to_retry(self) -> bool {
        !matches!(self, Self::NonIdempotentWrite)
    }
}

declaration! {
    /// The class of data that results may hold, ordered from harmless to secret.
    DataClass, "data class" {
        /// Anybody may read it.
        PublicContent = "public_content",
        /// What the people who write the content may read.
        EditorContent = "editor_content",
        /// Source code.
        SourceCode = "source_code",
        /// How the system is set up.
        InternalConfiguration = "internal_configuration",
        /// How the system is doing.
        SystemDiagnostics = "system_diagnostics",
        /// Next to passwords and keys.
        SecretAdjacent = "secret_adjacent",
    }
}

declaration! {
    /// Where the tool may open network connections.
    Egress, "egress" {
        /// Nowhere.
        None = "none",
        /// To the site that the host serves.
        OwnSite = "own_site",
        /// To the endpoints in the provider's configuration.
        ConfiguredEndpoint = "configured_endpoint",
    }
}

declaration! {
    /// What the tool is for; a host budgets repeated calls by it.
    Kind, "kind" {
        /// It finds things.
        Search = "search",
        /// It reads one thing.
        Read = "read",
        /// It works something out.
        Analyze = "analyze",
        /// It turns speech into text.
        Transcribe = "transcribe",
        /// It writes.
        Write = "write",
        /// It removes what can't be brought back.
        Destructive = "destructive",
        /// It does not say.
        Unknown = "unknown",
    }
}

/// The properties of a tool's code. The default is the strictest, for a tool that declares nothing.
///
/// ```
/// use toolbay_core::{Declarations, Effect};
///
/// let silent = Declarations::default();
/// assert!(silent.effect.is_write() && silent.needs_approval() && !silent.enabled_by_default);
///
/// let reader = Declarations { effect: Effect::ReadOnly, requires_approval: false, ..silent };
/// assert!(!reader.needs_approval());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Declarations {
    /// What a call does to the world.
    pub effect: Effect,
    /// The class of data in the results.
    pub data_class: DataClass,
    /// The group that the tool is switched with.
    pub group: Option<GroupName>,
    /// Whether only administrators may use it. A tool that says nothing is held back by its other declarations.
    pub requires_admin: bool,
    /// Whether it is on before an administrator decides.
    pub enabled_by_default: bool,
    /// Whether a person must approve each call, also of a tool that only reads.
    pub requires_approval: bool,
    /// Where it may open network connections.
    pub egress: Egress,
    /// What it is for.
    pub kind: Kind,
}

impl Declarations {
    /// The one approval predicate: a person must approve each call of a tool that writes or that asks for it.
    pub const fn needs_approval(&self) -> bool {
        self.requires_approval || self.effect.is_write()
    }
}

impl Default for Declarations {
    fn default() -> Self {
        Self {
            effect: Effect::NonIdempotentWrite,
            data_class: DataClass::SecretAdjacent,
            group: None,
            requires_admin: false,
            enabled_by_default: false,
            requires_approval: true,
            egress: Egress::None,
            kind: Kind::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back_as_the_value_that_wrote_it() {
        fn check<T: FromStr<Err = UnknownWord> + fmt::Display>(words: &[&str]) {
            for word in words {
                assert_eq!(word.parse::<T>().unwrap().to_string(), *word);
            }
        }
        check::<Effect>(Effect::WORDS);
        check::<DataClass>(DataClass::WORDS);
        check::<Egress>(Egress::WORDS);
        check::<Kind>(Kind::WORDS);
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_words_that_are_known() {
        let error = "readonly".parse::<Effect>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "effect: expected one of read_only, idempotent_write, non_idempotent_write, found \"readonly\""
        );
        assert!("Read_Only".parse::<Effect>().is_err(), "case counts");
    }

    #[test]
    fn effects_say_what_may_be_written_and_repeated() {
        let cases = [
            (Effect::ReadOnly, false, true),
            (Effect::IdempotentWrite, true, true),
            (Effect::NonIdempotentWrite, true, false),
        ];
        for (effect, write, retry) in cases {
            assert_eq!((effect.is_write(), effect.safe_to_retry()), (write, retry), "{effect}");
        }
    }

    #[test]
    fn approval_follows_from_the_marker_or_a_write() {
        let cases = [
            (Effect::ReadOnly, false, false),
            (Effect::ReadOnly, true, true),
            (Effect::IdempotentWrite, false, true),
            (Effect::NonIdempotentWrite, false, true),
        ];
        for (effect, requires_approval, expected) in cases {
            let declarations =
                Declarations { effect, requires_approval, ..Declarations::default() };
            assert_eq!(declarations.needs_approval(), expected, "{effect} {requires_approval}");
        }
    }

    #[test]
    fn data_classes_rise_from_harmless_to_secret() {
        let classes: Vec<DataClass> =
            DataClass::WORDS.iter().map(|word| word.parse().unwrap()).collect();
        assert!(classes.is_sorted());
        assert!(DataClass::SourceCode < DataClass::SecretAdjacent);
    }
}
