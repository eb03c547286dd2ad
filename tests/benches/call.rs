//! What a call costs beside the least that the same work costs without a framework.
//!
//! The work is an echo of 60 bytes, 4 KiB and 256 KiB of arguments. The base, "B2", is a raw `dlopen` of the same typed tool plus one
//! JSON parse and one schema validation in the host. Base and subject take turns within every sample, so that whatever slows the
//! machine slows both; what counts is the median of the samples' ratios, which goes to `target/bench/summary.json`.
//!
//! A call in a worker is compared with the least that two processes can do: the same bytes through a pipe to a process that copies them into
//! another pipe.
#![expect(clippy::expect_used, reason = "a benchmark that lacks something has failed")]

#[path = "call/pipes.rs"]
mod pipes;
#[path = "call/raw.rs"]
mod raw;
#[path = "call/summary.rs"]
mod summary;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{BenchmarkId, Criterion, criterion_group};
use serde_json::{Value, json};
use toolbay_fixture_raw_echo as direct;
use toolbay_loader::{
    CallRequest, Caller, Config, Isolation, Schema, Toolbay, Validator, WorkerProgram,
    run_if_worker,
};
use toolbay_tests::{Home, nobody};

use pipes::Pipes;
use raw::RawLibrary;
use summary::{Ratio, Summary};

const SCHEMA: &str = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}"#;

/// The name of a size, its bytes of arguments, and the most that our call may cost of the base.
const SIZES: [(&str, usize, f64); 3] =
    [("60B", 60, 1.3), ("4KiB", 4 * 1024, 1.05), ("256KiB", 256 * 1024, 1.05)];

/// Whatever is compared, by turns.
struct Subjects {
    raw: RawLibrary,
    validator: Validator,
    toolbay: Toolbay,
    in_worker: Toolbay,
    pipes: Pipes,
    caller: Caller,
    _homes: [Home; 2],
}

impl Subjects {
    fn new() -> Self {
        let homes = [(); 2].map(|()| Home::with(&["toolbay-fixture-echo"]));
        let [here, mut there] = homes.each_ref().map(Home::config);
        there.policy.isolation.default = Isolation::Worker;
        there.worker = Some(WorkerProgram::this_program());
        let open = |mut config: Config| {
            // Bounding looks at each reply and cuts none, so that both sides do the same work.
            config.limits.text_bytes = 1024 * 1024;
            let toolbay = Toolbay::open(config).expect("a home");
            toolbay.refresh().expect("a registry");
            toolbay
        };
        let [toolbay, in_worker] = [here, there].map(open);
        Self {
            raw: RawLibrary::open(&toolbay_tests::library("toolbay-fixture-raw-echo")),
            validator: Schema::parse(SCHEMA).and_then(|schema| schema.compile()).expect("a schema"),
            toolbay,
            in_worker,
            pipes: Pipes::new(),
            caller: nobody(),
            _homes: homes,
        }
    }

    fn function(&self, arguments: &str) {
        black_box(direct::echo(arguments.as_bytes()).expect("an echo"));
    }

    fn parsed_and_validated(&self, arguments: &str) {
        let value: Value = serde_json::from_str(arguments).expect("JSON");
        assert!(self.validator.is_valid(&value));
    }

    fn b2(&self, arguments: &str) {
        self.parsed_and_validated(arguments);
        self.raw.echo(arguments, |result| {
            black_box(result);
        });
    }

    fn b2_text(&self, arguments: &str) {
        self.parsed_and_validated(arguments);
        self.raw.echo_text(arguments, |result| {
            black_box(result);
        });
    }

    fn ours(&self, arguments: &str) {
        self.call(&self.toolbay, arguments);
    }

    fn ours_in_worker(&self, arguments: &str) {
        self.call(&self.in_worker, arguments);
    }

    fn call(&self, toolbay: &Toolbay, arguments: &str) {
        let request = CallRequest::new("echo", arguments, &self.caller);
        black_box(toolbay.call(&request).expect("a reply"));
    }

    fn through_pipes(&self, arguments: &str) {
        black_box(self.pipes.echo(arguments.as_bytes()));
    }
}

type Subject = fn(&Subjects, &str);

/// A subject, the base it is compared with, and whether the size's target is meant for it.
const PAIRS: [(&str, Subject, Subject, bool); 4] = [
    ("call/b2", Subjects::ours, Subjects::b2, true),
    ("call/b2-text", Subjects::ours, Subjects::b2_text, false),
    ("function/b2", Subjects::function, Subjects::b2, false),
    ("worker/pipes", Subjects::ours_in_worker, Subjects::through_pipes, false),
];

fn arguments_of(len: usize) -> String {
    let frame = json!({ "text": "" }).to_string().len();
    let text: String =
        "The quick brown fox jumps over it. ".chars().cycle().take(len - frame).collect();
    json!({ "text": text }).to_string()
}

fn calls(criterion: &mut Criterion) {
    let subjects = Subjects::new();
    let mut summary = Summary::default();
    for (pair, subject, base, has_target) in PAIRS {
        let mut group = criterion.benchmark_group(pair);
        for (size, len, target) in SIZES {
            let arguments = arguments_of(len);
            assert_eq!(arguments.len(), len);
            let mut ratios = Vec::new();
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter_custom(|iterations| {
                    let (of_subject, of_base) = by_turns(
                        iterations,
                        || subject(&subjects, &arguments),
                        || base(&subjects, &arguments),
                    );
                    ratios.push(of_subject.as_secs_f64() / of_base.as_secs_f64());
                    of_subject
                });
            });
            let target = has_target.then_some(target);
            summary.add(Ratio { id: format!("{pair}/{size}"), samples: ratios, target });
        }
        group.finish();
    }
    summary.write();
}

/// Runs two pieces of work by turns, in runs of about as many as take ten microseconds, and returns the time of each.
fn by_turns(iterations: u64, one: impl Fn(), other: impl Fn()) -> (Duration, Duration) {
    let turn = iterations.div_ceil(16).clamp(1, 64);
    let (mut of_one, mut of_other) = (Duration::ZERO, Duration::ZERO);
    let mut done = 0;
    while done < iterations {
        let turn = turn.min(iterations - done);
        of_one += timed(turn, &one);
        of_other += timed(turn, &other);
        done += turn;
    }
    (of_one, of_other)
}

fn timed(times: u64, work: &impl Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..times {
        work();
    }
    start.elapsed()
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(61).measurement_time(Duration::from_secs(3));
    targets = calls
}

fn main() {
    run_if_worker();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
