//! How long a plugin may take, phase by phase.

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::rejection::Stage;

/// How long a plugin may take for each thing that it is asked for. In a worker, what takes longer is ended with its process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlines {
    /// Verifying and linking the library, where none of its code runs yet; 30 s.
    pub open: Duration,
    /// Its constructors, which run while the linker opens it; 10 s.
    pub constructors: Duration,
    /// Its root module; 10 s.
    pub root: Duration,
    /// Making the provider from its configuration; 30 s.
    pub create: Duration,
    /// Listing its tools; 30 s.
    pub tools: Duration,
    /// A call that has no deadline of its own; 10 min.
    pub call: Duration,
    /// How long a call that is over its deadline, or that was cancelled, may take to stop by itself; 2 s.
    pub grace: Duration,
    /// Ending the provider; 5 s.
    pub stop: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            open: Duration::from_secs(30),
            constructors: Duration::from_secs(10),
            root: Duration::from_secs(10),
            create: Duration::from_secs(30),
            tools: Duration::from_secs(30),
            call: Duration::from_mins(10),
            grace: Duration::from_secs(2),
            stop: Duration::from_secs(5),
        }
    }
}

impl Deadlines {
    /// The time for all phases of loading together.
    pub(crate) fn loading(&self) -> Duration {
        let Self { open, constructors, root, create, tools, .. } = self;
        [constructors, root, create, tools]
            .into_iter()
            .fold(*open, |all, one| all.saturating_add(*one))
    }

    /// When a call that begins now must be over, which may have a deadline of its own.
    pub(crate) fn end_of_call(&self, deadline: Option<Instant>) -> Instant {
        let longest = Instant::now() + self.call;
        deadline.map_or(longest, |deadline| deadline.min(longest))
    }

    /// The time for a phase of loading.
    pub(crate) fn of(&self, phase: LoadPhase) -> Duration {
        match phase {
            LoadPhase::Open => self.open,
            LoadPhase::Constructors => self.constructors,
            LoadPhase::Root => self.root,
            LoadPhase::Create => self.create,
            LoadPhase::Tools => self.tools,
        }
    }
}

/// A phase of loading, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LoadPhase {
    /// Before any of the library's code runs.
    Open,
    Constructors,
    Root,
    Create,
    Tools,
}

impl LoadPhase {
    /// The stage that it belongs to.
    pub(crate) fn stage(self) -> Stage {
        match self {
            Self::Open | Self::Constructors | Self::Root => Stage::Load,
            Self::Create => Stage::Create,
            Self::Tools => Stage::Adapt,
        }
    }
}

impl fmt::Display for LoadPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "open",
            Self::Constructors => "constructors",
            Self::Root => "root",
            Self::Create => "create",
            Self::Tools => "tools",
        })
    }
}
