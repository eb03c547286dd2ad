//! Who decides.

use crate::{approval::Owner, caller::Actor};

/// A person or a service account that decides about requests of others or of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decider {
    actor: Actor,
    granted: bool,
}

impl Decider {
    /// The scope by which a service account may decide.
    pub const SCOPE: &str = "approve";

    /// This actor, without a grant to decide about what others have asked for.
    pub fn new(actor: Actor) -> Self {
        Self { actor, granted: false }
    }

    /// The actor as one whom an administrator lets decide about what others have asked for.
    #[must_use]
    pub fn with_grant(self) -> Self {
        Self { granted: true, ..self }
    }

    /// Who it is.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Whether it may decide about a request of this owner at all: an administrator, whoever has the grant, a service account of
    /// exactly that scope, or the owner. Nobody in particular never may.
    pub fn may_decide(&self, owner: &Owner) -> bool {
        match &self.actor {
            Actor::User { admin, .. } => *admin || self.granted || self.is(owner),
            Actor::ServiceAccount { scopes, .. } => scopes.iter().any(|scope| scope == Self::SCOPE),
            Actor::Anonymous => false,
        }
    }

    /// Whether it is the owner.
    pub fn is(&self, owner: &Owner) -> bool {
        match (&self.actor, &owner.actor) {
            (Actor::User { name, .. }, Actor::User { name: owner, .. }) => name == owner,
            (Actor::ServiceAccount { name, .. }, Actor::ServiceAccount { name: owner, .. }) => {
                name == owner
            }
            _ => false,
        }
    }
}
