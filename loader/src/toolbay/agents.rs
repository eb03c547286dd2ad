//! Agents, and the callers who work as them.

use std::collections::BTreeSet;

use toolbay_core::{
    Actor, Agent, AgentName, AgentProfile, Caller, DecisionKind, Owner, PendingLoadout, ToolName,
    Visibility,
};

use super::{Toolbay, administration::unknown};
use crate::access_error::AccessError;

/// Which loadout of an agent a caller works with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loadout {
    /// The one in force.
    #[default]
    InForce,
    /// The one that waits for a review, where one does: for administrators, who review it.
    UnderReview,
}

/// What became of a loadout that somebody wants an agent to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadoutChange {
    /// It is in force.
    InForce,
    /// It waits for a review, because the agent is shared; the other one stays in force.
    Pending,
}

impl Toolbay {
    /// The name of the agent as which whoever works that names no other. It is there also where nobody has made it.
    pub const DEFAULT_AGENT: &str = "default";

    /// Every agent that somebody has made, sorted by name.
    pub fn agents(&self) -> Vec<AgentProfile> {
        self.view().contents.agents.values().cloned().collect()
    }

    /// The agent of this name.
    ///
    /// # Errors
    ///
    /// [`AccessError::Unknown`] where nobody has made it.
    pub fn agent(&self, name: &AgentName) -> Result<AgentProfile, AccessError> {
        let view = self.view();
        match view.contents.agents.get(name) {
            Some(profile) => Ok(profile.clone()),
            // Nothing is known of who works as it: it has what a new agent has.
            None if name.as_str() == Self::DEFAULT_AGENT && !view.contents.access.closed => {
                Ok(AgentProfile::new(name.clone()))
            }
            None => Err(unknown("agent", name.as_str(), view.contents.agents.keys())),
        }
    }

    /// A caller of this authority, working as this agent where one is named.
    ///
    /// It holds the agent as it is now: make it again where [`reload`](Self::reload) or a decision has changed anything.
    ///
    /// # Errors
    ///
    /// [`AccessError::Unknown`] where nobody has made the agent, [`AccessError::NotAdmin`] where somebody else than an administrator
    /// would work with what nobody has reviewed.
    pub fn caller(
        &self,
        actor: Actor,
        agent: Option<&AgentName>,
        loadout: Loadout,
    ) -> Result<Caller, AccessError> {
        if loadout == Loadout::UnderReview && !actor.is_admin() {
            return Err(AccessError::NotAdmin { actor: actor.to_string() });
        }
        let caller = Caller::new(actor);
        let Some(name) = agent else { return Ok(caller) };
        Ok(caller.with_agent(self.working_as(name, loadout)?))
    }

    fn working_as(&self, name: &AgentName, loadout: Loadout) -> Result<Agent, AccessError> {
        let profile = self.agent(name)?;
        let sets = &self.config().tool_sets;
        Ok(match loadout {
            Loadout::InForce => profile.agent(sets),
            Loadout::UnderReview => profile.agent_under_review(sets),
        })
    }

    /// Whoever asked for something, as they and their agent are now; `None` where one of them is no more.
    pub(super) fn caller_of(&self, owner: &Owner) -> Option<Caller> {
        let actor = match &self.config.actors {
            Some(now) => now(&owner.actor)?,
            None => owner.actor.clone(),
        };
        let caller = self.caller(actor, owner.agent.as_ref(), Loadout::InForce).ok()?;
        let caller = caller.with_attachments(owner.attachments.clone());
        Some(match &owner.run {
            Some(run) => caller.with_run(run.clone()),
            None => caller,
        })
    }

    /// Makes an agent.
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed.
    pub fn create_agent(&self, profile: AgentProfile, by: &Actor) -> Result<(), AccessError> {
        let name = profile.name.clone();
        self.decide(by, DecisionKind::CreateAgent, name.as_str(), "agent", |contents| {
            if contents.agents.contains_key(&name) {
                return Err(AccessError::AgentExists { agent: name.clone() });
            }
            contents.agents.insert(name.clone(), profile);
            Ok(())
        })
    }

    /// Changes an agent. Its name stays, and its loadout has a [way of its own](Self::assign).
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed.
    pub fn change_agent(
        &self,
        name: &AgentName,
        by: &Actor,
        change: impl FnOnce(&mut AgentProfile),
    ) -> Result<AgentProfile, AccessError> {
        let before = self.agent(name)?;
        self.decide(by, DecisionKind::ChangeAgent, name.as_str(), "agent", |contents| {
            let profile = contents.agents.entry(name.clone()).or_insert(before);
            let (loadout, pending) = (profile.loadout.clone(), profile.pending.clone());
            change(profile);
            *profile = AgentProfile { name: name.clone(), loadout, pending, ..profile.clone() };
            Ok(profile.clone())
        })
    }

    /// Removes an agent. Who works as it can use nothing from then on, and its requests for approval can only be denied. The
    /// [default](Self::DEFAULT_AGENT) one is there all the same, with what a new agent has: every enabled tool.
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed.
    pub fn delete_agent(&self, name: &AgentName, by: &Actor) -> Result<(), AccessError> {
        self.decide(
            by,
            DecisionKind::DeleteAgent,
            name.as_str(),
            "agent",
            |contents| match contents.agents.remove(name) {
                Some(_) => Ok(()),
                None => Err(unknown("agent", name.as_str(), contents.agents.keys())),
            },
        )
    }

    /// Gives an agent these tools, as a whole, or every enabled tool. Names are kept also where no tool has them now. Where the agent is
    /// shared, the change waits until somebody has [reviewed](Self::review_loadout) it.
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed.
    pub fn assign(
        &self,
        name: &AgentName,
        loadout: Option<BTreeSet<ToolName>>,
        by: &Actor,
    ) -> Result<LoadoutChange, AccessError> {
        self.assign_with(name, by, |_| Ok(loadout))
    }

    /// Adds tools to an agent's loadout and removes others, as one change: of a shared agent to the loadout that waits for a review, where
    /// one does. Otherwise as [`assign`](Self::assign).
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed. An agent that has every enabled tool has no list that could be changed.
    pub fn edit_loadout(
        &self,
        name: &AgentName,
        add: &BTreeSet<ToolName>,
        remove: &BTreeSet<ToolName>,
        by: &Actor,
    ) -> Result<LoadoutChange, AccessError> {
        self.assign_with(name, by, |profile| {
            let shared = profile.visibility == Visibility::Shared;
            let pending = profile.pending.as_ref().filter(|_| shared);
            let pending = pending.map(|pending| &pending.loadout);
            let Some(list) = pending.unwrap_or(&profile.loadout) else {
                return Err(AccessError::NoList { agent: name.clone() });
            };
            Ok(Some(list.union(add).filter(|tool| !remove.contains(*tool)).cloned().collect()))
        })
    }

    fn assign_with(
        &self,
        name: &AgentName,
        by: &Actor,
        loadout: impl FnOnce(&AgentProfile) -> Result<Option<BTreeSet<ToolName>>, AccessError>,
    ) -> Result<LoadoutChange, AccessError> {
        let before = self.agent(name)?;
        let at = self.now();
        self.decide(by, DecisionKind::ReviewLoadout, name.as_str(), "propose", |contents| {
            let profile = contents.agents.entry(name.clone()).or_insert(before);
            let loadout = loadout(profile)?;
            if profile.visibility == Visibility::Shared {
                profile.pending = Some(PendingLoadout { loadout, by: by.to_string(), at });
                return Ok(LoadoutChange::Pending);
            }
            // What was proposed while the agent was shared must not come back later.
            profile.pending = None;
            profile.loadout = loadout;
            Ok(LoadoutChange::InForce)
        })
    }

    /// Puts the loadout that waits for a review in force, or drops it.
    ///
    /// # Errors
    ///
    /// [`AccessError`]: nothing has changed. Whoever proposed a loadout can't approve it.
    pub fn review_loadout(
        &self,
        name: &AgentName,
        approve: bool,
        by: &Actor,
    ) -> Result<AgentProfile, AccessError> {
        let word = if approve { "approve" } else { "reject" };
        self.decide(by, DecisionKind::ReviewLoadout, name.as_str(), word, |contents| {
            let Some(profile) = contents.agents.get_mut(name) else {
                return Err(unknown("agent", name.as_str(), contents.agents.keys()));
            };
            let Some(pending) = profile.pending.take() else {
                return Err(AccessError::NothingPending { agent: name.clone() });
            };
            if approve && pending.by == by.to_string() {
                let actor = pending.by.clone();
                return Err(AccessError::OwnProposal { agent: name.clone(), actor });
            }
            if approve {
                profile.loadout = pending.loadout;
            }
            Ok(profile.clone())
        })
    }
}
