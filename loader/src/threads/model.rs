//! Tries orders of new work and of threads that are out of time. Work that nobody does is a deadlock, which shuttle reports.

use std::sync::Arc;

use super::Threads;
use crate::{
    awaited::{Awaited, Waited},
    sync::{
        atomic::{AtomicUsize, Ordering},
        explore, thread,
    },
};

#[test]
fn each_job_is_done_once_also_where_an_idle_thread_ends_just_then() {
    explore(|| {
        let (threads, runs) = (Threads::default(), Arc::new(AtomicUsize::new(0)));
        let callers = [(); 2].map(|()| {
            let (threads, runs) = (threads.clone(), Arc::clone(&runs));
            thread::spawn(move || {
                for _ in 0..2 {
                    let done = Arc::new(Awaited::default());
                    let (giving, runs) = (Arc::clone(&done), Arc::clone(&runs));
                    let job = move || giving.give(runs.fetch_add(1, Ordering::SeqCst));
                    threads.run(job).unwrap();
                    assert!(matches!(done.wait(None, None), Waited::Answered(_)));
                }
            })
        });
        for caller in callers {
            caller.join().unwrap();
        }
        assert_eq!(runs.load(Ordering::SeqCst), 4);
        assert!(threads.0.queue.lock().jobs.is_empty());
    });
}

#[test]
fn a_job_that_waits_for_another_keeps_it_from_nothing() {
    explore(|| {
        let threads = Threads::default();
        // Leaves a thread that is idle, or about to be, or gone.
        threads.run(|| ()).unwrap();
        let (first, second) = (Arc::new(Awaited::default()), Arc::new(Awaited::default()));
        let (waiting, giving) = (Arc::clone(&second), Arc::clone(&first));
        threads.run(move || giving.give(waiting.wait(None, None))).unwrap();
        threads.run(move || second.give(7)).unwrap();
        assert_eq!(first.wait(None, None), Waited::Answered(Waited::Answered(7)));
    });
}
