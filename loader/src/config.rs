//! What a host application says when it opens a Toolbay.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use serde_json::value::RawValue;
use toolbay_core::{Actor, Limits, Offer, Privacy, ProviderId, Rules, ToolSet, WriteListener};

use crate::{deadlines::Deadlines, policy::Policy, worker::WorkerProgram};

/// The configuration of a [`Toolbay`](crate::Toolbay). Everything is explicit: no environment variable counts, and relative paths are
/// made absolute once, when it is opened.
pub struct Config {
    /// The folder for the registry file, the copies of libraries and the audit log. It is made where it is missing.
    pub home: PathBuf,
    /// Where plugins are looked for.
    pub plugin_directories: Vec<PathBuf>,
    /// Which plugins may run: by default, only those with a signature of a trusted key.
    pub policy: Policy,
    /// The program that runs plugins which the policy wants in a process of their own. Without one, they do not run.
    pub worker: Option<WorkerProgram>,
    /// Whether the loader may put pipes in the place of descriptors 1 and 2 while it loads a plugin into this process, to log what is printed
    /// under the plugin's id, as it does for a worker; no. It is for applications of which no other thread needs these descriptors meanwhile:
    /// whose logger, for one, writes to a descriptor of its own.
    pub owns_output: bool,
    /// How long a plugin may take for each thing that it is asked for.
    pub deadlines: Deadlines,
    /// The configuration of each provider, a JSON object.
    pub providers: BTreeMap<ProviderId, Box<RawValue>>,
    /// The host application's own tools, an offer of the provider `core`, where it has some.
    pub core: Option<Offer>,
    /// How large arguments and replies may be, and how many calls of each provider and tool there may be, in this process.
    pub limits: Limits,
    /// How the audit log is kept.
    pub audit: AuditConfig,
    /// How long a request for approval waits before it ends as denied by nobody; a day.
    pub approvals_expire_after: Duration,
    /// Tools that belong together in loadouts.
    pub tool_sets: Vec<ToolSet>,
    /// The host application's own rules about calls.
    pub rules: Rules,
    /// Who an actor is now who asked for something earlier: an approved call runs with the rights that they have then, and not at all
    /// where they are no more. Without it, they are who they were.
    pub actors: Option<Arc<ActorNow>>,
    /// Who hears of writes. A listener that panics is logged, and harms nothing.
    pub listeners: Vec<Arc<dyn WriteListener>>,
}

impl Config {
    /// The configuration with this home folder, no plugin directories, and the default limits.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            plugin_directories: Vec::new(),
            policy: Policy::default(),
            worker: None,
            owns_output: false,
            deadlines: Deadlines::default(),
            providers: BTreeMap::new(),
            core: None,
            limits: Limits::default(),
            audit: AuditConfig::default(),
            approvals_expire_after: Duration::from_hours(24),
            tool_sets: Vec::new(),
            rules: Rules::default(),
            actors: None,
            listeners: Vec::new(),
        }
    }
}

/// Tells who an actor is now; `None` where they are no more.
pub type ActorNow = dyn Fn(&Actor) -> Option<Actor> + Send + Sync;

/// How the audit log is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditConfig {
    /// How much is kept of a call; [`Privacy::Metadata`].
    pub privacy: Privacy,
    /// The bytes that a file grows to before the next one is begun; 16 MiB.
    pub max_file_len: u64,
    /// How many full files are kept beside the current one; 8.
    pub keep: usize,
    /// How many days a full file is kept after its last record, where `keep` does not end it before; 0, which is no limit.
    pub keep_days: u32,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self { privacy: Privacy::Metadata, max_file_len: 16 * 1024 * 1024, keep: 8, keep_days: 0 }
    }
}
