//! Tries orders of calls, ends and starts. A call that gets no result is a deadlock, which shuttle reports.

use std::sync::Arc;

use super::{NotRunning, Runs, Supervised};
use crate::{
    entries::Crash,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        explore, thread,
    },
};

/// A process, which somebody ends.
#[derive(Debug, Default)]
struct Process {
    has_ended: AtomicBool,
    /// Whether a call of it succeeded.
    has_answered: AtomicBool,
    /// How often its end was told.
    told: AtomicUsize,
}

impl Process {
    fn answer(&self) -> Result<(), Refused> {
        if self.has_ended.load(Ordering::SeqCst) {
            return Err(Refused::Crashed);
        }
        self.has_answered.store(true, Ordering::SeqCst);
        Ok(())
    }
}

impl Runs for Arc<Process> {
    fn ended(&self) -> Option<Crash> {
        let has_ended = self.has_ended.load(Ordering::SeqCst);
        has_ended.then(|| Crash { how: "ended".to_owned(), hung: false })
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Refused {
    Crashed,
    NotRunning(NotRunning<()>),
}

/// What the operating system knows of the processes.
struct System {
    supervised: Supervised<Arc<Process>>,
    /// All that were started.
    started: Mutex<Vec<Arc<Process>>>,
    /// How many ends in a row were told last.
    last: AtomicUsize,
}

impl System {
    fn new() -> Arc<Self> {
        let (started, last) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        Arc::new(Self { supervised: Supervised::new(None), started, last })
    }

    fn call(&self) -> Result<(), Refused> {
        self.supervised
            .with(|| self.ensure().map_err(Refused::NotRunning), |process| process.answer())
    }

    fn ensure(&self) -> Result<Arc<Arc<Process>>, NotRunning<()>> {
        let ended = Mutex::new(None);
        let keep = |process: &Arc<Process>| {
            *ended.lock() = Some(Arc::clone(process));
            true
        };
        let tell = |_: &Crash, ends| {
            let process = ended.lock().take().unwrap();
            assert_eq!(process.told.fetch_add(1, Ordering::SeqCst), 0, "each end is told once");
            let ends = usize::try_from(ends).unwrap();
            let last = self.last.swap(ends, Ordering::SeqCst);
            let is_next = ends == last + 1;
            // Whether a success counts before the end or after it, both may be.
            let is_first = ends == 1 && process.has_answered.load(Ordering::SeqCst);
            assert!(is_next || is_first, "{ends} ends in a row after {last}");
        };
        let start = || {
            let mut started = self.started.lock();
            let running = started.iter().filter(|process| process.ended().is_none()).count();
            assert_eq!(running, 0, "another one runs");
            let process = Arc::<Process>::default();
            started.push(Arc::clone(&process));
            Ok(process)
        };
        self.supervised.ensure(keep, tell, start)
    }

    /// Ends whatever runs.
    fn end(&self) {
        for process in &*self.started.lock() {
            process.has_ended.store(true, Ordering::SeqCst);
        }
    }
}

#[test]
fn one_runs_at_a_time_each_end_counts_once_and_no_call_is_lost() {
    explore(|| {
        let system = System::new();
        let callers = [(); 3].map(|()| {
            let system = Arc::clone(&system);
            thread::spawn(move || [system.call(), system.call()])
        });
        let ending = Arc::clone(&system);
        let killer = thread::spawn(move || [(); 2].map(|()| ending.end()));
        for caller in callers {
            for result in caller.join().unwrap() {
                let waits = |refused: &_| {
                    matches!(refused, Refused::NotRunning(NotRunning::Restarting { .. }))
                };
                let is_one = result.as_ref().map_or_else(
                    |refused| *refused == Refused::Crashed || waits(refused),
                    |()| true,
                );
                assert!(is_one, "{result:?}");
            }
        }
        killer.join().unwrap();
        let started = system.started.lock();
        let told =
            started.iter().filter(|process| process.told.load(Ordering::SeqCst) == 1).count();
        let there = usize::from(system.supervised.take().is_some());
        assert_eq!(started.len(), told + there, "whatever is not told of is there");
    });
}

#[test]
fn calls_that_find_an_ended_one_share_the_next() {
    explore(|| {
        let system = System::new();
        system.call().unwrap();
        system.end();
        let callers = [(); 3].map(|()| {
            let system = Arc::clone(&system);
            thread::spawn(move || system.call())
        });
        for caller in callers {
            assert_eq!(caller.join().unwrap(), Ok(()));
        }
        assert_eq!(system.started.lock().len(), 2);
    });
}

#[test]
fn a_success_of_one_that_has_ended_says_nothing_of_the_next() {
    explore(|| {
        let system = System::new();
        system.call().unwrap();
        let calling = Arc::clone(&system);
        let caller = thread::spawn(move || calling.call());
        for _ in 0..2 {
            system.end();
            // It checks what is told.
            let ensured = system.ensure();
            assert!(!matches!(ensured, Err(NotRunning::Fenced(_) | NotRunning::Failed(()))));
        }
        // It has succeeded, crashed, or waits for the next start, by when it came.
        let _ = caller.join().unwrap();
    });
}
