//! Tries orders of giving, waiting and moving the deadline. Whoever waits in vain is a deadlock, which shuttle reports.

use std::{sync::Arc, time::Instant};

use super::{Awaited, Waited};
use crate::sync::{Mutex, explore, thread};

#[test]
fn whoever_waits_gets_the_one_answer() {
    explore(|| {
        let awaited = Arc::new(Awaited::default());
        let late = thread::spawn({
            let awaited = Arc::clone(&awaited);
            move || awaited.wait(Some(Instant::now()), None)
        });
        let giver = thread::spawn({
            let awaited = Arc::clone(&awaited);
            move || awaited.give(7)
        });
        giver.join().unwrap();
        assert!(awaited.is_given(), "also after it was taken");
        // Whoever is late has taken it, or has left it.
        if late.join().unwrap() == Waited::Late {
            assert_eq!(awaited.wait(None, None), Waited::Answered(7));
        }
        assert_eq!(awaited.wait(Some(Instant::now()), None), Waited::Late, "it was taken");
    });
}

#[test]
fn whoever_waits_for_good_is_woken() {
    explore(|| {
        let awaited = Arc::new(Awaited::default());
        let waiting = thread::spawn({
            let awaited = Arc::clone(&awaited);
            move || awaited.wait(None, None)
        });
        awaited.give(7);
        assert_eq!(waiting.join().unwrap(), Waited::Answered(7));
    });
}

#[test]
fn a_deadline_that_moves_is_never_missed() {
    explore(|| {
        let moved = Arc::new((Awaited::<()>::default(), Mutex::new(None)));
        let waiting = thread::spawn({
            let moved = Arc::clone(&moved);
            move || moved.0.wait_until(|| *moved.1.lock(), None)
        });
        *moved.1.lock() = Some(Instant::now());
        moved.0.wake();
        assert_eq!(waiting.join().unwrap(), Waited::Late);
    });
}
