//! A host, run once for each case: did it survive, and does the twin work in it?

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::{IndexedCase, Placeholders, make::FileEntry};

/// How often it is looked whether the host has ended.
const INTERVAL: Duration = Duration::from_millis(10);

/// An exit code of this number or more is what shells make of a signal.
const BY_SIGNAL: i32 = 128;

/// A host to check.
#[derive(Debug, Clone)]
pub struct Host {
    /// The program and its arguments, some of which may be [`Placeholders`].
    pub command: Vec<OsString>,
    /// How long it may take.
    pub limit: Duration,
    /// What it must print to have survived: without it, a plugin that ends the host with the code 0 looks like success.
    pub says: Option<String>,
}

/// Why a host could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The host can't be run.
    ///
    /// *Resolution*: name a program that is there.
    #[error("{} can't be run", program.display())]
    Run {
        /// The program.
        program: OsString,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A folder for the host can't be made, or what it has said can't be read.
    ///
    /// *Resolution*: the cause says why.
    #[error("a run in {} can't be looked after", path.display())]
    Home {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// What came of a case in a host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    /// The case.
    pub id: String,
    /// Why the host has not survived it, where it has not.
    pub harm: Option<String>,
    /// Why the benign twin does not work, where it does not.
    pub twin: Option<String>,
}

impl Checked {
    /// Whether all is well.
    pub fn passed(&self) -> bool {
        self.harm.is_none() && self.twin.is_none()
    }
}

/// How a run ended.
struct Ended {
    status: Option<ExitStatus>,
    output: String,
}

/// Runs a host with a case and with its twin, each in an empty folder of its own below `homes`. `corpus` is the folder that was made.
///
/// The host has survived where it ends by itself in time, without a signal, and says what it must; whatever exit code below 128 it has. The twin works
/// where its exit code is 0 besides.
///
/// # Errors
///
/// [`CheckError`] where the host can't be run at all.
pub fn check(
    host: &Host,
    corpus: &Path,
    case: &IndexedCase,
    homes: &Path,
) -> Result<Checked, CheckError> {
    let run = |name: &str, file: &FileEntry, provider| {
        let home = homes.join(format!("{}-{name}", case.id));
        let arguments = file.arguments.to_string();
        let call = (file.tool, arguments.as_str());
        let id = format!("{}-{name}", case.id);
        let library = corpus.join(&file.path);
        run_host(host, &Placeholders::of(&id, provider, &library, &home, call), &home)
    };
    let harm = harm(host, &run("case", &case.library, case.provider)?);
    let twin = run("twin", &case.twin, "violent")?;
    let twin = match (crate::check::harm(host, &twin), twin.status.and_then(|it| it.code())) {
        (None, Some(0)) => None,
        (None, code) => {
            Some(format!("expected the exit code 0, found {}", code.unwrap_or_default()))
        }
        (harm, _) => harm,
    };
    Ok(Checked { id: case.id.clone(), harm, twin })
}

/// Why a host has not survived a run.
fn harm(host: &Host, ended: &Ended) -> Option<String> {
    let Some(status) = ended.status else {
        return Some(format!("expected an end within {} s, found none", host.limit.as_secs_f64()));
    };
    if let Some(signal) = status.signal() {
        return Some(format!("expected an exit code, found signal {signal}"));
    }
    match status.code() {
        Some(code) if code >= BY_SIGNAL => {
            return Some(format!("expected an exit code below {BY_SIGNAL}, found {code}"));
        }
        _ => {}
    }
    let missing = host.says.as_ref().filter(|says| !ended.output.contains(says.as_str()))?;
    Some(format!("expected it to say {missing:?}, found that it ended with {status} before"))
}

fn run_host(host: &Host, words: &Placeholders, home: &Path) -> Result<Ended, CheckError> {
    let of_home = |cause| CheckError::Home { path: home.to_owned(), cause };
    fs::create_dir_all(home).map_err(of_home)?;
    let mut command = host.command.iter().map(|word| words.filled(word));
    let program = command.next().unwrap_or_default();
    let said = home.with_extension("output");
    let output = File::create(&said).map_err(of_home)?;
    let mut child = Command::new(&program)
        .args(command)
        .stdin(Stdio::null())
        // A file, not a pipe: whoever has inherited a pipe could keep it open for good.
        .stdout(output)
        .stderr(Stdio::null())
        // What it starts is ended with it.
        .process_group(0)
        .spawn()
        .map_err(|cause| CheckError::Run { program: program.clone(), cause })?;
    let until = Instant::now() + host.limit;
    let status = loop {
        match child.try_wait().map_err(of_home)? {
            None if Instant::now() < until => thread::sleep(INTERVAL),
            status => break status,
        }
    };
    if status.is_none() {
        // Nobody has waited for it, so that the number is still its own, and its group's.
        kill_process_group(Pid::from_child(&child), Signal::KILL)
            .map_err(|error| of_home(error.into()))?;
        child.wait().map_err(of_home)?;
    }
    let output = fs::read(&said).map_err(of_home)?;
    Ok(Ended { status, output: String::from_utf8_lossy(&output).into_owned() })
}
