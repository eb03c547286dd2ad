//! Tries orders in which abandoned calls come back while somebody watches for them.

use std::{sync::Arc, time::Duration};

use super::{Fence, describe};
use crate::{
    awaited::Awaited,
    sync::{Mutex, explore, thread},
};

#[test]
fn a_call_that_has_come_back_fences_nobody_however_late_it_is() {
    explore(|| {
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        let on_hang = Box::new(move |crash: &_| telling.lock().push(Clone::clone(crash)));
        let fence = Arc::new(Fence::new(on_hang));
        let mut threads = Vec::new();
        for _ in 0..2 {
            let (number, answer) = (fence.number(), Arc::new(Awaited::default()));
            let (coming, given) = (Arc::clone(&fence), Arc::clone(&answer));
            threads.push(thread::spawn(move || {
                given.give(());
                coming.came_back(number);
            }));
            let watching = Arc::clone(&fence);
            threads.push(thread::spawn(move || watching.watch(number, &answer, Duration::ZERO)));
        }
        // Whoever calls meanwhile is told of those that are missing.
        if let Some(crash) = fence.hung() {
            assert!([describe(1), describe(2)].contains(&crash), "{crash:?}");
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(fence.hung(), None, "all have come back");
        assert!(fence.hung.lock().is_empty());
        assert!(told.lock().len() <= 2, "each at most once");
    });
}

#[test]
fn a_call_that_does_not_come_back_is_told_of_once_and_fences() {
    explore(|| {
        let told = Arc::new(Mutex::new(Vec::new()));
        let telling = Arc::clone(&told);
        let on_hang = Box::new(move |crash: &_| telling.lock().push(Clone::clone(crash)));
        let fence = Arc::new(Fence::new(on_hang));
        let [lost, late] = [fence.number(), fence.number()];
        let watching = Arc::clone(&fence);
        let watcher = thread::spawn(move || {
            watching.watch(lost, &Awaited::<()>::default(), Duration::ZERO);
        });
        let coming = Arc::clone(&fence);
        let other = thread::spawn(move || coming.came_back(late));
        watcher.join().unwrap();
        other.join().unwrap();
        assert_eq!(fence.hung(), Some(describe(1)));
        assert_eq!(*told.lock(), [describe(1)]);
    });
}
