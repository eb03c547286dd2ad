//! What a home knows about plugins before they run: the operator's policy, the trusted keys, the lock file, what failed before, and the store.

use std::{
    collections::BTreeSet, os::unix::ffi::OsStringExt, path::PathBuf, sync::Arc, time::Duration,
};

use parking_lot::RwLock;
use serde_json::value::RawValue;
use toolbay_core::{Clock, Egress, ProviderId};

use crate::{
    breaker::STRIKE,
    clock::SystemClock,
    config::Config,
    deadlines::Deadlines,
    entries::Crash,
    failure_file::{CALL, FailureClass, FailureRecord, Failures, MAX_STRIKES, Retry},
    home_file::{HomeFile, HomeFileError},
    hygiene::{DISTURBED_HOST, Hygiene},
    in_host::ThisProcess,
    instance::{CRASHED, HUNG},
    journal::{Journal, Suspect},
    plugins_lock::{LockedPlugin, PluginsLock},
    policy::{HygienePolicy, Isolation, Loosened, Policy, WorkerLimits},
    probes::Probes,
    quarantine::Quarantined,
    reach::Reach,
    rejection::{Reason, Stage},
    running::Running,
    scan_cache::{Circumstances, host_build},
    static_audit::{Check, HostSystem, Level},
    store::{ContentHash, Store},
    trust::{Signer, Trust, TrustedKeys},
    verify::{DeclaredTool, Loadable, StoredPlugin},
    worker::{Reachable, Sandbox, WorkerProgram},
};

/// What starts processes: where one of them is denied to libraries, a worker can start none.
const STARTING_PROCESSES: &[&str] = &["clone", "execve", "fork", "posix_spawn", "vfork"];

/// The files and the policy by which plugins are judged.
#[derive(Debug)]
pub(crate) struct Vetting {
    pub(crate) home: PathBuf,
    pub(crate) store: Store,
    pub(crate) trust: HomeFile<TrustedKeys>,
    pub(crate) failures: HomeFile<Failures>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) running: Running,
    pub(crate) probes: Probes,
    pub(crate) this_process: ThisProcess,
    pub(crate) host: HostSystem,
    /// Which build of which program this is.
    pub(crate) build: String,
    /// The program that a worker is, where there is one.
    pub(crate) worker: Option<WorkerProgram>,
    pub(crate) deadlines: Deadlines,
    owns_output: bool,
    policy: RwLock<Policy>,
}

/// Where a plugin runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the host.
    Host,
    /// In the host, once it has run in a worker.
    ProbedHost,
    Worker,
}

/// The code of a failure of the host's own process, whose cause may be another.
const ENDED_HOST: &str = "ended_host";

/// What counts at one moment, read once, so that one plugin is not judged by two versions of it.
#[derive(Debug)]
pub(crate) struct Rulebook {
    pub(crate) policy: Policy,
    keys: Result<TrustedKeys, String>,
    lock: Result<Option<PluginsLock>, Reason>,
    failures: Failures,
}

impl Vetting {
    pub(crate) fn new(config: &Config) -> Self {
        let home = &config.home;
        Self {
            home: home.to_owned(),
            store: Store::new(home.join("store")),
            trust: HomeFile::new(home.to_owned()),
            failures: HomeFile::new(home.to_owned()),
            journal: Arc::new(Journal::new(home)),
            running: Running::new(home),
            probes: Probes::new(home),
            this_process: ThisProcess::new(config.deadlines.clone()),
            host: HostSystem::current(),
            build: host_build(),
            worker: config.worker.clone(),
            deadlines: config.deadlines.clone(),
            owns_output: config.owns_output,
            policy: RwLock::new(config.policy.clone()),
        }
    }

    /// What counts now.
    pub(crate) fn rulebook(&self) -> Rulebook {
        let policy = self.policy.read().clone();
        let lock = match policy.locked {
            true => PluginsLock::read(&self.home).map(Some).map_err(|error| {
                let remedy = "put the lock file in place, or start without --locked";
                let expected = "a lock file, since only what is locked may run";
                Reason::plugin(Stage::Policy, "no_lock_file", expected, error.to_string(), remedy)
                    .by_environment()
            }),
            false => Ok(None),
        };
        let keys = self.trust.read().map_err(|error| error.to_string());
        let failures = self.failures.read().unwrap_or_else(|error| {
            log::warn!("what failed before is not known: {error}");
            Failures::default()
        });
        Rulebook { policy, keys, lock, failures }
    }

    /// The policy in force.
    pub(crate) fn policy(&self) -> Policy {
        self.policy.read().clone()
    }

    /// What looks after this process while a plugin is loaded in it.
    pub(crate) fn hygiene(&self, rulebook: &Rulebook, plugin: &StoredPlugin) -> Hygiene {
        self.journal.prepare();
        Hygiene {
            provider: plugin.id.clone(),
            policy: rulebook.policy.hygiene,
            owns_output: self.owns_output,
            limit: self.deadlines.loading(),
        }
    }

    /// Puts a stricter policy in force.
    pub(crate) fn tighten(&self, policy: Policy) -> Result<(), Loosened> {
        let mut current = self.policy.write();
        policy.check_tightens(&current)?;
        *current = policy;
        Ok(())
    }

    /// What must be the same for a scan of before to count.
    pub(crate) fn circumstances(&self, rulebook: &Rulebook) -> Circumstances {
        let trust = std::fs::read(self.trust.path()).unwrap_or_default();
        // Which member of the policy it is does not matter, so that the form that is made for debugging will do.
        Circumstances::now(
            &format!("{:?}", rulebook.policy),
            &trust,
            &format!("{:?}", rulebook.lock),
        )
    }

    /// Keeps in mind how running the code of a content ended, for the next time.
    pub(crate) fn remember(
        &self,
        plugin: &StoredPlugin,
        in_process: bool,
        outcome: Result<(), &Reason>,
    ) {
        let failure = match outcome {
            Ok(()) => None,
            Err(reason) => match class(reason) {
                Some(class) => Some((class, reason)),
                None => return,
            },
        };
        let hash = plugin.hash;
        let is_news = failure.is_some()
            || self.failures.read().is_ok_and(|failures| failures.of(hash).is_some());
        if !is_news {
            return;
        }
        self.keep(|failures| match failure {
            None => failures.worked(hash, in_process),
            Some((class, reason)) => {
                let stage = reason.stage.as_str();
                let (kind, found) = ((class, reason.code), &reason.found);
                failures.remember(hash, self.record(kind, &plugin.id, stage, found, in_process));
            }
        });
    }

    /// Keeps in mind that a call does not come back that runs in this process.
    pub(crate) fn hung_here(&self, plugin: &StoredPlugin, crash: &Crash) {
        log::error!("provider {}: {}", plugin.id, crash.how);
        let record = self.record((FailureClass::Hang, HUNG), &plugin.id, CALL, &crash.how, true);
        self.keep(|failures| failures.remember(plugin.hash, record));
    }

    /// Keeps in mind that a process ended in which a plugin ran, where it has done so too often in a row.
    pub(crate) fn process_ended(&self, plugin: &StoredPlugin, crash: &Crash, ends: u32) {
        if !ends.is_multiple_of(STRIKE) {
            return;
        }
        let kind = match crash.hung {
            true => (FailureClass::Hang, HUNG),
            false => (FailureClass::Crash, CRASHED),
        };
        let record = self.record(kind, &plugin.id, CALL, &crash.how, false);
        self.keep(|failures| failures.remember(plugin.hash, record));
    }

    /// Keeps in mind whose code ran when another process of the host ended, where that is certain: one plugin's alone.
    pub(crate) fn blame_ended_hosts(&self) {
        let ended = self.journal.left_behind().unwrap_or_else(|error| {
            log::warn!("whose code ran when another process ended is not known: {error}");
            Vec::new()
        });
        for suspects in ended {
            let contents: BTreeSet<_> = suspects.iter().map(|suspect| suspect.content).collect();
            let (Some(suspect), 1) = (suspects.first(), contents.len()) else {
                let contents: Vec<_> = contents.iter().map(ContentHash::to_string).collect();
                log::warn!(
                    "a process of the host ended while several plugins ran, so that none is to blame: {}",
                    contents.join(", ")
                );
                continue;
            };
            let Suspect { provider, content, running } = suspect;
            let found = format!("the host's process ended in the phase {running}");
            log::error!("provider {provider}: {found}");
            let stage = running.to_string();
            let kind = (FailureClass::Crash, ENDED_HOST);
            let record = self.record(kind, provider, &stage, &found, true);
            self.keep(|failures| failures.remember(*content, record));
        }
    }

    /// Every content that failed, and whether it is tried again.
    pub(crate) fn failed(&self) -> Result<Vec<Quarantined>, HomeFileError> {
        let (failures, isolation) = (self.failures.read()?, self.policy().isolation);
        let now = self.now();
        let failed = failures.iter().map(|(content, record)| {
            let place = match record.provider.parse().map(|id| isolation.of(&id)) {
                Ok(Isolation::InProcess) => Place::Host,
                _ => Place::Worker,
            };
            let retry = retry(record, place, &self.build, now);
            Quarantined { content, retry, failure: record.clone() }
        });
        Ok(failed.collect())
    }

    fn keep(&self, change: impl FnOnce(&mut Failures)) {
        let kept = self.failures.update(|failures| {
            change(failures);
            Ok::<_, HomeFileError>(())
        });
        if let Err(error) = kept {
            log::warn!("what failed can't be kept: {error}");
        }
    }

    fn record(
        &self,
        (class, code): (FailureClass, &str),
        provider: &ProviderId,
        stage: &str,
        found: &str,
        in_process: bool,
    ) -> FailureRecord {
        FailureRecord {
            class,
            provider: provider.to_string(),
            stage: stage.to_owned(),
            code: code.to_owned(),
            found: found.to_owned(),
            strikes: 1,
            at: SystemClock.now().as_secs(),
            host: self.build.clone(),
            in_process,
        }
    }

    pub(crate) fn now(&self) -> Duration {
        SystemClock.now()
    }
}

/// For how long a failure counts; `None` for one that says nothing about the content, such as a configuration that was refused.
fn class(reason: &Reason) -> Option<FailureClass> {
    match (reason.stage, reason.code) {
        (Stage::Load, "other_abi" | "no_root_module" | "foreign_root_module") => {
            Some(FailureClass::Permanent)
        }
        (Stage::Load, DISTURBED_HOST) => Some(FailureClass::Disturbance),
        // Nothing of it has run.
        (Stage::Create, "bad_configuration") | (Stage::Load, "worker_not_started") => None,
        (_, CRASHED) => Some(FailureClass::Crash),
        (_, HUNG) => Some(FailureClass::Hang),
        (Stage::Load | Stage::Create | Stage::Adapt, _) => Some(FailureClass::Environment),
        _ => None,
    }
}

impl Rulebook {
    /// What is trusted.
    pub(crate) fn trust(&self) -> Trust<'_> {
        Trust { keys: self.keys.as_ref().map_err(String::clone), policy: &self.policy }
    }

    /// Where a plugin runs: what has ended a process before, or disturbed it, runs in one of its own, unless the policy says otherwise in as many
    /// words.
    pub(crate) fn place(&self, plugin: &StoredPlugin, build: &str) -> Place {
        let failure = self.failures.of(plugin.hash).filter(|failure| failure.host == build);
        let is_violent = failure.is_some_and(|failure| match failure.class {
            FailureClass::Disturbance => self.policy.hygiene == HygienePolicy::Refuse,
            class => class.is_strike(),
        });
        match self.policy.isolation.of(&plugin.id) {
            Isolation::InProcess => Place::Host,
            Isolation::Worker => Place::Worker,
            Isolation::Auto if plugin.signer == Signer::Nobody || is_violent => Place::Worker,
            Isolation::Auto => Place::ProbedHost,
        }
    }

    /// What a plugin may do in a worker: what its tools declare, what it is configured with, and what the audit lets a library import.
    pub(crate) fn sandbox(
        &self,
        plugin: &StoredPlugin,
        loadable: &Loadable,
        configuration: Option<&RawValue>,
    ) -> Sandbox {
        let audit = &self.policy.static_audit;
        let is_denied = audit.level(Check::DeniedImports) == Level::Deny
            && STARTING_PROCESSES.iter().any(|&name| audit.denied_imports.contains(name));
        let egress = |egress| {
            plugin.declared.iter().any(|tool: &DeclaredTool| tool.declarations.egress == egress)
        };
        let WorkerLimits { memory_bytes, open_files } = self.policy.worker_limits;
        let reach = Reach::of(loadable.library.note(), configuration);
        let own = loadable.folders().into_iter().map(|folder| (folder.to_owned(), false));
        let files = own
            .chain(reach.present(plugin.id.as_str()))
            .map(|(path, write)| Reachable { path: path.into_os_string().into_vec(), write });
        Sandbox {
            files: files.collect(),
            network: egress(Egress::ConfiguredEndpoint) || egress(Egress::OwnSite),
            // Which are the ports of a site of its own, nobody has said.
            ports: reach.ports.filter(|_| !egress(Egress::OwnSite)),
            processes: !is_denied,
            memory_bytes,
            open_files,
        }
    }

    /// Checks that a plugin is locked, where only what is locked may run.
    pub(crate) fn check_lock(&self, plugin: &StoredPlugin) -> Result<(), Reason> {
        match &self.lock {
            Ok(None) => Ok(()),
            Ok(Some(lock)) => lock.check(&locked(plugin)),
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Checks that the code of a content may be run again at this place, where running it failed before.
    pub(crate) fn check_failures(
        &self,
        plugin: &StoredPlugin,
        place: Place,
        build: &str,
        now: Duration,
    ) -> Result<(), Reason> {
        let Some(record) = self.failures.of(plugin.hash) else { return Ok(()) };
        // It counts only where it would run in the host once more, under a policy that refuses it for that.
        if record.class == FailureClass::Disturbance
            && (self.policy.hygiene != HygienePolicy::Refuse || place == Place::Worker)
        {
            return Ok(());
        }
        let until = match retry(record, place, build, now) {
            Retry::Now => return Ok(()),
            Retry::At(at) => format!("it is tried again in {} s", at.saturating_sub(now.as_secs())),
            Retry::Never => "the same content is not tried again by the same host".to_owned(),
        };
        let FailureRecord { stage, code, found, .. } = record;
        Err(Reason::plugin(
            Stage::Policy,
            "failed_before",
            "content that did not fail here before",
            format!("{code} ({stage}): {found}; {until}"),
            "install a version that was corrected, or run `toolbay quarantine release`",
        ))
    }
}

/// Whether a content is tried again at this place.
fn retry(record: &FailureRecord, place: Place, build: &str, now: Duration) -> Retry {
    // What the host could not contain, a worker may. And whoever ended the host from outside, at that very moment, looks the same as the
    // plugin: it is only refused where that happens again and again.
    let is_doubtful = place == Place::Worker || record.code == ENDED_HOST;
    let is_strike = record.in_process && record.class.is_strike();
    match is_strike && is_doubtful && record.strikes < MAX_STRIKES {
        true => Retry::Now,
        false => record.retry(build, now),
    }
}

/// A plugin as the lock file names it.
pub(crate) fn locked(plugin: &StoredPlugin) -> LockedPlugin {
    LockedPlugin {
        id: plugin.id.to_string(),
        target: toolbay_abi::note::TARGET.to_owned(),
        version: plugin.version.to_string(),
        hash: plugin.hash.to_string(),
        signer: plugin.signer.to_string(),
    }
}
