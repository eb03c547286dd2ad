//! The commands that the demonstration runs, and what each must do.

use std::{
    fmt,
    process::{Command, ExitStatus, Stdio},
};

use cargo_metadata::camino::Utf8Path;

use super::DemoError;

/// One command of the host.
#[derive(Debug)]
pub(super) struct Scene {
    /// What it shows, for the reader.
    pub(super) shows: &'static str,
    arguments: &'static [&'static str],
    ends: End,
    /// Texts that the output must have.
    says: &'static [&'static str],
}

/// How a command must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// With exit code 0.
    Success,
    /// With another exit code, and not by a signal.
    Refusal,
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Success => "exit code 0",
            Self::Refusal => "an exit code other than 0",
        })
    }
}

/// The place of a provider's bundle in the home.
macro_rules! bundle {
    ($id:literal) => {
        concat!("bundles/", $id, "-", env!("CARGO_PKG_VERSION"), ".toolbay")
    };
}

pub(super) const SCENES: &[Scene] = &[
    Scene {
        shows: "What a bundle says about itself; nothing of it runs, and nobody stands for it yet",
        arguments: &["inspect", bundle!("greeting")],
        ends: End::Refusal,
        says: &["Toolbay", "greet", "unknown_key"],
    },
    Scene {
        shows: "An operator trusts the publisher's key",
        arguments: &["trust", "add", "vendor.pub", "--publisher", "Toolbay"],
        ends: End::Success,
        says: &["Toolbay"],
    },
    Scene {
        shows: "A bundle without its signature is refused",
        arguments: &["install", "bundles/unsigned.toolbay"],
        ends: End::Refusal,
        says: &["unsigned", "no signature"],
    },
    Scene {
        shows: "So is one of which somebody has changed a byte",
        arguments: &["install", "bundles/tampered.toolbay"],
        ends: End::Refusal,
        says: &["other_hash"],
    },
    Scene {
        shows: "Signed bundles are verified, installed and registered",
        arguments: &[
            "install",
            bundle!("greeting"),
            bundle!("code"),
            bundle!("catalogue"),
            bundle!("notes"),
            bundle!("misbehaving"),
        ],
        ends: End::Success,
        says: &["greeting", "code", "catalogue", "notes", "signed by Toolbay"],
    },
    Scene {
        shows: "Why a plugin is there, step by step",
        arguments: &["explain", "greeting"],
        ends: End::Success,
        says: &["signed by Toolbay"],
    },
    Scene {
        shows: "Their tools are on offer",
        arguments: &["list"],
        ends: End::Success,
        says: &["greet", "code_search", "code_read", "catalogue_search", "catalogue_entry"],
    },
    Scene {
        shows: "A call",
        arguments: &["call", "greet", "language=de"],
        ends: End::Success,
        says: &["Hallo."],
    },
    Scene {
        shows: "A search through this repository",
        arguments: &["call", "code_search", "pattern=macro_rules! export_provider"],
        ends: End::Success,
        says: &["plugin-api/src/export.rs"],
    },
    Scene {
        shows: "A look at what was found",
        arguments: &["call", "code_read", "path=plugin-api/src/export.rs", "line_count=3"],
        ends: End::Success,
        says: &["The export macro"],
    },
    Scene {
        shows: "A search that forgives a typing error",
        arguments: &["call", "catalogue_search", "query=statstics"],
        ends: End::Success,
        says: &["MAT-220", "Statistics You Can Use"],
    },
    Scene {
        shows: "What was found, in full",
        arguments: &["call", "catalogue_entry", "id=MAT-220"],
        ends: End::Success,
        says: &["MAT-220"],
    },
    Scene {
        shows: "An agent says where its model runs, and with that what may go there",
        arguments: &["agent", "create", "demo", "--zone", "local"],
        ends: End::Success,
        says: &["secret_adjacent"],
    },
    Scene {
        shows: "A call that writes waits for a person",
        arguments: &["call", "--agent", "demo", "notes_create", "name=shopping", "text=Milk"],
        ends: End::Refusal,
        says: &["waits as request"],
    },
    Scene {
        shows: "A person sees what waits, and decides",
        arguments: &["approvals", "list"],
        ends: End::Success,
        says: &["notes_create", "agent demo"],
    },
    Scene {
        shows: "What would become of a call, without making it",
        arguments: &["simulate", "--agent", "demo", "notes_delete", "name=shopping"],
        ends: End::Success,
        says: &["ALLOW_WITH_APPROVAL"],
    },
    Scene {
        shows: "Who did what",
        arguments: &["audit"],
        ends: End::Success,
        says: &["suspended", "create_agent"],
    },
    Scene {
        shows: "Arguments that don't fit are refused before the plugin sees them",
        arguments: &["call", "greet", "language=fr"],
        ends: End::Refusal,
        says: &["language"],
    },
    Scene {
        shows: "A plugin panics, and the host says so and goes on",
        arguments: &["call", "misbehave", "mode=panic"],
        ends: End::Refusal,
        says: &["broke off", "a misfortune in a call"],
    },
    Scene {
        shows: "The same plugin answers the next call",
        arguments: &["call", "misbehave", "mode=well"],
        ends: End::Success,
        says: &["well"],
    },
];

/// What a command did instead of what it should.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Surprise {
    /// It ended in another way.
    #[error("expected {expected}, found {found}")]
    End {
        /// The way it should have ended.
        expected: String,
        /// The way it ended.
        found: ExitStatus,
    },
    /// Its output lacks a text.
    #[error("expected {expected:?} in the output, found it nowhere")]
    Silence {
        /// The text.
        expected: &'static str,
    },
}

/// A scene that has been played.
#[derive(Debug)]
pub(super) struct Played {
    status: ExitStatus,
    output: String,
}

impl Scene {
    /// The command as a reader would type it.
    pub(super) fn command(&self) -> String {
        let words = self
            .arguments
            .iter()
            .map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() });
        format!("toolbay {}", words.collect::<Vec<_>>().join(" "))
    }

    /// Runs the command.
    pub(super) fn play(&self, host: &Utf8Path, home: &Utf8Path) -> Result<Played, DemoError> {
        let output = Command::new(host)
            .args(["--home", home.as_str()])
            .args(self.arguments)
            .current_dir(home)
            .stdin(Stdio::null())
            .output()
            .map_err(|cause| DemoError::Run { path: host.to_owned(), cause })?;
        let texts = [output.stdout, output.stderr];
        Ok(Played {
            status: output.status,
            output: texts.map(|text| String::from_utf8_lossy(&text).into_owned()).concat(),
        })
    }
}

impl Played {
    /// What the command wrote: its standard output, then its standard error.
    pub(super) fn output(&self) -> &str {
        &self.output
    }

    /// Compares what happened with what the scene is to show.
    pub(super) fn check(&self, scene: &Scene) -> Result<(), DemoError> {
        let surprise = |surprise| DemoError::Scene { command: scene.command(), surprise };
        // A signal is no refusal: it means that the host itself died.
        let as_expected = match self.status.code() {
            Some(code) => (code == 0) == (scene.ends == End::Success),
            None => false,
        };
        if !as_expected {
            let expected = scene.ends.to_string();
            return Err(surprise(Surprise::End { expected, found: self.status }));
        }
        match scene.says.iter().find(|text| !self.output.contains(**text)) {
            Some(expected) => Err(surprise(Surprise::Silence { expected })),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a scene on a shell script instead of the host.
    fn surprise(script: &str, ends: End) -> Option<String> {
        let scene = Scene { shows: "", arguments: &["call", "a b"], ends, says: &["one", "two"] };
        let output = Command::new("sh").args(["-c", script]).output().unwrap();
        let played = Played {
            status: output.status,
            output: String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
        };
        match played.check(&scene).err()? {
            DemoError::Scene { command, surprise } if command == "toolbay call 'a b'" => {
                Some(surprise.to_string())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_scene_that_ends_or_says_otherwise_fails() {
        for (script, ends, expected) in [
            ("echo one two", End::Success, None),
            ("echo one; echo two >&2", End::Success, None),
            ("echo one two; exit 3", End::Refusal, None),
            ("echo one", End::Success, Some("expected \"two\" in the output, found it nowhere")),
            (
                "echo one two; exit 3",
                End::Success,
                Some("expected exit code 0, found exit status: 3"),
            ),
            (
                "echo one two",
                End::Refusal,
                Some("expected an exit code other than 0, found exit status: 0"),
            ),
            (
                "echo one two; kill -9 $$",
                End::Refusal,
                Some("expected an exit code other than 0, found signal: 9 (SIGKILL)"),
            ),
        ] {
            assert_eq!(surprise(script, ends).as_deref(), expected, "{script}");
        }
    }
}
