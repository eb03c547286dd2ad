//! On whose authority, and in which context, a call runs. Nothing of it is ambient: a call carries its caller.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use crate::{
    agent::Agent,
    name::{ActorName, RunId},
};

/// On whose authority a call runs. As text it is the actor's label in audit records: `user:ada`, `service:indexer`, `anonymous`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// A person.
    User {
        /// The person's name at the host.
        name: ActorName,
        /// Whether the person administers the host.
        admin: bool,
    },
    /// A program with an identity of its own.
    ServiceAccount {
        /// The account's name.
        name: ActorName,
        /// What the account may do, in the host's words.
        scopes: Vec<String>,
    },
    /// Nobody that the host knows.
    Anonymous,
}

impl Actor {
    /// Whether the actor administers the host. A service account never does.
    pub fn is_admin(&self) -> bool {
        matches!(self, Self::User { admin: true, .. })
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User { name, .. } => write!(f, "user:{name}"),
            Self::ServiceAccount { name, .. } => write!(f, "service:{name}"),
            Self::Anonymous => f.write_str("anonymous"),
        }
    }
}

/// Something that the user attached to the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// The file's name as the user sees it.
    pub name: String,
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// Where the content is.
    pub uri: String,
}

/// Who calls: made once for a run, and used for each of its calls.
///
/// ```
/// use toolbay_core::{Actor, Caller};
///
/// let ada = Caller::new(Actor::User { name: "ada".parse()?, admin: false }).with_run("run-7".parse()?);
/// assert_eq!(ada.label(), "user:ada");
/// # Ok::<(), toolbay_core::NameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Caller {
    actor: Actor,
    label: String,
    agent: Option<Arc<Agent>>,
    run: Option<RunId>,
    attachments: Vec<Attachment>,
    encoded: OnceLock<Vec<u8>>,
}

impl Caller {
    /// A caller of this authority, without an agent, a run or attachments.
    pub fn new(actor: Actor) -> Self {
        Self {
            label: actor.to_string(),
            actor,
            agent: None,
            run: None,
            attachments: Vec::new(),
            encoded: OnceLock::new(),
        }
    }

    /// The caller working as this agent.
    #[must_use]
    pub fn with_agent(self, agent: impl Into<Arc<Agent>>) -> Self {
        Self { agent: Some(agent.into()), encoded: OnceLock::new(), ..self }
    }

    /// The caller within this run.
    #[must_use]
    pub fn with_run(self, run: RunId) -> Self {
        Self { run: Some(run), encoded: OnceLock::new(), ..self }
    }

    /// The caller with these attachments.
    #[must_use]
    pub fn with_attachments(self, attachments: Vec<Attachment>) -> Self {
        Self { attachments, encoded: OnceLock::new(), ..self }
    }

    /// On whose authority it calls.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The actor as audit records name it, formatted once.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The agent, where one calls.
    pub fn agent(&self) -> Option<&Arc<Agent>> {
        self.agent.as_ref()
    }

    /// The run that its calls belong to.
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// What the user attached.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// The caller in the form in which backends take it, made by the first call of the run.
    ///
    /// There is one such form in a process, so `encode` must be the same for every call. Every tool gets it: it must not hold
    /// [`Agent::tool_config`](crate::Agent::tool_config), which is each tool's own.
    pub fn encoded(&self, encode: impl FnOnce(&Self) -> Vec<u8>) -> &[u8] {
        self.encoded.get_or_init(|| encode(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> ActorName {
        name.parse().unwrap()
    }

    #[test]
    fn only_a_person_can_be_an_administrator() {
        let cases = [
            (Actor::User { name: name("ada"), admin: true }, "user:ada", true),
            (Actor::User { name: name("bo"), admin: false }, "user:bo", false),
            (
                Actor::ServiceAccount { name: name("indexer"), scopes: vec!["admin".to_owned()] },
                "service:indexer",
                false,
            ),
            (Actor::Anonymous, "anonymous", false),
        ];
        for (actor, label, admin) in cases {
            assert_eq!(actor.is_admin(), admin, "{label}");
            assert_eq!(Caller::new(actor).label(), label);
        }
    }

    #[test]
    fn a_caller_is_encoded_once_and_anew_after_a_change() {
        let caller = Caller::new(Actor::Anonymous);
        assert_eq!(caller.encoded(|_| b"first".to_vec()), b"first");
        assert_eq!(caller.encoded(|_| b"second".to_vec()), b"first");

        let in_run = caller.with_run("r1".parse().unwrap());
        let encoded = in_run.encoded(|caller| caller.run().unwrap().to_string().into_bytes());
        assert_eq!(encoded, b"r1");
    }
}
