//! How large arguments and replies may be, and how many calls may run, wait and come.

mod error;
mod scope;

use std::{collections::BTreeMap, num::NonZeroU32, time::Duration};

pub use self::{error::LimitError, scope::LimitScope};
use crate::name::{ProviderId, ToolName};

/// The limits of calls: sizes of each one, in bytes, and how many of them there may be. The default suits a model's context window, and
/// bounds no number.
///
/// A reply with more than 16 MiB beside its text is refused unread, whatever these say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The arguments as text, where no [`CallLimits`] say otherwise; 1 MiB.
    pub argument_bytes: usize,
    /// What the model reads of a reply, with the marker that says that something was cut; 50,000. The structured result has the
    /// same limit of its own.
    pub text_bytes: usize,
    /// The encoded images, sounds and other binary data of a reply together; 4 MiB.
    pub media_bytes: usize,
    /// The artifacts of a reply together, as JSON; 50,000.
    pub artifact_bytes: usize,
    /// The limits of each provider of which `providers` does not say otherwise, for all of its tools together.
    pub calls: CallLimits,
    /// The limits of single providers. What one of them leaves out is as in `calls`.
    pub providers: BTreeMap<ProviderId, CallLimits>,
    /// The limits of single tools, under any of their names. Those of their provider hold beside them, so that these only narrow.
    pub tools: BTreeMap<ToolName, CallLimits>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            argument_bytes: 1024 * 1024,
            text_bytes: 50_000,
            media_bytes: 4 * 1024 * 1024,
            artifact_bytes: 50_000,
            calls: CallLimits::default(),
            providers: BTreeMap::new(),
            tools: BTreeMap::new(),
        }
    }
}

/// What holds for the calls of one provider or one tool. Nothing is limited that is not said.
///
/// ```
/// use std::{num::NonZeroU32, time::Duration};
/// use toolbay_core::{CallLimits, Limits};
///
/// let code = CallLimits { concurrency: NonZeroU32::new(2), queue: Some(8), ..CallLimits::default() };
/// let limits = Limits { providers: [("code".parse()?, code)].into(), ..Limits::default() };
/// # Ok::<(), toolbay_core::NameError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallLimits {
    /// How many calls run at once.
    pub concurrency: Option<NonZeroU32>,
    /// How many more calls may wait while so many run, first come, first served; [`CallLimits::QUEUE`]. With 0, none waits.
    pub queue: Option<u32>,
    /// How long a call waits at most; [`CallLimits::QUEUE_TIME`].
    pub queue_time: Option<Duration>,
    /// How many calls may begin in a minute: up to so many at once, and then one more in each such part of a minute.
    pub calls_per_minute: Option<NonZeroU32>,
    /// The bytes of the arguments as text.
    pub argument_bytes: Option<usize>,
    /// The bytes that a tool returns, before anything is cut. A number above [`CallLimits::MAX_RESULT_BYTES`] stands for that.
    pub result_bytes: Option<usize>,
}

impl CallLimits {
    /// How many calls may wait where `queue` does not say it.
    pub const QUEUE: u32 = 32;

    /// How long a call waits where `queue_time` does not say it.
    pub const QUEUE_TIME: Duration = Duration::from_secs(5);

    /// The most bytes of a result that a limit can let through: 16 MiB.
    pub const MAX_RESULT_BYTES: usize = 16 * 1024 * 1024;

    /// These limits, each that they leave out as it is in `others`.
    pub(crate) fn or(self, others: &Self) -> Self {
        Self {
            concurrency: self.concurrency.or(others.concurrency),
            queue: self.queue.or(others.queue),
            queue_time: self.queue_time.or(others.queue_time),
            calls_per_minute: self.calls_per_minute.or(others.calls_per_minute),
            argument_bytes: self.argument_bytes.or(others.argument_bytes),
            result_bytes: self.result_bytes.or(others.result_bytes),
        }
    }

    /// Whether calls have to be counted for them.
    pub(crate) fn counts(&self) -> bool {
        self.concurrency.is_some() || self.calls_per_minute.is_some()
    }

    /// How many calls wait where `concurrency` lets calls wait.
    pub fn queue(&self) -> u32 {
        self.queue.unwrap_or(Self::QUEUE)
    }

    /// How long a call waits there.
    pub fn queue_time(&self) -> Duration {
        self.queue_time.unwrap_or(Self::QUEUE_TIME)
    }
}
