//! The binary `toolbay`, as it is used in a terminal.

use std::{
    env,
    ffi::OsString,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

use crate::{Home, host_binary};

/// What a command of the program came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code.
    pub code: i32,
    /// What it printed.
    pub output: String,
    /// What it said beside that.
    pub errors: String,
}

#[expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test whose program can't be run has failed"
)]
impl Ended {
    /// What came of a process that has ended.
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            output: String::from_utf8(output.stdout).unwrap(),
            errors: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The command, which must have ended with this code.
    pub fn with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// What it printed, as JSON.
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.output) {
            Ok(json) => json,
            Err(error) => panic!("{error}: {self:?}"),
        }
    }
}

#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test whose program can't be run has failed"
)]
impl Home {
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(host_binary());
        command.arg("--home").arg(self.path()).args(words).env_remove("TOOLBAY_LOG");
        command
    }

    /// Runs the program in the home.
    pub fn run(&self, words: &[&str]) -> Ended {
        Ended::of(self.command(words).output().unwrap())
    }

    /// What the program prints in the home, which must go well.
    pub fn printed(&self, words: &[&str]) -> String {
        self.run(words).with(0).output
    }

    /// The JSON that the program prints in the home, which must go well.
    pub fn json(&self, words: &[&str]) -> Value {
        self.run(&[words, &["--json"]].concat()).with(0).json()
    }

    /// The program in the home, running beside the test, with pipes to it.
    pub fn start(&self, words: &[&str]) -> Child {
        let pipes = || Stdio::piped();
        self.command(words).stdin(pipes()).stdout(pipes()).stderr(pipes()).spawn().unwrap()
    }

    /// Runs a command line that the program has printed, in a shell.
    pub fn shell(&self, line: &str) -> Ended {
        let binary = host_binary();
        let others = env::var_os("PATH").unwrap_or_default();
        let own = binary.parent().unwrap().to_owned();
        let folders = std::iter::once(own).chain(env::split_paths(&others));
        let path: OsString = env::join_paths(folders).unwrap();
        let output = Command::new("sh").arg("-c").arg(line).env("PATH", path).output();
        Ended::of(output.unwrap())
    }
}
