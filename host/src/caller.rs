//! Who calls, from what the command line says.

use std::collections::BTreeMap;

use thiserror::Error;
use toolbay_loader::{Actor, Agent, AgentName, Caller};

use crate::{
    cli::CallerArgs,
    config,
    nearest::{nearest, quoted},
};

/// The configuration has no agent of this name.
///
/// Resolution: name one that it has, or add it.
#[derive(Debug, Error)]
#[error("agent {name:?} unknown: expected {}", expected(.name, .known))]
pub(crate) struct UnknownAgent {
    name: String,
    known: Vec<AgentName>,
}

fn expected(name: &str, known: &[AgentName]) -> String {
    let known = || known.iter().map(AgentName::as_str);
    match nearest(name, known()) {
        Some(near) => format!("{near:?}"),
        None if known().len() == 0 => {
            format!("one that {} names, which are none", config::FILE_NAME)
        }
        None => format!("one of {}", quoted(known())),
    }
}

/// The caller: an anonymous one, or a user who does not administer the host, working as an agent where one is named.
pub(crate) fn caller(
    args: &CallerArgs,
    agents: &BTreeMap<AgentName, Agent>,
) -> Result<Caller, UnknownAgent> {
    let actor = match &args.user {
        Some(name) => Actor::User { name: name.clone(), admin: false },
        None => Actor::Anonymous,
    };
    let caller = Caller::new(actor);
    let Some(name) = &args.agent else { return Ok(caller) };
    match agents.get(name) {
        Some(agent) => Ok(caller.with_agent(agent.clone())),
        None => {
            Err(UnknownAgent { name: name.to_string(), known: agents.keys().cloned().collect() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(names: &[&str]) -> BTreeMap<AgentName, Agent> {
        let names = names.iter().map(|name| name.parse::<AgentName>().unwrap());
        names.map(|name| (name.clone(), Agent::new(name))).collect()
    }

    fn args(agent: Option<&str>, user: Option<&str>) -> CallerArgs {
        CallerArgs {
            agent: agent.map(|name| name.parse().unwrap()),
            user: user.map(|name| name.parse().unwrap()),
        }
    }

    #[test]
    fn a_caller_has_no_rights_that_nobody_gave_it() {
        let cases =
            [(args(None, None), "anonymous"), (args(Some("tutor"), Some("ada")), "user:ada")];
        for (args, label) in cases {
            let caller = caller(&args, &agents(&["tutor"])).unwrap();
            assert_eq!(caller.label(), label);
            assert!(!caller.actor().is_admin());
            assert_eq!(caller.agent().map(|agent| &agent.name), args.agent.as_ref());
        }
    }

    #[test]
    fn an_unknown_agent_is_refused_with_the_known_ones() {
        let cases: [(&[&str], &str); 3] = [
            (&["tutor", "writer"], "agent \"tutr\" unknown: expected \"tutor\""),
            (&["a", "b"], "agent \"tutr\" unknown: expected one of \"a\", \"b\""),
            (&[], "agent \"tutr\" unknown: expected one that toolbay.toml names, which are none"),
        ];
        for (known, expected) in cases {
            let error = caller(&args(Some("tutr"), None), &agents(known)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
