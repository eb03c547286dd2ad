//! Steps of a task that run a command each: what runs, how far the task is, and how long it took.

use std::{
    io::{self, BufRead, BufReader, IsTerminal, Read},
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

/// Why a step did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The program could not be started or waited for.
    #[error("{title}: {program} can't be run")]
    Run {
        /// The step's title.
        title: String,
        /// The program's name.
        program: String,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The program ran and failed.
    #[error("{title}: expected success, found {status}")]
    Failed {
        /// The step's title.
        title: String,
        /// How the program ended.
        status: ExitStatus,
    },
}

impl StepError {
    /// The exit code to pass on: that of the program, or 1 where it has none.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Run { .. } => 1,
            Self::Failed { status, .. } => {
                status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
            }
        }
    }
}

/// The steps of one task.
///
/// On a terminal the running step stands below the programs' output, with its time. Elsewhere each step is one line before and one
/// after, such as `[2/3] running the tests`, and the programs write where the task writes.
#[derive(Debug)]
pub struct Steps {
    total: usize,
    begun: usize,
    on_terminal: bool,
}

impl Steps {
    /// A task of `total` steps, of which none has begun.
    #[must_use]
    pub fn new(total: usize) -> Self {
        // A program's output passes through the progress line only where nobody keeps the two streams apart.
        let on_terminal = io::stderr().is_terminal() && io::stdout().is_terminal();
        Self { total, begun: 0, on_terminal }
    }

    /// Runs the next step.
    ///
    /// # Errors
    ///
    /// The program can't be run, or ends with anything but success.
    pub fn run(&mut self, title: &str, command: &mut Command) -> Result<(), StepError> {
        let (place, start) = self.begin(title);
        let outcome = if self.on_terminal {
            run_below_output(&place, command)
        } else {
            command.stdin(Stdio::null()).status()
        };
        let status = outcome.map_err(|cause| StepError::Run {
            title: title.to_owned(),
            program: command.get_program().to_string_lossy().into_owned(),
            cause,
        })?;
        end(&place, start, status.success());
        if status.success() {
            Ok(())
        } else {
            Err(StepError::Failed { title: title.to_owned(), status })
        }
    }

    /// Does the next step in this process.
    ///
    /// # Errors
    ///
    /// Those of the work.
    pub fn work<T, E>(&mut self, title: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let (place, start) = self.begin(title);
        let outcome = work();
        end(&place, start, outcome.is_ok());
        outcome
    }

    fn begin(&mut self, title: &str) -> (String, Instant) {
        self.begun += 1;
        let place = format!("[{}/{}] {title}", self.begun, self.total);
        eprintln!("{place}");
        (place, Instant::now())
    }
}

fn end(place: &str, start: Instant, is_success: bool) {
    let seconds = start.elapsed().as_secs_f64();
    if is_success {
        eprintln!("{place}: done in {seconds:.1} s");
    } else {
        eprintln!("{place}: FAILED after {seconds:.1} s");
    }
}

/// Runs a command with a line below its output that says what runs and for how long.
fn run_below_output(place: &str, command: &mut Command) -> io::Result<ExitStatus> {
    let mut child = command
        .env("CARGO_TERM_COLOR", "always")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let line = ProgressBar::new_spinner().with_style(style).with_message(place.to_owned());
    line.enable_steady_tick(Duration::from_millis(120));
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        if let Some(stdout) = stdout {
            scope.spawn(|| print_above(&line, stdout));
        }
        if let Some(stderr) = stderr {
            print_above(&line, stderr);
        }
    });
    line.finish_and_clear();
    child.wait()
}

/// Prints what a program writes above the progress line. A stream that can't be read any more ends like a closed one.
fn print_above(line: &ProgressBar, stream: impl Read) {
    for text in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        line.println(String::from_utf8_lossy(&text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_passes_on_how_its_program_ended() {
        for (script, expected) in [("exit 0", None), ("exit 7", Some(7)), ("kill -9 $$", Some(1))] {
            for on_terminal in [false, true] {
                let mut steps = Steps { total: 1, begun: 0, on_terminal };
                let outcome = steps.run("trying", Command::new("sh").args(["-c", script]));
                let code = outcome.err().map(|error| match &error {
                    StepError::Failed { title, .. } if title == "trying" => error.exit_code(),
                    other => panic!("{other:?}"),
                });
                assert_eq!(code, expected, "{script}");
            }
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = Steps::new(1).run("trying", &mut Command::new("no-such-program")).unwrap_err();
        assert_eq!(error.to_string(), "trying: no-such-program can't be run");
        assert_eq!(error.exit_code(), 1);
    }
}
