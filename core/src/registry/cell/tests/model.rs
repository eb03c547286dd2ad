//! Tries orders of readers and of writers that take turns. Each operation of the cell is one step: shuttle can't look into it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use shuttle::{
    sync::{Mutex, atomic},
    thread,
};

use super::{RegistryCell, TOOLS, registry, whole};

/// How many orders each way tries.
const ORDERS: usize = 1_000;

/// A moment at which another thread may go on.
fn step() {
    atomic::AtomicBool::new(false).load(Ordering::SeqCst);
}

#[derive(Default)]
struct Shared {
    cell: RegistryCell,
    turn: Mutex<()>,
    dropped: Arc<AtomicU64>,
}

fn replaced_while_it_is_read() {
    let shared = Arc::<Shared>::default();
    let writers = [(); 2].map(|()| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let _turn = shared.turn.lock().unwrap();
            let next = shared.cell.load().generation() + 1;
            step();
            shared.cell.replace(registry(next, &shared.dropped));
        })
    });
    let readers = [(); 2].map(|()| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let first = shared.cell.load();
            let seen = whole(&first, step);
            // It is there for as long as it is looked at.
            assert_eq!(whole(&first, step), seen);
            drop(first);
            step();
            let then = whole(&shared.cell.load(), step);
            assert!(seen <= then, "{then} after {seen}");
        })
    });
    for thread in writers.into_iter().chain(readers) {
        thread.join().unwrap();
    }
    let tools = TOOLS.len() as u64;
    assert_eq!(shared.cell.load().generation(), 2, "no writer is lost");
    assert_eq!(shared.dropped.load(Ordering::SeqCst), tools, "the first one is gone");
    shared.cell.replace(registry(3, &shared.dropped));
    assert_eq!(shared.dropped.load(Ordering::SeqCst), tools * 2, "each goes once");
}

#[test]
fn a_reader_sees_the_old_registry_or_the_new_one() {
    shuttle::check_random(replaced_while_it_is_read, ORDERS);
    shuttle::check_pct(replaced_while_it_is_read, ORDERS, 3);
}
