//! A tree of files that a test makes, and the provider on it.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use tempfile::TempDir;
use toolbay_plugin_api::{
    serde_json::{Value, json},
    testing::{Answer, Plugin},
};
use toolbay_plugin_code::ExportedProvider;

/// A folder `root` with files, and beside it whatever a test puts outside.
pub(crate) struct Tree {
    folder: TempDir,
}

impl Tree {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        // The default's name is hidden, and hidden folders are what some of the tests are about.
        let tree = Self { folder: TempDir::with_prefix("tree").unwrap() };
        fs::create_dir(tree.root()).unwrap();
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    /// A path relative to the root; `../x` is outside.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(path)).unwrap();
    }

    pub(crate) fn pipe(&self, path: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, self.path(path), rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
    }

    pub(crate) fn plugin(&self) -> Plugin {
        self.plugin_with(json!({}))
    }

    pub(crate) fn plugin_with(&self, limits: Value) -> Plugin {
        let config = json!({ "roots": [self.root()], "limits": limits });
        Plugin::create::<ExportedProvider>(&config).unwrap()
    }

    /// The answer to a search that must succeed.
    pub(crate) fn search(&self, arguments: Value) -> Answer {
        let answer = self.plugin().call("code_search", &arguments).unwrap();
        assert!(answer.ok, "{arguments}: {}", answer.text);
        answer
    }

    /// The files in which a search finds something.
    pub(crate) fn files(&self, arguments: Value) -> Vec<String> {
        files_of(&self.search(arguments))
    }

    /// The answer of `code_read`.
    pub(crate) fn read(&self, arguments: Value) -> Answer {
        self.plugin().call("code_read", &arguments).unwrap()
    }
}

pub(crate) fn files_of(answer: &Answer) -> Vec<String> {
    let files = answer.structured.as_ref().unwrap()["files"].as_array().unwrap();
    files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

/// Runs what must not block, and fails where it does.
pub(crate) fn at_once<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(Duration::from_secs(30)).expect("it blocks, or it has panicked")
}
