//! The locks, threads and atomics whose order matters: those of `parking_lot` and the standard library, and in the models those of shuttle,
//! which tries one order after the other.

#[cfg(not(shuttle))]
pub(crate) use std::{sync::atomic, thread};

#[cfg(not(shuttle))]
pub(crate) use arc_swap::ArcSwapOption;
#[cfg(not(shuttle))]
pub(crate) use parking_lot::{Condvar, Mutex};

#[cfg(shuttle)]
mod arc_swap_option;
#[cfg(shuttle)]
mod condvar;
#[cfg(shuttle)]
mod mutex;

#[cfg(shuttle)]
pub(crate) use shuttle::{sync::atomic, thread};

#[cfg(shuttle)]
pub(crate) use self::{arc_swap_option::ArcSwapOption, condvar::Condvar, mutex::Mutex};

/// A moment at which another thread may go on.
#[cfg(shuttle)]
pub(crate) fn step() {
    atomic::AtomicBool::default().load(atomic::Ordering::SeqCst);
}

/// Runs a model under many orders of its threads: at random, and by rare changes of whose turn it is, which finds what takes a few unlucky ones.
#[cfg(all(test, shuttle))]
pub(crate) fn explore(model: impl Fn() + Send + Sync + Clone + 'static) {
    /// How many orders each way tries.
    const ORDERS: usize = 2_000;
    shuttle::check_random(model.clone(), ORDERS);
    shuttle::check_pct(model, ORDERS, 3);
}
