//! The place of the current registry: readers never lock, writers replace it.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};

use crate::registry::Registry;

/// Holds the current [`Registry`], at first an empty one of generation 0.
///
/// Writers must take turns by their own means: of two that replace at once, the later one wins whatever its generation is.
#[derive(Debug, Default)]
pub struct RegistryCell(ArcSwap<Registry>);

impl RegistryCell {
    /// The current registry, for as long as the guard lives. Use it for one call or one listing: many guards held at once by a
    /// thread make its next load slower.
    pub fn load(&self) -> Guard<Arc<Registry>> {
        self.0.load()
    }

    /// Makes this registry the current one. Calls that are under way finish with the one that they started with.
    pub fn replace(&self, registry: Registry) {
        self.0.store(Arc::new(registry));
    }
}

#[cfg(test)]
mod tests;
