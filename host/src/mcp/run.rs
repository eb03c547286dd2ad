//! The run that a session is: who calls in it, what it has called, and what it is offered.

use std::sync::Arc;

use parking_lot::Mutex;
use toolbay_loader::{Caller, Registry, RunHistory, RunId, ToolName, Toolbay};

use crate::mcp::{Identity, ServeError};

pub(super) struct Run {
    identity: Identity,
    id: RunId,
    history: RunHistory,
    now: Mutex<Now>,
}

/// What holds until something is decided or registered.
struct Now {
    /// Which registry it was made for: whatever is decided makes another one.
    registry: Arc<Registry>,
    caller: Arc<Caller>,
    offered: Vec<ToolName>,
}

impl Run {
    pub(super) fn begin(identity: Identity, toolbay: &Toolbay) -> Result<Self, ServeError> {
        let id = random_id()?;
        // Of an agent that is not there from the start, somebody should know.
        identity.caller(toolbay)?;
        let now = Mutex::new(Now::of(&identity, &id, toolbay));
        Ok(Self { identity, id, history: RunHistory::new(), now })
    }

    /// The caller as of the last time that anybody looked.
    pub(super) fn caller(&self) -> Arc<Caller> {
        Arc::clone(&self.now.lock().caller)
    }

    pub(super) fn history(&self) -> &RunHistory {
        &self.history
    }

    /// Takes over what was registered and decided since, and tells whether that changed what is offered.
    pub(super) fn follow(&self, toolbay: &Toolbay) -> bool {
        // Held throughout, so that an older look never takes the place of a newer one.
        let mut now = self.now.lock();
        if Arc::ptr_eq(&now.registry, &toolbay.registry()) {
            return false;
        }
        let next = Now::of(&self.identity, &self.id, toolbay);
        let changed =
            next.registry.generation() != now.registry.generation() || next.offered != now.offered;
        *now = next;
        changed
    }
}

impl Now {
    fn of(identity: &Identity, id: &RunId, toolbay: &Toolbay) -> Self {
        // First, so that whatever is decided meanwhile counts as new the next time.
        let registry = toolbay.registry();
        let caller = identity.caller_in(id, toolbay);
        let offered = toolbay.tools(&caller);
        let offered = offered.iter().map(|entry| entry.definition().name().clone()).collect();
        Self { registry, caller: Arc::new(caller), offered }
    }
}

/// A name for a run that no other run has.
fn random_id() -> Result<RunId, ServeError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| ServeError::Unnamed(Box::new(error)))?;
    let id = format!("mcp-{:016x}", u64::from_be_bytes(bytes));
    id.parse().map_err(|error| ServeError::Unnamed(Box::new(error)))
}
