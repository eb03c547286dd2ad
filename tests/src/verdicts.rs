//! What comes of the cases of the corpus in this host, and the page of the book that says it.

use std::{fmt::Write, fs, path::Path, sync::Mutex, thread, time::Duration};

use serde_json::{Value, json};
use toolbay_corpus::{Case, Moment, Verdict};
use toolbay_loader::{
    BackendError, CallError, CallRequest, Candidate, Config, HostSystem, Inspection, Level,
    Rejection, Stage, StaticAuditPolicy, Toolbay, findings, inspect,
};

use crate::{
    Home, nobody,
    processes::has_gone,
    violent::{greets_still, order},
};

const GREETING: &str = "toolbay-plugin-greeting";

/// How long a call may take that does not come back.
const SHORT: Duration = Duration::from_millis(50);
/// How long all others may take.
const LONG: Duration = Duration::from_secs(30);

/// What this host says of a file that it only reads.
pub fn by_reading(library: &Path) -> Verdict {
    let plugin = match inspect(&Candidate::at(library)) {
        Ok(Inspection::Plugin(plugin)) => plugin,
        Ok(_) => return Verdict::Refused { code: "not_a_plugin" },
        Err(rejection) => return Verdict::Refused { code: rejection.reason.code },
    };
    let policy = StaticAuditPolicy::default();
    let problems = findings(&plugin, &HostSystem::current(), &policy, &Default::default());
    let denied = problems.iter().find(|problem| problem.level() == Level::Deny);
    denied.map_or(Verdict::Survives, |problem| Verdict::Refused { code: problem.reason().code })
}

/// A home with a good plugin.
pub fn good_home() -> Home {
    Home::with(&[GREETING])
}

/// Lets a case happen in a host of this home that uses a good plugin, and tells what came of it. The good one must answer afterwards.
///
/// # Panics
///
/// Where it does not, or another provider is blamed.
#[expect(clippy::unwrap_used, reason = "a test whose home can't be used has failed")]
pub fn happens(case: &Case, library: &Path, home: &Home, mut config: Config) -> Verdict {
    // What takes all memory is to be refused it before others feel it.
    config.policy.worker_limits.memory_bytes = 2 << 30;
    let toolbay = Toolbay::open(config).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    // On this thread: where the dynamic linker is held, what is new to a thread waits for it.
    assert!(greets_still(&toolbay));
    fs::copy(library, home.plugin("case.so")).unwrap();
    let report = toolbay.refresh().unwrap();
    let verdict = match &report.rejections[..] {
        [] => called(&toolbay, case),
        [first, ..] => {
            for rejection in &report.rejections {
                assert_eq!(rejection.provider.as_deref(), Some(case.provider()), "{}", case.id);
            }
            of_rejection(case, first)
        }
    };
    assert!(greets_still(&toolbay), "{}: the other provider answers", case.id);
    let workers: Vec<_> = toolbay.loaded().iter().filter_map(|library| library.worker).collect();
    drop(toolbay);
    for worker in workers {
        assert!(has_gone(worker), "{}: nobody is left behind", case.id);
    }
    verdict
}

fn of_rejection(case: &Case, rejection: &Rejection) -> Verdict {
    let reason = &rejection.reason;
    let phase = reason.found.strip_prefix("in the phase ").and_then(|rest| rest.split_once(": "));
    match (reason.stage, phase) {
        (Stage::Load | Stage::Create | Stage::Adapt, Some((phase, how))) => {
            failed(case, reason.code, phase, how)
        }
        (Stage::Load, None) => failed(case, reason.code, "load", &reason.found),
        (Stage::Create, None) => failed(case, reason.code, "create", &reason.found),
        (Stage::Adapt, None) => failed(case, reason.code, "tools", &reason.found),
        _ => Verdict::Refused { code: reason.code },
    }
}

/// The failure, in the catalogue's words where it is one that it expects: how it is told differs from machine to machine.
fn failed(case: &Case, code: &'static str, phase: &str, told: &str) -> Verdict {
    let expected = case.in_host.iter().chain(&case.in_worker).find(|expected| {
        matches!(expected, Verdict::Fails { code: its, phase: when, how }
            if *its == code && *when == phase && told.contains(how))
    });
    // What nobody expects fails the test, which then shows it.
    let unexpected = || {
        let [phase, how] = [phase, told].map(|text| &*text.to_owned().leak());
        Verdict::fails(code, phase, how)
    };
    expected.cloned().unwrap_or_else(unexpected)
}

/// Calls what the case says, and then what does no harm.
fn called(toolbay: &Toolbay, case: &Case) -> Verdict {
    let lasts = case
        .in_worker
        .iter()
        .chain(&case.in_host)
        .any(|verdict| matches!(verdict, Verdict::Fails { code: "deadline_exceeded", .. }));
    // In a worker that is ended for it, what comes of the call is told before.
    let remaining = if lasts && !expects(case, "crashed") { SHORT } else { LONG };
    let (nobody, (tool, arguments)) = (nobody(), case.call());
    let arguments = arguments.to_string();
    let request = CallRequest::new(tool, &arguments, &nobody);
    let error = match toolbay.call(&request.with_deadline(remaining)) {
        Ok(reply) => {
            assert_eq!(reply.model_text(), "done", "{}", case.id);
            return Verdict::Survives;
        }
        Err(error) => error,
    };
    if error.code() == "crashed" {
        assert_eq!(
            order(toolbay, "nothing").map(|reply| reply.model_text().into_owned()).ok().as_deref(),
            Some("done"),
            "{}: the next call gets another process",
            case.id
        );
    }
    failed(case, error.code(), "call", &told(&error))
}

fn expects(case: &Case, expected: &str) -> bool {
    case.in_worker
        .iter()
        .any(|verdict| matches!(verdict, Verdict::Fails { code, .. } if *code == expected))
}

fn told(error: &CallError) -> String {
    match error {
        CallError::Backend { source: BackendError::Crashed { how }, .. } => how.clone(),
        CallError::Backend { source: BackendError::Fault { message, .. }, .. } => message.clone(),
        other => other.to_string(),
    }
}

/// What came of a case in the three places.
#[derive(Debug)]
pub struct Row<'a> {
    /// The case.
    pub case: &'a Case,
    /// Where its file is only read, in the host, in a worker.
    pub found: [Verdict; 3],
}

impl Row<'_> {
    /// Where it came to something that the catalogue does not expect.
    pub fn surprises(&self) -> Vec<String> {
        let Self { case, found } = self;
        let places = ["by reading", "in the host", "in a worker"];
        let expected = [&case.by_reading, &case.in_host, &case.in_worker];
        let pairs = found.iter().zip(expected).zip(places);
        pairs
            .filter(|((found, expected), _)| !expected.contains(found))
            .map(|((found, expected), place)| {
                format!("{} {place}: expected {expected:?}, found {found:?}", case.id)
            })
            .collect()
    }

    /// The cells of the table; where either of several things may come of it, all of them.
    fn cells(&self) -> [String; 3] {
        let expected = [&self.case.by_reading, &self.case.in_host, &self.case.in_worker];
        let cell = |place: usize| match (&self.found[place], expected[place]) {
            (found, expected) if expected.len() > 1 && expected.contains(found) => {
                expected.iter().map(ToString::to_string).collect::<Vec<_>>().join(", or ")
            }
            (found, _) => found.to_string(),
        };
        [0, 1, 2].map(cell)
    }
}

/// Does something for each item, on as many threads as the machine has processors.
#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a thread that panics is a test that has failed"
)]
pub fn side_by_side<'a, T: Sync, R: Send>(
    items: &'a [T],
    work: impl Fn(&'a T) -> R + Sync,
) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, |processors| processors.get().min(4));
    let next = Mutex::new(items.iter().enumerate());
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some((place, item)) = next.lock().unwrap().next() else { break };
                    let result = work(item);
                    done.lock().unwrap().push((place, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

const HEADINGS: [(Moment, &str); 8] = [
    (Moment::File, "Its file"),
    (Moment::Constructor, "While it is opened"),
    (Moment::Root, "While its root module is made"),
    (Moment::Create, "While the provider is made"),
    (Moment::Tools, "While it lists its tools"),
    (Moment::Call, "In a call"),
    (Moment::Stop, "While it is dropped"),
    (Moment::AfterHost, "When its process ends"),
];

/// The page.
pub fn page(rows: &[Row<'_>]) -> String {
    let mut page = include_str!("verdicts/introduction.txt").to_owned();
    for (moment, heading) in HEADINGS {
        let _ = write!(
            page,
            "\n## {heading}\n\n| case | | what it does | by reading | in the host | in a worker |\n|---|---|---|---|---|---|\n"
        );
        for row in rows.iter().filter(|row| row.case.moment == moment) {
            let Case { id, number, does, .. } = row.case;
            let [reading, host, worker] = row.cells();
            let _ =
                writeln!(page, "| `{id}` | {number} | {does} | {reading} | {host} | {worker} |");
        }
    }
    page
}

/// A verdict as one line, and back: how it comes from another process.
pub fn as_line(verdict: &Verdict) -> String {
    json!(verdict).to_string()
}

/// The verdict of a line that [`as_line`] made.
///
/// # Panics
///
/// Where it is none.
#[expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that is told something else has failed"
)]
pub fn of_line(line: &str) -> Verdict {
    let json: Value = serde_json::from_str(line).unwrap();
    let word = |name: &str| &*json[name].as_str().unwrap().to_owned().leak();
    match word("verdict") {
        "survives" => Verdict::Survives,
        "refused" => Verdict::Refused { code: word("code") },
        "fails" => Verdict::fails(word("code"), word("phase"), word("how")),
        other => panic!("{other}"),
    }
}
