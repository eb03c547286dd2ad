//! The shared place of `arc_swap` itself, each of whose operations is one step of a model: shuttle can't look into it.

use std::sync::Arc;

use arc_swap::{ArcSwapOption as Place, Guard};

use super::step;

/// A place for a value that readers share, and that is replaced as a whole.
#[derive(Debug)]
pub(crate) struct ArcSwapOption<T>(Place<T>);

impl<T> ArcSwapOption<T> {
    pub(crate) fn new(value: Option<Arc<T>>) -> Self {
        Self(Place::new(value))
    }

    pub(crate) fn load(&self) -> Guard<Option<Arc<T>>> {
        step();
        self.0.load()
    }

    pub(crate) fn load_full(&self) -> Option<Arc<T>> {
        step();
        self.0.load_full()
    }

    pub(crate) fn store(&self, value: Option<Arc<T>>) {
        step();
        self.0.store(value);
    }

    pub(crate) fn swap(&self, value: Option<Arc<T>>) -> Option<Arc<T>> {
        step();
        self.0.swap(value)
    }
}
