//! A home for bundles: in it only what is signed runs, unless a test says otherwise.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use serde_json::json;
use tempfile::TempDir;
use toolbay_loader::{
    Actor, CallError, Config, InstallReport, RefreshOptions, Rejection, Stage, Toolbay,
};

use crate::{
    bundle::{Key, VENDOR},
    call,
};

/// A folder with a home and whatever else a test needs, gone when it is dropped.
#[derive(Debug)]
pub struct Bay {
    folder: TempDir,
}

#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::new_without_default,
    reason = "a test whose folder can't be made has failed"
)]
impl Bay {
    /// One that trusts nobody.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("plugins")).unwrap();
        Self { folder }
    }

    /// One that trusts a key.
    pub fn trusting(key: &Key) -> Self {
        let bay = Self::new();
        bay.open().trust_key(&key.public(), VENDOR, &operator()).unwrap();
        bay
    }

    /// Where something of this name is, outside the home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where something of this name in the home is.
    pub fn home(&self, name: &str) -> PathBuf {
        self.path("home").join(name)
    }

    /// The configuration of a host application that uses the home, with a plugin directory.
    pub fn config(&self) -> Config {
        let mut config = Config::new(self.path("home"));
        config.plugin_directories.push(self.path("plugins"));
        config
    }

    /// Opens the home, as a process does that has just started.
    pub fn open(&self) -> Toolbay {
        Toolbay::open(self.config()).unwrap()
    }

    /// The names in the store, sorted; none where there is no store yet.
    pub fn store(&self) -> Vec<String> {
        let names = fs::read_dir(self.home("store")).into_iter().flatten();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The entry of the store with what is installed of a provider.
    pub fn entry(&self, provider: &str) -> PathBuf {
        let installed = self.open().installed().unwrap();
        self.home("store").join(&installed[provider].entry)
    }

    /// The library that a call of a provider would open.
    pub fn library(&self, provider: &str) -> PathBuf {
        let providers = self.open().providers();
        providers.into_iter().find(|one| one.id.as_str() == provider).unwrap().library
    }
}

/// An administrator.
#[expect(clippy::unwrap_used, reason = "the name is a good one")]
#[expect(clippy::missing_panics_doc, reason = "the name is a good one")]
pub fn operator() -> Actor {
    Actor::User { name: "operator".parse().unwrap(), admin: true }
}

/// Installs from one place.
///
/// # Panics
///
/// Where nothing could be installed, for whatever reason there is besides what the report says.
#[expect(clippy::unwrap_used, reason = "a test that can't install has failed")]
pub fn install(toolbay: &Toolbay, source: impl AsRef<Path>) -> InstallReport {
    let source = source.as_ref().to_owned();
    toolbay.install(&[source], &operator(), RefreshOptions::default()).unwrap()
}

/// The verdicts of rejections.
pub fn codes(rejections: &[Rejection]) -> Vec<(Stage, &'static str)> {
    rejections.iter().map(|one| (one.reason.stage, one.reason.code)).collect()
}

/// Why the plugin of a call can't be loaded, where that is why there is no reply.
pub fn rejection(error: &CallError) -> Option<&Rejection> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(rejection) = error.downcast_ref() {
            return Some(rejection);
        }
        cause = error.source();
    }
    None
}

/// The verdict for which a call could not be made.
///
/// # Panics
///
/// Where the call failed for another reason than that its plugin can't be loaded.
#[expect(clippy::panic, reason = "a test that is told something else has failed")]
pub fn verdict(error: &CallError) -> (Stage, &'static str) {
    match rejection(error) {
        Some(rejection) => (rejection.reason.stage, rejection.reason.code),
        None => panic!("no verdict about a plugin: {error:?}"),
    }
}

/// Calls the greeting, which must say hello or be refused with a verdict.
///
/// # Errors
///
/// The verdict.
///
/// # Panics
///
/// Where it says something else.
pub fn greets(toolbay: &Toolbay) -> Result<(), (Stage, &'static str)> {
    let reply = call(toolbay, "greet", &json!({})).map_err(|error| verdict(&error))?;
    assert_eq!(reply.model_text(), "Hello.");
    Ok(())
}
