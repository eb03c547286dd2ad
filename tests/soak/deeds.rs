//! What hostile providers do, and what must come of it: to the call that does it, and to others that run in the same process.

use std::time::Duration;

/// An error by its code, and words of it that only the operator reads.
pub(crate) type Outcome = (&'static str, &'static str);

/// What a hostile provider does in a call.
#[derive(Debug)]
pub(crate) struct Deed {
    /// The word that the violent plugin knows it by.
    pub(crate) word: &'static str,
    /// How long the call may take.
    pub(crate) remaining: Duration,
    /// What comes of that call.
    pub(crate) outcomes: &'static [Outcome],
    /// What may come of other calls of the same provider.
    pub(crate) of_others: &'static [Outcome],
}

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(200);

/// A deed that ends its process.
const fn ends(word: &'static str, outcomes: &'static [Outcome]) -> Deed {
    Deed { word, remaining: LONG, outcomes, of_others: outcomes }
}

/// A deed that does not stop: the host ends the process.
const fn lasts(word: &'static str) -> Deed {
    let of_others: &[Outcome] = &[("crashed", "a call did not stop in time")];
    let outcomes: &[Outcome] =
        &[("deadline_exceeded", ""), ("crashed", "a call did not stop in time")];
    Deed { word, remaining: SHORT, outcomes, of_others }
}

/// A deed that harms nobody else.
const fn breaks_off(word: &'static str, outcomes: &'static [Outcome]) -> Deed {
    Deed { word, remaining: LONG, outcomes, of_others: &[] }
}

/// Those for workers.
pub(crate) const IN_WORKER: &[Deed] = &[
    ends("abort", &[("crashed", "SIGABRT")]),
    ends("segfault", &[("crashed", "SIGSEGV")]),
    ends("exit_0", &[("crashed", "exit status 0")]),
    ends("illegal", &[("crashed", "SIGILL")]),
    ends("overflow", &[("crashed", "SIGABRT"), ("crashed", "SIGSEGV")]),
    lasts("hang"),
    lasts("flood"),
    ends("garbage", &[("crashed", "broke the protocol")]),
    ends("two_frames", &[("crashed", "broke the protocol")]),
    ends("exit_now", &[("crashed", "exit status 0")]),
    PANIC,
    LIE,
];

/// Those that the host's own process survives.
pub(crate) const IN_PROCESS: &[Deed] = &[PANIC, LIE];

const PANIC: Deed = breaks_off("panic", &[("fault", "a misfortune")]);
const LIE: Deed = breaks_off("lie", &[("malformed_reply", "target")]);

impl Deed {
    /// Whether a process ends by it, so that the provider is out of reach for a while.
    pub(crate) fn ends_process(&self) -> bool {
        !self.of_others.is_empty()
    }
}
