//! The host's configuration: where its home is, and what `toolbay.toml` in it says.

mod error;
mod file;
mod json;

use std::{collections::BTreeMap, fs, io, path::Path};

use log::LevelFilter;
use toolbay_loader::{Agent, AgentName, AuditConfig, Config, Limits};

pub use self::error::ConfigError;
use self::file::{ConfigFile, PluginsSection};

/// The name of the configuration file in the home folder.
pub const FILE_NAME: &str = "toolbay.toml";

/// Where plugins are looked for, relative to the home folder, unless the configuration says otherwise.
pub(crate) const DEFAULT_PLUGIN_DIRECTORY: &str = "plugins";

/// What a host needs to know before it opens a [`Toolbay`](toolbay_loader::Toolbay).
#[non_exhaustive]
pub struct HostConfig {
    /// What the loader gets.
    pub loader: Config,
    /// The agents by name.
    pub agents: BTreeMap<AgentName, Agent>,
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

    fn parse(home: &Path, text: &str) -> Result<Self, ConfigError> {
        let file: ConfigFile = toml::from_str(text)
            .map_err(|error| ConfigError::of_toml(home.join(FILE_NAME), text, &error))?;
        let ConfigFile { plugins, providers, limits, audit, agents, log } = file;
        let (default_limits, default_audit) = (Limits::default(), AuditConfig::default());
        let mut loader = Config::new(home);
        loader.plugin_directories = match plugins {
            PluginsSection { directories: Some(directories) } => {
                directories.iter().map(|directory| home.join(directory)).collect()
            }
            // Nobody asked for the default directory, so its absence is no news.
            PluginsSection { directories: None } => {
                let default = home.join(DEFAULT_PLUGIN_DIRECTORY);
                if default.is_dir() { vec![default] } else { Vec::new() }
            }
        };
        loader.providers =
            providers.into_iter().map(|(id, table)| (id.into_inner(), table.into_raw())).collect();
        loader.limits = Limits {
            text_bytes: limits.text_bytes.unwrap_or(default_limits.text_bytes),
            argument_bytes: limits.argument_bytes.unwrap_or(default_limits.argument_bytes),
            media_bytes: limits.media_bytes.unwrap_or(default_limits.media_bytes),
            artifact_bytes: limits.artifact_bytes.unwrap_or(default_limits.artifact_bytes),
        };
        loader.audit = AuditConfig {
            privacy: audit.privacy.unwrap_or(default_audit.privacy),
            max_file_len: audit.max_file_bytes.unwrap_or(default_audit.max_file_len),
            keep: audit.keep.unwrap_or(default_audit.keep),
            keep_days: audit.keep_days.unwrap_or(default_audit.keep_days),
        };
        let agents = agents.into_iter().map(|(name, agent)| {
            let name = name.into_inner();
            let tools = agent.tools.into_iter();
            let tools = tools.map(|(tool, table)| (tool.into_inner(), table.into_raw())).collect();
            (name.clone(), Agent { tool_config: tools, ..Agent::new(name) })
        });
        let log_level = log.level.map_or(LevelFilter::Warn, LevelFilter::from);
        Ok(Self { agents: agents.collect(), loader, log_level })
    }
}

#[cfg(test)]
mod tests {
    use toolbay_loader::Privacy;

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
            [providers.catalogue]
            file = "courses.csv"
            since = 2024-05-01
            [limits]
            text_bytes = 1
            argument_bytes = 2
            media_bytes = 3
            artifact_bytes = 4
            [audit]
            privacy = "redacted"
            max_file_bytes = 5
            keep = 6
            keep_days = 7
            [agents.tutor.tools.search]
            limit = 3
            [log]
            level = "debug"
            "#,
        )
        .unwrap();
        let HostConfig { loader, agents, log_level } = config;
        assert_eq!(loader.home, Path::new(HOME));
        assert_eq!(
            loader.plugin_directories,
            [Path::new("/home/ada/bay/mine"), Path::new("/opt/plugins")]
        );
        assert_eq!(
            loader.providers["catalogue"].get(),
            r#"{"file":"courses.csv","since":"2024-05-01"}"#
        );
        let limits = Limits { text_bytes: 1, argument_bytes: 2, media_bytes: 3, artifact_bytes: 4 };
        assert_eq!(loader.limits, limits);
        let audit =
            AuditConfig { privacy: Privacy::Redacted, max_file_len: 5, keep: 6, keep_days: 7 };
        assert_eq!(loader.audit, audit);
        assert_eq!(agents["tutor"].tool_config["search"].get(), r#"{"limit":3}"#);
        assert_eq!(log_level, LevelFilter::Debug);
    }

    #[test]
    fn an_empty_file_gives_the_defaults() {
        let HostConfig { loader, agents, log_level } = parse("").unwrap();
        assert!(loader.plugin_directories.is_empty() && loader.providers.is_empty());
        assert_eq!(loader.limits, Limits::default());
        assert_eq!(loader.audit, AuditConfig::default());
        assert!(agents.is_empty());
        assert_eq!(log_level, LevelFilter::Warn);
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
                "line 2: unknown key \"max\", expected one of \"text_bytes\", \"argument_bytes\", \"media_bytes\", \"artifact_bytes\"",
            ),
            ("[plugin]\ndirectories = []", "line 1: unknown key \"plugin\", expected \"plugins\""),
            ("[agents.tutor]\ntool = {}", "line 2: unknown key \"tool\", expected \"tools\""),
            (
                "[providers.My-Plugin]",
                "line 1: provider id: expected a letter of a-z and up to 63 characters of a-z 0-9 _ -, found \"My-Plugin\"",
            ),
            (
                "[agents.tutor.tools.\"read file\"]",
                "line 1: tool name: expected 1 to 64 characters of A-Z a-z 0-9 _ -, found \"read file\"",
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
