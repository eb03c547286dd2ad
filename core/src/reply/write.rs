//! What a tool says of the write that it made, and of how complete its result is.

use crate::word::words;

words! {
    /// What became of what was written to.
    WriteKind, "write kind" {
        /// It is new.
        Created = "created",
        /// It was there and is different now.
        Updated = "updated",
        /// It is gone.
        Deleted = "deleted",
    }
}

/// What was written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteTarget {
    /// What it is, in the tool's words, such as `note`.
    pub kind: String,
    /// Which one it is.
    pub id: String,
}

/// A write that has landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// What became of the target.
    pub kind: WriteKind,
    /// What was written to.
    pub target: WriteTarget,
    /// Whether something that should have followed the write went wrong. The write stands all the same, and must not be repeated.
    pub hook_failed: bool,
}

words! {
    /// Whether a result is all there is.
    Completeness, "completeness" {
        /// It is.
        Complete = "complete",
        /// There is more.
        Partial = "partial",
        /// The tool does not say.
        Unstated = "unstated",
    }
}
