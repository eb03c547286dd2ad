//! The limits that hold for a tool.

use serde::Serialize;
use toolbay_loader::{CallLimits, LimitScope};

use crate::output::grouped;

/// The limits of a tool's provider, or its own.
#[derive(Serialize)]
pub(super) struct LimitRow {
    /// Whose they are, such as `provider code`.
    scope: String,
    concurrency: Option<u32>,
    /// Only where calls wait, as the time that they do.
    queue: Option<u32>,
    queue_ms: Option<u128>,
    calls_per_minute: Option<u32>,
    argument_bytes: Option<usize>,
    result_bytes: Option<usize>,
}

impl LimitRow {
    pub(super) fn of(scope: &LimitScope, limits: &CallLimits) -> Self {
        let CallLimits { concurrency, calls_per_minute, argument_bytes, result_bytes, .. } =
            *limits;
        Self {
            scope: scope.to_string(),
            concurrency: concurrency.map(Into::into),
            queue: concurrency.map(|_| limits.queue()),
            queue_ms: concurrency.map(|_| limits.queue_time().as_millis()),
            calls_per_minute: calls_per_minute.map(Into::into),
            argument_bytes,
            result_bytes,
        }
    }

    /// The limits in one line.
    pub(super) fn words(&self) -> String {
        let number = |number: usize| grouped(u64::try_from(number).unwrap_or(u64::MAX));
        let count = |count: u32| grouped(count.into());
        let waits = match (self.queue, self.queue_ms) {
            (Some(0), _) => ", and none waits".to_owned(),
            (Some(queue), Some(ms)) => format!(", and {} more wait up to {ms} ms", count(queue)),
            _ => String::new(),
        };
        let words = [
            self.concurrency.map(|calls| format!("{} at once{waits}", count(calls))),
            self.calls_per_minute.map(|calls| format!("{} a minute", count(calls))),
            self.argument_bytes.map(|bytes| format!("arguments of {} bytes", number(bytes))),
            self.result_bytes.map(|bytes| format!("results of {} bytes", number(bytes))),
        ];
        let words: Vec<String> = words.into_iter().flatten().collect();
        format!("{}: {}", self.scope, words.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroU32, time::Duration};

    use super::*;

    #[test]
    fn what_is_limited_is_said_and_nothing_else() {
        let number = NonZeroU32::new;
        let cases = [
            (
                CallLimits { calls_per_minute: number(1_200), ..CallLimits::default() },
                "1,200 a minute",
            ),
            (
                CallLimits { concurrency: number(2), ..CallLimits::default() },
                "2 at once, and 32 more wait up to 5000 ms",
            ),
            (
                CallLimits { concurrency: number(2), queue: Some(0), ..CallLimits::default() },
                "2 at once, and none waits",
            ),
            (
                CallLimits {
                    concurrency: number(2),
                    queue: Some(3),
                    queue_time: Some(Duration::from_millis(40)),
                    calls_per_minute: number(5),
                    argument_bytes: Some(6_000),
                    result_bytes: Some(7),
                },
                "2 at once, and 3 more wait up to 40 ms; 5 a minute; arguments of 6,000 bytes; results of 7 bytes",
            ),
        ];
        let scope = LimitScope::Provider("code".parse().unwrap());
        for (limits, expected) in cases {
            let words = LimitRow::of(&scope, &limits).words();
            assert_eq!(words, format!("provider code: {expected}"));
        }
    }
}
