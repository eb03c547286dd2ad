//! `toolbay status`: what is really loaded, as the processes say that have loaded it.

use serde::Serialize;
use toolbay_loader::{Disturbance, LoadedLibrary, Phase, RunningProcess};

use crate::{
    cli::PlainArgs,
    commands::{CommandError, Opened, Setup, row::path_text},
    exit::Exit,
    output::{Facts, Output, grouped},
};

#[derive(Serialize)]
struct StatusJson<'a> {
    processes: Vec<ProcessJson<'a>>,
}

#[derive(Serialize)]
struct ProcessJson<'a> {
    pid: u32,
    release: &'a str,
    loaded: Vec<LoadedJson<'a>>,
}

#[derive(Serialize)]
struct LoadedJson<'a> {
    provider: &'a str,
    version: &'a str,
    hash: &'a str,
    signer: &'a str,
    path: String,
    device: &'a str,
    inode: u64,
    rustc: Option<&'a str>,
    worker: Option<u32>,
    phases: &'a [Phase],
    disturbances: &'a [Disturbance],
}

impl<'a> From<&'a RunningProcess> for ProcessJson<'a> {
    fn from(process: &'a RunningProcess) -> Self {
        let loaded = process.loaded.iter().map(LoadedJson::from).collect();
        Self { pid: process.pid, release: &process.release, loaded }
    }
}

impl<'a> From<&'a LoadedLibrary> for LoadedJson<'a> {
    fn from(library: &'a LoadedLibrary) -> Self {
        Self {
            provider: &library.provider,
            version: &library.version,
            hash: &library.hash,
            signer: &library.signer,
            path: path_text(&library.path),
            device: &library.device,
            inode: library.inode,
            rustc: library.rustc.as_deref(),
            worker: library.worker,
            phases: &library.phases,
            disturbances: &library.disturbances,
        }
    }
}

pub(super) fn status(
    args: &PlainArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, .. } = setup.open()?;
    let processes = toolbay.running_processes()?;
    if args.json {
        output
            .json(&StatusJson { processes: processes.iter().map(ProcessJson::from).collect() })?;
        return Ok(Exit::Done);
    }
    if processes.is_empty() {
        output.text("no process has loaded a plugin of this home")?;
    }
    for process in &processes {
        output.text(&format!("process {}, toolbay {}", process.pid, process.release))?;
        for library in &process.loaded {
            output.facts(&facts(library))?;
        }
    }
    Ok(Exit::Done)
}

fn facts(library: &LoadedLibrary) -> Facts {
    let mut facts = Facts::new();
    facts.add(format!("  {}", library.provider), &library.version);
    facts.add("    sha256", &library.hash);
    facts.add("    signed by", &library.signer);
    facts.add("    mapped", path_text(&library.path));
    facts.add("    file", format!("device {}, inode {}", library.device, library.inode));
    facts.add("    rustc", library.rustc.as_deref().unwrap_or("not said"));
    if let Some(worker) = library.worker {
        facts.add("    worker", format!("process {worker}"));
    }
    let phase = |phase: &Phase| format!("{} {} µs", phase.name, grouped(phase.microseconds));
    let phases: Vec<String> = library.phases.iter().map(phase).collect();
    facts.add("    phases", phases.join(", "));
    for disturbance in &library.disturbances {
        facts.add("    changed", disturbance.to_string());
    }
    facts
}
