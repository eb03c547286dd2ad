//! A folder of notes that a test makes, and the provider on it.

use std::{
    collections::BTreeMap,
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
use toolbay_plugin_notes::ExportedProvider;

/// A folder `notes`, and beside it whatever a test puts outside.
pub(crate) struct Shelf {
    folder: TempDir,
    pub(crate) plugin: Plugin,
}

impl Shelf {
    pub(crate) fn new(notes: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().join("notes");
        fs::create_dir(&root).unwrap();
        let plugin = Plugin::create::<ExportedProvider>(&json!({ "folder": root })).unwrap();
        let shelf = Self { folder, plugin };
        for (file, text) in notes {
            shelf.write(file, text);
        }
        shelf
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    /// A path relative to the folder; `../x` is outside.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.root().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(file), text).unwrap();
    }

    pub(crate) fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    pub(crate) fn link(&self, file: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(file)).unwrap();
    }

    pub(crate) fn pipe(&self, file: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, self.path(file), rustix::fs::FileType::Fifo, mode, 0)
            .unwrap();
    }

    /// The names of all files, hidden ones too, with the content of the regular ones.
    pub(crate) fn content(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        let entries = fs::read_dir(self.root()).unwrap().map(Result::unwrap);
        let content = entries.map(|entry| {
            let regular = entry.file_type().unwrap().is_file();
            let bytes = regular.then(|| fs::read(entry.path()).unwrap());
            (entry.file_name().into_string().unwrap(), bytes)
        });
        content.collect()
    }

    /// The answer, whatever it is.
    pub(crate) fn ask(&self, tool: &str, arguments: Value) -> Answer {
        self.plugin.call(tool, &arguments).unwrap()
    }

    /// The answer of a call that must succeed.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        let answer = self.ask(tool, arguments.clone());
        assert!(answer.ok, "{tool} {arguments}: {}", answer.text);
        answer
    }

    /// What the model reads of a call that must fail, and change nothing.
    pub(crate) fn refusal(&self, tool: &str, arguments: Value) -> String {
        let before = self.content();
        let answer = self.ask(tool, arguments.clone());
        assert!(!answer.ok && !answer.cancelled, "{tool} {arguments}: {}", answer.text);
        assert_eq!(answer.write, None, "{tool} {arguments}");
        assert_eq!(self.content(), before, "{tool} {arguments}");
        answer.text
    }

    /// The preview of a call.
    pub(crate) fn preview(&self, tool: &str, arguments: Value) -> Vec<String> {
        self.plugin.preview(tool, &arguments).unwrap().unwrap()
    }
}

/// The tools that take a name, each with arguments for it.
pub(crate) fn calls_of(name: &str) -> [(&'static str, Value); 4] {
    [
        ("notes_read", json!({ "name": name })),
        ("notes_create", json!({ "name": name, "text": "new" })),
        ("notes_append", json!({ "name": name, "text": "more" })),
        ("notes_delete", json!({ "name": name })),
    ]
}

/// Runs what must not block, and fails where it does.
pub(crate) fn at_once<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(Duration::from_secs(30)).expect("it blocks, or it has panicked")
}
