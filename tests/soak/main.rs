//! `cargo xtask soak`: fifty providers, ten of them hostile, called from eight threads while they are swapped, switched and refreshed.
//!
//! ```text
//! toolbay-soak MINUTES SEED
//! ```
//!
//! It goes in rounds. In each, a host is opened, used from all sides, checked, and closed; then nothing may be left of it. The first round
//! warms up: it opens each version of each provider, for a library that was opened in the host's own process stays mapped there. After the
//! others the process must have what it had after that one: no processes, the same descriptors, one thread, and hardly more anonymous memory.
//!
//! The seed decides what each thread does, one thing after the other. What happens at the same time is left to the machine.
#![expect(clippy::print_stdout, reason = "what it finds is its output")]
#![expect(clippy::expect_used, reason = "a soak that lacks something has failed")]

mod callers;
mod changes;
mod checks;
mod deeds;
mod leaks;
mod ledger;
mod overdue;
mod providers;
mod report;
mod round;

use std::{
    collections::BTreeMap,
    env, fs,
    path::Path,
    process::{self, ExitCode},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde_json::value::RawValue;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};
use toolbay_loader::{
    AuditItem, AuditTrail, Check, Config, Level, RefreshOptions, Toolbay, Unsigned, WorkerProgram,
    run_if_worker,
};
use toolbay_tests::nobody;

use crate::{
    checks::Asked,
    leaks::Usage,
    overdue::Overdue,
    providers::Providers,
    report::{Report, Surprise},
    round::Round,
};

const CALLERS: usize = 8;

/// What the threads beside the callers do.
const CHANGES: [fn(&Round<'_>, usize, Rng); 4] =
    [changes::swap, changes::swap, changes::switch, changes::refresh];

/// How long a round goes on at most, from its opening on.
const ROUND: Duration = Duration::from_secs(30);

/// How often it says how far it is.
const PROGRESS: Duration = Duration::from_secs(10);

/// The exit code of a process that was interrupted, as shells have it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    run_if_worker();
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((length, seed)) = parse(&arguments) else {
        eprintln!("expected the minutes, such as 2, and a seed, such as 7; found {arguments:?}");
        return ExitCode::FAILURE;
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The second one ends it at once.
        let (code, flag) = (INTERRUPTED.into(), Arc::clone(&interrupted));
        flag::register_conditional_shutdown(signal, code, flag).expect("a handler of a signal");
        flag::register(signal, Arc::clone(&interrupted)).expect("a handler of a signal");
    }
    // So that what workers have started can't get away when they end.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .expect("to be the parent of orphans");
    let report = Report::new(seed);
    println!("soaking for {} s with seed {seed}", length.as_secs());
    soak(length, seed, &report, &interrupted);
    report.close();
    let nothing_ran = report.passed() == 0;
    match interrupted.load(Ordering::Relaxed) {
        _ if report.failed() > 0 || nothing_ran => ExitCode::FAILURE,
        true => INTERRUPTED.into(),
        false => ExitCode::SUCCESS,
    }
}

fn parse(arguments: &[String]) -> Option<(Duration, u64)> {
    let [minutes, seed] = arguments else { return None };
    let length = Duration::try_from_secs_f64(minutes.parse::<f64>().ok()? * 60.0).ok()?;
    Some((length, seed.parse().ok()?))
}

fn soak(length: Duration, seed: u64, report: &Report, interrupted: &AtomicBool) {
    let folder = tempfile::tempdir().expect("a folder");
    let (home, plugins) = (folder.path().join("home"), folder.path().join("plugins"));
    fs::create_dir(&plugins).expect("a folder");
    let providers = Providers::write(&folder.path().join("libraries"), plugins.clone());
    let providers = providers.expect("the libraries of all providers");
    let overdue = Overdue::new(CALLERS + CHANGES.len() + 1);
    let mut rng = Rng::with_seed(seed);
    let mut warm = None;
    let mut number = 0;
    // One after warming up at least: else nothing is compared.
    while number < 2 || report.elapsed() < length {
        if interrupted.load(Ordering::Relaxed) {
            println!("interrupted");
            return;
        }
        let left = length.saturating_sub(report.elapsed());
        let ends = Instant::now() + left.min(ROUND).max(Duration::from_secs(5));
        let toolbay = Toolbay::open(config(&home, &plugins, &providers)).expect("a home");
        let round = Round::new(number, &toolbay, &providers, report, &overdue);
        begin(&round);
        run(&round, &mut rng, ends, interrupted);
        let (calls, changes) = (round.calls.into_inner(), round.changes.into_inner());
        drop(toolbay);
        let usage = Usage::at_rest();
        let name = if number == 0 { "warm-up" } else { "round" };
        println!("{name} {number}: {calls} calls, {changes} changes; at rest {usage}");
        report.count(audited(&home, calls), || format!("records of round {number}"));
        usage.check(warm.as_ref(), report, number);
        warm.get_or_insert(usage);
        number += 1;
    }
}

/// The configuration of a host in which each provider runs where it should.
fn config(home: &Path, plugins: &Path, providers: &Providers) -> Config {
    let mut config = Config::new(home);
    config.plugin_directories.push(plugins.to_owned());
    config.policy.unsigned = Unsigned::Allow;
    // What is denied or warned of in the violent plugin. Where there is something to tell, each refresh runs it once more.
    for check in [Check::DeniedImports, Check::Constructors] {
        config.policy.static_audit.levels.insert(check, Level::Allow);
    }
    config.worker = Some(WorkerProgram::this_program());
    // All records are there to be counted.
    config.audit.max_file_len = u64::MAX;
    // On a busy machine a call that hears of its end at once may not be able to say so at once.
    config.deadlines.grace = Duration::from_secs(5);
    config.deadlines.open = Duration::from_secs(60);
    config.providers = BTreeMap::new();
    for provider in &providers.all {
        let id: toolbay_loader::ProviderId = provider.id.parse().expect("an id");
        config.policy.isolation.providers.insert(id.clone(), provider.isolation);
        if provider.is_configured {
            let nothing = RawValue::from_string("{}".to_owned()).expect("JSON");
            config.providers.insert(id, nothing);
        }
    }
    config
}

/// Puts all providers in, each version after the other, and calls each; in later rounds, forgets what failed in those before.
fn begin(round: &Round<'_>) {
    let count = |outcome: Result<(), Surprise>, about: &str| {
        round.report.count(outcome, || format!("{about} in round {}", round.number));
    };
    if round.number > 0 {
        let refreshed = round.toolbay.refresh_with(RefreshOptions::default().retry(true));
        let refreshed = refreshed.map(drop);
        count(refreshed.map_err(|it| Surprise::new("a refresh", format!("{it:?}"))), "a refresh");
        return;
    }
    let all: Vec<_> = round.providers.all.iter().collect();
    count(round.providers.put(round.toolbay, &all, 1), "the first versions");
    let benign: Vec<_> = round.providers.benign().iter().collect();
    for _ in 0..2 {
        let Some(first) = benign.first() else { return };
        let next = first.after(first.ledger.now().version);
        count(round.providers.put(round.toolbay, &benign, next), "other versions");
        for provider in &benign {
            let state = |state| ledger::State { version: next, ..state };
            count(provider.ledger.change(state, |_| Ok(())), "what is in force");
        }
        let (caller, asked) = (nobody(), Asked::Echo("warm".to_owned()));
        for provider in &round.providers.all {
            callers::call(round, CALLERS, provider, &caller, &asked, 0);
        }
    }
}

/// Lets all threads do what they do until the time is over.
fn run(round: &Round<'_>, rng: &mut Rng, ends: Instant, interrupted: &AtomicBool) {
    thread::scope(|scope| {
        for place in 0..CALLERS {
            let rng = rng.fork();
            scope.spawn(move || callers::call_on(round, place, rng));
        }
        for (place, change) in CHANGES.into_iter().enumerate() {
            let rng = rng.fork();
            scope.spawn(move || change(round, CALLERS + place, rng));
        }
        let mut said = Instant::now();
        while Instant::now() < ends && !interrupted.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(100));
            exit_where_lost(round);
            if said.elapsed() >= PROGRESS {
                said = Instant::now();
                let (passed, failed) = (round.report.passed(), round.report.failed());
                let seconds = round.report.elapsed().as_secs();
                println!("{seconds} s, round {}: {passed} passed, {failed} failed", round.number);
            }
        }
        round.end();
        // A scope waits for its threads without end.
        while !round.overdue.is_idle() {
            thread::sleep(Duration::from_millis(100));
            exit_where_lost(round);
        }
    });
}

/// Ends the process where a thread never comes back, since nobody can end a thread.
fn exit_where_lost(round: &Round<'_>) {
    if let Some((about, took)) = round.overdue.lost() {
        let lost = Surprise::new("an end", format!("none after {:.0} s", took.as_secs_f64()));
        round.report.count(Err(lost), || about);
        round.report.close();
        process::exit(1);
    }
}

/// Checks that each call left one record, and removes them all.
fn audited(home: &Path, calls: u64) -> Result<(), Surprise> {
    let read = || {
        let mut found = 0_u64;
        for item in AuditTrail::open(home)?.entries() {
            match item? {
                AuditItem::Entry(entry) => found += u64::from(entry.call().is_some()),
                AuditItem::Damaged(place) => return Ok(Err(format!("{place:?}"))),
            }
        }
        Ok::<_, toolbay_loader::AuditReadError>(Ok(found))
    };
    let found = match read() {
        Ok(Ok(found)) if found == calls => Ok(()),
        Ok(Ok(found)) => Err(found.to_string()),
        Ok(Err(damaged)) => Err(damaged),
        Err(error) => Err(format!("{error:?}")),
    };
    let removed = fs::remove_dir_all(home.join("audit")).map_err(|error| error.to_string());
    found.and(removed).map_err(|found| Surprise::new(format!("{calls} records of calls"), found))
}
