//! The names by which tools, providers, agents and callers are known, parsed once.

use std::{borrow::Borrow, fmt, str::FromStr, sync::Arc};

use thiserror::Error;

use crate::excerpt::excerpt;

/// What a name names; each kind has its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameKind {
    /// A [`ToolName`].
    Tool,
    /// A [`ProviderId`].
    Provider,
    /// An [`AgentName`].
    Agent,
    /// A [`GroupName`].
    Group,
    /// A [`RunId`].
    Run,
    /// An [`ActorName`].
    Actor,
    /// A [`RuleId`].
    Rule,
    /// An [`ApprovalId`].
    Approval,
}

impl NameKind {
    /// The rule in words, as error messages give it.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Tool => "1 to 64 characters of A-Z a-z 0-9 _ -",
            Self::Provider | Self::Group => {
                "a letter of a-z and up to 63 characters of a-z 0-9 _ -"
            }
            Self::Agent => "1 to 64 characters of A-Z a-z 0-9 _ . -",
            Self::Run => "1 to 128 characters of A-Z a-z 0-9 _ . : -",
            Self::Actor => "1 to 256 bytes without control characters",
            Self::Rule => "a letter of a-z and up to 63 characters of a-z 0-9 _ . -",
            Self::Approval => "1 to 32 characters of a-z 0-9",
        }
    }

    fn admits(self, name: &str) -> bool {
        let each = |limit: usize, allowed: fn(u8) -> bool| {
            (1..=limit).contains(&name.len()) && name.bytes().all(allowed)
        };
        match self {
            Self::Tool => each(64, |byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)),
            Self::Provider | Self::Group => {
                name.starts_with(|first: char| first.is_ascii_lowercase())
                    && each(64, |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
            }
            Self::Agent => each(64, |byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte)),
            Self::Run => each(128, |byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte)),
            Self::Actor => (1..=256).contains(&name.len()) && !name.contains(char::is_control),
            Self::Rule => {
                name.starts_with(|first: char| first.is_ascii_lowercase())
                    && each(
                        64,
                        |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-'),
                    )
            }
            Self::Approval => each(32, |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9')),
        }
    }
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool name",
            Self::Provider => "provider id",
            Self::Agent => "agent name",
            Self::Group => "group name",
            Self::Run => "run id",
            Self::Actor => "actor name",
            Self::Rule => "rule id",
            Self::Approval => "approval id",
        })
    }
}

/// A text that breaks the rule for names of its kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}: expected {}, found {found:?}", .kind.rule())]
pub struct NameError {
    kind: NameKind,
    found: String,
}

impl NameError {
    /// What the text should have named.
    pub fn kind(&self) -> NameKind {
        self.kind
    }

    /// The text, cut to 80 characters.
    pub fn found(&self) -> &str {
        &self.found
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $kind:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<&str> for $name {
            type Error = NameError;

            fn try_from(name: &str) -> Result<Self, NameError> {
                if NameKind::$kind.admits(name) {
                    Ok(Self(Arc::from(name)))
                } else {
                    Err(NameError { kind: NameKind::$kind, found: excerpt(name, 80).into_owned() })
                }
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(name: &str) -> Result<Self, NameError> {
                Self::try_from(name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name! {
    /// The name of a tool, unique in a registry: what models call, and the key of everything stored about the tool.
    ///
    /// 1 to 64 characters of `A-Z a-z 0-9 _ -`, which is what every model provider accepts.
    ToolName, Tool
}
name! {
    /// Who contributes a tool: a lower-case letter, then up to 63 of `a-z 0-9 _ -`.
    ProviderId, Provider
}
name! {
    /// The name of an agent: 1 to 64 characters of `A-Z a-z 0-9 _ . -`.
    AgentName, Agent
}
name! {
    /// The group that a tool is switched with: a lower-case letter, then up to 63 of `a-z 0-9 _ -`.
    GroupName, Group
}
name! {
    /// The run that a call belongs to: 1 to 128 characters of `A-Z a-z 0-9 _ . : -`.
    RunId, Run
}
name! {
    /// The name of a person or a service account at the host: 1 to 256 bytes without control characters.
    ActorName, Actor
}
name! {
    /// The id of an invocation rule: a lower-case letter, then up to 63 of `a-z 0-9 _ . -`.
    RuleId, Rule
}
name! {
    /// The id of a request for approval: 1 to 32 characters of `a-z 0-9`.
    ApprovalId, Approval
}

impl ProviderId {
    const CORE: &str = "core";

    /// The id of the host's own provider. No plugin may claim it.
    pub fn core() -> Self {
        Self(Arc::from(Self::CORE))
    }

    /// Whether this is the host's own provider.
    pub fn is_core(&self) -> bool {
        &*self.0 == Self::CORE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_admits_what_its_rule_says_and_nothing_else() {
        let x64 = "x".repeat(64);
        let x65 = "x".repeat(65);
        let cases: [(NameKind, &[&str], &[&str]); 8] = [
            (NameKind::Tool, &["a", "Read-File_2", &x64], &["", &x65, "a.b", "a b", "ä", "a\n"]),
            (
                NameKind::Provider,
                &["core", "a-b_2", &x64],
                &["", &x65, "2a", "_a", "A", "aB", "a.b"],
            ),
            (NameKind::Agent, &["a.b", "2", &x64], &["", &x65, "a:b", "a b"]),
            (NameKind::Group, &["rag", "a2"], &["", &x65, "Rag", "2"]),
            (
                NameKind::Run,
                &["2026-01:7.a", &"r".repeat(128)],
                &["", &"r".repeat(129), "a/b", "\0"],
            ),
            (NameKind::Actor, &["Ada L. <ada@x>", "Æ"], &["", &"a".repeat(257), "a\nb", "\u{7f}"]),
            (NameKind::Rule, &["acme.no-deletes", &x64], &["", &x65, "2a", ".a", "A"]),
            (NameKind::Approval, &["7k3f", &"a".repeat(32)], &["", &"a".repeat(33), "A", "../a"]),
        ];
        for (kind, good, bad) in cases {
            for name in good {
                assert!(kind.admits(name), "{kind} {name:?}");
            }
            for name in bad {
                assert!(!kind.admits(name), "{kind} {name:?}");
            }
        }
    }

    #[test]
    fn the_error_names_the_kind_the_rule_and_a_bounded_text() {
        let error = ToolName::try_from("no spaces").unwrap_err();
        assert_eq!(
            error.to_string(),
            "tool name: expected 1 to 64 characters of A-Z a-z 0-9 _ -, found \"no spaces\""
        );
        let long = "é".repeat(5_000).parse::<ToolName>().unwrap_err();
        assert_eq!((long.kind(), long.found().chars().count()), (NameKind::Tool, 80));
    }

    #[test]
    fn only_the_core_id_is_core() {
        assert!(ProviderId::core().is_core());
        assert_eq!("core".parse(), Ok(ProviderId::core()));
        assert!(!ProviderId::try_from("core2").unwrap().is_core());
    }
}
