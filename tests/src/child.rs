//! The running test once more, in a process of its own.

use std::{
    env,
    ffi::OsStr,
    io::{self, BufRead, BufReader, Lines, Write},
    process::{self, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
};

/// A process that runs one test of the running binary, and says line by line how far it has come. It is killed when it is dropped.
#[derive(Debug)]
pub struct Child {
    process: process::Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test whose process can't be started has failed"
)]
impl Child {
    /// Runs the test of this name with these environment variables, by which the test knows that it is the child.
    pub fn of(test: &str, variables: &[(&str, &OsStr)]) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, input, lines }
    }

    /// The next line that the child says, or `None` where it has ended.
    pub fn line(&mut self) -> Option<String> {
        loop {
            let line = self.lines.next()?.ok()?;
            // The rest is what the test runner says.
            if let Some(line) = line.strip_prefix("> ") {
                return Some(line.to_owned());
            }
        }
    }

    /// Lets the child [go on](wait).
    pub fn go_on(&mut self) {
        writeln!(self.input, "go on").unwrap();
    }

    /// How the child ended, once it has by itself.
    pub fn end(mut self) -> ExitStatus {
        while self.line().is_some() {}
        self.process.wait().unwrap()
    }

    /// Kills the child with a signal that it can't catch, and returns what it has said meanwhile.
    pub fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::iter::from_fn(|| self.line()).collect()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Says a line to the parent.
///
/// # Panics
///
/// Where the parent is no more.
#[expect(clippy::unwrap_used, reason = "a child without a parent has nothing to do")]
pub fn say(line: &str) {
    // The test runner may have begun a line.
    io::stdout().write_all(format!("\n> {line}\n").as_bytes()).unwrap();
}

/// Waits until the parent lets the child go on, or is no more.
pub fn wait() {
    let _ = io::stdin().read_line(&mut String::new());
}
