//! Tries orders of entering and leaving the linker, and of giving up on whoever is in it. Whoever waits in vain is a deadlock, which shuttle
//! reports.

use std::sync::Arc;

use toolbay_core::ProviderId;

use super::Linker;
use crate::sync::{
    atomic::{AtomicUsize, Ordering},
    explore, thread,
};

fn providers() -> [ProviderId; 3] {
    ["one", "other", "third"].map(|id| id.parse().unwrap())
}

#[test]
fn one_at_a_time_is_in_and_everybody_comes_in() {
    explore(|| {
        let shared = Arc::new((Linker::new(), AtomicUsize::new(0)));
        let threads = providers().map(|provider| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (linker, inside) = &*shared;
                let there =
                    linker.enter(&provider).map_err(|held| format!("{held} hangs")).unwrap();
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "nobody else is in it");
                inside.fetch_sub(1, Ordering::SeqCst);
                drop(there);
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(shared.0.holder.lock().is_none());
    });
}

#[test]
fn nobody_waits_for_one_that_was_given_up() {
    explore(|| {
        let linker = Arc::new(Linker::new());
        let [one, others @ ..] = providers();
        let there = linker.enter(&one).map_err(|held| format!("{held} hangs")).unwrap();
        let threads = others.map(|provider| {
            let linker = Arc::clone(&linker);
            thread::spawn(move || linker.enter(&provider).map(drop))
        });
        linker.give_up(&one);
        // It stays in it until all of them have heard.
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Err(one.clone()));
        }
        assert_eq!(linker.held_by(), Some(one.clone()));
        drop(there);
        assert!(linker.enter(&one).is_ok());
    });
}
