//! How soon a plugin is started again whose process ended.

use std::time::{Duration, Instant};

/// How long a plugin waits whose process ended twice in a row; each further end doubles it. After the first, it starts at once.
const FIRST_DELAY: Duration = Duration::from_millis(100);

/// The longest wait.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// After how many ends in a row it is worth remembering beyond this process.
pub(crate) const STRIKE: u32 = 5;

/// Counts the ends of a plugin's processes between which no call succeeded.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    ends: u32,
    again: Option<Instant>,
}

impl Breaker {
    /// A process ended. Tells how many have done so in a row.
    pub(crate) fn ended(&mut self, now: Instant) -> u32 {
        self.ends = self.ends.saturating_add(1);
        let doubled = self.ends.checked_sub(2).map(|times| 1_u32.checked_shl(times));
        self.again = doubled.and_then(|doubled| {
            let delay = FIRST_DELAY.saturating_mul(doubled.unwrap_or(u32::MAX)).min(MAX_DELAY);
            now.checked_add(delay)
        });
        self.ends
    }

    /// A call succeeded.
    pub(crate) fn worked(&mut self) {
        *self = Self::default();
    }

    /// How many processes have ended in a row.
    pub(crate) fn ends(&self) -> u32 {
        self.ends
    }

    /// How long it is until the next may be started; `None` where it may be now.
    pub(crate) fn wait(&self, now: Instant) -> Option<Duration> {
        self.again
            .and_then(|again| again.checked_duration_since(now))
            .filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_in_a_row_doubles_the_wait_and_a_success_ends_it() {
        let now = Instant::now();
        let mut breaker = Breaker::default();
        assert_eq!(breaker.wait(now), None);
        let waits: Vec<_> = (1..=12)
            .map(|ends| {
                assert_eq!(breaker.ended(now), ends);
                breaker.wait(now).map_or(0, |wait| wait.as_millis())
            })
            .collect();
        let expected = [0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000];
        assert_eq!(waits, expected);
        assert_eq!(breaker.wait(now + MAX_DELAY), None);
        breaker.worked();
        assert_eq!((breaker.ends(), breaker.wait(now)), (0, None));
        assert_eq!(breaker.ended(now), 1);
    }
}
