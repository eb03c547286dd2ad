//! On whose behalf a session runs, and what may change of that while it does.

use std::collections::BTreeSet;

use toolbay_loader::{AccessError, Actor, Agent, AgentName, Caller, Loadout, RunId, Toolbay};

/// On whose authority a session calls tools, and as which agent. The agent itself is looked up anew whenever anything was decided.
#[derive(Debug, Clone)]
pub struct Identity {
    /// On whose authority.
    pub actor: Actor,
    /// As which agent; `None` where no model calls, and no trust zone counts.
    pub agent: Option<AgentName>,
    /// Which loadout of the agent.
    pub loadout: Loadout,
}

impl Identity {
    /// The caller, with the agent as it is now.
    ///
    /// # Errors
    ///
    /// [`AccessError`] where there is no such agent, or where its loadout that waits for a review is not for this actor.
    pub fn caller(&self, toolbay: &Toolbay) -> Result<Caller, AccessError> {
        toolbay.caller(self.actor.clone(), self.agent.as_ref(), self.loadout)
    }

    /// The caller in a session that has begun. An agent that is no more may use nothing; a caller without one would have no restrictions.
    pub(super) fn caller_in(&self, run: &RunId, toolbay: &Toolbay) -> Caller {
        let caller = self.caller(toolbay).unwrap_or_else(|error| {
            log::warn!("nothing can be used any more: {error}");
            let caller = Caller::new(self.actor.clone());
            match &self.agent {
                Some(name) => caller.with_agent(of_nothing(name)),
                None => caller,
            }
        });
        caller.with_run(run.clone())
    }
}

/// An agent of this name that may use nothing.
fn of_nothing(name: &AgentName) -> Agent {
    Agent { loadout: Some(BTreeSet::new()), ..Agent::new(name.clone()) }
}
