//! Who has which rights at this host, as the configuration says it.

use std::collections::{BTreeMap, BTreeSet};

use toolbay_loader::{Actor, ActorName, Decider};

/// Who has which rights. Whoever is not named is a user without any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct People {
    /// The users who administer the host.
    pub admins: BTreeSet<ActorName>,
    /// The users who may decide about what others have asked for.
    pub approvers: BTreeSet<ActorName>,
    /// The service accounts, each with its scopes. There are no others.
    pub services: BTreeMap<ActorName, Vec<String>>,
}

impl People {
    /// The user of this name.
    pub fn user(&self, name: ActorName) -> Actor {
        let admin = self.admins.contains(&name);
        Actor::User { name, admin }
    }

    /// The service account of this name, where there is one.
    pub fn service(&self, name: &ActorName) -> Option<Actor> {
        let scopes = self.services.get(name)?.clone();
        Some(Actor::ServiceAccount { name: name.clone(), scopes })
    }

    /// The actor as one who decides about requests, with the grant where it has one.
    pub fn decider(&self, actor: Actor) -> Decider {
        let granted = match &actor {
            Actor::User { name, .. } => self.approvers.contains(name),
            _ => false,
        };
        let decider = Decider::new(actor);
        if granted { decider.with_grant() } else { decider }
    }
}
