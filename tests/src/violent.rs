//! A home with a plugin that does violence to its process, and one that does not, both in workers.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use toolbay_corpus::{Deed, Patch};
use toolbay_loader::{
    CallError, CallRequest, Check, Config, Deadlines, Isolation, Level, Reply, Toolbay,
    WorkerProgram,
};

pub use toolbay_corpus::Moment;

use crate::{Home, call, host_binary, library, nobody, stripped};

const VIOLENT: &str = "toolbay-fixture-violent";
const GREETING: &str = "toolbay-plugin-greeting";

/// Makes a library of the violent plugin do something at a moment, whatever it is configured with.
///
/// # Panics
///
/// Where it does that already, there is no such deed, or the moment has no place in the file.
#[expect(clippy::unwrap_used, reason = "a test whose library can't be made has failed")]
pub fn patch_deed(library: &mut [u8], moment: Moment, deed: &str) {
    if deed != Deed::Nothing.word() {
        Patch(library).deed(moment, Deed::named(deed).unwrap()).unwrap();
    }
}

/// Changes what a library's note says. The text may not become longer, so its tools lose their summaries.
///
/// # Panics
///
/// Where there is no note, or no room for the new one.
#[expect(clippy::unwrap_used, reason = "a test whose library can't be made has failed")]
pub fn change_note(library: &mut [u8], change: impl FnOnce(&mut Value)) {
    Patch(library).note(change).unwrap();
}

/// The violent plugin under another name: a provider with one tool.
#[derive(Debug)]
pub struct Guise {
    id: String,
    tool: String,
    content: Arc<[u8]>,
}

#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test whose library can't be made has failed"
)]
impl Guise {
    /// The provider of this id, whose tool has this name.
    pub fn new(id: &str, tool: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let content = fs::read(stripped(&library(VIOLENT), folder.path())).unwrap();
        Self { id: id.to_owned(), tool: tool.to_owned(), content: content.into() }
    }

    /// The same under another name.
    #[must_use]
    pub fn named(&self, id: &str, tool: &str) -> Self {
        let content = Arc::clone(&self.content);
        Self { id: id.to_owned(), tool: tool.to_owned(), content }
    }

    /// Writes a version of it, changed besides as a test wants it.
    pub fn write(&self, to: &Path, version: &str, change: impl FnOnce(&mut [u8])) {
        let mut content = self.content.to_vec();
        change_note(&mut content, |note| {
            note["id"] = self.id.as_str().into();
            note["version"] = version.into();
            note["tools"][0]["name"] = self.tool.as_str().into();
        });
        change(&mut content);
        fs::write(to, content).unwrap();
    }
}

/// Deadlines that a test can wait for.
pub fn short() -> Deadlines {
    let mut deadlines = Deadlines::default();
    let short = Duration::from_secs(1);
    deadlines.constructors = short;
    deadlines.root = short;
    deadlines.create = short;
    deadlines.tools = short;
    deadlines.grace = short;
    deadlines.stop = short;
    deadlines
}

#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test whose folder can't be made has failed"
)]
impl Home {
    /// A home with both plugins, of which the violent one does this at this moment.
    pub fn violent(moment: Moment, deed: &str) -> Self {
        let home = Self::with(&[VIOLENT, GREETING]);
        match moment {
            Moment::Create => return home.configured("violent", json!({ "create": deed })),
            Moment::Tools => return home.configured("violent", json!({ "tools": deed })),
            Moment::Stop => return home.configured("violent", json!({ "drop": deed })),
            _ => {}
        }
        let path = home.violent_library();
        let mut library = fs::read(&path).unwrap();
        patch_deed(&mut library, moment, deed);
        fs::write(path, library).unwrap();
        home
    }

    /// Where the violent plugin's library is.
    pub fn violent_library(&self) -> PathBuf {
        self.plugin(&format!("{VIOLENT}.so"))
    }

    /// The configuration with which plugins run in workers, also those that import what is usually denied.
    pub fn isolated(&self) -> Config {
        let mut config = self.config();
        config.policy.isolation.default = Isolation::Worker;
        config.policy.static_audit.levels.insert(Check::DeniedImports, Level::Allow);
        config.worker = Some(WorkerProgram::at(host_binary()));
        config.deadlines = short();
        config
    }

    /// The same, with plugins that run in the host's own process.
    pub fn in_process(&self) -> Config {
        let mut config = self.isolated();
        config.policy.isolation.default = Isolation::InProcess;
        config
    }
}

/// Lets the violent plugin do something, in a call that has this much time.
///
/// # Errors
///
/// As [`Toolbay::call`].
pub fn order(toolbay: &Toolbay, deed: &str) -> Result<Reply, CallError> {
    let (nobody, arguments) = (nobody(), json!({ "deed": deed }).to_string());
    let request = CallRequest::new("do", &arguments, &nobody);
    toolbay.call(&request.with_deadline(Duration::from_secs(30)))
}

/// Whether the other plugin answers.
pub fn greets_still(toolbay: &Toolbay) -> bool {
    let reply = call(toolbay, "greet", &Value::Object(Default::default()));
    reply.is_ok_and(|reply| reply.model_text() == "Hello.")
}
