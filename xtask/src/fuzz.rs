//! `cargo xtask fuzz`: feeds invented input to whatever reads files of others.
//!
//! It needs cargo-fuzz and a nightly compiler. What is found anew goes to the target folder; what is worth keeping is copied to
//! `fuzz/corpus` by hand.

use std::{fs, io};

use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};

use crate::{
    checkout::Checkout,
    steps::{StepError, Steps},
};

/// Memory that one run may use, in MiB: more is a finding. The address sanitizer takes its part of it.
const MAX_MEMORY: u32 = 2048;

/// The largest input, in bytes.
const MAX_INPUT: u32 = 256 * 1024;

/// The longest time for one input, in seconds.
const MAX_TIME: u32 = 10;

/// Why the fuzz targets did not all run to their end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FuzzError {
    /// The targets can't be listed, or a folder can't be made.
    #[error("{path} can't be read or made")]
    Folder {
        /// The folder.
        path: Utf8PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// There is no target of the name.
    #[error("fuzz target {target:?} unknown: expected one of {}", .known.join(", "))]
    Unknown {
        /// The name.
        target: String,
        /// The targets that there are.
        known: Vec<String>,
    },
    /// A target failed, which is a finding, or could not be built.
    #[error(
        "a target failed, or cargo-fuzz or the nightly compiler is missing; what was found lies in fuzz/artifacts"
    )]
    Step(#[from] StepError),
}

/// How the targets are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// For a long run.
    Optimized,
    /// For a short run, which would take less time than the optimizations do.
    Quick,
}

/// Runs one fuzz target or all of them, each for so many seconds.
///
/// # Errors
///
/// The first target that fails.
pub fn run(
    checkout: &Checkout,
    target: Option<&str>,
    seconds: u32,
    build: Build,
) -> Result<(), FuzzError> {
    let root = checkout.root();
    let known = targets(root)?;
    let chosen: Vec<&String> =
        known.iter().filter(|known| target.is_none_or(|target| target == **known)).collect();
    if let (Some(target), true) = (target, chosen.is_empty()) {
        return Err(FuzzError::Unknown { target: target.to_owned(), known });
    }
    let mut steps = Steps::new(chosen.len() + 1);
    let cargo_fuzz = |does: &str| {
        let mut command = checkout.nightly(["fuzz", does]);
        command.arg("--target-dir").arg(checkout.target().join("fuzz"));
        command.args((build == Build::Quick).then_some("--dev"));
        command
    };
    // All at once, so that the time that a target gets is its own.
    steps.run("building the fuzz targets", cargo_fuzz("build").args(target))?;
    for target in chosen {
        let found = checkout.target().join("fuzz-corpus").join(target);
        at(&found, fs::create_dir_all(&found))?;
        let corpus = root.join("fuzz/corpus").join(target);
        let mut command = cargo_fuzz("run");
        command.arg(target);
        // What is new goes to the first folder.
        command.args([found.as_str(), corpus.as_str(), "--"]).args([
            format!("-max_total_time={seconds}"),
            format!("-rss_limit_mb={MAX_MEMORY}"),
            format!("-max_len={MAX_INPUT}"),
            format!("-timeout={MAX_TIME}"),
            "-print_final_stats=1".to_owned(),
            "-verbosity=0".to_owned(),
        ]);
        steps.run(&format!("fuzzing {target} for {seconds} s"), &mut command)?;
    }
    Ok(())
}

/// The names of the targets, sorted: each is a file.
fn targets(root: &Utf8Path) -> Result<Vec<String>, FuzzError> {
    let folder = root.join("fuzz/fuzz_targets");
    let mut targets = Vec::new();
    for entry in at(&folder, folder.read_dir_utf8())? {
        let entry = at(&folder, entry)?;
        targets.extend(entry.file_name().strip_suffix(".rs").map(str::to_owned));
    }
    targets.sort();
    Ok(targets)
}

fn at<T>(path: &Utf8Path, outcome: io::Result<T>) -> Result<T, FuzzError> {
    outcome.map_err(|cause| FuzzError::Folder { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds_and_an_unknown_one_is_named() {
        let checkout = Checkout::discover().unwrap();
        let targets = targets(checkout.root()).unwrap();
        for target in &targets {
            let seeds = checkout.root().join("fuzz/corpus").join(target);
            assert!(seeds.read_dir().is_ok_and(|seeds| seeds.count() > 0), "{seeds}");
        }
        let error = run(&checkout, Some("librari"), 1, Build::Quick).unwrap_err();
        match error {
            FuzzError::Unknown { target, known } => {
                assert_eq!((target.as_str(), known), ("librari", targets));
            }
            other => panic!("{other:?}"),
        }
    }
}
