//! What a remote tool that declares nothing probably does, guessed from its annotations and its words.

use crate::{
    agent_loop::class_budget,
    declaration::Kind,
    words::{is_verb, words},
};

/// What a remote tool's own annotations say, such as `destructiveHint` and `readOnlyHint` in MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PolicyHints {
    /// Whether it may remove or overwrite something.
    pub destructive: Option<bool>,
    /// Whether it changes nothing.
    pub read_only: Option<bool>,
}

/// From what a policy was inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicySource {
    /// From the tool's annotations.
    Annotations,
    /// From the words of its name and description.
    Heuristic,
    /// From nothing: it is the strictest.
    None,
}

impl PolicySource {
    /// The word that stands for it in listings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Annotations => "annotations",
            Self::Heuristic => "heuristic",
            Self::None => "none",
        }
    }
}

/// What a tool probably does: for people to see, and to budget its calls.
///
/// **No gate and no approval reads it.** Annotations are a stranger's claims and words are words; what may be called is decided by
/// declarations alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InferredPolicy {
    /// What it is for.
    pub kind: Kind,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// How often it may be called alike in a row; see [`loop_budget`](crate::loop_budget).
    pub loop_budget: u8,
    /// From what that was inferred.
    pub source: PolicySource,
}

/// Verbs of tools that change something.
const MUTATING: &[&str] = &[
    "add",
    "append",
    "clear",
    "commit",
    "create",
    "delete",
    "deploy",
    "destroy",
    "disable",
    "drop",
    "edit",
    "enable",
    "execute",
    "insert",
    "install",
    "log",
    "merge",
    "modify",
    "move",
    "overwrite",
    "patch",
    "post",
    "publish",
    "purge",
    "push",
    "put",
    "remove",
    "rename",
    "replace",
    "reset",
    "run",
    "save",
    "send",
    "set",
    "store",
    "uninstall",
    "update",
    "upload",
    "write",
];

/// Words of tools that find something.
const SEARCHING: &[&str] = &["find", "lookup", "query", "rag", "search"];

/// Infers what a tool does that declares nothing. The first of these that holds decides:
///
/// 1. It says that it is destructive.
/// 2. It says that it is read-only, or that it is not.
/// 3. A word of its name or description is a verb of change.
/// 4. A word is one of searching: it is taken for a search that changes nothing.
/// 5. Whatever says nothing is taken for one that changes something.
///
/// ```
/// use toolbay_core::{Kind, PolicyHints, infer_policy};
///
/// let storage = infer_policy(PolicyHints::default(), "read_storage", "Reads a value.");
/// assert_eq!((storage.kind, storage.read_only), (Kind::Unknown, false));
/// ```
pub fn infer_policy(hints: PolicyHints, name: &str, description: &str) -> InferredPolicy {
    let words = || words(name).into_iter().chain(words(description));
    let (kind, read_only, source) = if hints.destructive == Some(true) {
        (Kind::Destructive, false, PolicySource::Annotations)
    } else if let Some(read_only) = hints.read_only {
        let kind = if read_only { Kind::Read } else { Kind::Write };
        (kind, read_only, PolicySource::Annotations)
    } else if words().any(|word| is_verb(&word, MUTATING)) {
        (Kind::Write, false, PolicySource::Heuristic)
    } else if words().any(|word| is_verb(&word, SEARCHING)) {
        (Kind::Search, true, PolicySource::Heuristic)
    } else {
        (Kind::Unknown, false, PolicySource::None)
    };
    InferredPolicy { kind, read_only, loop_budget: class_budget(kind, read_only), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inferred(
        (destructive, read_only): (Option<bool>, Option<bool>),
        name: &str,
        description: &str,
    ) -> (Kind, bool, u8, &'static str) {
        let hints = PolicyHints { destructive, read_only };
        let policy = infer_policy(hints, name, description);
        (policy.kind, policy.read_only, policy.loop_budget, policy.source.as_str())
    }

    #[test]
    fn annotations_come_before_words() {
        let (yes, no) = (Some(true), Some(false));
        let destructive = (Kind::Destructive, false, 4, "annotations");
        let read = (Kind::Read, true, 8, "annotations");
        let write = (Kind::Write, false, 4, "annotations");
        let cases = [
            // Edge case 45.
            ((yes, yes), "search", destructive),
            ((None, yes), "delete_x", read),
            ((yes, None), "search", destructive),
            ((yes, no), "x", destructive),
            ((no, yes), "x", read),
            ((None, no), "search", write),
            ((no, no), "search", write),
            // That it does not destroy does not say that it does not write.
            ((no, None), "x", (Kind::Unknown, false, 4, "none")),
            ((no, None), "search", (Kind::Search, true, 10, "heuristic")),
        ];
        for (hints, name, expected) in cases {
            assert_eq!(inferred(hints, name, ""), expected, "{hints:?} {name}");
        }
    }

    #[test]
    fn words_are_whole_and_change_comes_before_search() {
        let write = (Kind::Write, false, 4, "heuristic");
        let search = (Kind::Search, true, 10, "heuristic");
        let unknown = (Kind::Unknown, false, 4, "none");
        let cases = [
            // "rag" in "storage", "put" in "input", "log" in "catalog".
            ("delete_storage", "", write),
            ("read_storage", "", unknown),
            ("input_form", "", unknown),
            ("course_catalog", "", unknown),
            ("course_catalog", "Searches the catalog of courses by any input.", search),
            ("rag", "", search),
            ("findNotes", "", search),
            ("x", "Looks things up; queries a table.", search),
            ("search_and_replace", "", write),
            ("notes", "Finds a note and deletes it.", write),
            ("notes", "Finds deleted notes.", search),
            ("POST_message", "", write),
            ("runQuery", "", write),
            ("already", "Unread roadmap.", unknown),
            ("", "", unknown),
        ];
        for (name, description, expected) in cases {
            assert_eq!(inferred((None, None), name, description), expected, "{name} {description}");
        }
    }
}
