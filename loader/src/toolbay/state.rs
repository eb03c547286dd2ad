//! What is in force in this process, and how it follows the files.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::MutexGuard;
use toolbay_core::{
    Access, Actor, AuditError, AuditSink, Clock, DecisionKind, DecisionRecord, Pin, Plan,
    PlanError, Registry, ToolName,
};

use super::{ChangedTool, Toolbay, same_or};
use crate::{
    access_error::{AccessError, NotAdmin},
    access_file::{Contents, Label, Updated},
    clock::SystemClock,
    error::{AccessFileError, RefreshError, RegistryFileError},
    inspect::FileIdentity,
    provider::PluginProvider,
};

/// What is in force, and the files that it was read from.
#[derive(Default)]
pub(super) struct State {
    /// The registry file as it was last read or written, once it was; none where there was no file.
    pub(super) registry: Option<Option<FileIdentity>>,
    /// The same of the decisions of administrators.
    pub(super) access: Option<Option<FileIdentity>>,
    /// The same of the trusted keys.
    pub(super) trust: Option<Option<FileIdentity>>,
    pub(super) registry_problem: Option<Arc<RegistryFileError>>,
    pub(super) access_problem: Option<Arc<AccessFileError>>,
    pub(super) contents: Arc<Contents>,
    pub(super) providers: Vec<Arc<PluginProvider>>,
}

impl Toolbay {
    /// Takes over what other processes have registered and decided since the files were last read, and tells whether there is any.
    pub(super) fn take_over(&self, replacing: MutexGuard<'_, ()>) -> Result<bool, PlanError> {
        let (registry, access) = (Some(self.file.identity()), Some(self.access.identity()));
        let trust = Some(self.vetting.trust.identity());
        let there = {
            let state = self.state.lock();
            if (registry, access, trust) == (state.registry, state.access, state.trust) {
                return Ok(false);
            }
            State {
                registry: state.registry,
                access: state.access,
                trust: state.trust,
                registry_problem: state.registry_problem.clone(),
                access_problem: state.access_problem.clone(),
                contents: Arc::clone(&state.contents),
                providers: state.providers.clone(),
            }
        };
        let (contents, access_problem) = match access == there.access {
            true => (Arc::clone(&there.contents), there.access_problem.clone()),
            false => self.read_access(),
        };
        let is_same = registry == there.registry && trust == there.trust;
        let (committed, registry_problem, providers) = match is_same {
            true => {
                let current = self.registry();
                let committed = current.with_access(&contents.access);
                (committed, there.registry_problem.clone(), there.providers.clone())
            }
            false => self.read_registry(&contents.access, &there.providers)?,
        };
        let state = State {
            registry,
            access,
            trust,
            registry_problem,
            access_problem,
            contents,
            providers,
        };
        let old = self.replace(committed, state);
        drop(replacing);
        drop((old, there));
        Ok(true)
    }

    fn read_access(&self) -> (Arc<Contents>, Option<Arc<AccessFileError>>) {
        let reading = self.access.read();
        (Arc::new(reading.contents), reading.problem.map(Arc::new))
    }

    #[expect(
        clippy::type_complexity,
        reason = "it is the three parts of the state that come of one file"
    )]
    fn read_registry(
        &self,
        access: &Access,
        there: &[Arc<PluginProvider>],
    ) -> Result<(Registry, Option<Arc<RegistryFileError>>, Vec<Arc<PluginProvider>>), PlanError>
    {
        let reading = self.file.read();
        let registered = reading.contents.providers.into_iter();
        let mut providers: Vec<_> = registered
            .map(|registered| same_or(Arc::new(self.provider(registered)), there))
            .collect();
        self.retain_trusted(&mut providers);
        let (plan, collisions) = self.plan(&providers)?;
        for collision in collisions {
            log::debug!("{collision}");
        }
        let registry = plan.commit(reading.contents.generation, access);
        Ok((registry, reading.problem.map(Arc::new), providers))
    }

    /// Makes this the current state, and returns the old one for the caller to drop.
    pub(super) fn replace(&self, registry: Registry, state: State) -> (Arc<Registry>, State) {
        let old = self.registry();
        let mut current = self.state.lock();
        self.pipeline.registry().replace(registry);
        (old, std::mem::replace(&mut *current, state))
    }

    /// Pins every tool that is on for the first time, and every one that changed without doing more. Tells what changed, and keeps what
    /// the notes say of tools, for the time when they are gone.
    pub(super) fn pin(
        &self,
        plan: Plan,
        providers: &[Arc<PluginProvider>],
    ) -> Result<Pinned, RefreshError> {
        let uncommitted = plan.commit(0, &Access::default());
        let updated = self.access.update(|contents| {
            let registry = uncommitted.with_access(&contents.access);
            let changed = pin_tools(&registry, &mut contents.access);
            label(providers, &mut contents.labels);
            Ok::<_, AccessFileError>(changed)
        })?;
        let Updated { value: changed, contents, identity } = updated;
        Ok(Pinned { registry: uncommitted, contents: Arc::new(contents), identity, changed })
    }

    /// Decides something: checks that an administrator wants it, changes it, records it and keeps it, in this order, and takes it over.
    pub(super) fn decide<T>(
        &self,
        by: &Actor,
        kind: DecisionKind,
        subject: &str,
        detail: &str,
        change: impl FnOnce(&mut Contents) -> Result<T, AccessError>,
    ) -> Result<T, AccessError> {
        self.decide_and_keep(by, kind, subject, detail, AccessError::code, |record| {
            let updated = self.access.update(|contents| {
                let changed = change(contents)?;
                // Whatever it is that switches a tool on, also a group or a provider: from then on it can't change unseen.
                pin_new(&self.registry().with_access(&contents.access), &mut contents.access);
                record()?;
                Ok::<_, AccessError>(changed)
            });
            updated.map(|updated| updated.value)
        })
    }

    /// Decides something that is kept in whatever file: checks that an administrator wants it, lets `keep` change, record and keep it, in
    /// this order, records why where that fails, and takes it over.
    pub(super) fn decide_and_keep<T, E: From<NotAdmin>>(
        &self,
        by: &Actor,
        kind: DecisionKind,
        subject: &str,
        detail: &str,
        code: impl FnOnce(&E) -> &'static str,
        keep: impl FnOnce(&dyn Fn() -> Result<(), AuditError>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.check_admin(by, kind, subject, detail)?;
        let kept = keep(&|| self.record(by, kind, subject, detail, None));
        let kept = kept.inspect_err(|error| {
            // The log has it as decided where only the file could not be written.
            let _ = self.record(by, kind, subject, detail, Some(code(error)));
        })?;
        if let Err(error) = self.take_over(self.replacing.lock()) {
            log::error!("what was decided is in force after a restart: {error}");
        }
        Ok(kept)
    }

    /// Checks that whoever wants to decide something is an administrator, and records it where not.
    pub(super) fn check_admin(
        &self,
        by: &Actor,
        kind: DecisionKind,
        subject: &str,
        detail: &str,
    ) -> Result<(), NotAdmin> {
        if by.is_admin() {
            return Ok(());
        }
        // Nothing was done: a log that takes no record of it changes nothing.
        let _ = self.record(by, kind, subject, detail, Some(NotAdmin::CODE));
        Err(NotAdmin { actor: by.to_string() })
    }

    /// Records what an administrator decides, or why it was not done.
    pub(super) fn record(
        &self,
        by: &Actor,
        kind: DecisionKind,
        subject: &str,
        detail: &str,
        refused: Option<&str>,
    ) -> Result<(), AuditError> {
        self.audit.decide(&DecisionRecord {
            at: self.now(),
            kind,
            subject,
            actor: &by.to_string(),
            approval: None,
            owner: None,
            agent: None,
            run: None,
            refused,
            detail: Some(detail),
        })
    }

    pub(super) fn now(&self) -> Duration {
        SystemClock.now()
    }
}

/// What came of pinning.
pub(super) struct Pinned {
    /// The tools, not yet on or off.
    pub(super) registry: Registry,
    pub(super) contents: Arc<Contents>,
    pub(super) identity: Option<FileIdentity>,
    pub(super) changed: Vec<ChangedTool>,
}

/// Pins every tool that is on for the first time.
fn pin_new(registry: &Registry, access: &mut Access) {
    for entry in registry.iter().filter(|entry| entry.availability().is_enabled()) {
        if !entry.names().any(|name| access.pins.contains_key(name)) {
            let tool = entry.definition();
            let pin = Pin::of(tool).from_provider(entry.provider());
            access.pins.insert(tool.name().clone(), pin);
        }
    }
}

fn pin_tools(registry: &Registry, access: &mut Access) -> Vec<ChangedTool> {
    pin_new(registry, access);
    let mut changed = Vec::new();
    for entry in registry.iter() {
        let tool = entry.definition();
        let Some(pin) = entry.names().find_map(|name| access.pins.get(name)) else { continue };
        let changes = pin.all_changes(tool, entry.provider());
        if changes.is_empty() {
            continue;
        }
        let needs_review = changes.iter().any(|change| change.widens);
        if !needs_review {
            for name in entry.names() {
                access.pins.remove(name);
            }
            access.pins.insert(tool.name().clone(), Pin::of(tool).from_provider(entry.provider()));
        }
        changed.push(ChangedTool { tool: tool.name().clone(), changes, needs_review });
    }
    changed
}

fn label(providers: &[Arc<PluginProvider>], labels: &mut BTreeMap<ToolName, Label>) {
    for provider in providers {
        let plugin = &provider.registered().plugin;
        for tool in &plugin.declared {
            let (label, summary) = (tool.label.clone(), tool.summary.clone());
            labels.insert(tool.name.clone(), Label { label, summary, provider: plugin.id.clone() });
        }
    }
}
