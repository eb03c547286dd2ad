//! Calls that run at once, and those that wait for their turn.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use toolbay_core::{
    Access, CallError, CallLimits, CallRequest, CancelToken, LimitError, LimitScope, Limits,
    RawReply, Reply, ReplyStatus,
};

use crate::{
    desk::{Hands, acme},
    fixture::{Bench, Fake, anonymous, reader},
    turnstile::{Inside, Turnstile, at_once, counts, limits, until_waiting},
};

/// The tools `a` and `b` of one provider, each behind a turnstile, and a clock that stands still.
struct Hall {
    bench: Bench,
    clock: Arc<Hands>,
    a: Turnstile,
    b: Turnstile,
}

impl Hall {
    fn new(limits: Limits) -> Self {
        let (at_a, a) = Turnstile::new();
        let (at_b, b) = Turnstile::new();
        let clock = Arc::<Hands>::default();
        let offers = vec![acme("1", [(reader("a"), at_a), (reader("b"), at_b)])];
        Self { bench: Bench::with_clock(offers, limits, clock.clone()), clock, a, b }
    }

    /// A call on a thread of its own, which has begun or waits when this returns.
    fn call<'s>(
        &'s self,
        scope: &'s thread::Scope<'s, '_>,
        tool: &'static str,
        number: u32,
    ) -> Calling<'s> {
        scope.spawn(move || self.bench.call(tool, &format!(r#"{{"n":{number}}}"#)))
    }

    fn until_waiting(&self, tool: &str, calls: u32) {
        until_waiting(&self.bench.pipeline, tool, calls);
    }

    /// That nothing runs or waits any more, by none of a tool's limits.
    fn is_empty(&self, tool: &str) -> bool {
        counts(&self.bench, tool).iter().all(|(running, waiting, _)| running + waiting == 0)
    }
}

type Calling<'s> = thread::ScopedJoinHandle<'s, Result<Reply, CallError>>;

fn done(calling: Calling<'_>) {
    assert_eq!(calling.join().unwrap().unwrap().model_text(), "done");
}

fn number(arguments: &str) -> u32 {
    arguments.trim_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap()
}

#[test]
fn so_many_run_so_many_wait_and_the_next_is_refused() {
    for (providers, tools, whose) in [
        (vec![("acme", at_once(2, 1))], vec![], "provider acme"),
        (vec![], vec![("a", at_once(2, 1))], "tool a"),
    ] {
        let hall = Hall::new(limits(&providers, &tools));
        thread::scope(|scope| {
            let running = [hall.call(scope, "a", 1), hall.call(scope, "a", 2)];
            let inside = [hall.a.next(), hall.a.next()];
            let waiting = hall.call(scope, "a", 3);
            hall.until_waiting("a", 1);
            let refused = hall.bench.call("a", "").unwrap_err();
            assert_eq!(
                refused.model_text(),
                format!(
                    "The tool \"a\" was not run: too many calls of {whose} at once: expected at most 2 that run and 1 that wait, found more; call again when one of them is done."
                )
            );
            assert_eq!(counts(&hall.bench, "a").last(), Some(&(2, 1, 1)));
            assert!(hall.a.is_still());
            inside.into_iter().for_each(Inside::leave);
            running.into_iter().for_each(done);
            hall.a.next().leave();
            done(waiting);
            assert!(hall.is_empty("a"));
            assert_eq!(hall.bench.ended()[0], "a limited queue_full");
        });
    }
}

#[test]
fn without_a_queue_none_waits() {
    let hall = Hall::new(limits(&[], &[("a", at_once(1, 0))]));
    thread::scope(|scope| {
        let running = hall.call(scope, "a", 1);
        let inside = hall.a.next();
        assert_eq!(hall.bench.call("a", "").unwrap_err().code(), "queue_full");
        inside.leave();
        done(running);
        let next = hall.call(scope, "a", 2);
        hall.a.next().leave();
        done(next);
    });
}

#[test]
fn first_come_first_served() {
    let hall = Hall::new(limits(&[], &[("a", at_once(1, 8))]));
    thread::scope(|scope| {
        let mut calls = vec![hall.call(scope, "a", 0)];
        let mut inside = hall.a.next();
        for next in 1..=8 {
            calls.push(hall.call(scope, "a", next));
            hall.until_waiting("a", next);
        }
        for next in 1..=8 {
            inside.leave();
            inside = hall.a.next();
            assert_eq!(number(&inside.arguments), next);
            assert!(hall.a.is_still());
        }
        inside.leave();
        calls.into_iter().for_each(done);
    });
}

#[test]
fn a_tool_that_is_full_keeps_no_other_tool_of_its_provider_from_running() {
    let hall = Hall::new(limits(&[("acme", at_once(2, 2))], &[("a", at_once(1, 3))]));
    thread::scope(|scope| {
        let first = hall.call(scope, "a", 1);
        let inside = hall.a.next();
        // More of them wait for the tool than may wait for the provider, in which there is a place.
        let waiting: Vec<_> = (2..=4)
            .map(|number| {
                let waiting = hall.call(scope, "a", number);
                hall.until_waiting("a", number - 1);
                waiting
            })
            .collect();
        assert_eq!(counts(&hall.bench, "a"), [(1, 0, 0), (1, 3, 0)]);
        for number in 5..8 {
            let other = hall.call(scope, "b", number);
            hall.b.next().leave();
            done(other);
        }
        // Now the provider is full, too, and lets the other tool wait; a further call of the tool is refused by its own limit.
        let other = hall.call(scope, "b", 8);
        let beside = hall.b.next();
        let behind = hall.call(scope, "b", 9);
        hall.until_waiting("b", 1);
        let refused = hall.bench.call("a", "").unwrap_err();
        let of_tool = LimitScope::Tool("a".parse().unwrap());
        assert!(
            matches!(&refused, CallError::Limit { source: LimitError::QueueFull { scope, .. }, .. } if *scope == of_tool),
            "{refused:?}"
        );
        beside.leave();
        done(other);
        hall.b.next().leave();
        done(behind);
        inside.leave();
        done(first);
        for calling in waiting {
            hall.a.next().leave();
            done(calling);
        }
        assert!(hall.is_empty("a") && hall.is_empty("b"));
    });
}

#[test]
fn a_call_needs_a_place_by_its_provider_and_by_its_tool() {
    let hall = Hall::new(limits(&[("acme", at_once(1, 4))], &[("a", at_once(2, 4))]));
    thread::scope(|scope| {
        let first = hall.call(scope, "b", 1);
        let inside = hall.b.next();
        let second = hall.call(scope, "a", 2);
        hall.until_waiting("b", 1);
        // It waits for the provider alone, for the tool has room.
        assert_eq!(counts(&hall.bench, "a"), [(1, 1, 0), (0, 0, 0)]);
        assert!(hall.a.is_still());
        inside.leave();
        done(first);
        hall.a.next().leave();
        done(second);
    });
}

#[test]
fn a_call_that_waits_too_long_has_not_run() {
    let ten = Duration::from_millis(10);
    let hour = Duration::from_hours(1);
    let limit = |queue_time| CallLimits { queue_time: Some(queue_time), ..at_once(1, 4) };
    let cases = [
        (
            ten,
            None,
            "queue_timeout",
            "a limited queue_timeout",
            "found as many for 1000 ms; call again later.",
        ),
        (
            ten,
            Some(hour),
            "queue_timeout",
            "a limited queue_timeout",
            "found as many for 1000 ms; call again later.",
        ),
        (
            hour,
            Some(ten),
            "deadline_exceeded",
            "a timed_out deadline_exceeded",
            "found as many until the call's time was over, 1000 ms; call again with more time.",
        ),
    ];
    for (queue_time, deadline, code, recorded, ends) in cases {
        let hall = Hall::new(limits(&[], &[("a", limit(queue_time))]));
        thread::scope(|scope| {
            let running = hall.call(scope, "a", 1);
            let inside = hall.a.next();
            let waiting = scope.spawn(|| {
                let caller = anonymous();
                let request = CallRequest::new("a", "", &caller);
                let request = deadline.map_or(request, |deadline| request.with_deadline(deadline));
                hall.bench.pipeline.call(&request)
            });
            hall.until_waiting("a", 1);
            hall.clock.advance(1);
            let refused = waiting.join().unwrap().unwrap_err();
            assert_eq!(refused.code(), code);
            let text = refused.model_text();
            let begins = "The tool \"a\" was not run: too many calls of tool a at once: expected at most 1, ";
            assert_eq!(text, format!("{begins}{ends}"));
            assert_eq!(counts(&hall.bench, "a").last(), Some(&(1, 0, 1)));
            inside.leave();
            done(running);
            assert!(hall.a.is_still() && hall.is_empty("a"));
            assert_eq!(hall.bench.ended()[0], recorded);
        });
    }
}

#[test]
fn what_is_cancelled_leaves_the_queue_at_once() {
    let limit = CallLimits { queue_time: Some(Duration::MAX), ..at_once(1, 1) };
    let hall = Hall::new(limits(&[], &[("a", limit)]));
    thread::scope(|scope| {
        let running = hall.call(scope, "a", 1);
        let inside = hall.a.next();
        // One that has been cancelled before is not waited for either.
        for before in [false, true] {
            let cancel = CancelToken::new();
            if before {
                cancel.cancel();
            }
            let waiting = scope.spawn({
                let (hall, cancel) = (&hall, cancel.clone());
                move || {
                    let caller = anonymous();
                    hall.bench
                        .pipeline
                        .call(&CallRequest::new("a", "", &caller).with_cancel(&cancel))
                }
            });
            if !before {
                hall.until_waiting("a", 1);
                cancel.cancel();
            }
            assert_eq!(waiting.join().unwrap().unwrap_err().code(), "cancelled");
            assert_eq!(counts(&hall.bench, "a"), [(1, 0, 0)]);
        }
        // The place in the queue is there again.
        let next = hall.call(scope, "a", 2);
        hall.until_waiting("a", 1);
        inside.leave();
        done(running);
        hall.a.next().leave();
        done(next);
        assert_eq!(hall.bench.ended()[..2], ["a cancelled cancelled", "a cancelled cancelled"]);
    });
}

#[test]
fn a_call_that_waited_has_less_time_left_and_keeps_its_arguments() {
    let limit = CallLimits { queue_time: Some(Duration::from_hours(1)), ..at_once(1, 1) };
    let hall = Hall::new(limits(&[], &[("a", limit)]));
    thread::scope(|scope| {
        let running = hall.call(scope, "a", 1);
        let inside = hall.a.next();
        let waiting = scope.spawn(|| {
            let caller = anonymous();
            let request = CallRequest::new("a", r#"{"n":2}"#, &caller);
            hall.bench.pipeline.call(&request.with_deadline(Duration::from_mins(5)))
        });
        hall.until_waiting("a", 1);
        hall.clock.advance(120);
        inside.leave();
        done(running);
        let inside = hall.a.next();
        assert_eq!(
            (inside.arguments.as_str(), inside.deadline),
            (r#"{"n":2}"#, Some(Duration::from_mins(3)))
        );
        inside.leave();
        done(waiting);
    });
}

#[test]
fn a_tool_that_is_switched_off_meanwhile_does_not_run() {
    let mut refused = Access::default();
    refused.tools.insert("a".parse().unwrap(), false);
    let mut guarded = Access::default();
    guarded.approvals.insert("a".parse().unwrap());
    for (access, code) in [(refused, "tool_disabled"), (guarded, "approval_required")] {
        let hall = Hall::new(limits(&[], &[("a", at_once(1, 1))]));
        thread::scope(|scope| {
            let running = hall.call(scope, "a", 1);
            let inside = hall.a.next();
            let waiting = hall.call(scope, "a", 2);
            hall.until_waiting("a", 1);
            let registry = hall.bench.pipeline.registry().load().with_access(&access);
            hall.bench.pipeline.registry().replace(registry);
            inside.leave();
            done(running);
            assert_eq!(waiting.join().unwrap().unwrap_err().code(), code);
            assert!(hall.a.is_still() && hall.is_empty("a"));
        });
    }
}

#[test]
fn a_panic_of_the_tools_code_gives_its_place_to_the_next() {
    let hall = Hall::new(limits(&[("acme", at_once(1, 4))], &[("a", at_once(1, 4))]));
    thread::scope(|scope| {
        let broken = scope.spawn(|| catch_unwind(AssertUnwindSafe(|| hall.bench.call("a", ""))));
        let inside = hall.a.next();
        let waiting = hall.call(scope, "a", 2);
        hall.until_waiting("a", 1);
        inside.panic();
        assert!(broken.join().unwrap().is_err());
        hall.a.next().leave();
        done(waiting);
        assert!(hall.is_empty("a"));
        assert_eq!(hall.bench.ended(), ["a aborted -", "a ok -"]);
    });
}

#[test]
fn a_turn_runs_its_calls_one_after_the_other_and_holds_one_place() {
    let hall = Hall::new(limits(&[], &[("a", at_once(1, 0))]));
    let caller = anonymous();
    let requests = [1, 2].map(|_| CallRequest::new("a", "", &caller));
    thread::scope(|scope| {
        let turn = scope.spawn(|| hall.bench.pipeline.turn(&requests));
        hall.a.next().leave();
        hall.a.next().leave();
        assert!(turn.join().unwrap().into_iter().all(|result| result.is_ok()));
    });
}

/// Whatever threads do, no more calls run at once than may, and in the end nothing runs or waits.
#[test]
fn threads_that_call_at_once_never_are_more_than_may() {
    const THREADS: usize = 8;
    const CALLS: usize = 200;

    #[derive(Default)]
    struct Most {
        now: AtomicUsize,
        most: AtomicUsize,
    }

    let (of_provider, of_a) = (Arc::<Most>::default(), Arc::<Most>::default());
    let tool = |counted: Vec<Arc<Most>>| {
        Fake::new(move |_| {
            for most in &counted {
                let now = most.now.fetch_add(1, Ordering::SeqCst) + 1;
                most.most.fetch_max(now, Ordering::SeqCst);
            }
            thread::yield_now();
            for most in &counted {
                most.now.fetch_sub(1, Ordering::SeqCst);
            }
            Ok(RawReply::text(ReplyStatus::Ok, "done"))
        })
    };
    let a = tool(vec![of_provider.clone(), of_a.clone()]);
    let b = tool(vec![of_provider.clone()]);
    let offers = vec![acme("1", [(reader("a"), a.clone()), (reader("b"), b.clone())])];
    let unhurried = |concurrency| CallLimits {
        queue_time: Some(Duration::MAX),
        ..at_once(concurrency, THREADS as u32)
    };
    let limits = limits(&[("acme", unhurried(3))], &[("a", unhurried(2))]);
    let bench = Bench::with_clock(offers, limits, Arc::<Hands>::default());
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (bench, start) = (&bench, &start);
            scope.spawn(move || {
                start.wait();
                for call in 0..CALLS {
                    let name = if (thread + call) % 2 == 0 { "a" } else { "b" };
                    // Some of them change their mind, whenever that comes.
                    let cancel = CancelToken::new();
                    let caller = anonymous();
                    let request = CallRequest::new(name, "", &caller).with_cancel(&cancel);
                    if call % 7 == 0 {
                        thread::scope(|scope| {
                            let calling = scope.spawn(|| bench.pipeline.call(&request));
                            cancel.cancel();
                            let result = calling.join().unwrap();
                            let code = result.err().map(|error| error.code());
                            assert!(matches!(code, None | Some("cancelled")), "{code:?}");
                        });
                    } else {
                        bench.pipeline.call(&request).unwrap();
                    }
                }
            });
        }
    });
    let most = |most: &Most| most.most.load(Ordering::SeqCst);
    assert!((1..=3).contains(&most(&of_provider)), "{}", most(&of_provider));
    assert!((1..=2).contains(&most(&of_a)), "{}", most(&of_a));
    assert!(a.invocations() + b.invocations() >= THREADS * CALLS * 6 / 7 - THREADS);
    assert_eq!(counts(&bench, "a"), [(0, 0, 0), (0, 0, 0)]);
}
