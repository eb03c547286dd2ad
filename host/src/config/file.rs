//! The shape of `toolbay.toml`. An absent key is `None`: which default it has is decided where the value is used.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    num::NonZeroU32,
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use log::LevelFilter;
use serde::{Deserialize, Deserializer, de};
use toolbay_loader::{
    ActorName, Deadlines, HygienePolicy, Isolation, Privacy, ProviderId, ToolName, UnknownWord,
    Unsigned, Visibility, WorkerLimits,
};

use super::{json::JsonTable, limits::LimitsSection, static_audit::StaticAuditSection};
use crate::nearest::nearest;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
pub(super) struct ConfigFile {
    pub(super) plugins: PluginsSection,
    pub(super) isolation: BTreeMap<Parsed<ProviderId>, IsolationWord>,
    pub(super) workers: WorkersSection,
    pub(super) deadlines: DeadlinesSection,
    pub(super) trust: TrustSection,
    pub(super) static_audit: StaticAuditSection,
    pub(super) providers: BTreeMap<Parsed<ProviderId>, JsonTable>,
    pub(super) limits: LimitsSection,
    pub(super) audit: AuditSection,
    pub(super) users: UsersSection,
    pub(super) services: BTreeMap<Parsed<ActorName>, ServiceSection>,
    pub(super) approvals: ApprovalsSection,
    pub(super) tool_sets: BTreeMap<String, ToolSetSection>,
    pub(super) log: LogSection,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PluginsSection {
    pub(super) directories: Option<Vec<PathBuf>>,
    #[serde(default)]
    pub(super) locked: bool,
    #[serde(default)]
    pub(super) isolation: IsolationWord,
    #[serde(default)]
    pub(super) hygiene: HygieneWord,
}

/// What comes of a plugin that changes the host.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HygieneWord {
    #[default]
    Report,
    Refuse,
}

impl From<HygieneWord> for HygienePolicy {
    fn from(word: HygieneWord) -> Self {
        match word {
            HygieneWord::Report => Self::Report,
            HygieneWord::Refuse => Self::Refuse,
        }
    }
}

/// Where plugins run.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum IsolationWord {
    #[default]
    Auto,
    InProcess,
    Worker,
}

impl From<IsolationWord> for Isolation {
    fn from(word: IsolationWord) -> Self {
        match word {
            IsolationWord::Auto => Self::Auto,
            IsolationWord::InProcess => Self::InProcess,
            IsolationWord::Worker => Self::Worker,
        }
    }
}

/// What each worker may use.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkersSection {
    pub(super) memory_mb: Option<NonZeroU32>,
    pub(super) open_files: Option<NonZeroU32>,
}

impl WorkersSection {
    /// The limits, each by its default where the file does not say it.
    pub(super) fn limits(&self) -> WorkerLimits {
        let default = WorkerLimits::default();
        let bytes = |megabytes: NonZeroU32| u64::from(megabytes.get()) << 20;
        WorkerLimits {
            memory_bytes: self.memory_mb.map_or(default.memory_bytes, bytes),
            open_files: self.open_files.map_or(default.open_files, |files| files.get().into()),
        }
    }
}

/// How long plugins may take, in milliseconds.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeadlinesSection {
    pub(super) open_ms: Option<NonZeroU32>,
    pub(super) constructors_ms: Option<NonZeroU32>,
    pub(super) root_ms: Option<NonZeroU32>,
    pub(super) create_ms: Option<NonZeroU32>,
    pub(super) tools_ms: Option<NonZeroU32>,
    pub(super) call_ms: Option<NonZeroU32>,
    pub(super) grace_ms: Option<NonZeroU32>,
    pub(super) stop_ms: Option<NonZeroU32>,
}

impl DeadlinesSection {
    /// The deadlines, each by its default where the file does not say it.
    pub(super) fn deadlines(&self) -> Deadlines {
        let mut deadlines = Deadlines::default();
        for (said, deadline) in [
            (self.open_ms, &mut deadlines.open),
            (self.constructors_ms, &mut deadlines.constructors),
            (self.root_ms, &mut deadlines.root),
            (self.create_ms, &mut deadlines.create),
            (self.tools_ms, &mut deadlines.tools),
            (self.call_ms, &mut deadlines.call),
            (self.grace_ms, &mut deadlines.grace),
            (self.stop_ms, &mut deadlines.stop),
        ] {
            if let Some(milliseconds) = said {
                *deadline = Duration::from_millis(milliseconds.get().into());
            }
        }
        deadlines
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrustSection {
    #[serde(default)]
    pub(super) unsigned: UnsignedWord,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum UnsignedWord {
    Allow,
    #[default]
    Refuse,
}

impl From<UnsignedWord> for Unsigned {
    fn from(word: UnsignedWord) -> Self {
        match word {
            UnsignedWord::Allow => Self::Allow,
            UnsignedWord::Refuse => Self::Refuse,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditSection {
    #[serde(default, deserialize_with = "word")]
    pub(super) privacy: Option<Privacy>,
    pub(super) max_file_bytes: Option<u64>,
    pub(super) keep: Option<usize>,
    pub(super) keep_days: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct UsersSection {
    pub(super) admins: BTreeSet<Parsed<ActorName>>,
    pub(super) approvers: BTreeSet<Parsed<ActorName>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ServiceSection {
    pub(super) scopes: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalsSection {
    pub(super) expire_hours: Option<NonZeroU32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolSetSection {
    pub(super) tools: BTreeSet<Parsed<ToolName>>,
    pub(super) visibility: Option<BTreeSet<Parsed<Visibility>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogSection {
    pub(super) level: Option<Level>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl From<Level> for LevelFilter {
    fn from(level: Level) -> Self {
        match level {
            Level::Off => Self::Off,
            Level::Error => Self::Error,
            Level::Warn => Self::Warn,
            Level::Info => Self::Info,
            Level::Debug => Self::Debug,
            Level::Trace => Self::Trace,
        }
    }
}

/// A word of a fixed set. An error names the one that was perhaps meant.
fn word<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: FromStr<Err = UnknownWord>,
    D: Deserializer<'de>,
{
    let word = String::deserialize(deserializer)?;
    word.parse().map(Some).map_err(|error: UnknownWord| {
        let near = nearest(error.found(), error.expected().iter().copied());
        let near = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        de::Error::custom(format_args!("{error}{near}"))
    })
}

/// A text that is parsed while the file is read, so that an error knows its line.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parsed<T>(T);

impl<T> Parsed<T> {
    pub(super) fn into_inner(self) -> T {
        self.0
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(de::Error::custom)
    }
}
