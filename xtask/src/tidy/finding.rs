//! What a rule found, and where.

use std::fmt;

/// One place that breaks a rule.
///
/// It is written as `path:line: rule: found ..., expected ...`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    line: usize,
    rule: Rule,
    found: String,
    expected: String,
}

impl Finding {
    pub(super) fn new(
        path: &str,
        line: usize,
        rule: Rule,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { path: path.to_owned(), line, rule, found: found.into(), expected: expected.into() }
    }

    /// The file, relative to the repository's root.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The line, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The rule that the place breaks.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, found, expected } = self;
        write!(formatter, "{path}:{line}: {rule}: found {found}, expected {expected}")
    }
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $variant:ident => $name:literal,)+) => {
        /// A rule of [`check`](super::check).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl fmt::Display for Rule {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(match self {
                    $(Self::$variant => $name,)+
                })
            }
        }
    };
}

rules! {
    /// A package depends only on the packages of this repository that the design lets it see.
    Arrow => "arrow",
    /// Some packages from outside may be used in one place only.
    Confined => "confined-dependency",
    /// A member takes its lints and versions from the workspace.
    Inherited => "inherited",
    /// A file can be parsed.
    Syntax => "syntax",
    /// A module opens with a `//!` that says its purpose.
    ModuleDoc => "module-doc",
    /// A module `foo` with children is `foo.rs` and `foo/`.
    ModRs => "mod-rs",
    /// A file is short enough to be read at once.
    Length => "length",
    /// `lib.rs` names the parts and holds none of the logic.
    LibraryRoot => "library-root",
    /// A name says what is inside.
    VagueName => "vague-name",
    /// `unsafe` stands in the fenced files only.
    Unsafe => "unsafe",
    /// Tests run, and name the failure that they expect.
    TestAttribute => "test-attribute",
    /// Nothing is left to be done or to be looked at.
    Placeholder => "placeholder",
    /// A SAFETY comment argues about its own block.
    SafetyText => "safety-text",
    /// Each side of the boundary catches panics at one place.
    CatchUnwind => "catch-unwind",
    /// Each function of the binary interface states its contract.
    Contract => "contract",
    /// A path in a document exists.
    Path => "path",
    /// A link in a document leads somewhere.
    Link => "link",
    /// No file tells where somebody's work tree is.
    MachinePath => "machine-path",
    /// Lines end with a plain line feed, directly after their last word.
    LineEnd => "line-end",
    /// An ignored advisory says why, and since when.
    IgnoreReason => "ignore-reason",
    /// The lock file is part of the repository.
    Lockfile => "lockfile",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_that_editors_can_follow() {
        let finding = Finding::new("core/src/lib.rs", 7, Rule::LibraryRoot, "`fn f`", "none");
        assert_eq!(
            finding.to_string(),
            "core/src/lib.rs:7: library-root: found `fn f`, expected none"
        );
    }
}
