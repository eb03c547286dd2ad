//! Tools that stand still until the test lets them go on, and a look at how many run and wait.

use std::{
    num::NonZeroU32,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use toolbay_core::{CallLimits, LimitUse, Limits, Pipeline, RawReply, ReplyStatus};

use crate::{
    desk::PATIENCE,
    fixture::{Bench, Fake},
};

/// A call that has begun, and goes on when the test says how.
pub(crate) struct Inside {
    /// What the tool was called with.
    pub(crate) arguments: String,
    /// The time that the tool was given.
    pub(crate) deadline: Option<Duration>,
    leave: Sender<bool>,
}

impl Inside {
    pub(crate) fn leave(self) {
        self.leave.send(true).unwrap();
    }

    pub(crate) fn panic(self) {
        self.leave.send(false).unwrap();
    }
}

/// The calls that have begun, one by one.
pub(crate) struct Turnstile(Mutex<Receiver<Inside>>);

impl Turnstile {
    /// A tool's code whose calls come through here.
    pub(crate) fn new() -> (Arc<Fake>, Self) {
        let (entered, inside) = channel();
        let fake = Fake::new(move |call| {
            let (leave, left) = channel();
            let (arguments, deadline) = (call.arguments().to_owned(), call.deadline());
            entered.send(Inside { arguments, deadline, leave }).unwrap();
            assert!(left.recv_timeout(PATIENCE).unwrap(), "the test wants a panic");
            Ok(RawReply::text(ReplyStatus::Ok, "done"))
        });
        (fake, Self(Mutex::new(inside)))
    }

    /// The next call that has begun.
    pub(crate) fn next(&self) -> Inside {
        self.0.lock().unwrap().recv_timeout(PATIENCE).unwrap()
    }

    /// Whether no call has begun that was not asked for yet.
    pub(crate) fn is_still(&self) -> bool {
        self.0.lock().unwrap().try_recv().is_err()
    }
}

/// What is counted of a tool's limits.
pub(crate) fn uses(pipeline: &Pipeline, tool: &str) -> Vec<LimitUse> {
    pipeline.limits(pipeline.registry().load().get(tool).unwrap())
}

/// How many calls run, wait and were refused, by the tool's provider and then by its own limits, where each has some.
pub(crate) fn counts(bench: &Bench, tool: &str) -> Vec<(u32, u32, u64)> {
    let counts = |used: LimitUse| (used.running, used.waiting, used.refused);
    uses(&bench.pipeline, tool).into_iter().map(counts).collect()
}

/// Waits until so many calls of a tool wait by the last of its limits.
pub(crate) fn until_waiting(pipeline: &Pipeline, tool: &str, calls: u32) {
    let began = Instant::now();
    while uses(pipeline, tool).last().unwrap().waiting != calls {
        assert!(began.elapsed() < PATIENCE, "{:?}", uses(pipeline, tool));
        thread::yield_now();
    }
}

/// So many at once, with so many that wait for 10 ms of a clock that the test moves.
pub(crate) fn at_once(concurrency: u32, queue: u32) -> CallLimits {
    CallLimits {
        concurrency: NonZeroU32::new(concurrency),
        queue: Some(queue),
        queue_time: Some(Duration::from_millis(10)),
        ..CallLimits::default()
    }
}

pub(crate) fn per_minute(calls: u32) -> CallLimits {
    CallLimits { calls_per_minute: NonZeroU32::new(calls), ..CallLimits::default() }
}

/// These limits of single providers and tools, and no others.
pub(crate) fn limits(providers: &[(&str, CallLimits)], tools: &[(&str, CallLimits)]) -> Limits {
    Limits {
        providers: providers.iter().map(|(id, of)| (id.parse().unwrap(), *of)).collect(),
        tools: tools.iter().map(|(name, of)| (name.parse().unwrap(), *of)).collect(),
        ..Limits::default()
    }
}
