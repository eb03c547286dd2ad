//! `cargo xtask demo`: shows on the real binary what Toolbay does, and fails where it does anything else.

mod home;
mod scene;

use std::io::{self, Write};

use cargo_metadata::camino::Utf8PathBuf;

use self::{home::Home, scene::SCENES};
use crate::{
    checkout::Checkout,
    steps::{StepError, Steps},
};

pub use scene::Surprise;

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
    /// What happened can't be told.
    #[error("the output can't be written")]
    Output(#[source] io::Error),
}

/// The packages that are built and shown: the host and plugins, one of which misbehaves on demand.
const HOST: &str = "toolbay";
const PLUGINS: [&str; 4] = [
    "toolbay-plugin-greeting",
    "toolbay-plugin-code",
    "toolbay-plugin-catalogue",
    "toolbay-fixture-misbehaving",
];

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
    let mut tell = |text: String| writeln!(out, "{text}").map_err(DemoError::Output);
    tell(format!("Below, toolbay is {host} --home {}", home.path()))?;
    for scene in SCENES {
        tell(format!("\n# {}\n$ {}", scene.shows, scene.command()))?;
        let played = scene.play(&host, home.path())?;
        tell(played.output().trim_end().to_owned())?;
        played.check(scene)?;
    }
    tell(format!(
        "\n# All of it happened as it should. This connects an MCP client to the same home:\n{}",
        client_configuration(&host, &home)
    ))
}

fn client_configuration(host: &Utf8PathBuf, home: &Home) -> String {
    let configuration = serde_json::json!({
        "mcpServers": {
            "toolbay": {
                "command": host,
                "args": ["--home", home.path(), "serve", "--stdio"],
            },
        },
    });
    format!("{configuration:#}")
}
