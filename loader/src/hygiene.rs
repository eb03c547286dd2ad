//! What a plugin changes of the host's process while it is loaded there: told, put back, and refused where the policy says so.
//!
//! The process and the thread that loads are looked at before and after. That is all that can be known: what another thread of the host does
//! in between looks the same, and what a plugin does in a call is not looked at.

mod disturbance;
mod held;
mod native;
mod output;
mod process;
mod signals;
mod surroundings;
mod turn;

use std::time::Duration;

use toolbay_core::ProviderId;

pub use self::disturbance::{Became, Change, Disturbance, Handler};
pub(crate) use self::turn::Turn;
use self::{output::Redirected, surroundings::Surroundings};
use crate::{
    policy::HygienePolicy,
    rejection::{Reason, Stage},
};

/// The most bytes of a name of which the plugin may have chosen every one.
const MAX_NAME: usize = 200;

/// The code of a plugin that is refused for what it changed.
pub(crate) const DISTURBED_HOST: &str = "disturbed_host";

/// What to look after while a plugin is loaded in this process.
#[derive(Debug)]
pub(crate) struct Hygiene {
    pub(crate) provider: ProviderId,
    pub(crate) policy: HygienePolicy,
    /// Whether descriptors 1 and 2 are ours to redirect.
    pub(crate) owns_output: bool,
    /// How long a load may take, after which others are not kept waiting for it.
    pub(crate) limit: Duration,
}

impl Hygiene {
    /// Waits until no other load is looked at.
    pub(crate) fn turn(&self) -> Option<Turn> {
        Turn::take(self.limit)
    }

    /// Loads a plugin, and returns what it has changed beside what came of it. Where the policy refuses plugins that change something, nothing of
    /// it is left but the library.
    pub(crate) fn around<T>(
        &self,
        turn: Option<Turn>,
        load: impl FnOnce() -> Result<T, Reason>,
    ) -> Result<(T, Vec<Disturbance>), Reason> {
        let Some(turn) = turn else {
            return match self.policy {
                HygienePolicy::Refuse => Err(not_watched()),
                HygienePolicy::Report => load().map(|loaded| (loaded, self.unwatched())),
            };
        };
        let redirected = self.owns_output.then(|| Redirected::begin(&self.provider, turn.until()));
        let redirected = redirected.and_then(|redirected| {
            let told = |error: &std::io::Error| {
                log::warn!("what plugins print while they are loaded stays where it goes: {error}");
            };
            redirected.inspect_err(told).ok()
        });
        let before = Surroundings::now();
        let loaded = load();
        let claimed = redirected.as_ref().map(Redirected::claim);
        if turn.is_over() || matches!(claimed, Some(None)) {
            // Somebody else has gone on meanwhile, whose changes are not to be undone.
            let unwatched = self.unwatched();
            return match self.policy {
                HygienePolicy::Refuse => loaded.and(Err(not_watched())),
                HygienePolicy::Report => loaded.map(|loaded| (loaded, unwatched)),
            };
        }
        let mut found = before.settle();
        drop(before);
        if let (Some(redirected), Some(Some(claimed))) = (redirected, claimed) {
            found.extend(redirected.end(claimed));
        }
        drop(turn);
        self.tell(&found);
        let loaded = loaded?;
        match self.policy {
            HygienePolicy::Refuse if found.iter().any(is_disturbing) => Err(disturbed(&found)),
            _ => Ok((loaded, found)),
        }
    }

    fn tell(&self, found: &[Disturbance]) {
        if found.is_empty() {
            return;
        }
        let level = match found.iter().any(is_disturbing) {
            true => log::Level::Warn,
            false => log::Level::Info,
        };
        let (provider, found) = (&self.provider, listed(found));
        log::log!(level, "provider {provider}: changed in the host while it was loaded: {found}");
    }

    fn unwatched(&self) -> Vec<Disturbance> {
        let found = vec![Change::NotWatched.found(false)];
        log::warn!("provider {}: what it changed in the host is {}", self.provider, found[0]);
        found
    }
}

fn is_disturbing(disturbance: &Disturbance) -> bool {
    disturbance.change.is_disturbing()
}

fn listed<'a>(found: impl IntoIterator<Item = &'a Disturbance>) -> String {
    let found: Vec<_> = found.into_iter().map(Disturbance::to_string).collect();
    found.join("; ")
}

fn disturbed(found: &[Disturbance]) -> Reason {
    Reason::plugin(
        Stage::Load,
        DISTURBED_HOST,
        "a host that is as it was before the plugin was loaded",
        listed(found.iter().filter(|one| is_disturbing(one))),
        "run the plugin in a worker, where it disturbs nobody, or ask its vendor; the policy `hygiene` decides",
    )
}

fn not_watched() -> Reason {
    Reason::plugin(
        Stage::Load,
        "not_watched",
        "to know what the plugin changes in the host",
        "another load that took too long",
        "restart the host; run plugins that hang in a worker",
    )
    .by_environment()
}
