//! The corpus as a folder: a library for each case, its twin beside it, and an index.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    CError, Case, Expected, Making, Moment, Patch, PatchError, Provider, case::benign_call,
    note_define,
};

/// The provider as it is.
const BENIGN: &str = "benign.so";

/// Why the folder could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// A file can't be written.
    ///
    /// *Resolution*: the cause says why.
    #[error("{} can't be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// A C source does not compile.
    #[error("the library of {id} can't be compiled")]
    Compile {
        /// The case.
        id: String,
        /// What the compiler said.
        #[source]
        cause: CError,
    },
    /// The provider can't be patched.
    #[error("the library of {id} can't be made")]
    Patch {
        /// The case.
        id: String,
        /// What is missing.
        #[source]
        cause: PatchError,
    },
}

/// What `corpus.json` says.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Index {
    /// The release of this crate.
    pub release: &'static str,
    /// The digest of the binary interface that the libraries are for.
    pub interface: String,
    /// The processor and system that they are for.
    pub target: &'static str,
    /// The cases, each with its files.
    pub cases: Vec<IndexedCase>,
}

/// A case with its files.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct IndexedCase {
    /// Its name.
    pub id: String,
    /// The number of its kind in the list of the README.
    pub number: &'static str,
    /// What it does, in a line.
    pub does: &'static str,
    /// When.
    pub moment: Moment,
    /// How its library is made, in a line.
    pub made: String,
    /// The provider's id.
    pub provider: &'static str,
    /// Its configuration.
    pub configuration: Value,
    /// The hostile library.
    pub library: FileEntry,
    /// The benign one.
    pub twin: FileEntry,
    /// What a host says that only reads the file; one of these, as in the two that follow.
    pub by_reading: Expected,
    /// What comes of it in the host's process.
    pub in_host: Expected,
    /// What comes of it in a process of its own.
    pub in_worker: Expected,
}

/// A library, and what to call once it is loaded.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FileEntry {
    /// Where it is, relative to the index.
    pub path: PathBuf,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

/// Writes each of these cases and its twin as libraries of their own into a folder, and `corpus.json` last. Those that are the provider as it is are hard
/// links of one file where the file system has such.
///
/// # Errors
///
/// [`MakeError`] with the first file that could not be made.
pub fn make(provider: &Provider, cases: Vec<Case>, folder: &Path) -> Result<Index, MakeError> {
    fs::create_dir_all(folder)
        .map_err(|cause| MakeError::Write { path: folder.to_owned(), cause })?;
    write(&folder.join(BENIGN), provider.benign())?;
    let cases = cases.into_iter().map(|case| made(provider, case, folder));
    let index = Index {
        release: env!("CARGO_PKG_VERSION"),
        interface: format!("{:016x}", toolbay_abi::shape::DIGEST),
        target: toolbay_abi::note::TARGET,
        cases: cases.collect::<Result<_, _>>()?,
    };
    let path = folder.join("corpus.json");
    let written = serde_json::to_vec_pretty(&index).map_err(io::Error::from);
    written
        .and_then(|json| fs::write(&path, json))
        .map_err(|cause| MakeError::Write { path, cause })?;
    Ok(index)
}

fn made(provider: &Provider, case: Case, folder: &Path) -> Result<IndexedCase, MakeError> {
    let own = folder.join(&case.id);
    fs::create_dir_all(&own).map_err(|cause| MakeError::Write { path: own.clone(), cause })?;
    let (hostile, twin) = (own.join("case.so"), own.join("twin.so"));
    write_library(provider, &case, folder, &hostile)?;
    link_benign(folder, &twin)?;
    let entry = |path: &Path, (tool, arguments)| {
        let content =
            fs::read(path).map_err(|cause| MakeError::Write { path: path.to_owned(), cause })?;
        let sha256 = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        let path = path.strip_prefix(folder).unwrap_or(path).to_owned();
        Ok::<_, MakeError>(FileEntry { path, sha256, tool, arguments })
    };
    Ok(IndexedCase {
        library: entry(&hostile, case.call())?,
        twin: entry(&twin, benign_call())?,
        provider: case.provider(),
        made: how(&case),
        configuration: json!({}),
        id: case.id,
        number: case.number,
        does: case.does,
        moment: case.moment,
        by_reading: case.by_reading,
        in_host: case.in_host,
        in_worker: case.in_worker,
    })
}

fn write_library(
    provider: &Provider,
    case: &Case,
    folder: &Path,
    path: &Path,
) -> Result<(), MakeError> {
    let not_patched = |cause| MakeError::Patch { id: case.id.clone(), cause };
    match &case.making {
        Making::Patched(deed) => {
            write(path, &provider.doing(case.moment, *deed).map_err(not_patched)?)
        }
        Making::Called(_) => link_benign(folder, path),
        Making::Noted { member, value } => {
            let mut content = provider.benign().to_owned();
            let changed = Patch(&mut content).note(|note| note[*member] = value.clone());
            changed.map_err(not_patched)?;
            write(path, &content)
        }
        Making::Compiled { source, arguments } => {
            let note = note_define(case.provider());
            let arguments: Vec<_> =
                std::iter::once(note.as_ref()).chain(arguments.iter().map(AsRef::as_ref)).collect();
            let compiled = source.compile(path, &arguments);
            compiled.map_err(|cause| MakeError::Compile { id: case.id.clone(), cause })
        }
    }
}

/// Puts the provider as it is in a place.
fn link_benign(folder: &Path, path: &Path) -> Result<(), MakeError> {
    let benign = folder.join(BENIGN);
    let not_written = |cause| MakeError::Write { path: path.to_owned(), cause };
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(not_written(error)),
        _ => {}
    }
    fs::hard_link(&benign, path).or_else(|_| fs::copy(&benign, path).map(drop)).map_err(not_written)
}

fn write(path: &Path, content: &[u8]) -> Result<(), MakeError> {
    fs::write(path, content).map_err(|cause| MakeError::Write { path: path.to_owned(), cause })
}

/// How a case's library is made, for people.
fn how(case: &Case) -> String {
    match &case.making {
        Making::Patched(deed) => {
            format!("the provider, in whose {} {} is written", case.moment.word(), deed.word())
        }
        Making::Called(_) => "the provider, which a call tells what to do".to_owned(),
        Making::Noted { member, value } => {
            format!("the provider, whose note says {member}: {value}")
        }
        Making::Compiled { source, arguments } => {
            format!("c/{} with {}", source.0, arguments.join(" "))
        }
    }
}
