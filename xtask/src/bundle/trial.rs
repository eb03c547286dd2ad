//! Installs a bundle in a fresh home, in a process of its own: a plugin's code can do there whatever it likes.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolbay_loader::{
    Actor, BundledDefinition, Config, ProviderId, Rejection, Schema, Stage, Toolbay, Unsigned,
    one_line,
};

use super::{draft::Listed, library::Lines, this_program};

/// The environment variable by which a process knows that it is such a one; it holds the path of its [`Job`].
pub(super) const VARIABLE: &str = "TOOLBAY_BUNDLE_TRIAL";

/// How long a plugin may take to be made and to list its tools. It takes far less than a second, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// The most bytes of an answer.
const MAX_ANSWER: u64 = 64 * 1024 * 1024;

/// The last lines of what a process said that are shown where it fails.
const LINES_SHOWN: usize = 20;

/// Why a plugin did not come through a trial.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The process can't be prepared, started or heard.
    ///
    /// Resolution: free space, or correct the permissions.
    #[error("the plugin can't be tried in {}", .folder.display())]
    Run {
        /// Where it was to happen.
        folder: PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// The plugin ended the process.
    ///
    /// Resolution: correct what it does when it is loaded, made, listed or dropped.
    #[error("expected the plugin to be loaded and to list its tools, found that it ended its process: {status}{}", Lines(.said))]
    Ended {
        /// How the process ended.
        status: ExitStatus,
        /// The last lines that it wrote.
        said: Vec<String>,
    },
    /// The plugin hangs.
    ///
    /// Resolution: correct what it does when it is loaded, made, listed or dropped.
    #[error("expected the plugin to list its tools within {} s, found it still at it{}", PATIENCE.as_secs(), Lines(.said))]
    Hangs {
        /// The last lines that it wrote.
        said: Vec<String>,
    },
    /// The process did not say what happened.
    ///
    /// Resolution: correct the plugin, whose code ran there.
    #[error("expected the trial's answer, found {found}")]
    NoAnswer {
        /// What is there instead.
        found: String,
    },
    /// A host can't be set up there.
    #[error("a host can't be tried: {said}")]
    Host {
        /// What it said.
        said: String,
    },
    /// A host refuses the bundle, in these words.
    ///
    /// Resolution: as each reason says.
    #[error("a host refuses it{}", Lines(.reasons))]
    Refused {
        /// Every reason.
        reasons: Vec<String>,
        /// Whether it only lacks a configuration.
        unconfigured: bool,
    },
    /// What was packed does not list what the library did.
    ///
    /// Resolution: list the same tools each time.
    #[error("expected the installed bundle to list {expected}, found {found}")]
    OtherTools {
        /// The tools that were listed first.
        expected: String,
        /// Those that are listed now.
        found: String,
    },
}

/// Something to be tried.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// The bundle.
    pub(super) source: PathBuf,
    /// Whose key is trusted there; without one, unsigned plugins run.
    pub(super) trusted: Option<Trusted>,
    /// The configuration of the provider.
    pub(super) configuration: Option<(String, Box<RawValue>)>,
}

/// A key that a trial's host trusts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Trusted {
    pub(super) key: String,
    pub(super) publisher: String,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Installed { signer: String, tools: Vec<Tool>, warnings: Vec<String> },
    Refused { reasons: Vec<String>, unconfigured: bool },
    Failed(String),
}

#[derive(Debug, Serialize, Deserialize)]
struct Tool {
    name: String,
    description: String,
    input: String,
    output: Option<String>,
}

/// What was installed.
#[derive(Debug)]
pub(super) struct Tried {
    /// Who stands for it.
    pub(super) signer: String,
    pub(super) listed: Listed,
    /// What a host warns of.
    pub(super) warnings: Vec<String>,
}

impl Job {
    /// Tries it, in a folder of its own in this one.
    pub(super) fn run(&self, folder: &Path) -> Result<Tried, TrialError> {
        let failed = |cause| TrialError::Run { folder: folder.to_owned(), cause };
        let scratch = tempfile::tempdir_in(folder).map_err(failed)?;
        let job = scratch.path().join(JOB);
        fs::write(&job, serde_json::json!(self).to_string()).map_err(failed)?;
        let said = scratch.path().join("said");
        let output = File::create(&said).map_err(failed)?;
        let mut process = Command::new(this_program::path().map_err(failed)?)
            .env(VARIABLE, &job)
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(failed)?)
            .stderr(output)
            .spawn()
            .map_err(failed)?;
        match wait(&mut process).map_err(failed)? {
            None => Err(TrialError::Hangs { said: last_lines(&said) }),
            Some(status) if !status.success() => {
                Err(TrialError::Ended { status, said: last_lines(&said) })
            }
            Some(_) => read_answer(&scratch.path().join(ANSWER))?.tried(),
        }
    }
}

const JOB: &str = "job.json";
const ANSWER: &str = "answer.json";

/// Waits for a process; ends it and returns none where it takes too long.
fn wait(process: &mut Child) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > PATIENCE {
            process.kill()?;
            process.wait()?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The end of what a process wrote, fit to be shown.
fn last_lines(path: &Path) -> Vec<String> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    let mut last = VecDeque::new();
    for line in BufReader::new(file.take(MAX_ANSWER)).split(b'\n').map_while(Result::ok) {
        if last.len() == LINES_SHOWN {
            last.pop_front();
        }
        last.push_back(one_line(&String::from_utf8_lossy(&line), 300));
    }
    last.into()
}

fn read_answer(path: &Path) -> Result<Answer, TrialError> {
    let none = |found: String| TrialError::NoAnswer { found };
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            none("none: the plugin ended its process as if all were well".to_owned())
        }
        _ => none(error.to_string()),
    })?;
    let mut text = String::new();
    let read = file.take(MAX_ANSWER).read_to_string(&mut text);
    read.map_err(|error| none(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| none(error.to_string()))
}

impl Answer {
    fn tried(self) -> Result<Tried, TrialError> {
        match self {
            Self::Installed { signer, tools, warnings } => {
                let listed = tools.into_iter().map(Tool::listed).collect::<Result<_, _>>()?;
                Ok(Tried { signer, listed, warnings })
            }
            Self::Refused { reasons, unconfigured } => {
                Err(TrialError::Refused { reasons, unconfigured })
            }
            Self::Failed(said) => Err(TrialError::Host { said }),
        }
    }
}

impl Tool {
    fn listed(self) -> Result<(toolbay_loader::ToolName, BundledDefinition), TrialError> {
        let none = |found: String| TrialError::NoAnswer { found };
        let schema = |text: &str| Schema::parse(text).map_err(|error| none(error.to_string()));
        let name = self.name.parse().map_err(|_| none(one_line(&self.name, 80)))?;
        let definition = BundledDefinition::Fixed {
            description: self.description,
            input_schema: schema(&self.input)?,
            output_schema: self.output.as_deref().map(schema).transpose()?,
        };
        Ok((name, definition))
    }
}

/// Does a job, in the process that was started for it.
pub(super) fn child(job: &Path) -> ExitCode {
    let Some(folder) = job.parent() else { return ExitCode::FAILURE };
    // Kept until the answer is written, so that a plugin that dies when it is dropped is known by how the process ends.
    let (answer, toolbay) = match attempt(job, &folder.join("home")) {
        Ok((answer, toolbay)) => (answer, Some(toolbay)),
        Err(error) => (Answer::Failed(error.to_string()), None),
    };
    let written = fs::write(folder.join(ANSWER), serde_json::json!(answer).to_string());
    drop(toolbay);
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: the answer can't be written: {error}");
            ExitCode::FAILURE
        }
    }
}

fn attempt(job: &Path, home: &Path) -> anyhow::Result<(Answer, Toolbay)> {
    let Job { source, trusted, configuration } = serde_json::from_slice(&fs::read(job)?)?;
    let mut config = Config::new(home);
    config.policy.unsigned = match trusted {
        None => Unsigned::Allow,
        Some(_) => Unsigned::Refuse,
    };
    let configuration = configuration.map(|(id, raw)| Ok::<_, anyhow::Error>((id.parse()?, raw)));
    config.providers = configuration.into_iter().collect::<Result<_, _>>()?;
    let toolbay = Toolbay::open(config)?;
    let operator = Actor::User { name: "packer".parse()?, admin: true };
    if let Some(Trusted { key, publisher }) = trusted {
        toolbay.trust_key(&key, &publisher, &operator)?;
    }
    let report = toolbay.install(&[source], &operator, Default::default())?;
    let [provider] = &report.installed[..] else {
        return Ok((refused(&report.rejections), toolbay));
    };
    if !report.rejections.is_empty() {
        return Ok((refused(&report.rejections), toolbay));
    }
    let registry = toolbay.registry();
    let entries = registry.iter().filter(|entry| *entry.provider() == provider.id);
    let tools = entries.map(|entry| {
        let tool = entry.definition();
        Tool {
            name: tool.name().to_string(),
            description: tool.description().to_owned(),
            input: tool.schema().as_str().to_owned(),
            output: tool.output_schema().map(|schema| schema.as_str().to_owned()),
        }
    });
    let warnings = report.warnings.iter().map(|warning| warning.reason.to_string());
    let answer = Answer::Installed {
        signer: provider.signer.to_string(),
        tools: tools.collect(),
        warnings: warnings.collect(),
    };
    Ok((answer, toolbay))
}

fn refused(rejections: &[Rejection]) -> Answer {
    Answer::Refused {
        reasons: rejections.iter().map(|one| one.reason.to_string()).collect(),
        unconfigured: rejections.iter().all(|one| one.reason.stage == Stage::Create),
    }
}

/// The configuration of a provider, as a job has it.
pub(super) fn configured(
    id: &ProviderId,
    raw: Option<&RawValue>,
) -> Option<(String, Box<RawValue>)> {
    raw.map(|raw| (id.to_string(), raw.to_owned()))
}
