//! Packing: the same content gives the same bytes, wherever and whenever it is packed.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, Write},
    path::PathBuf,
};

use thiserror::Error;
use zip::{
    CompressionMethod, DateTime, System, ZipWriter, result::ZipError, write::SimpleFileOptions,
};

use super::{BundlePath, MANIFEST, SIGNATURE};

/// The usual one; it must stay, or bundles change that nobody changed.
const COMPRESSION_LEVEL: i64 = 6;

/// Where the content of a file to be packed comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// It is here.
    Bytes(Vec<u8>),
    /// It is in this file.
    File(PathBuf),
}

/// Why a bundle can't be written.
#[derive(Debug, Error)]
pub enum WriteZipError {
    /// A file to be packed can't be read.
    ///
    /// Resolution: make it, or correct its permissions.
    #[error("{}: not readable", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The bundle can't be written.
    ///
    /// Resolution: free space, or correct the permissions.
    #[error("the bundle can't be written")]
    Write {
        /// What the system says.
        source: io::Error,
    },
}

/// Writes a bundle as a zip file: the manifest, its signature, then the files in the order of their paths. Equal content gives equal bytes.
///
/// Whether the manifest lists these files is not checked: [`Bundle::from_zip`](super::Bundle::from_zip) does that.
///
/// # Errors
///
/// [`WriteZipError`] where a file can't be read or the output can't be written. What was written is then worth nothing.
pub fn write_zip(
    files: &BTreeMap<BundlePath, FileContent>,
    manifest: &[u8],
    signature: Option<&[u8]>,
    out: impl Write + Seek,
) -> Result<(), WriteZipError> {
    let mut zip = ZipWriter::new(out);
    add_bytes(&mut zip, MANIFEST, manifest)?;
    if let Some(signature) = signature {
        add_bytes(&mut zip, SIGNATURE, signature)?;
    }
    for (path, content) in files {
        match content {
            FileContent::Bytes(bytes) => add_bytes(&mut zip, path.as_str(), bytes)?,
            FileContent::File(file) => add_file(&mut zip, path.as_str(), file)?,
        }
    }
    let mut out = zip.finish().map_err(failed)?;
    out.flush().map_err(|source| WriteZipError::Write { source })
}

fn add_bytes<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    path: &str,
    bytes: &[u8],
) -> Result<(), WriteZipError> {
    zip.start_file(path, options()).map_err(failed)?;
    zip.write_all(bytes).map_err(|source| WriteZipError::Write { source })
}

fn add_file<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    path: &str,
    from: &PathBuf,
) -> Result<(), WriteZipError> {
    let unreadable = |source| WriteZipError::Read { path: from.clone(), source };
    let mut file = File::open(from).map_err(unreadable)?;
    zip.start_file(path, options()).map_err(failed)?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(error)),
        };
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else { return Ok(()) };
        zip.write_all(part).map_err(|source| WriteZipError::Write { source })?;
    }
}

/// Nothing of the machine or the day.
fn options() -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(COMPRESSION_LEVEL))
        .last_modified_time(DateTime::DEFAULT)
        .unix_permissions(0o644)
        .system(System::Unix)
}

fn failed(error: ZipError) -> WriteZipError {
    WriteZipError::Write { source: error.into() }
}
