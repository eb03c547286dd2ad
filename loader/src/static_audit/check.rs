//! What is checked, and what follows from a finding.

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::plugin_text::one_line;

/// What follows from a finding. Later ones are stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Nothing, and nobody hears of it.
    Allow,
    /// The library is taken, and the finding is reported.
    Warn,
    /// The library is refused.
    Deny,
}

impl Level {
    /// All levels, the least strict one first.
    pub const ALL: &[Self] = &[Self::Allow, Self::Warn, Self::Deny];

    /// The level as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Deny => "deny",
        }
    }
}

/// Makes the enum of checks from one line for each: its name, its word, its level where nobody has set another, and what it asks for.
macro_rules! checks {
    ($($variant:ident = $word:literal, $level:ident, $about:literal;)+) => {
        /// One thing that the audit asks for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Check {
            $(#[doc = $about] $variant,)+
        }

        impl Check {
            /// All checks, in the order in which findings are reported.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The check as one word, which never changes.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// What it asks for, in one sentence.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => $about,)+
                }
            }

            /// The level where nobody has set another.
            pub const fn default_level(self) -> Level {
                match self {
                    $(Self::$variant => Level::$level,)+
                }
            }
        }
    };
}

checks! {
    Machine = "machine", Deny, "The library is for this host's processor.";
    OsAbi = "os_abi", Deny, "Its header names this system, or none.";
    OtherLibc = "other_libc", Deny, "It needs the C library that this host runs with.";
    Glibc = "glibc", Deny, "It needs no newer glibc than this host has.";
    RootModule = "root_module", Deny, "It defines the root module itself, as global data.";
    PanicStrategy = "panic_strategy", Deny, "It is built to unwind, so that a panic can be caught.";
    Rustc = "rustc", Deny, "It is made by no older compiler than the policy names.";
    NeededLibraries = "needed_libraries", Deny, "It needs only libraries that the policy or its bundle has.";
    RunPath = "run_path", Deny, "It has libraries searched only in its own folder and below.";
    LinkerHooks = "linker_hooks", Deny, "It takes no part in how others are linked.";
    StaticTls = "static_tls", Deny, "Its data for each thread does not need the place that is set aside at start.";
    ExecStack = "exec_stack", Deny, "It declares that no code runs on the stack.";
    TextRelocations = "text_relocations", Deny, "Its code is loaded as it is in the file.";
    WritableCode = "writable_code", Deny, "No part of it is both writable and executable.";
    Constructors = "constructors", Warn, "No more functions run when it is opened than a plain plugin has.";
    DeniedImports = "denied_imports", Deny, "It uses no function that ends or changes the whole process.";
    Exports = "exports", Warn, "It exports nothing but the root module.";
    DependencyList = "dependency_list", Allow, "It lists the crates that it is made of.";
    DeniedCrates = "denied_crates", Deny, "It lists no crate that the policy denies.";
}

impl Check {
    /// The least strict level that anybody can set: what loading can't do without is always denied.
    pub const fn least_level(self) -> Level {
        match self {
            Self::Machine | Self::RootModule => Level::Deny,
            _ => Level::Allow,
        }
    }
}

/// A word that is no check, or no level.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}: expected one of {}, found {found:?}", .expected.join(", "))]
pub struct UnknownAuditWord {
    what: &'static str,
    expected: Vec<&'static str>,
    found: String,
}

impl UnknownAuditWord {
    /// The words that would do.
    pub fn expected(&self) -> &[&'static str] {
        &self.expected
    }

    /// The word, cut to 80 bytes.
    pub fn found(&self) -> &str {
        &self.found
    }
}

/// The value whose word it is.
fn parse<T: Copy>(
    what: &'static str,
    all: &[T],
    word_of: fn(T) -> &'static str,
    word: &str,
) -> Result<T, UnknownAuditWord> {
    all.iter().copied().find(|&value| word_of(value) == word).ok_or_else(|| UnknownAuditWord {
        what,
        expected: all.iter().map(|&value| word_of(value)).collect(),
        found: one_line(word, 80),
    })
}

impl FromStr for Check {
    type Err = UnknownAuditWord;

    fn from_str(word: &str) -> Result<Self, UnknownAuditWord> {
        parse("check", Self::ALL, Self::as_str, word)
    }
}

impl FromStr for Level {
    type Err = UnknownAuditWord;

    fn from_str(word: &str) -> Result<Self, UnknownAuditWord> {
        parse("level", Self::ALL, Self::as_str, word)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_as_what_wrote_them_and_others_are_named() {
        for &check in Check::ALL {
            assert_eq!(check.to_string().parse(), Ok(check));
            assert!(check.default_level() >= check.least_level(), "{check}");
        }
        for &level in Level::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        let error = "forbid".parse::<Level>().unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"level: expected one of allow, warn, deny, found "forbid""#
        );
        let error = "Machine".parse::<Check>().unwrap_err();
        assert_eq!(error.expected().len(), Check::ALL.len());
    }
}
