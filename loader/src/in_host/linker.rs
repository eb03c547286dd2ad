//! The dynamic linker, which lets in one at a time, and nobody else while the constructors of a library do not come back.

use toolbay_core::ProviderId;

use crate::sync::{Condvar, Mutex};

/// Who is in the linker.
#[derive(Debug)]
pub(super) struct Linker {
    holder: Mutex<Option<Holder>>,
    left: Condvar,
}

#[derive(Debug)]
struct Holder {
    provider: ProviderId,
    is_given_up: bool,
}

/// Being in the linker, until it is dropped.
pub(super) struct InLinker<'l>(&'l Linker);

impl Linker {
    pub(super) const fn new() -> Self {
        Self { holder: Mutex::new(None), left: Condvar::new() }
    }

    /// Waits until nobody is in it.
    ///
    /// # Errors
    ///
    /// The provider that nobody waits for any more.
    pub(super) fn enter(&self, provider: &ProviderId) -> Result<InLinker<'_>, ProviderId> {
        let mut holder = self.holder.lock();
        while let Some(there) = &*holder {
            if there.is_given_up {
                return Err(there.provider.clone());
            }
            self.left.wait(&mut holder);
        }
        *holder = Some(Holder { provider: provider.clone(), is_given_up: false });
        Ok(InLinker(self))
    }

    /// Nobody waits any more until this provider has left, where it is in.
    pub(super) fn give_up(&self, provider: &ProviderId) {
        if let Some(there) = &mut *self.holder.lock()
            && there.provider == *provider
        {
            there.is_given_up = true;
            self.left.notify_all();
        }
    }

    /// The provider that nobody waits for any more, until it has left.
    pub(super) fn held_by(&self) -> Option<ProviderId> {
        let holder = self.holder.lock();
        holder.as_ref().filter(|there| there.is_given_up).map(|there| there.provider.clone())
    }
}

impl Drop for InLinker<'_> {
    fn drop(&mut self) {
        self.0.holder.lock().take();
        self.0.left.notify_one();
    }
}

#[cfg(all(test, shuttle))]
mod model;

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn one_at_a_time_is_in_and_nobody_waits_for_one_that_was_given_up() {
        let linker = Linker::new();
        let [one, other] = ["one", "other"].map(|id| id.parse::<ProviderId>().unwrap());
        let there = linker.enter(&one).unwrap_or_else(|_| panic!("it is free"));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| linker.enter(&other).map(drop));
            drop(there);
            assert_eq!(waiting.join().unwrap(), Ok(()));
        });
        let there = linker.enter(&one).unwrap_or_else(|_| panic!("it is free"));
        linker.give_up(&other);
        assert_eq!(linker.held_by(), None, "another is in it");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| linker.enter(&other).map(drop));
            linker.give_up(&one);
            assert_eq!(waiting.join().unwrap(), Err(one.clone()));
        });
        assert_eq!(linker.held_by(), Some(one));
        drop(there);
        assert_eq!(linker.held_by(), None);
        assert!(linker.enter(&other).is_ok());
    }
}
