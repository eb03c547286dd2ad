//! The host's configuration: where its home is, and what `toolbay.toml` in it says.

mod error;
mod file;
mod json;
mod limits;
mod people;
mod static_audit;

use std::{collections::BTreeSet, fs, io, path::Path, sync::Arc, time::Duration};

use log::LevelFilter;
use toolbay_loader::{AuditConfig, Config, IsolationPolicy, ToolSet, Visibility, WorkerProgram};

use self::file::{ConfigFile, Parsed, PluginsSection, ToolSetSection};
pub use self::{error::ConfigError, people::People};

/// The name of the configuration file in the home folder.
pub const FILE_NAME: &str = "toolbay.toml";

/// Where plugins are looked for, relative to the home folder, unless the configuration says otherwise.
pub(crate) const DEFAULT_PLUGIN_DIRECTORY: &str = "plugins";

/// What a host needs to know before it opens a [`Toolbay`](toolbay_loader::Toolbay).
#[non_exhaustive]
pub struct HostConfig {
    /// What the loader gets.
    pub loader: Config,
    /// Who has which rights.
    pub people: People,
    /// Which log records are shown, unless the environment says otherwise.
    pub log_level: LevelFilter,
}

impl HostConfig {
    /// Reads the configuration of a home folder, an absolute path. Everything has a default, so the file may be missing.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] where the file can't be read, or says something that this host does not understand: an unknown key is more
    /// often a typing mistake than a wish of a later release.
    pub fn load(home: &Path) -> Result<Self, ConfigError> {
        let path = home.join(FILE_NAME);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(home, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::parse(home, ""),
            Err(source) => Err(ConfigError::Unreadable { path, source }),
        }
    }

    /// Reads the text of the configuration file of a home folder.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn parse(home: &Path, text: &str) -> Result<Self, ConfigError> {
        let file: ConfigFile = toml::from_str(text)
            .map_err(|error| ConfigError::of_toml(home.join(FILE_NAME), text, &error))?;
        let ConfigFile {
            plugins,
            isolation: isolated,
            workers,
            deadlines,
            trust,
            static_audit,
            providers,
            limits,
            audit,
            users,
            services,
            approvals,
            tool_sets,
            log,
        } = file;
        let default_audit = AuditConfig::default();
        let mut loader = Config::new(home);
        let PluginsSection { directories, locked, isolation, hygiene } = plugins;
        loader.policy.locked = locked;
        loader.policy.hygiene = hygiene.into();
        loader.policy.isolation = IsolationPolicy {
            default: isolation.into(),
            providers: isolated
                .into_iter()
                .map(|(id, word)| (id.into_inner(), word.into()))
                .collect(),
        };
        loader.policy.worker_limits = workers.limits();
        loader.worker = Some(WorkerProgram::this_program());
        loader.deadlines = deadlines.deadlines();
        loader.policy.unsigned = trust.unsigned.into();
        loader.policy.static_audit = static_audit.policy();
        loader.plugin_directories = match directories {
            Some(directories) => directories.iter().map(|directory| home.join(directory)).collect(),
            // Nobody asked for the default directory, so its absence is no news.
            None => {
                let default = home.join(DEFAULT_PLUGIN_DIRECTORY);
                if default.is_dir() { vec![default] } else { Vec::new() }
            }
        };
        loader.providers =
            providers.into_iter().map(|(id, table)| (id.into_inner(), table.into_raw())).collect();
        loader.limits = limits.limits();
        loader.audit = AuditConfig {
            privacy: audit.privacy.unwrap_or(default_audit.privacy),
            max_file_len: audit.max_file_bytes.unwrap_or(default_audit.max_file_len),
            keep: audit.keep.unwrap_or(default_audit.keep),
            keep_days: audit.keep_days.unwrap_or(default_audit.keep_days),
        };
        if let Some(hours) = approvals.expire_hours {
            loader.approvals_expire_after = Duration::from_hours(u64::from(hours.get()));
        }
        loader.tool_sets = tool_sets.into_values().map(tool_set).collect();
        let people = People {
            admins: parsed(users.admins),
            approvers: parsed(users.approvers),
            services: services
                .into_iter()
                .map(|(name, service)| (name.into_inner(), service.scopes))
                .collect(),
        };
        let known = people.clone();
        loader.actors = Some(Arc::new(move |actor| known.now(actor)));
        let log_level = log.level.map_or(LevelFilter::Warn, LevelFilter::from);
        Ok(Self { loader, people, log_level })
    }
}

fn parsed<T: Ord>(names: BTreeSet<Parsed<T>>) -> BTreeSet<T> {
    names.into_iter().map(Parsed::into_inner).collect()
}

/// A set that says nothing of who may have it is for everybody.
fn tool_set(section: ToolSetSection) -> ToolSet {
    let everybody = || [Visibility::Personal, Visibility::Team, Visibility::Shared].into();
    let visibility = section.visibility.map_or_else(everybody, parsed);
    ToolSet { tools: parsed(section.tools), visibility }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use toolbay_loader::{
        CallLimits, Check, Deadlines, HygienePolicy, Isolation, Level, Limits, Policy, Privacy,
        Unsigned, WorkerLimits, tool_list,
    };

    use super::*;

    const HOME: &str = "/home/ada/bay";

    fn parse(text: &str) -> Result<HostConfig, ConfigError> {
        HostConfig::parse(Path::new(HOME), text)
    }

    #[test]
    fn every_key_arrives_where_it_belongs() {
        let config = parse(
            r#"
            [plugins]
            directories = ["mine", "/opt/plugins"]
            locked = true
            isolation = "worker"
            hygiene = "refuse"
            [isolation]
            greeting = "in-process"
            notes = "auto"
            [workers]
            memory_mb = 9
            open_files = 10
            [deadlines]
            call_ms = 8
            [trust]
            unsigned = "allow"
            [static_audit]
            exports = "deny"
            [providers.catalogue]
            file = "courses.csv"
            since = 2024-05-01
            [limits]
            text_bytes = 1
            argument_bytes = 2
            media_bytes = 3
            artifact_bytes = 4
            result_bytes = 5
            concurrency = 6
            queue = 0
            queue_ms = 8
            calls_per_minute = 9
            [limits.providers.code]
            concurrency = 10
            queue = 11
            queue_ms = 12
            calls_per_minute = 13
            argument_bytes = 14
            result_bytes = 16777216
            [limits.tools.notes_append]
            concurrency = 1
            [audit]
            privacy = "redacted"
            max_file_bytes = 5
            keep = 6
            keep_days = 7
            [users]
            admins = ["ada"]
            approvers = ["bo", "cleo"]
            [services.indexer]
            scopes = ["approve"]
            [services.idle]
            [approvals]
            expire_hours = 7
            [tool_sets.wiki]
            tools = ["wiki_read", "wiki_write"]
            visibility = ["personal", "team"]
            [tool_sets.anybody]
            tools = ["greet"]
            [log]
            level = "debug"
            "#,
        )
        .unwrap();
        let HostConfig { loader, people, log_level } = config;
        assert_eq!(loader.home, Path::new(HOME));
        assert_eq!(
            loader.plugin_directories,
            [Path::new("/home/ada/bay/mine"), Path::new("/opt/plugins")]
        );
        let Policy { unsigned, locked, static_audit, isolation, hygiene, .. } = &loader.policy;
        let place = |provider: &str| isolation.of(&provider.parse().unwrap());
        let places = ["code", "greeting", "notes"].map(place);
        assert_eq!(places, [Isolation::Worker, Isolation::InProcess, Isolation::Auto]);
        let limits = WorkerLimits { memory_bytes: 9 * 1024 * 1024, open_files: 10 };
        assert_eq!(loader.policy.worker_limits, limits);
        let deadlines = Deadlines { call: Duration::from_millis(8), ..Deadlines::default() };
        assert_eq!(loader.deadlines, deadlines);
        assert_eq!((*unsigned, *locked), (Unsigned::Allow, true));
        assert_eq!(*hygiene, HygienePolicy::Refuse);
        assert_eq!(static_audit.level(Check::Exports), Level::Deny);
        assert_eq!(
            loader.providers["catalogue"].get(),
            r#"{"file":"courses.csv","since":"2024-05-01"}"#
        );
        let number = NonZeroU32::new;
        let calls = CallLimits {
            concurrency: number(6),
            queue: Some(0),
            queue_time: Some(Duration::from_millis(8)),
            calls_per_minute: number(9),
            argument_bytes: None,
            result_bytes: Some(5),
        };
        let code = CallLimits {
            concurrency: number(10),
            queue: Some(11),
            queue_time: Some(Duration::from_millis(12)),
            calls_per_minute: number(13),
            argument_bytes: Some(14),
            result_bytes: Some(16 * 1024 * 1024),
        };
        let append = CallLimits { concurrency: number(1), ..CallLimits::default() };
        let limits = Limits {
            text_bytes: 1,
            argument_bytes: 2,
            media_bytes: 3,
            artifact_bytes: 4,
            calls,
            providers: [("code".parse().unwrap(), code)].into(),
            tools: [("notes_append".parse().unwrap(), append)].into(),
        };
        assert_eq!(loader.limits, limits);
        let audit =
            AuditConfig { privacy: Privacy::Redacted, max_file_len: 5, keep: 6, keep_days: 7 };
        assert_eq!(loader.audit, audit);
        assert_eq!(loader.approvals_expire_after, Duration::from_hours(7));
        let (personal, team) = (Visibility::Personal, Visibility::Team);
        let anybody = [personal, team, Visibility::Shared].into();
        let tools = |names: &str| tool_list(names).unwrap();
        let sets = [
            ToolSet { tools: tools("greet"), visibility: anybody },
            ToolSet { tools: tools("wiki_read wiki_write"), visibility: [personal, team].into() },
        ];
        assert_eq!(loader.tool_sets, sets);
        let name = |name: &str| name.parse().unwrap();
        assert_eq!(people.admins, [name("ada")].into());
        assert_eq!(people.approvers, [name("bo"), name("cleo")].into());
        let services = [(name("idle"), Vec::new()), (name("indexer"), vec!["approve".to_owned()])];
        assert_eq!(people.services, services.into());
        assert_eq!(log_level, LevelFilter::Debug);
    }

    #[test]
    fn an_empty_file_gives_the_defaults() {
        let HostConfig { loader, people, log_level } = parse("").unwrap();
        assert!(loader.plugin_directories.is_empty() && loader.providers.is_empty());
        let mut policy = Policy::default();
        policy.isolation.default = Isolation::Auto;
        assert_eq!(loader.policy, policy);
        assert_eq!(loader.worker, Some(WorkerProgram::this_program()));
        assert_eq!(loader.deadlines, Deadlines::default());
        assert_eq!(loader.limits, Limits::default());
        assert_eq!(loader.audit, AuditConfig::default());
        assert_eq!(loader.approvals_expire_after, Duration::from_hours(24));
        assert!(loader.tool_sets.is_empty());
        assert_eq!(people, People::default());
        assert_eq!(log_level, LevelFilter::Warn);
    }

    #[test]
    fn the_documented_sample_has_the_defaults() {
        let sample = include_str!("../../docs/toolbay.toml");
        let (sample, default) = (parse(sample).unwrap(), parse("").unwrap());
        let policy = &sample.loader.policy;
        let is_default =
            policy.static_audit.is_at_least_as_strict_as(&default.loader.policy.static_audit);
        assert_eq!(is_default, Ok(()));
        for check in Check::ALL {
            let level = policy.static_audit.level(*check);
            assert_eq!(level, check.default_level(), "{check}");
        }
        assert_eq!((policy.unsigned, policy.locked), (Unsigned::Refuse, false));
        assert_eq!(policy.hygiene, HygienePolicy::Report);
        assert_eq!(policy.isolation, default.loader.policy.isolation);
        assert_eq!(policy.worker_limits, default.loader.policy.worker_limits);
        assert_eq!(sample.loader.deadlines, default.loader.deadlines);
        assert_eq!(sample.loader.limits, default.loader.limits);
        assert_eq!(sample.loader.audit, default.loader.audit);
        assert_eq!(sample.loader.approvals_expire_after, default.loader.approvals_expire_after);
        assert_eq!(sample.loader.plugin_directories, [Path::new(HOME).join("plugins")]);
        assert_eq!((sample.people, sample.log_level), (default.people, default.log_level));
    }

    #[test]
    fn what_the_sample_leaves_out_for_want_of_a_default_can_be_written() {
        let sample = include_str!("../../docs/toolbay.toml");
        let uncommented: String = sample
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(rest) if rest.starts_with('[') || rest.contains(" = ") => format!("{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        // A key of [static_audit] stands below the tables that were commented out only where it does in the file.
        let config = parse(&uncommented).unwrap();
        assert!(config.loader.policy.static_audit.oldest_rustc.is_some());
        assert_eq!(config.loader.providers.len(), 1);
        assert_eq!(config.loader.tool_sets.len(), 1);
    }

    #[test]
    fn the_default_directory_counts_where_it_exists() {
        let home = tempfile::tempdir().unwrap();
        assert!(HostConfig::load(home.path()).unwrap().loader.plugin_directories.is_empty());
        let plugins = home.path().join("plugins");
        fs::create_dir(&plugins).unwrap();
        assert_eq!(HostConfig::load(home.path()).unwrap().loader.plugin_directories, [plugins]);
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_what_was_expected() {
        let cases = [
            (
                "[plugins]\n\ndirektories = []",
                "line 3: unknown key \"direktories\", expected \"directories\"",
            ),
            (
                "[limits]\nmax = 3",
                "line 2: unknown key \"max\", expected one of \"text_bytes\", \"argument_bytes\", \"media_bytes\", \"artifact_bytes\", \"result_bytes\", \"concurrency\", \"queue\", \"queue_ms\", \"calls_per_minute\", \"providers\", \"tools\"",
            ),
            (
                "[limits.tools.greet]\nconcurency = 3",
                "line 2: unknown key \"concurency\", expected \"concurrency\"",
            ),
            (
                "[limits.tools.greet]\nproviders = 3",
                "line 2: unknown key \"providers\", expected one of \"concurrency\", \"queue\", \"queue_ms\", \"calls_per_minute\", \"argument_bytes\", \"result_bytes\"",
            ),
            (
                "[limits.providers.code]\nconcurrency = 0",
                "line 2: invalid value: integer `0`, expected a nonzero u32",
            ),
            (
                "[limits]\nqueue_ms = 0",
                "line 2: invalid value: integer `0`, expected a nonzero u32",
            ),
            (
                "[limits.tools.greet]\ncalls_per_minute = 0",
                "line 2: invalid value: integer `0`, expected a nonzero u32",
            ),
            (
                "[limits.tools.greet]\nargument_bytes = 0",
                "line 2: invalid value: integer `0`, expected a nonzero usize",
            ),
            (
                "[limits.tools.greet]\nresult_bytes = 0",
                "line 2: expected 1 to 16777216 bytes of a result, found 0",
            ),
            (
                "[limits]\nresult_bytes = 16777217",
                "line 2: expected 1 to 16777216 bytes of a result, found 16777217",
            ),
            (
                "[limits.providers.Code]\nqueue = 3",
                "line 1: provider id: expected a letter of a-z and up to 63 characters of a-z 0-9 _ -, found \"Code\"",
            ),
            (
                "[limits.tools.\"a b\"]\nqueue = 3",
                "line 1: tool name: expected 1 to 64 characters of A-Z a-z 0-9 _ -, found \"a b\"",
            ),
            ("[plugin]\ndirectories = []", "line 1: unknown key \"plugin\", expected \"plugins\""),
            (
                "\n[agents.tutor.tools.search]",
                "line 2: expected no table \"agents\", for agents are made with `toolbay agent create NAME`",
            ),
            (
                "[agent.tutor]",
                "line 1: expected no table \"agent\", for agents are made with `toolbay agent create NAME`",
            ),
            ("[log]\nagents = 1", "line 2: unknown key \"agents\", expected \"level\""),
            ("[user]\nadmins = []", "line 1: unknown key \"user\", expected \"users\""),
            ("[users]\nadmin = []", "line 2: unknown key \"admin\", expected \"admins\""),
            ("[services.a]\nscope = []", "line 2: unknown key \"scope\", expected \"scopes\""),
            (
                "[users]\nadmins = [\"\"]",
                "line 2: actor name: expected 1 to 256 bytes without control characters, found \"\"",
            ),
            (
                "[approvals]\nexpire_hours = 0",
                "line 2: invalid value: integer `0`, expected a nonzero u32",
            ),
            (
                "[tool_sets.wiki]\ntools = []\nvisibility = [\"public\"]",
                "line 3: visibility: expected one of personal, team, shared, found \"public\"",
            ),
            ("[tool_sets.wiki]\nvisibility = []", "line 1: missing field `tools`"),
            (
                "[providers.My-Plugin]",
                "line 1: provider id: expected a letter of a-z and up to 63 characters of a-z 0-9 _ -, found \"My-Plugin\"",
            ),
            (
                "[tool_sets.a]\ntools = [\"read file\"]",
                "line 2: tool name: expected 1 to 64 characters of A-Z a-z 0-9 _ -, found \"read file\"",
            ),
            (
                "[audit]\nprivacy = \"metdata\"",
                "line 2: privacy: expected one of none, metadata, redacted, full, found \"metdata\"; did you mean \"metadata\"?",
            ),
            (
                "[audit]\nprivacy = \"loud\"",
                "line 2: privacy: expected one of none, metadata, redacted, full, found \"loud\"",
            ),
            ("[audit]\nkeep = \"many\"", "line 2: invalid type: string \"many\", expected usize"),
            (
                "[log]\nlevel = \"loud\"",
                "line 2: unknown variant `loud`, expected one of `off`, `error`, `warn`, `info`, `debug`, `trace`",
            ),
            (
                "[providers.a]\nb = 1\nc = [{ d = inf }]",
                "line 1: c: expected a finite number, since JSON has no other, found inf",
            ),
            ("[plugins\n", "line 1: unclosed table, expected `]`"),
        ];
        for (text, expected) in cases {
            let error = parse(text).err().unwrap().to_string();
            let expected = format!("configuration file {HOME}/toolbay.toml, {expected}");
            assert_eq!(error, expected, "{text:?}");
        }
    }
}
