//! What the library was made with, and of.

use semver::Version;

use super::{Subject, found, listed};
use crate::{inspect::Dependencies, plugin_text::one_line, rejection::Reason};

impl Subject<'_> {
    pub(super) fn rustc(&self) -> Option<Reason> {
        let oldest = self.policy.oldest_rustc.as_ref()?;
        let expected = format!("a library made by rustc {oldest} or newer");
        let remedy =
            "update the compiler, and build the plugin again without removing section .comment";
        let made_by = &self.facts.rustc;
        if made_by.is_empty() {
            return found("unknown_rustc", expected, "one that does not name its compiler", remedy);
        }
        let older = made_by
            .iter()
            .filter(|version| Version::parse(version).map_or(true, |version| version < *oldest));
        found("old_rustc", expected, listed(older)?, remedy)
    }

    pub(super) fn dependency_list(&self) -> Option<Reason> {
        let expected = "the list of the crates that it is made of";
        let remedy = "build the plugin with cargo auditable, and do not strip section .dep-v0";
        match &self.facts.dependencies {
            Dependencies::Listed(_) => None,
            Dependencies::Unlisted => found("no_dependency_list", expected, "none", remedy),
            Dependencies::Unreadable(why) => {
                found("bad_dependency_list", expected, one_line(why, 200), remedy)
            }
        }
    }

    pub(super) fn denied_crates(&self) -> Option<Reason> {
        let Dependencies::Listed(crates) = &self.facts.dependencies else { return None };
        let denied = crates.iter().filter(|dependency| {
            self.policy
                .denied_crates
                .iter()
                .any(|denied| denied.denies(&dependency.name, &dependency.version))
        });
        found(
            "denied_crate",
            "no crate that is in denied_crates",
            listed(denied.map(ToString::to_string))?,
            "update the crates with cargo update, or replace them, and build again",
        )
    }
}
