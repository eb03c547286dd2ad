//! How many calls may begin in a minute.

use std::{num::NonZeroU32, time::Duration};

/// A token bucket: it holds as many calls as may begin in a minute, each call takes one, and it fills evenly.
///
/// It is not a crate's, because a call answers to its provider's and its tool's at once, and is counted by both of them or by none: that
/// takes a bucket that can be asked without taking, and to which a call that was not run is given back.
#[derive(Debug)]
pub(super) struct Bucket {
    /// The time in which it gains one call.
    per_call: i64,
    /// The time in which it is full.
    capacity: i64,
    /// The time that it would have taken to gain what it holds, less what it owes.
    held: i64,
    filled: Duration,
}

impl Bucket {
    /// A full one.
    pub(super) fn new(per_minute: NonZeroU32, now: Duration) -> Self {
        // At least 13 ns for the largest number that there is.
        let per_call = 60_000_000_000 / i64::from(per_minute.get());
        let capacity = per_call * i64::from(per_minute.get());
        Self { per_call, capacity, held: capacity, filled: now }
    }

    /// Adds what has come since it was last filled. A clock that goes back adds nothing, and is followed.
    pub(super) fn fill(&mut self, now: Duration) {
        let gained = now.saturating_sub(self.filled).as_nanos();
        let gained = i64::try_from(gained).unwrap_or(i64::MAX);
        self.held = self.held.saturating_add(gained).min(self.capacity);
        self.filled = now;
    }

    /// How many milliseconds it takes until so many calls may begin, rounded up; `None` where they may now. More calls than it holds may begin when it is full,
    /// for otherwise they never could.
    pub(super) fn missing(&self, calls: u32) -> Option<Duration> {
        let missing = self.price(calls).min(self.capacity) - self.held;
        let missing = u64::try_from(missing).ok().filter(|missing| *missing > 0)?;
        Some(Duration::from_millis(missing.div_ceil(1_000_000)))
    }

    /// Takes so many calls out, also where it then owes some.
    pub(super) fn take(&mut self, calls: u32) {
        self.held = self.held.saturating_sub(self.price(calls));
    }

    /// Takes calls back that did not begin.
    pub(super) fn give_back(&mut self, calls: u32) {
        self.held = self.held.saturating_add(self.price(calls)).min(self.capacity);
    }

    fn price(&self, calls: u32) -> i64 {
        self.per_call.saturating_mul(i64::from(calls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(per_minute: u32) -> Bucket {
        Bucket::new(NonZeroU32::new(per_minute).unwrap(), Duration::ZERO)
    }

    #[test]
    fn a_bucket_holds_a_minutes_calls_and_fills_evenly() {
        let seconds = Duration::from_secs;
        let mut bucket = bucket(3);
        for _ in 0..3 {
            assert_eq!(bucket.missing(1), None);
            bucket.take(1);
        }
        assert_eq!(bucket.missing(1), Some(seconds(20)));
        // Each moment with what is missing then.
        let cases = [(5, Some(15)), (19, Some(1)), (20, None), (10, None), (200, None)];
        for (now, missing) in cases {
            bucket.fill(seconds(now));
            assert_eq!(bucket.missing(1), missing.map(seconds), "{now}");
        }
        assert_eq!(bucket.missing(3), None, "full");
        bucket.take(1);
        assert_eq!(bucket.missing(3), Some(seconds(20)), "and holds no more than that");
        bucket.give_back(1);
        bucket.give_back(1);
        bucket.take(1);
        assert_eq!(bucket.missing(3), Some(seconds(20)), "nor by what is given back");
    }

    #[test]
    fn more_calls_than_a_minutes_wait_until_it_is_full_and_leave_a_debt() {
        let mut bucket = bucket(2);
        assert_eq!(bucket.missing(5), None);
        bucket.take(5);
        assert_eq!(bucket.missing(1), Some(Duration::from_secs(120)));
        bucket.fill(Duration::from_secs(120));
        assert_eq!(bucket.missing(1), None);
        assert_eq!(bucket.missing(5), Some(Duration::from_secs(30)));
    }

    #[test]
    fn neither_the_largest_number_nor_the_longest_time_overflows() {
        let mut bucket = bucket(u32::MAX);
        bucket.take(u32::MAX);
        bucket.take(u32::MAX);
        assert!(bucket.missing(u32::MAX).is_some());
        bucket.fill(Duration::MAX);
        assert_eq!(bucket.missing(u32::MAX), None);
        bucket.give_back(u32::MAX);
        assert_eq!(bucket.missing(u32::MAX), None);
    }
}
