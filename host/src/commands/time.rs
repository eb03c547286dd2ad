//! Times and spans, for people and for programs.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// The time, as the time since the start of 1970, UTC.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A time for programs: UTC, RFC 3339 with seconds.
pub(super) fn timestamp(since_1970: Duration) -> String {
    let seconds = i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX);
    let time = Timestamp::from_second(seconds.min(Timestamp::MAX.as_second()));
    time.unwrap_or(Timestamp::MAX).to_string()
}

/// A span for people: its largest unit alone.
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    match units.iter().find(|(unit, _)| seconds >= 2 * unit || (*unit == 60 && seconds >= 60)) {
        Some((unit, word)) => format!("{} {word}", seconds / unit),
        None => format!("{seconds} s"),
    }
}

/// How long ago that was.
pub(super) fn ago(then: Duration, now: Duration) -> String {
    format!("{} ago", span(now.saturating_sub(then)))
}

/// How long it is until then.
pub(super) fn ahead(then: Duration, now: Duration) -> String {
    format!("in {}", span(then.saturating_sub(now)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_in_its_largest_unit() {
        let cases = [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (7_199, "119 min"),
            (7_200, "2 h"),
            (86_400, "24 h"),
            (200_000, "2 d"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn a_time_that_no_calendar_has_is_no_panic() {
        assert_eq!(timestamp(Duration::from_secs(1)), "1970-01-01T00:00:01Z");
        assert_eq!(timestamp(Duration::MAX), "9999-12-30T22:00:00Z");
    }
}
