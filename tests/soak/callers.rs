//! The threads that call.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use fastrand::Rng;
use serde_json::json;
use toolbay_loader::{CallRequest, Caller, CancelToken, Progress, ProgressSink};
use toolbay_tests::nobody;

use crate::{
    checks::{Answered, Asked, MARGIN},
    ledger::State,
    providers::Provider,
    round::Round,
};

/// How long a call may take that nobody disturbs.
const REMAINING: Duration = Duration::from_secs(20);

/// The most bytes of an echo beyond its number.
const MAX_WORDS: usize = 16 * 1024;

/// Calls whatever there is until the round is over.
pub(crate) fn call_on(round: &Round<'_>, thread: usize, mut rng: Rng) {
    let caller = nobody();
    let mut number = 0_u64;
    while !round.is_over() {
        let providers = match rng.u8(..100) {
            0..15 => round.providers.hostile(),
            _ => round.providers.benign(),
        };
        let provider = &providers[rng.usize(..providers.len())];
        number += 1;
        let (mut work_ms, mut words) = (0, rng.usize(..64));
        let asked = match (rng.u8(..100), provider.deed(round.number)) {
            (0..40, Some(_)) => Asked::Deed,
            (0..3, None) => Asked::Wait,
            (chance, _) => {
                match chance {
                    40..50 => work_ms = rng.u64(1..40),
                    50..55 => words = rng.usize(..MAX_WORDS),
                    _ => {}
                }
                Asked::Echo(format!("{thread}.{}.{number} {}", round.number, "x".repeat(words)))
            }
        };
        call(round, thread, provider, &caller, &asked, work_ms);
        // Else nothing but calls would have a processor.
        round.pause(rng.u64(..16));
    }
}

/// Calls a provider once and checks the answer.
pub(crate) fn call(
    round: &Round<'_>,
    thread: usize,
    provider: &Provider,
    caller: &Caller,
    asked: &Asked,
    work_ms: u64,
) {
    let deed = provider.deed(round.number);
    let (order, remaining) = match (asked, deed) {
        (Asked::Echo(text), _) => {
            (json!({ "deed": "echo", "text": text, "work_ms": work_ms }), REMAINING)
        }
        (Asked::Deed, Some(deed)) => (json!({ "deed": deed.word }), deed.remaining),
        (Asked::Wait | Asked::Deed, _) => (json!({ "deed": "wait" }), REMAINING),
    };
    let about = || {
        let (id, isolation) = (&provider.id, provider.isolation);
        let word = deed.map_or("benign", |deed| deed.word);
        format!("{asked} of {id} ({isolation:?}, {word}) in round {}", round.number)
    };
    let order = order.to_string();
    let cancel = CancelToken::new();
    let begun: Arc<dyn ProgressSink> = Arc::new(Cancels(cancel.clone()));
    let mut request = CallRequest::new(&provider.tool, &order, caller).with_deadline(remaining);
    if matches!(asked, Asked::Wait) {
        request = request.with_cancel(&cancel).with_progress(&begun);
    }
    round.calls.fetch_add(1, Ordering::Relaxed);
    let begun = provider.ledger.begin();
    let (result, took) =
        round.overdue.watch(thread, about(), remaining + MARGIN, || round.toolbay.call(&request));
    let states = provider.ledger.end(begun);
    let (result, states) = (&result, &*states);
    let answered = Answered { provider, deed, asked, states, remaining, took, result };
    round.report.count(answered.check(), about);
}

/// Cancels a call as soon as it says that it has begun.
struct Cancels(CancelToken);

impl ProgressSink for Cancels {
    fn progress(&self, _: Progress) {
        self.0.cancel();
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, enabled } = self;
        write!(f, "{version}.0.0 {}", if *enabled { "on" } else { "off" })
    }
}
