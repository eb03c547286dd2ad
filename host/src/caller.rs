//! Who calls and who decides, from what the command line says.

use std::{fmt, str::FromStr};

use thiserror::Error;
use toolbay_loader::{AccessError, Actor, ActorName, Caller, Decider, Loadout, NameError, Toolbay};

use crate::{
    cli::CallerArgs,
    config::{self, People},
    nearest::{nearest, quoted},
};

/// Whoever runs the program without saying as whom, where that makes an administrator.
const OPERATOR: &str = "operator";

/// Somebody as `--as` names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// `ada`, or `user:ada`.
    User(ActorName),
    /// `service:indexer`.
    Service(ActorName),
}

impl FromStr for Named {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        match text.strip_prefix("service:") {
            Some(name) => name.parse().map(Self::Service),
            None => text.strip_prefix("user:").unwrap_or(text).parse().map(Self::User),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) if name.as_str().starts_with("service:") => write!(f, "user:{name}"),
            Self::User(name) => write!(f, "{name}"),
            Self::Service(name) => write!(f, "service:{name}"),
        }
    }
}

/// Why nobody is known who could call or decide.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum CallerError {
    /// The configuration has no service account of this name.
    ///
    /// Resolution: name one that it has, or add it.
    #[error("service account {name:?} unknown: expected {}", expected(.name, .known))]
    UnknownService {
        /// The name.
        name: String,
        /// The accounts that there are.
        known: Vec<ActorName>,
    },
    /// The name stands for whoever runs the program.
    ///
    /// Resolution: leave `--as` out, or name somebody.
    #[error("user {OPERATOR:?} is whoever runs toolbay without --as: expected another name")]
    Operator,
    /// Nobody is named, where it must be known who decides.
    ///
    /// Resolution: pass `--as`.
    #[error(
        "--as missing: expected the user who looks or decides, for the audit log names them, and nobody approves alone what a second \
         person must"
    )]
    Nobody,
    /// There is no such agent.
    ///
    /// Resolution: make it, or name one that is there.
    #[error(transparent)]
    Agent(#[from] AccessError),
}

fn expected(name: &str, known: &[ActorName]) -> String {
    let known = || known.iter().map(ActorName::as_str);
    match nearest(name, known()) {
        Some(near) => format!("{near:?}"),
        None if known().len() == 0 => {
            format!("one of [services] in {}, which are none", config::FILE_NAME)
        }
        None => format!("one of {}", quoted(known())),
    }
}

/// Whoever is named, with the rights that the configuration gives them.
fn known(named: &Named, people: &People) -> Result<Actor, CallerError> {
    match named {
        Named::User(name) if name.as_str() == OPERATOR => Err(CallerError::Operator),
        Named::User(name) => Ok(people.user(name.clone())),
        Named::Service(name) => people.service(name).ok_or_else(|| CallerError::UnknownService {
            name: name.to_string(),
            known: people.services.keys().cloned().collect(),
        }),
    }
}

/// Whoever calls: nobody in particular unless somebody is named.
pub(crate) fn actor(named: Option<&Named>, people: &People) -> Result<Actor, CallerError> {
    named.map_or(Ok(Actor::Anonymous), |named| known(named, people))
}

/// Whoever decides about tools and agents. Whoever runs the program owns its files, and so administers it unless somebody is named.
pub(crate) fn administrator(named: Option<&Named>, people: &People) -> Result<Actor, CallerError> {
    match (named, OPERATOR.parse()) {
        (Some(named), _) => known(named, people),
        (None, Ok(name)) => Ok(Actor::User { name, admin: true }),
        // It is a name; anything else would have no rights.
        (None, Err(_)) => Ok(Actor::Anonymous),
    }
}

/// Whoever decides about requests, or looks at one.
pub(crate) fn decider(named: Option<&Named>, people: &People) -> Result<Decider, CallerError> {
    let named = named.ok_or(CallerError::Nobody)?;
    Ok(people.decider(known(named, people)?))
}

/// Which loadout an agent works with.
pub(crate) fn loadout(pending: bool) -> Loadout {
    if pending { Loadout::UnderReview } else { Loadout::InForce }
}

/// Whoever calls, working as an agent where one is named.
pub(crate) fn caller(
    args: &CallerArgs,
    people: &People,
    toolbay: &Toolbay,
) -> Result<Caller, CallerError> {
    let actor = actor(args.user.as_ref(), people)?;
    Ok(toolbay.caller(actor, args.agent.as_ref(), loadout(args.pending))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people() -> People {
        let scopes = vec!["approve".to_owned()];
        People {
            admins: ["ada".parse().unwrap()].into(),
            approvers: ["bo".parse().unwrap()].into(),
            services: [("indexer".parse().unwrap(), scopes)].into(),
        }
    }

    fn named(text: &str) -> Named {
        text.parse().unwrap()
    }

    #[test]
    fn a_named_actor_has_the_rights_that_the_configuration_gives() {
        let cases = [
            ("ada", "user:ada", true),
            ("user:ada", "user:ada", true),
            ("bo", "user:bo", false),
            ("somebody", "user:somebody", false),
            ("user:service:indexer", "user:service:indexer", false),
            ("service:indexer", "service:indexer", false),
        ];
        for (text, label, admin) in cases {
            let named = named(text);
            let actor = actor(Some(&named), &people()).unwrap();
            assert_eq!((actor.to_string().as_str(), actor.is_admin()), (label, admin), "{text}");
            // Naming somebody takes the operator's rights away.
            assert_eq!(administrator(Some(&named), &people()).unwrap(), actor);
            assert_eq!(text.parse::<Named>().unwrap().to_string().parse(), Ok(named));
        }
    }

    #[test]
    fn nobody_is_anonymous_an_operator_or_refused() {
        let people = people();
        assert_eq!(actor(None, &people).unwrap(), Actor::Anonymous);
        let operator = administrator(None, &people).unwrap();
        assert_eq!((operator.to_string().as_str(), operator.is_admin()), ("user:operator", true));
        assert!(matches!(decider(None, &people), Err(CallerError::Nobody)));
    }

    #[test]
    fn nobody_calls_themselves_the_operator() {
        for text in ["operator", "user:operator"] {
            let refused = actor(Some(&named(text)), &people());
            assert!(matches!(refused, Err(CallerError::Operator)), "{text}");
        }
        assert!(actor(Some(&named("operators")), &people()).is_ok());
    }

    #[test]
    fn a_grant_comes_from_the_configuration_alone() {
        let owner = toolbay_loader::Owner {
            actor: Actor::User { name: "cleo".parse().unwrap(), admin: false },
            agent: None,
            run: None,
            attachments: Vec::new(),
        };
        let cases = [("ada", true), ("bo", true), ("cleo", true), ("dan", false)];
        for (text, may) in cases {
            let decider = decider(Some(&named(text)), &people()).unwrap();
            assert_eq!(decider.may_decide(&owner), may, "{text}");
        }
        let indexer = decider(Some(&named("service:indexer")), &people()).unwrap();
        assert!(indexer.may_decide(&owner));
    }

    #[test]
    fn an_unknown_service_account_is_refused_with_the_nearest() {
        let mut many = people();
        many.services.insert("crawler".parse().unwrap(), Vec::new());
        let cases = [
            (people(), "indxer", "service account \"indxer\" unknown: expected \"indexer\""),
            (many, "x", "service account \"x\" unknown: expected one of \"crawler\", \"indexer\""),
            (
                People::default(),
                "x",
                "service account \"x\" unknown: expected one of [services] in toolbay.toml, which are none",
            ),
        ];
        for (people, name, expected) in cases {
            let error = actor(Some(&named(&format!("service:{name}"))), &people).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
