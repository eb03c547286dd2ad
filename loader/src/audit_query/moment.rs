//! Moments as people name them: a time, or how long ago.

use std::{str::FromStr, time::Duration};

use jiff::{Span, SpanRelativeTo, Timestamp, civil::DateTime, tz::Offset};
use thiserror::Error;

/// A moment: a time, or how long ago.
///
/// ```
/// use std::time::Duration;
/// use toolbay_loader::Moment;
///
/// let now = Duration::from_secs(1_000_000);
/// let two_hours = Duration::from_secs(7_200);
/// assert_eq!("2h".parse::<Moment>()?.before(now), now - two_hours);
/// assert_eq!("1970-01-01T03:00:00+01:00".parse::<Moment>()?.before(now), two_hours);
/// assert_eq!("1970-01-02".parse::<Moment>()?.before(now), 12 * two_hours);
/// # Ok::<(), toolbay_loader::MomentError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Moment {
    /// At this time since the start of 1970, UTC; what was before counts as that start.
    At(Duration),
    /// So long ago.
    Ago(Duration),
}

/// A text that names no moment.
///
/// Resolution: write a time or a span.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "expected a time such as 2026-07-01, 2026-07-01T08:30 or 2026-07-01T08:30:00+02:00, or how long ago, such as 90m, 2h or 7d, found {found:?}"
)]
pub struct MomentError {
    found: String,
}

impl Moment {
    /// The moment as the time since the start of 1970, UTC, where it is this time now.
    pub fn before(self, now: Duration) -> Duration {
        match self {
            Self::At(time) => time,
            Self::Ago(span) => now.saturating_sub(span),
        }
    }
}

impl FromStr for Moment {
    type Err = MomentError;

    /// A time without an offset is in UTC, as the times of the log are; a day without a time begins at midnight.
    fn from_str(text: &str) -> Result<Self, MomentError> {
        let utc = |local: DateTime| Offset::UTC.to_timestamp(local);
        let time = text.parse::<Timestamp>().or_else(|_| text.parse().and_then(utc));
        if let Ok(time) = time {
            return Ok(Self::At(time.as_duration().try_into().unwrap_or_default()));
        }
        let span = text.parse::<Span>();
        let span = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()));
        let span = span.ok().and_then(|span| Duration::try_from(span).ok());
        span.map(Self::Ago).ok_or_else(|| MomentError { found: text.chars().take(80).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_spans_are_moments_and_nothing_else_is() {
        const DAY: u64 = 24 * 60 * 60;
        let cases = [
            ("1970-01-03", Some(Moment::At(Duration::from_secs(2 * DAY)))),
            ("1970-01-01T01:00", Some(Moment::At(Duration::from_secs(3_600)))),
            ("1970-01-01 01:00:00.5", Some(Moment::At(Duration::from_millis(3_600_500)))),
            ("1970-01-01T01:00:00Z", Some(Moment::At(Duration::from_secs(3_600)))),
            ("1970-01-01T01:00:00-01:00", Some(Moment::At(Duration::from_secs(7_200)))),
            ("1969-07-20", Some(Moment::At(Duration::ZERO))),
            ("90s", Some(Moment::Ago(Duration::from_secs(90)))),
            ("2h 30m", Some(Moment::Ago(Duration::from_secs(9_000)))),
            ("7d", Some(Moment::Ago(Duration::from_secs(7 * DAY)))),
            ("2w", Some(Moment::Ago(Duration::from_secs(14 * DAY)))),
            // How long a month is depends on which one it is.
            ("1 month", None),
            ("-2h", None),
            ("2", None),
            ("", None),
            ("yesterday", None),
            ("1970-13-01", None),
        ];
        for (text, expected) in cases {
            let found = text.parse::<Moment>();
            assert_eq!(found, expected.ok_or(MomentError { found: text.to_owned() }), "{text:?}");
        }
    }
}
