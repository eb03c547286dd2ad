//! The distributable form of a plugin: its libraries, what people read about it, and one manifest that lists all of it with sizes and
//! hashes.
//!
//! A bundle is a folder or a zip file, `NAME.toolbay`, with the same content: `toolbay.json`, the manifest; `toolbay.json.minisig`, its
//! [signature](crate::SignatureText), which may be missing; and exactly the files that the manifest lists. What is not listed is refused,
//! so that whoever vouches for the manifest vouches for every byte.
//!
//! Opening reads names, sizes and the manifest. Content is compared with its hash while it is copied out, never before, and nothing that a
//! bundle says about its own sizes is believed. A zip file has nothing before its first entry or behind its directory, no comment
//! and no zip64 directory, which no bundle needs; its entries are stored or deflated, and neither encrypted nor links. What lies unused
//! between entries is not looked at.

mod folder;
mod manifest;
mod parts;
mod path;
mod sizes;
mod unpack;
mod write;
mod zip_file;

use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufReader, Read, Seek, Write},
    os::unix::fs::FileExt,
    path::Path,
};

use sha2::{Digest, Sha256};

use self::{folder::Folder, zip_file::ZipFile};
pub use self::{
    manifest::Manifest,
    parts::{BundledDefinition, BundledTool, ListedFile, ManifestParts, Target},
    path::{BundlePath, PathError},
    sizes::{MAX_BUNDLE_ENTRIES, MAX_BUNDLE_LEN},
    write::{FileContent, WriteZipError, write_zip},
};
use crate::{
    inspect,
    plugin_text::one_line,
    rejection::{Reason, Stage},
    store::ContentHash,
};

/// The name of the manifest in a bundle.
const MANIFEST: &str = "toolbay.json";

/// The name of its signature.
const SIGNATURE: &str = "toolbay.json.minisig";

/// The most bytes of a signature file.
const MAX_SIGNATURE_LEN: usize = 8 * 1024;

/// The first bytes of a zip file with something in it.
const ZIP_MAGIC: [u8; 4] = *b"PK\x03\x04";

/// Whether there is something at a path that may be a bundle: a folder, or a file that begins as a zip does. A link is none.
pub(crate) fn is_bundle(path: &Path) -> bool {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        return true;
    }
    let mut magic = [0; ZIP_MAGIC.len()];
    let read = inspect::open(path).is_ok_and(|(file, _)| file.read_exact_at(&mut magic, 0).is_ok());
    read && magic == ZIP_MAGIC
}

/// A bundle whose manifest was read and lists exactly the files that are there, by path and size. Their content is not known yet, and
/// nobody has said whether the signature is good.
#[derive(Debug)]
pub struct Bundle {
    manifest: Manifest,
    signature: Option<Vec<u8>>,
    source: Source,
}

/// Where the files of a bundle are.
#[derive(Debug)]
enum Source {
    Folder(Folder),
    Zip(ZipFile),
}

impl Bundle {
    /// Opens a bundle, which is a folder or a zip file. No symbolic link is followed, not even one at the path itself, and a pipe or a
    /// device is never waited for.
    ///
    /// # Errors
    ///
    /// [`RejectionReason`](crate::RejectionReason) of the stage [`Bundle`](Stage::Bundle) where it can't be read, or is no bundle of
    /// this format whose manifest lists exactly what is there.
    pub fn open(path: &Path) -> Result<Self, Reason> {
        match folder::open(path)? {
            // Some other folder need not be walked to know that it is none.
            folder::Opened::Folder(_) if fs::symlink_metadata(path.join(MANIFEST)).is_err() => {
                Err(no_manifest())
            }
            folder::Opened::Folder(folder) => Self::from_source(Source::Folder(folder)),
            folder::Opened::File(file) => Self::from_zip(BufReader::new(file)),
        }
    }

    /// Opens a bundle in the form of a zip file, wherever its bytes are.
    ///
    /// # Errors
    ///
    /// As for [`Bundle::open`].
    pub fn from_zip(reader: impl Read + Seek + Send + 'static) -> Result<Self, Reason> {
        Self::from_source(Source::Zip(ZipFile::open(Box::new(reader))?))
    }

    fn from_source(mut source: Source) -> Result<Self, Reason> {
        let mut found = match &source {
            Source::Folder(folder) => folder.files()?,
            Source::Zip(zip) => zip.files(),
        };
        let size = found.remove(MANIFEST).ok_or_else(no_manifest)?;
        if size > Manifest::MAX_BYTES as u64 {
            return Err(manifest::too_large(size));
        }
        let manifest = Manifest::parse(&source.read(MANIFEST, size)?)?;
        let signature = match found.remove(SIGNATURE) {
            None => None,
            Some(size) if size > MAX_SIGNATURE_LEN as u64 => {
                return Err(signature_too_large(size));
            }
            Some(size) => {
                manifest.check_canonical()?;
                Some(source.read(SIGNATURE, size)?)
            }
        };
        check_complete(manifest.parts(), found)?;
        Ok(Self { manifest, signature, source })
    }

    /// What the bundle says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The content of the signature file, of at most 8 KiB, where there is one. The manifest is then in its canonical form.
    pub fn signature(&self) -> Option<&[u8]> {
        self.signature.as_deref()
    }

    /// Copies a file out, and checks its size and its hash as it goes: what was written is worth nothing unless this succeeds.
    ///
    /// # Errors
    ///
    /// [`RejectionReason`](crate::RejectionReason) with the code `other_size` or `other_hash` where the content is not what the manifest
    /// lists, `unlisted_file` where it lists no such file, and others where reading or writing fails.
    pub fn copy_file(&mut self, path: &BundlePath, to: &mut impl Write) -> Result<(), Reason> {
        let listed = self.manifest.parts().listed().find(|listed| listed.path == *path);
        let listed = listed.ok_or_else(|| unlisted(path))?.clone();
        self.copy_listed(&listed, to)
    }

    fn copy_listed(&mut self, listed: &ListedFile, to: &mut impl Write) -> Result<(), Reason> {
        let path = listed.path.as_str();
        let mut reader = self.source.open(path)?.take(listed.size.saturating_add(1));
        let mut hasher = Sha256::new();
        let mut copied = 0_u64;
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(path, &error)),
            };
            let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else { break };
            copied = copied.saturating_add(read as u64);
            if copied > listed.size {
                return Err(other_size(path, listed.size, "more"));
            }
            hasher.update(part);
            to.write_all(part).map_err(|error| not_written(path, &error))?;
        }
        if copied < listed.size {
            return Err(other_size(path, listed.size, &format!("{copied} bytes")));
        }
        let hash = ContentHash::finish(hasher);
        if hash != listed.sha256 {
            return Err(refused(
                "other_hash",
                format!("{path} with SHA-256 {}, as the manifest lists it", listed.sha256),
                hash.to_string(),
                "fetch the bundle again; if it stays so, ask the vendor",
            ));
        }
        Ok(())
    }
}

impl Source {
    fn open(&mut self, path: &str) -> Result<Box<dyn Read + '_>, Reason> {
        match self {
            Self::Folder(folder) => Ok(Box::new(folder.file(path)?)),
            Self::Zip(zip) => Ok(Box::new(zip.file(path)?)),
        }
    }

    /// All of a small file, which must have the size that was found before.
    fn read(&mut self, path: &str, size: u64) -> Result<Vec<u8>, Reason> {
        let mut bytes = Vec::new();
        let mut reader = self.open(path)?.take(size.saturating_add(1));
        reader.read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
        if bytes.len() as u64 == size {
            return Ok(bytes);
        }
        Err(other_size(path, size, &format!("{} bytes or more", bytes.len())))
    }
}

/// Compares what is there with what the manifest lists, both by path and size.
fn check_complete(
    parts: &ManifestParts,
    mut found: BTreeMap<BundlePath, u64>,
) -> Result<(), Reason> {
    for listed in parts.listed() {
        let path = &listed.path;
        match found.remove(path) {
            Some(size) if size == listed.size => {}
            Some(size) => {
                return Err(other_size(path.as_str(), listed.size, &format!("{size} bytes")));
            }
            None => return Err(missing(path.as_str())),
        }
    }
    found.first_key_value().map_or(Ok(()), |(path, _)| Err(unlisted(path)))
}

/// A reason of this stage.
fn refused(
    code: &'static str,
    expected: impl Into<String>,
    found: impl Into<String>,
    remedy: &str,
) -> Reason {
    Reason::plugin(Stage::Bundle, code, expected, found, remedy)
}

fn no_manifest() -> Reason {
    refused(
        "no_manifest",
        format!("a bundle, with {MANIFEST} at its root"),
        "no such file",
        "name the bundle itself: a .toolbay file, or the folder that holds toolbay.json",
    )
}

fn signature_too_large(size: u64) -> Reason {
    refused(
        "signature_too_large",
        format!("a signature file of at most {MAX_SIGNATURE_LEN} bytes"),
        format!("{size} bytes"),
        "sign the manifest again with minisign",
    )
}

fn unlisted(path: &BundlePath) -> Reason {
    refused(
        "unlisted_file",
        "only files that the manifest lists",
        one_line(path.as_str(), 300),
        "take the file out, or list it and pack the bundle again",
    )
}

fn missing(path: &str) -> Reason {
    refused(
        "missing_file",
        "every file that the manifest lists",
        format!("no {}", one_line(path, 300)),
        "fetch the bundle again, or pack it again with the file",
    )
}

fn other_size(path: &str, expected: u64, found: &str) -> Reason {
    refused(
        "other_size",
        format!("{} with {expected} bytes", one_line(path, 300)),
        found,
        "fetch the bundle again; if it stays so, ask the vendor",
    )
}

/// Reading failed: the system did it, or what was read can't be unpacked.
fn unreadable(path: &str, error: &io::Error) -> Reason {
    let path = one_line(path, 300);
    match error.raw_os_error() {
        Some(_) => refused(
            "unreadable_bundle",
            format!("{path}, to be read"),
            error.to_string(),
            "correct the permissions, or copy the bundle to a sound disk",
        )
        .by_environment(),
        None => zip_file::damaged(format!("{path}: {error}")),
    }
}

fn not_written(path: &str, error: &io::Error) -> Reason {
    refused(
        "not_written",
        format!("room for a copy of {}", one_line(path, 300)),
        error.to_string(),
        "free space, or make the folder writable for the host",
    )
    .by_environment()
}

#[cfg(test)]
mod tests;
