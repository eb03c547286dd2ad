//! What a call changed, in a form that a host can act upon.

use std::fmt;

use serde::Deserialize;

use crate::{backend::ReplyStatus, excerpt::excerpt, reply::ReplyError};

/// What a call did to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WriteKind {
    /// It did not exist before.
    Created,
    /// It existed, and is different now.
    Updated,
    /// It is gone.
    Deleted,
}

impl WriteKind {
    /// The word that stands for it in replies and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
        }
    }
}

impl fmt::Display for WriteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which thing a call changed: a type and an id of the tool's own choice, neither blank nor with a control character.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WriteTarget {
    kind: String,
    id: String,
}

impl WriteTarget {
    /// The most bytes of a type.
    pub const MAX_KIND_BYTES: usize = 64;

    /// The most bytes of an id.
    pub const MAX_ID_BYTES: usize = 512;

    /// The target of this type and id.
    ///
    /// # Errors
    ///
    /// [`ReplyError::Target`] where one of them is blank, too long, or has a control character.
    pub fn new(kind: impl Into<String>, id: impl Into<String>) -> Result<Self, ReplyError> {
        let (kind, id) = (kind.into(), id.into());
        check("type", &kind, Self::MAX_KIND_BYTES)?;
        check("id", &id, Self::MAX_ID_BYTES)?;
        Ok(Self { kind, id })
    }

    /// Its type, such as `note`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Which of that type.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// What a call changed. Only a reply that is [`ReplyStatus::Ok`] has it, and no model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Write {
    /// What was done.
    pub kind: WriteKind,
    /// To what.
    pub target: WriteTarget,
    /// Whether something that should follow the write failed. The write itself has happened: making it again would do it twice.
    pub hook_failed: bool,
}

/// Whether a reply is all that there was to say, in the tool's own judgement.
///
/// That a limit cut a reply is told by [`Reply::truncated`](crate::Reply::truncated).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Completeness {
    /// It is all.
    Complete,
    /// There is more, such as further pages.
    Partial,
    /// The tool does not say.
    #[default]
    Unstated,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WireCompleteness {
    Complete,
    Partial,
}

impl From<WireCompleteness> for Completeness {
    fn from(wire: WireCompleteness) -> Self {
        match wire {
            WireCompleteness::Complete => Self::Complete,
            WireCompleteness::Partial => Self::Partial,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireKind {
    Created,
    Updated,
    Deleted,
}

#[derive(Deserialize)]
pub(super) struct WireWrite {
    kind: WireKind,
    target: WireTarget,
    #[serde(default)]
    hook_failed: bool,
}

#[derive(Deserialize)]
struct WireTarget {
    r#type: String,
    id: String,
}

impl WireWrite {
    pub(super) fn parse(self, status: ReplyStatus) -> Result<Write, ReplyError> {
        if status != ReplyStatus::Ok {
            return Err(ReplyError::WriteWithoutSuccess { status });
        }
        let Self { kind, target: WireTarget { r#type, id }, hook_failed } = self;
        let kind = match kind {
            WireKind::Created => WriteKind::Created,
            WireKind::Updated => WriteKind::Updated,
            WireKind::Deleted => WriteKind::Deleted,
        };
        Ok(Write { kind, target: WriteTarget::new(r#type, id)?, hook_failed })
    }
}

/// A target that is cut would be another target, so what does not fit is refused.
fn check(part: &'static str, text: &str, limit: usize) -> Result<(), ReplyError> {
    if text.len() <= limit && !text.trim().is_empty() && !text.contains(char::is_control) {
        return Ok(());
    }
    Err(ReplyError::Target { part, limit, found: excerpt(text, 80).into_owned() })
}
