//! Why a provider is there or not: one step after the other, from its files to what is loaded.

use std::{fmt, path::Path};

use super::Toolbay;
use crate::{
    discover::{self, Discovery},
    examine::Examination,
    provider::Registered,
    refresh,
    rejection::{Reason, Stage},
    scan_cache::decoded,
    vetting::Rulebook,
};

/// Every step of the decision about a provider.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trace {
    /// The provider's id, as it was asked for.
    pub id: String,
    /// The steps, in the order in which they decide.
    pub steps: Vec<TraceStep>,
}

/// A step of the decision.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TraceStep {
    /// What was looked at, in one word: a [`Stage`], or `installed`, `registered`, `switched`, `loaded`.
    pub step: &'static str,
    /// What came of it.
    pub verdict: StepVerdict,
    /// Which file or other thing it is about.
    pub subject: String,
    /// What was found there.
    pub found: String,
    /// Why not and what to do, where it ends there.
    pub reason: Option<Reason>,
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepVerdict {
    /// It goes on.
    Passed,
    /// It goes on, with something that is worth knowing.
    Warning,
    /// It ends there.
    Refused,
    /// There is nothing to decide.
    Absent,
}

impl StepVerdict {
    /// The verdict as one word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Warning => "warning",
            Self::Refused => "refused",
            Self::Absent => "absent",
        }
    }
}

impl fmt::Display for StepVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Trace {
    fn add(
        &mut self,
        step: &'static str,
        verdict: StepVerdict,
        subject: impl fmt::Display,
        found: impl fmt::Display,
    ) {
        let (subject, found) = (subject.to_string(), found.to_string());
        self.steps.push(TraceStep { step, verdict, subject, found, reason: None });
    }

    fn reason(&mut self, verdict: StepVerdict, subject: impl fmt::Display, reason: Reason) {
        let (subject, found) = (subject.to_string(), format!("{}: {}", reason.code, reason.found));
        let step = reason.stage.as_str();
        self.steps.push(TraceStep { step, verdict, subject, found, reason: Some(reason) });
    }

    /// Whether there is anything of this name.
    pub fn is_known(&self) -> bool {
        self.steps.iter().any(|step| step.verdict != StepVerdict::Absent)
    }

    /// Whether nothing refuses the provider.
    pub fn is_fine(&self) -> bool {
        self.is_known() && self.steps.iter().all(|step| step.verdict != StepVerdict::Refused)
    }
}

impl Toolbay {
    /// Tells, step by step, which files there are of a provider, what is decided about each, and what is registered and loaded of it.
    /// Nothing of a plugin is run.
    pub fn trace(&self, id: &str) -> Trace {
        let mut trace = Trace { id: id.to_owned(), steps: Vec::new() };
        let rulebook = self.vetting.rulebook();
        self.trace_files(&mut trace, &rulebook);
        self.trace_installed(&mut trace);
        self.trace_registered(&mut trace, &rulebook);
        self.trace_switched(&mut trace);
        self.trace_loaded(&mut trace);
        trace
    }

    fn trace_files(&self, trace: &mut Trace, rulebook: &Rulebook) {
        let Discovery { mut candidates, rejections } =
            discover::discover(&self.config.plugin_directories);
        for rejection in rejections {
            trace.reason(StepVerdict::Refused, rejection.path.display(), *rejection.reason);
        }
        let installed = self.installed.read().unwrap_or_default();
        candidates.extend(installed.candidates(&self.vetting.store));
        let mut files = 0;
        for candidate in &candidates {
            let path = candidate.path();
            let Ok(source) = refresh::read(path) else { continue };
            if source.id().as_deref() != Some(&*trace.id) {
                continue;
            }
            files += 1;
            match rulebook.examine(path, source, &self.vetting) {
                Ok(examination) => trace_examination(trace, path, examination),
                Err(reason) => trace.reason(StepVerdict::Refused, path.display(), reason),
            }
        }
        if files == 0 {
            let directories: Vec<String> = self
                .config
                .plugin_directories
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            let looked_at = match directories.as_slice() {
                [] => "no plugin directories, and what is installed".to_owned(),
                directories => format!("{}, and what is installed", directories.join(", ")),
            };
            trace.add(
                Stage::Discover.as_str(),
                StepVerdict::Absent,
                looked_at,
                "no file of this provider that can be read",
            );
        }
    }

    fn trace_installed(&self, trace: &mut Trace) {
        match self.installed.read() {
            Err(error) => trace.add("installed", StepVerdict::Warning, "installed.json", error),
            Ok(installed) => match installed.0.get(&trace.id) {
                None => {
                    trace.add("installed", StepVerdict::Absent, "installed.json", "not installed")
                }
                Some(bundle) => {
                    let from = decoded(&bundle.from);
                    let found = format!("version {}, from {}", bundle.version, from.display());
                    trace.add("installed", StepVerdict::Passed, "installed.json", found);
                }
            },
        }
    }

    fn trace_registered(&self, trace: &mut Trace, rulebook: &Rulebook) {
        let contents = self.file.read().contents;
        let registered = contents.providers.iter().find(|one| one.plugin.id.as_str() == trace.id);
        let Some(Registered { plugin, tools }) = registered else {
            trace.add(
                "registered",
                StepVerdict::Absent,
                "registry.json",
                "not registered; `toolbay refresh` registers what is there",
            );
            return;
        };
        let listed: Vec<&str> = tools.iter().map(|tool| tool.name().as_str()).collect();
        let found = format!(
            "version {}, sha256 {}, signed by {}, tools: {}",
            plugin.version,
            plugin.hash,
            plugin.signer,
            if listed.is_empty() { "none".to_owned() } else { listed.join(", ") }
        );
        trace.add("registered", StepVerdict::Passed, "registry.json", found);
        let path = plugin.path(&self.vetting);
        let (build, now) = (&*self.vetting.build, self.vetting.now());
        let place = rulebook.place(plugin, build);
        if let Err(reason) = rulebook.check_failures(plugin, place, build, now) {
            trace.reason(StepVerdict::Refused, "failures.json", reason);
        }
        match rulebook.loadable(&self.vetting, plugin) {
            Ok(_) => trace.add(
                Stage::Load.as_str(),
                StepVerdict::Passed,
                path.display(),
                "may be loaded: every check holds now",
            ),
            Err(reason) => trace.reason(StepVerdict::Refused, path.display(), reason),
        }
    }

    fn trace_switched(&self, trace: &mut Trace) {
        let registry = self.registry();
        if let Ok(state) = self.provider_state(&trace.id) {
            let verdict = if state.enabled { StepVerdict::Passed } else { StepVerdict::Refused };
            let found =
                if state.enabled { "on" } else { "off: `toolbay provider enable` switches it on" };
            trace.add("switched", verdict, "access.json", found);
        }
        let id = trace.id.clone();
        for entry in registry.iter().filter(|entry| entry.provider().as_str() == id) {
            let verdict = if entry.availability().is_enabled() {
                StepVerdict::Passed
            } else {
                StepVerdict::Warning
            };
            let name = entry.definition().name();
            let found = format!(
                "{}; `toolbay explain {name}` says more",
                if verdict == StepVerdict::Passed { "on" } else { "off" }
            );
            trace.add("switched", verdict, format!("tool {name}"), found);
        }
    }

    fn trace_loaded(&self, trace: &mut Trace) {
        let processes = self.vetting.running.processes().unwrap_or_default();
        let mut loaded = 0;
        let id = trace.id.clone();
        for process in processes {
            for library in process.loaded.iter().filter(|one| one.provider == id) {
                loaded += 1;
                let found = format!(
                    "version {}, sha256 {}, inode {}",
                    library.version, library.hash, library.inode
                );
                trace.add("loaded", StepVerdict::Passed, format!("process {}", process.pid), found);
            }
        }
        if loaded == 0 {
            trace.add(
                "loaded",
                StepVerdict::Absent,
                "running processes",
                "loaded in none: the first call of one of its tools loads it",
            );
        }
    }
}

fn trace_examination(trace: &mut Trace, path: &Path, examination: Examination) {
    let Examination { manifest, signer, library, problems, warnings, .. } = examination;
    let place = &path.display().to_string();
    if let Some(manifest) = &manifest {
        let parts = manifest.parts();
        let found = format!("bundle of {:?}, version {}", parts.vendor, parts.version);
        trace.add(Stage::Bundle.as_str(), StepVerdict::Passed, place, found);
    }
    match signer {
        Ok(signer) => trace.add(
            Stage::Signature.as_str(),
            StepVerdict::Passed,
            place,
            format!("signed by {signer}"),
        ),
        Err(reason) => trace.reason(StepVerdict::Refused, place, reason),
    }
    if let Some(library) = library {
        let hash = library.hash.map_or_else(|| "not readable".to_owned(), |hash| hash.to_string());
        let found =
            format!("version {}, {}, sha256 {hash}", library.note.version, library.note.target);
        trace.add(Stage::Inspect.as_str(), StepVerdict::Passed, place, found);
    }
    for reason in warnings {
        trace.reason(StepVerdict::Warning, place, reason);
    }
    if problems.is_empty() {
        trace.add(
            Stage::Audit.as_str(),
            StepVerdict::Passed,
            place,
            "nothing that the policy denies",
        );
    }
    for reason in problems {
        trace.reason(StepVerdict::Refused, place, reason);
    }
}
