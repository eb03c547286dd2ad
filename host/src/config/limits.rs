//! The tables `[limits]`: sizes of calls, and how many there may be.

use std::{
    collections::BTreeMap,
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use serde::{Deserialize, Deserializer, de};
use toolbay_loader::{CallLimits, Limits, ProviderId, ToolName};

use super::file::Parsed;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitsSection {
    text_bytes: Option<usize>,
    argument_bytes: Option<usize>,
    media_bytes: Option<usize>,
    artifact_bytes: Option<usize>,
    result_bytes: Option<ResultBytes>,
    concurrency: Option<NonZeroU32>,
    queue: Option<u32>,
    queue_ms: Option<NonZeroU32>,
    calls_per_minute: Option<NonZeroU32>,
    #[serde(default)]
    providers: BTreeMap<Parsed<ProviderId>, CallLimitsSection>,
    #[serde(default)]
    tools: BTreeMap<Parsed<ToolName>, CallLimitsSection>,
}

/// What holds for one provider or one tool.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLimitsSection {
    concurrency: Option<NonZeroU32>,
    queue: Option<u32>,
    queue_ms: Option<NonZeroU32>,
    calls_per_minute: Option<NonZeroU32>,
    argument_bytes: Option<NonZeroUsize>,
    result_bytes: Option<ResultBytes>,
}

impl LimitsSection {
    /// The limits, each by its default where the file does not say it.
    pub(super) fn limits(self) -> Limits {
        let default = Limits::default();
        let calls = CallLimitsSection {
            concurrency: self.concurrency,
            queue: self.queue,
            queue_ms: self.queue_ms,
            calls_per_minute: self.calls_per_minute,
            // That of all calls says it.
            argument_bytes: None,
            result_bytes: self.result_bytes,
        };
        Limits {
            text_bytes: self.text_bytes.unwrap_or(default.text_bytes),
            argument_bytes: self.argument_bytes.unwrap_or(default.argument_bytes),
            media_bytes: self.media_bytes.unwrap_or(default.media_bytes),
            artifact_bytes: self.artifact_bytes.unwrap_or(default.artifact_bytes),
            calls: calls.limits(),
            providers: by_name(self.providers),
            tools: by_name(self.tools),
        }
    }
}

fn by_name<N: Ord>(sections: BTreeMap<Parsed<N>, CallLimitsSection>) -> BTreeMap<N, CallLimits> {
    let limits = |(name, of): (Parsed<N>, CallLimitsSection)| (name.into_inner(), of.limits());
    sections.into_iter().map(limits).collect()
}

impl CallLimitsSection {
    fn limits(self) -> CallLimits {
        let time = |milliseconds: NonZeroU32| Duration::from_millis(milliseconds.get().into());
        CallLimits {
            concurrency: self.concurrency,
            queue: self.queue,
            queue_time: self.queue_ms.map(time),
            calls_per_minute: self.calls_per_minute,
            argument_bytes: self.argument_bytes.map(NonZeroUsize::get),
            result_bytes: self.result_bytes.map(|ResultBytes(bytes)| bytes),
        }
    }
}

/// The bytes of a result. An operator can't let through more than there may be anywhere.
struct ResultBytes(usize);

impl<'de> Deserialize<'de> for ResultBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = usize::deserialize(deserializer)?;
        let most = CallLimits::MAX_RESULT_BYTES;
        if (1..=most).contains(&bytes) {
            return Ok(Self(bytes));
        }
        Err(de::Error::custom(format_args!(
            "expected 1 to {most} bytes of a result, found {bytes}"
        )))
    }
}
