//! A home folder for one test.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, value::RawValue};
use tempfile::TempDir;
use toolbay_loader::{
    Actor, CallError, CallRequest, Caller, Config, RefreshReport, Rejection, Reply, Toolbay,
    Unsigned,
};

/// What lets unsigned plugins run.
const DEVELOPMENT: &str = "[trust]\nunsigned = \"allow\"\n";

/// A home folder with a plugin directory, gone when it is dropped.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
    providers: Vec<(String, Value)>,
}

#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::new_without_default,
    reason = "a test whose folder can't be made has failed"
)]
impl Home {
    /// An empty one, in which unsigned plugins run.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("plugins")).unwrap();
        fs::write(folder.path().join("toolbay.toml"), DEVELOPMENT).unwrap();
        Self { folder, providers: Vec::new() }
    }

    /// One with copies of these packages' libraries.
    pub fn with(packages: &[&str]) -> Self {
        let home = Self::new();
        for package in packages {
            home.install(package);
        }
        home
    }

    /// The home with a provider's configuration.
    #[must_use]
    pub fn configured(mut self, provider: &str, configuration: Value) -> Self {
        self.configure(provider, configuration);
        self
    }

    /// Changes a provider's configuration for whoever opens the home from now on.
    pub fn configure(&mut self, provider: &str, configuration: Value) {
        self.providers.retain(|(there, _)| there != provider);
        self.providers.push((provider.to_owned(), configuration));
    }

    /// Copies a package's library into the plugin directory.
    pub fn install(&self, package: &str) -> PathBuf {
        let to = self.plugin(&format!("{package}.so"));
        fs::copy(crate::library(package), &to).unwrap();
        to
    }

    /// Where a file of this name in the plugin directory is.
    pub fn plugin(&self, name: &str) -> PathBuf {
        self.path().join("plugins").join(name)
    }

    /// The home folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The configuration of a host application that uses the home.
    pub fn config(&self) -> Config {
        let mut config = Config::new(self.path());
        config.plugin_directories.push(self.path().join("plugins"));
        config.policy.unsigned = Unsigned::Allow;
        for (provider, configuration) in &self.providers {
            let json = RawValue::from_string(configuration.to_string()).unwrap();
            config.providers.insert(provider.parse().unwrap(), json);
        }
        config
    }

    /// Opens the home, as a process does that has just started.
    pub fn open(&self) -> Toolbay {
        Toolbay::open(self.config()).unwrap()
    }

    /// Opens the home and refreshes, which must take every file.
    pub fn refreshed(&self) -> Toolbay {
        let toolbay = self.open();
        let report = toolbay.refresh().unwrap();
        assert_eq!(report.rejections, [], "every file is taken");
        toolbay
    }

    /// Opens the home and refreshes, which must refuse something.
    pub fn rejections(&self) -> Vec<Rejection> {
        let report = self.open().refresh().unwrap();
        assert_ne!(report.rejections, [], "something is refused");
        report.rejections
    }

    /// Writes the configuration file that the program reads. In it, too, unsigned plugins run.
    pub fn configuration(&self, text: &str) {
        let trust = if text.contains("[trust]") { "" } else { DEVELOPMENT };
        fs::write(self.path().join("toolbay.toml"), format!("{trust}{text}")).unwrap();
    }

    /// Every file in the home with its content; of a library, its size and the time of its last change.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let content = match path.extension() {
                    Some(extension) if extension == "so" => {
                        let metadata = path.metadata().unwrap();
                        format!("{} {:?}", metadata.len(), metadata.modified()).into_bytes()
                    }
                    _ => fs::read(&path).unwrap(),
                };
                files.insert(path, content);
            }
        }
        files
    }

    /// The records of the audit log, read when no process has it open.
    pub fn audit(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path().join("audit/audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Refreshes a home that also has a good plugin, which must answer, and returns what was found beside it.
#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test whose good plugin does not answer has failed"
)]
pub fn refreshed_beside_a_good_plugin(spoil: impl FnOnce(&Home)) -> RefreshReport {
    let home = Home::with(&["toolbay-plugin-greeting"]);
    spoil(&home);
    let toolbay = home.open();
    let report = toolbay.refresh().unwrap();
    assert_eq!(
        call(&toolbay, "greet", &Value::Object(Default::default())).unwrap().model_text(),
        "Hello."
    );
    report
}

/// A caller without an identity.
pub fn nobody() -> Caller {
    Caller::new(Actor::Anonymous)
}

/// Calls a tool as nobody in particular.
///
/// # Errors
///
/// As [`Toolbay::call`].
pub fn call(toolbay: &Toolbay, tool: &str, arguments: &Value) -> Result<Reply, CallError> {
    toolbay.call(&CallRequest::new(tool, &arguments.to_string(), &nobody()))
}
