//! A home with a plugin that does violence to its process, and one that does not, both in workers.

use std::{fs, path::PathBuf, time::Duration};

use serde_json::{Value, json};
use toolbay_loader::{
    CallError, CallRequest, Check, Config, Deadlines, Isolation, Level, Reply, Toolbay,
    WorkerProgram,
};

use crate::{Home, bundle::patch, call, host_binary, nobody};

const VIOLENT: &str = "toolbay-fixture-violent";
const GREETING: &str = "toolbay-plugin-greeting";

/// When the violent plugin does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// While it is opened.
    Constructor,
    /// While its root module is made.
    Root,
    /// While the provider is made.
    Create,
    /// While it lists its tools.
    Tools,
    /// While it is dropped.
    Drop,
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
        let place = match moment {
            Moment::Constructor => "toolbay-violent constructor: ",
            Moment::Root => "toolbay-violent root:        ",
            Moment::Create => return home.configured("violent", json!({ "create": deed })),
            Moment::Tools => return home.configured("violent", json!({ "tools": deed })),
            Moment::Drop => return home.configured("violent", json!({ "drop": deed })),
        };
        let path = home.violent_library();
        let mut library = fs::read(&path).unwrap();
        let words = [format!("{place}{:19}", "nothing"), format!("{place}{deed:19}")];
        patch(&mut library, words[0].as_bytes(), words[1].as_bytes());
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
