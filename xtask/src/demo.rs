//! `cargo xtask demo`: shows on the real binary what Toolbay does, and fails where it does anything else.

mod home;
mod scene;
mod session;

use std::{
    io::{self, Write},
    process::Command,
};

use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};

use self::{
    home::Home,
    scene::SCENES,
    session::{PATIENCE, SESSION},
};
use crate::{
    bundle::{BundleError, PluginError},
    checkout::Checkout,
    steps::{StepError, Steps},
};

pub use scene::Surprise;
pub use session::BrokenSession;

/// Why the demonstration did not show what it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// The host or a plugin can't be built.
    #[error("the host and its plugins can't be built")]
    Build(#[from] StepError),
    /// The demonstration's own home can't be laid out.
    #[error("{path} can't be laid out")]
    Home {
        /// The file or folder in question.
        path: Utf8PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The plugins can't be packed.
    #[error("the plugins can't be packed")]
    Bundle(#[from] BundleError),
    /// The host's binary can't be run.
    #[error("{path} can't be run")]
    Run {
        /// The binary.
        path: Utf8PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A command did something else than it should.
    #[error("`{command}` did not do what it should")]
    Scene {
        /// The command, as printed.
        command: String,
        /// What was expected and what came.
        #[source]
        surprise: Surprise,
    },
    /// A client's session went otherwise than it should.
    #[error("a session of an MCP client went otherwise than it should")]
    Session(#[from] BrokenSession),
    /// What happened can't be told.
    #[error("the output can't be written")]
    Output(#[source] io::Error),
}

impl From<PluginError> for DemoError {
    fn from(error: PluginError) -> Self {
        Self::Bundle(error.into())
    }
}

/// The packages that are built and shown: the host and plugins, one of which misbehaves on demand.
const HOST: &str = "toolbay";
const PLUGINS: [&str; 5] = [
    "toolbay-plugin-greeting",
    "toolbay-plugin-code",
    "toolbay-plugin-catalogue",
    "toolbay-plugin-notes",
    "toolbay-fixture-misbehaving",
];

/// The arguments by which the host serves an MCP client on its standard streams.
const SERVE: [&str; 4] = ["serve", "--stdio", "--agent", "demo"];

/// Builds the host and the plugins, gives them a fresh home in the target folder, runs one command after the other and writes what
/// happens to `out`.
///
/// # Errors
///
/// The first thing that went wrong. Nothing after it is shown.
pub fn run(checkout: &Checkout, out: &mut impl Write) -> Result<(), DemoError> {
    let mut build = checkout.cargo(["build", "--release", "--locked", "--package", HOST]);
    build.args(PLUGINS.map(|package| format!("--package={package}")));
    Steps::new(1).run("building the host and its plugins", &mut build)?;

    let home = Home::create(checkout, &PLUGINS)?;
    let host = checkout.target().join("release").join(HOST);
    tell(out, &format!("Below, toolbay is {host} --home {0}, run in {0}", home.path()))?;
    for scene in SCENES {
        tell(out, &format!("\n# {}\n$ {}", scene.shows, scene.command()))?;
        let played = scene.play(&host, home.path())?;
        tell(out, played.output().trim_end())?;
        played.check(scene)?;
    }
    tell(
        out,
        "\n# In one process, a panic and the calls after it\n$ toolbay serve --stdio --agent demo",
    )?;
    let mut server = Command::new(&host);
    server.args(["--home", home.path().as_str()]).args(SERVE);
    session::play(SESSION, PATIENCE, &mut server, out)?;
    let configuration = client_configuration(&host, &home);
    tell(
        out,
        "\n# All of it happened as it should. This connects an MCP client to the same home:",
    )?;
    tell(out, &configuration)
}

fn tell(out: &mut impl Write, text: &str) -> Result<(), DemoError> {
    writeln!(out, "{text}").map_err(DemoError::Output)
}

fn client_configuration(host: &Utf8Path, home: &Home) -> String {
    let args = [&["--home", home.path().as_str()][..], &SERVE].concat();
    let configuration = serde_json::json!({
        "mcpServers": {
            "toolbay": {
                "command": host,
                "args": args,
            },
        },
    });
    format!("{configuration:#}")
}
