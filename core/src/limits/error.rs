//! Why a call was not let in among those that run.

use std::{num::NonZeroU32, time::Duration};

use thiserror::Error;

use crate::limits::LimitScope;

/// Why a call was not run because of other calls: too many came, run or wait. Nothing of it was run, and it counts for nothing. The message
/// is for the model, too, which can make the call again.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LimitError {
    /// Too many calls came within a short time.
    ///
    /// Resolution: call again after the time that it names, or raise the limit.
    #[error(
        "too many calls of {scope}: expected at most {per_minute} a minute, found more; call again in {} ms",
        .retry_after.as_millis()
    )]
    Rate {
        /// Whose limit it is.
        scope: LimitScope,
        /// The calls that are allowed in a minute.
        per_minute: NonZeroU32,
        /// After how long there is room for the call, where no other one takes it, in whole milliseconds.
        retry_after: Duration,
    },
    /// So many calls run, and so many wait already, that this one can't wait, too.
    ///
    /// Resolution: call again when one of them is done, or raise the limit.
    #[error(
        "too many calls of {scope} at once: expected at most {concurrency} that run and {queue} that wait, found more; call again when one of them is done"
    )]
    QueueFull {
        /// Whose limit it is.
        scope: LimitScope,
        /// The calls that may run at once.
        concurrency: NonZeroU32,
        /// The calls that may wait.
        queue: u32,
    },
    /// The call has waited as long as it may.
    ///
    /// Resolution: call again later, or raise the limit.
    #[error(
        "too many calls of {scope} at once: expected at most {concurrency}, found as many for {} ms; call again later",
        .waited.as_millis()
    )]
    QueueTime {
        /// Whose limit it is.
        scope: LimitScope,
        /// The calls that may run at once.
        concurrency: NonZeroU32,
        /// How long the call has waited.
        waited: Duration,
    },
    /// The call's own time was over while it waited.
    ///
    /// Resolution: allow the call more time, or raise the limit.
    #[error(
        "too many calls of {scope} at once: expected at most {concurrency}, found as many until the call's time was over, {} ms; call again with more time",
        .waited.as_millis()
    )]
    Deadline {
        /// Whose limit it is.
        scope: LimitScope,
        /// The calls that may run at once.
        concurrency: NonZeroU32,
        /// How long the call has waited.
        waited: Duration,
    },
    /// The call was cancelled while it waited.
    ///
    /// Resolution: none; whoever asked for the call wanted that.
    #[error("the call was cancelled while it waited for others of {scope}")]
    Cancelled {
        /// Whose limit it is.
        scope: LimitScope,
    },
}

impl LimitError {
    /// The word by which programs know the error. It never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Rate { .. } => "rate_limited",
            Self::QueueFull { .. } => "queue_full",
            Self::QueueTime { .. } => "queue_timeout",
            Self::Deadline { .. } => "deadline_exceeded",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    /// Whose limit it is.
    pub fn scope(&self) -> &LimitScope {
        match self {
            Self::Rate { scope, .. }
            | Self::QueueFull { scope, .. }
            | Self::QueueTime { scope, .. }
            | Self::Deadline { scope, .. }
            | Self::Cancelled { scope } => scope,
        }
    }

    /// After how long the call can be made again, where that is known, in whole milliseconds.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Rate { retry_after, .. } => Some(*retry_after),
            _ => None,
        }
    }
}
