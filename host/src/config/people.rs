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

    /// Who an actor is now who was known before, with the rights of now; `None` for a service account that is no more.
    pub fn now(&self, actor: &Actor) -> Option<Actor> {
        match actor {
            Actor::User { name, .. } => Some(self.user(name.clone())),
            Actor::ServiceAccount { name, .. } => self.service(name),
            Actor::Anonymous => Some(Actor::Anonymous),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_those_of_now() {
        let name = |name: &str| name.parse::<ActorName>().unwrap();
        let people = People {
            admins: [name("ada")].into(),
            services: [(name("indexer"), vec!["approve".to_owned()])].into(),
            ..People::default()
        };
        let user = |who: &str, admin| Actor::User { name: name(who), admin };
        let service = |who: &str, scopes: &[&str]| Actor::ServiceAccount {
            name: name(who),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        };
        let cases = [
            (user("ada", false), Some(user("ada", true))),
            (user("bo", true), Some(user("bo", false))),
            (service("indexer", &[]), Some(service("indexer", &["approve"]))),
            (service("gone", &["approve"]), None),
            (Actor::Anonymous, Some(Actor::Anonymous)),
        ];
        for (then, now) in cases {
            assert_eq!(people.now(&then), now, "{then}");
        }
    }
}
