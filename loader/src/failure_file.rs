//! What failed before, by the content of the library: how long a failure counts depends on what it was.
//!
//! What can be known from a file's bytes is found anew each time, and is not kept. Kept is what came of running the library's code.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{home_file::Document, store::ContentHash};

/// Why the failure of a content is remembered, which decides for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureClass {
    /// The content can't be used by this host: it counts until content or host change.
    Permanent,
    /// The code changed something of the host's process while it was loaded there, which the policy refuses: it counts until content or host
    /// change, and only there. In a worker it runs.
    Disturbance,
    /// Something is missing here, such as a library: each start tries again.
    Environment,
    /// The code ended its process: tried again after a while that doubles, and not at all after [`MAX_STRIKES`] times.
    Crash,
    /// The code did not come back in time: as a crash.
    Hang,
}

impl FailureClass {
    /// Whether the code ended its process, or had to be ended with it.
    pub(crate) fn is_strike(self) -> bool {
        matches!(self, Self::Crash | Self::Hang)
    }
}

/// The stage of a failure in a call.
pub(crate) const CALL: &str = "call";

/// How many crashes and hangs of one content are tried again.
pub const MAX_STRIKES: u32 = 5;

/// How long a content waits after its first crash or hang; each further one doubles it.
pub const FIRST_DELAY: Duration = Duration::from_mins(1);

/// The longest wait after a crash or hang.
pub const MAX_DELAY: Duration = Duration::from_hours(24);

/// What is remembered of a content that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailureRecord {
    /// What kind of failure it was.
    pub class: FailureClass,
    /// The provider, as its note names it.
    pub provider: String,
    /// Where it ended, a stage's word.
    pub stage: String,
    /// The rejection's code.
    pub code: String,
    /// What was found.
    pub found: String,
    /// How often it failed in this way.
    pub strikes: u32,
    /// When it failed last, in seconds since the epoch.
    pub at: u64,
    /// The host that it failed in: another host tries again.
    pub host: String,
    /// Whether it ran in the host's own process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_process: bool,
}

/// Whether a content that failed before is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// By the next call, or refresh.
    Now,
    /// After this many seconds since the epoch.
    At(u64),
    /// Not by this build of the host, unless it is released.
    Never,
}

impl FailureRecord {
    /// Whether it is tried again by this host at this time.
    pub(crate) fn retry(&self, host: &str, now: Duration) -> Retry {
        if self.host != host {
            return Retry::Now;
        }
        match self.class {
            FailureClass::Environment => Retry::Now,
            FailureClass::Permanent | FailureClass::Disturbance => Retry::Never,
            FailureClass::Crash | FailureClass::Hang if self.strikes >= MAX_STRIKES => Retry::Never,
            FailureClass::Crash | FailureClass::Hang => {
                let doubled = 1_u32.checked_shl(self.strikes.saturating_sub(1));
                let delay = FIRST_DELAY.saturating_mul(doubled.unwrap_or(u32::MAX)).min(MAX_DELAY);
                let at = self.at.saturating_add(delay.as_secs());
                // A record of the future is one of a clock that was set back: it must not hold the content for good.
                let from_the_future = self.at > now.as_secs();
                if at <= now.as_secs() || from_the_future { Retry::Now } else { Retry::At(at) }
            }
        }
    }
}

/// What is remembered, by content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Failures(BTreeMap<String, FailureRecord>);

impl Document for Failures {
    const NAME: &'static str = "failures";
    const FORMAT: u32 = 1;
    const FOUND_ANEW: bool = true;
}

impl Failures {
    /// What is remembered of a content.
    pub(crate) fn of(&self, content: ContentHash) -> Option<&FailureRecord> {
        self.0.get(&content.to_string())
    }

    /// Every content of which something is remembered.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ContentHash, &FailureRecord)> {
        self.0.iter().filter_map(|(content, failure)| Some((content.parse().ok()?, failure)))
    }

    /// Remembers a failure; one of the same class and host as before is a further strike.
    pub(crate) fn remember(&mut self, content: ContentHash, failure: FailureRecord) {
        let before = self.of(content).filter(|before| before.host == failure.host);
        let strikes = match before {
            // What ended a process counts on, also where something else keeps it from running meanwhile.
            Some(before) if before.class.is_strike() && !failure.class.is_strike() => return,
            Some(before) if before.class == failure.class || before.class.is_strike() => {
                before.strikes.saturating_add(1)
            }
            _ => 1,
        };
        self.0.insert(content.to_string(), FailureRecord { strikes, ..failure });
    }

    /// Forgets why a content could not be loaded, which was loaded now. What has ended a process in a call may do so again; what did so while it
    /// was loaded in the host, and was loaded there now, was ended by somebody else. What disturbed the host is not cleared by a worker.
    pub(crate) fn worked(&mut self, content: ContentHash, in_process: bool) {
        let is_over = |failure: &FailureRecord| {
            let was_loaded = in_process && failure.in_process && failure.stage != CALL;
            match failure.class {
                FailureClass::Disturbance => in_process,
                class => !class.is_strike() || was_loaded,
            }
        };
        if self.of(content).is_some_and(is_over) {
            self.forget(content);
        }
    }

    /// Forgets a content, which is to be tried again. Tells whether there was something to forget.
    pub(crate) fn forget(&mut self, content: ContentHash) -> bool {
        self.0.remove(&content.to_string()).is_some()
    }

    /// Forgets everything, so that everything is tried again.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "this host";
    const AT: u64 = 1_000_000;

    fn record(class: FailureClass, strikes: u32) -> FailureRecord {
        let (stage, code) = ("load".to_owned(), "other_abi".to_owned());
        let (provider, found, host) = ("a".to_owned(), "b".to_owned(), HOST.to_owned());
        let in_process = false;
        FailureRecord { class, provider, stage, code, found, strikes, at: AT, host, in_process }
    }

    #[test]
    fn how_long_a_failure_counts_depends_on_its_class() {
        use FailureClass::{Crash, Disturbance, Environment, Hang, Permanent};
        let minute = 60;
        let cases = [
            (Permanent, 1, AT, Retry::Never),
            (Permanent, 1, AT + 1_000_000, Retry::Never),
            (Disturbance, 1, AT + 1_000_000, Retry::Never),
            (Environment, 99, AT, Retry::Now),
            (Crash, 1, AT, Retry::At(AT + minute)),
            (Crash, 1, AT + minute - 1, Retry::At(AT + minute)),
            (Crash, 1, AT + minute, Retry::Now),
            (Hang, 3, AT, Retry::At(AT + 4 * minute)),
            (Hang, MAX_STRIKES - 1, AT + 8 * minute, Retry::Now),
            (Crash, MAX_STRIKES, AT + 1_000_000, Retry::Never),
            (Crash, 2, AT - 1, Retry::Now),
        ];
        for (class, strikes, now, expected) in cases {
            let retry = record(class, strikes).retry(HOST, Duration::from_secs(now));
            assert_eq!(retry, expected, "{class:?} {strikes} {now}");
            let elsewhere = record(class, strikes).retry("another", Duration::from_secs(now));
            assert_eq!(elsewhere, Retry::Now, "another host tries again");
        }
    }

    #[test]
    fn strikes_are_counted_within_a_class_and_a_host() {
        let content = ContentHash::of(b"a");
        let mut failures = Failures::default();
        let mut strikes = |class, host: &str| {
            failures.remember(content, FailureRecord { host: host.to_owned(), ..record(class, 0) });
            failures.of(content).unwrap().strikes
        };
        assert_eq!(strikes(FailureClass::Crash, HOST), 1);
        assert_eq!(strikes(FailureClass::Crash, HOST), 2);
        assert_eq!(strikes(FailureClass::Crash, "another"), 1);
        assert_eq!(strikes(FailureClass::Hang, "another"), 2, "a hang is a strike as well");
        assert_eq!(strikes(FailureClass::Environment, "another"), 2, "and is not forgotten");
        failures.worked(content, false);
        assert!(failures.forget(content) && !failures.forget(content));
        assert_eq!(failures.of(content), None);
    }

    #[test]
    fn what_was_loaded_is_forgotten_unless_it_may_end_a_process_again() {
        let content = ContentHash::of(b"a");
        let cases = [
            (FailureClass::Environment, false, "load", true, true),
            (FailureClass::Disturbance, false, "load", false, true),
            (FailureClass::Crash, false, "load", false, false),
            (FailureClass::Crash, true, "load", false, true),
            (FailureClass::Crash, true, CALL, false, false),
        ];
        for (class, in_process, stage, in_worker, here) in cases {
            for (loaded_here, is_forgotten) in [(false, in_worker), (true, here)] {
                let mut failures = Failures::default();
                let stage = stage.to_owned();
                let failure = FailureRecord { in_process, stage, ..record(class, 0) };
                failures.remember(content, failure);
                failures.worked(content, loaded_here);
                assert_eq!(failures.of(content).is_none(), is_forgotten, "{class:?} {in_process}");
            }
        }
    }
}
