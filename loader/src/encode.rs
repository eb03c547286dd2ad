//! From core's caller to the JSON that a plugin reads.

use std::time::Duration;

use toolbay_abi::wire;
use toolbay_core::{Actor, Caller};

/// The caller as a plugin reads it. An encoding that fails leaves an anonymous caller, which is the least of them.
pub(crate) fn caller(caller: &Caller) -> Vec<u8> {
    serde_json::to_vec(&context(caller)).unwrap_or_else(|_| b"{}".to_vec())
}

/// The same before it is text.
pub(crate) fn context(caller: &Caller) -> wire::Context<'_> {
    let actor = match caller.actor() {
        Actor::User { name, admin } => {
            wire::Actor::User { name: name.as_str().into(), admin: *admin }
        }
        Actor::ServiceAccount { name, scopes } => {
            wire::Actor::ServiceAccount { name: name.as_str().into(), scopes: scopes.clone() }
        }
        Actor::Anonymous => wire::Actor::Anonymous,
    };
    let attachments = caller.attachments().iter().map(|attachment| wire::Attachment {
        name: attachment.name.as_str().into(),
        media_type: attachment.media_type.as_str().into(),
        uri: attachment.uri.as_str().into(),
    });
    wire::Context {
        actor,
        agent: caller.agent().map(|agent| agent.name.as_str().into()),
        run: caller.run().map(|run| run.as_str().into()),
        attachments: attachments.collect(),
    }
}

/// A deadline as it crosses: at least one millisecond, since zero means that there is none, and rounded up, so that it is over for the
/// host when it is over for the plugin.
pub(crate) fn milliseconds(remaining: Duration) -> u64 {
    u64::try_from(remaining.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use toolbay_core::{Agent, Attachment};

    use super::*;

    #[test]
    fn a_plugin_reads_the_caller_that_the_host_named() {
        let ada = Caller::new(Actor::User { name: "ada".parse().unwrap(), admin: true })
            .with_agent(Agent::new("helper".parse().unwrap()))
            .with_run("run-7".parse().unwrap())
            .with_attachments(vec![Attachment {
                name: "a \"b\".png".to_owned(),
                media_type: "image/png".to_owned(),
                uri: "file:///tmp/a".to_owned(),
            }]);
        let json = caller(&ada);
        let read: wire::Context<'_> = serde_json::from_slice(&json).unwrap();
        assert_eq!(read.actor, wire::Actor::User { name: "ada".into(), admin: true });
        assert_eq!((read.agent.as_deref(), read.run.as_deref()), (Some("helper"), Some("run-7")));
        assert_eq!(read.attachments[0].name, "a \"b\".png");

        let nobody = caller(&Caller::new(Actor::Anonymous));
        let read: wire::Context<'_> = serde_json::from_slice(&nobody).unwrap();
        assert_eq!(read.actor, wire::Actor::Anonymous);
    }

    #[test]
    fn a_deadline_never_reads_as_none() {
        assert_eq!(milliseconds(Duration::ZERO), 1);
        assert_eq!(milliseconds(Duration::from_micros(1)), 1);
        assert_eq!(milliseconds(Duration::from_micros(4_001)), 5);
        assert_eq!(milliseconds(Duration::from_secs(2)), 2000);
    }
}
