//! Whether an answer is the one that a call had to get.

use std::{error::Error, fmt, time::Duration};

use toolbay_loader::{CallError, Reply, ReplyStatus};
use toolbay_tests::bay::rejection;

use crate::{
    deeds::{Deed, Outcome},
    ledger::State,
    providers::Provider,
    report::Surprise,
};

/// How much later than its deadline a call may be answered: the machine may be busy, and a provider may have to be started first.
pub(crate) const MARGIN: Duration = Duration::from_secs(15);

/// What a call asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    /// To be answered with who answers, and with these words.
    Echo(String),
    /// To wait until it is cancelled, which it is as soon as it has begun.
    Wait,
    /// A deed.
    Deed,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Echo(text) => write!(f, "echo {text:.20}"),
            Self::Wait => f.write_str("wait for the cancellation"),
            Self::Deed => f.write_str("deed"),
        }
    }
}

/// A call that was answered.
#[derive(Debug)]
pub(crate) struct Answered<'a> {
    pub(crate) provider: &'a Provider,
    /// What the provider does in this round, where it is hostile.
    pub(crate) deed: Option<&'static Deed>,
    pub(crate) asked: &'a Asked,
    /// What may have been in force.
    pub(crate) states: &'a [State],
    pub(crate) remaining: Duration,
    pub(crate) took: Duration,
    pub(crate) result: &'a Result<Reply, CallError>,
}

impl Answered<'_> {
    /// Checks the time and the answer.
    pub(crate) fn check(&self) -> Result<(), Surprise> {
        let allowed = self.remaining + MARGIN;
        if self.took > allowed {
            let [expected, found] = [allowed, self.took].map(|time| format!("{time:.1?}"));
            return Err(Surprise::new(format!("an answer within {expected}"), found));
        }
        let is_right = match self.result {
            Ok(reply) => self.is_right_reply(reply),
            Err(error) => self.is_right_error(error),
        };
        if is_right { Ok(()) } else { Err(Surprise::new(self.expected(), self.found())) }
    }

    fn is_right_reply(&self, reply: &Reply) -> bool {
        let mut on = self.states.iter().filter(|state| state.enabled);
        match self.asked {
            Asked::Echo(text) => {
                let says = reply.model_text();
                let id = &self.provider.id;
                reply.status() == ReplyStatus::Ok
                    && on.any(|state| says == format!("{id} {}.0.0: {text}", state.version))
            }
            Asked::Wait => reply.status() == ReplyStatus::Cancelled && on.next().is_some(),
            // No deed is one that a call comes back from as if nothing had been.
            Asked::Deed => false,
        }
    }

    fn is_right_error(&self, error: &CallError) -> bool {
        let code = error.code();
        if code == "tool_disabled" {
            return self.states.iter().any(|state| !state.enabled);
        }
        let Some(deed) = self.deed else { return false };
        if code == "unavailable" && deed.ends_process() {
            return rejection(error).is_some_and(|rejection| {
                rejection.provider.as_ref() == Some(&self.provider.id)
                    && matches!(rejection.reason.code, "restarting" | "failed_before")
            });
        }
        let own = matches!(self.asked, Asked::Deed).then_some(deed.outcomes);
        let outcomes = own.unwrap_or_default().iter().chain(deed.of_others);
        let words = in_full(error);
        outcomes.into_iter().any(|(named, says)| code == *named && words.contains(says))
    }

    fn expected(&self) -> String {
        let outcomes: &[Outcome] = self.deed.map_or(&[], |deed| deed.outcomes);
        let states: Vec<_> = self.states.iter().map(State::to_string).collect();
        format!(
            "what comes of it where {} is in force and of its deed comes {outcomes:?}",
            states.join(", then ")
        )
    }

    fn found(&self) -> String {
        match self.result {
            Ok(reply) => format!("{:?} {:.200}", reply.status(), reply.model_text()),
            Err(error) => format!("{}: {}", error.code(), in_full(error)),
        }
    }
}

/// An error with its causes, in the operator's words.
fn in_full(error: &CallError) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(&format!(": {error}"));
        cause = error.source();
    }
    words
}
