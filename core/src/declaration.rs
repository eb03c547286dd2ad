//! What a tool's code declares about itself, and no administrator can edit.

use crate::{name::GroupName, schema::Schema, vocabulary::vocabulary};

vocabulary! {
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

vocabulary! {
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

vocabulary! {
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

vocabulary! {
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

/// Where the code of a tool comes from. The host stamps it; no provider can claim it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Origin {
    /// The host's own code, or a plugin's.
    #[default]
    Local,
    /// A server that somebody else runs: what it says of its tools proves nothing, and the operator declares them.
    Remote,
}

/// The properties of a tool's code. The default is the strictest, for a tool that declares nothing.
///
/// ```
/// use toolbay_core::Declarations;
///
/// let silent = Declarations::default();
/// assert!(silent.effect.is_write() && silent.requires_approval && !silent.enabled_by_default);
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
    /// How often the same call may follow itself before a host stops offering the tool, where the vendor wants less than its kind
    /// allows.
    pub loop_budget: Option<u8>,
    /// What a person must type in before each call runs, as a schema of those arguments.
    pub input: Option<Schema>,
}

impl Declarations {
    /// Whether a person must approve each call of a tool of this origin: it asks for it, or it is ours and writes. Of a remote tool the
    /// operator has said it.
    pub const fn needs_approval(&self, origin: Origin) -> bool {
        self.requires_approval || (matches!(origin, Origin::Local) && self.effect.is_write())
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
            loop_budget: None,
            input: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fmt, str::FromStr};

    use super::*;
    use crate::vocabulary::UnknownWord;

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
        use Origin::{Local, Remote};
        let cases = [
            (Effect::ReadOnly, false, Local, false),
            (Effect::ReadOnly, true, Local, true),
            (Effect::IdempotentWrite, false, Local, true),
            (Effect::NonIdempotentWrite, false, Local, true),
            // The operator's yes or no stands, whatever the remote tool does.
            (Effect::NonIdempotentWrite, false, Remote, false),
            (Effect::ReadOnly, true, Remote, true),
        ];
        for (effect, requires_approval, origin, expected) in cases {
            let declarations =
                Declarations { effect, requires_approval, ..Declarations::default() };
            assert_eq!(declarations.needs_approval(origin), expected, "{effect} {origin:?}");
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
