//! Shuttle's mutex with the interface of `parking_lot`'s.

use std::{
    ops::{Deref, DerefMut},
    sync::{PoisonError, TryLockError},
};

use shuttle::sync;

/// Holds a value for one thread at a time.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

/// The value, until it is dropped. It is without its lock only while a condition variable waits.
#[derive(Debug)]
pub(crate) struct MutexGuard<'a, T> {
    of: &'a Mutex<T>,
    held: Option<sync::MutexGuard<'a, T>>,
}

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard { of: self, held: Some(self.locked()) }
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(held) => Some(MutexGuard { of: self, held: Some(held) }),
            Err(TryLockError::Poisoned(held)) => {
                Some(MutexGuard { of: self, held: Some(held.into_inner()) })
            }
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn locked(&self) -> sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> MutexGuard<'_, T> {
    /// Does something while others may have the lock.
    pub(super) fn unlocked<R>(&mut self, work: impl FnOnce() -> R) -> R {
        self.held = None;
        let result = work();
        self.held = Some(self.of.locked());
        result
    }
}

#[expect(clippy::expect_used, reason = "the lock is held but for `unlocked`, which has the guard")]
impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.held.as_ref().expect("the lock is held")
    }
}

#[expect(clippy::expect_used, reason = "the lock is held but for `unlocked`, which has the guard")]
impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.held.as_mut().expect("the lock is held")
    }
}
