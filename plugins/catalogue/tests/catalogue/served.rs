//! A catalogue that a test serves.

use std::{fs, path::PathBuf};

use tempfile::TempDir;
use toolbay_plugin_api::{
    serde_json::{Value, json},
    testing::{Answer, Plugin},
    wire::Fault,
};
use toolbay_plugin_catalogue::ExportedProvider;

/// A provider on a file.
pub(crate) struct Served {
    pub(crate) plugin: Plugin,
    _folder: Option<TempDir>,
}

/// A folder with one file.
pub(crate) struct OneFile {
    folder: TempDir,
    pub(crate) path: PathBuf,
}

impl OneFile {
    pub(crate) fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        Self { folder, path }
    }
}

impl Served {
    /// The sample's courses.
    pub(crate) fn sample() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/sample/courses.csv");
        let plugin = Plugin::create::<ExportedProvider>(&json!({ "file": path })).unwrap();
        Self { plugin, _folder: None }
    }

    /// A file of this name and content, with further configuration.
    pub(crate) fn with(name: &str, content: impl AsRef<[u8]>, config: Value) -> Self {
        let file = OneFile::new(name, content);
        let plugin = create(&file, config).unwrap();
        Self { plugin, _folder: Some(file.folder) }
    }

    pub(crate) fn file(name: &str, content: impl AsRef<[u8]>) -> Self {
        Self::with(name, content, json!({}))
    }

    /// The answer to a search, whatever it is.
    pub(crate) fn ask(&self, arguments: &Value) -> Answer {
        self.plugin.call("catalogue_search", arguments).unwrap()
    }

    /// The answer to a search that must succeed.
    pub(crate) fn search(&self, arguments: &Value) -> Answer {
        let answer = self.ask(arguments);
        assert!(answer.ok, "{arguments}: {}", answer.text);
        answer
    }

    /// The ids that a search finds, the best first.
    pub(crate) fn ids(&self, arguments: &Value) -> Vec<String> {
        ids_of(&self.search(arguments))
    }

    pub(crate) fn entry(&self, id: &str) -> Answer {
        self.plugin.call("catalogue_entry", &json!({ "id": id })).unwrap()
    }
}

/// Makes the provider on the file.
pub(crate) fn create(file: &OneFile, mut config: Value) -> Result<Plugin, Fault> {
    config["file"] = json!(file.path);
    Plugin::create::<ExportedProvider>(&config)
}

/// The ids in an answer.
pub(crate) fn ids_of(answer: &Answer) -> Vec<String> {
    let entries = answer.structured.as_ref().unwrap()["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}
