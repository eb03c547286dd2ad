//! A bundle that is a zip file. Its directory is checked before it is read, and each entry before it is unpacked.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, Read, Seek, SeekFrom},
};

use zip::{
    CompressionMethod, ZipArchive,
    read::{ArchiveOffset, Config, ZipFileEntry},
    result::ZipError,
};

use super::{
    BundlePath, PathError, missing,
    path::PathSet,
    refused,
    sizes::{self, Sizes},
};
use crate::{plugin_text::one_line, rejection::Reason};

/// How many times larger than packed a file may be, beyond its first bytes: a library has some 3, and 1,032 is the most that deflating
/// can give.
const MAX_RATIO: u64 = 200;

/// Below this size, in bytes, the ratio says nothing.
const SMALL: u64 = 1024 * 1024;

/// The most bytes of the directory, all of which is kept in memory; as much as a manifest, which names the same files, may have.
const MAX_DIRECTORY_LEN: u32 = 4 * 1024 * 1024;

/// What the bytes of a zip file are read from.
pub(super) trait ZipSource: Read + Seek + Send {}

impl<T: Read + Seek + Send> ZipSource for T {}

/// A zip file whose directory was read and can be believed, as far as names and kinds of entries go.
pub(super) struct ZipFile {
    archive: ZipArchive<Box<dyn ZipSource>>,
    entries: BTreeMap<BundlePath, Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    number: usize,
    /// As the directory has it.
    size: u64,
}

impl fmt::Debug for ZipFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZipFile").field("entries", &self.entries).finish_non_exhaustive()
    }
}

impl ZipFile {
    pub(super) fn open(mut reader: Box<dyn ZipSource>) -> Result<Self, Reason> {
        let end = End::read(&mut reader)?;
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let mut archive = ZipArchive::with_config(config, reader).map_err(failed)?;
        if archive.has_duplicate_names() {
            return Err(duplicate_name());
        }
        let is_as_said = archive.len() == usize::from(end.entries)
            && archive.central_directory_start() == u64::from(end.directory_start);
        if !is_as_said {
            return Err(damaged("a directory that is not the one at the end"));
        }
        let entries = entries(&archive)?;
        archive.validate_header_consistency().map_err(failed)?;
        Ok(Self { archive, entries })
    }

    /// Every file with the size that it claims to have.
    pub(super) fn files(&self) -> BTreeMap<BundlePath, u64> {
        self.entries.iter().map(|(path, entry)| (path.clone(), entry.size)).collect()
    }

    /// The content of a file, unpacked as it is read. It may have another length than the directory says.
    pub(super) fn file(&mut self, path: &str) -> Result<impl Read + '_, Reason> {
        let entry = self.entries.get(path).ok_or_else(|| missing(path))?;
        self.archive.by_index(entry.number).map_err(failed)
    }
}

/// Reads and checks what the directory says of each entry; those of folders, which any packer may add, are then left out.
fn entries(
    archive: &ZipArchive<Box<dyn ZipSource>>,
) -> Result<BTreeMap<BundlePath, Entry>, Reason> {
    let mut entries = BTreeMap::new();
    let (mut paths, mut sizes) = (PathSet::default(), Sizes::default());
    let mut first = None;
    for number in 0..archive.len() {
        let entry = archive.by_index_data(number).map_err(failed)?;
        let name = entry.name_raw();
        let folder = name.strip_suffix(b"/");
        let path = BundlePath::from_bytes(folder.unwrap_or(name)).map_err(PathError::refused)?;
        check_kind(&path, &entry, folder.is_some())?;
        first = first.min(Some(entry.header_start())).or(Some(entry.header_start()));
        if folder.is_some() {
            sizes.add_folder()?;
            paths.add_folder(&path)?;
            continue;
        }
        sizes.add(path.as_str(), entry.size())?;
        check_ratio(&path, &entry)?;
        paths.add_file(&path)?;
        entries.insert(path, Entry { number, size: entry.size() });
    }
    match first {
        None | Some(0) => Ok(entries),
        Some(_) => Err(not_alone("bytes before its first entry")),
    }
}

fn check_kind(path: &BundlePath, entry: &ZipFileEntry<'_>, is_folder: bool) -> Result<(), Reason> {
    const KIND: u32 = 0o170_000;
    const LINK: u32 = 0o120_000;
    const REGULAR: u32 = 0o100_000;
    const FOLDER: u32 = 0o040_000;
    let expected = if is_folder { FOLDER } else { REGULAR };
    let refused = |code, expected: &str, found: &str| {
        let found = format!("{}: {found}", one_line(path.as_str(), 300));
        Err(refused(code, expected, found, "pack the bundle again"))
    };
    match entry.unix_mode().map_or(0, |mode| mode & KIND) {
        LINK => return refused("symbolic_link", "folders and regular files", "a symbolic link"),
        0 => {}
        kind if kind == expected => {}
        _ => {
            return refused(
                "not_a_regular_file",
                "folders and regular files",
                "a file of another kind",
            );
        }
    }
    if entry.encrypted() {
        return refused("zip_encrypted", "entries that are not encrypted", "an encrypted one");
    }
    match entry.compression() {
        CompressionMethod::Stored | CompressionMethod::Deflated => {}
        other => {
            return refused(
                "zip_method",
                "entries that are stored or deflated",
                &other.to_string(),
            );
        }
    }
    if is_folder && entry.size().max(entry.compressed_size()) > 0 {
        return refused("not_a_regular_file", "folders without content", "a folder with content");
    }
    Ok(())
}

fn check_ratio(path: &BundlePath, entry: &ZipFileEntry<'_>) -> Result<(), Reason> {
    let (size, packed) = (entry.size(), entry.compressed_size());
    if size <= SMALL || size <= packed.saturating_mul(MAX_RATIO) {
        return Ok(());
    }
    Err(refused(
        "zip_ratio",
        format!("files at most {MAX_RATIO} times as large as they are packed"),
        format!("{}: {packed} bytes that would become {size}", one_line(path.as_str(), 300)),
        "ask the vendor for a bundle without padding",
    ))
}

/// The record at the end of a zip file. It is read here as well because it says how much memory reading the directory takes, and because
/// two readers could find two such records in one file, and two directories.
struct End {
    entries: u16,
    directory_start: u32,
}

impl End {
    const LEN: usize = 22;
    const MAGIC: [u8; 4] = *b"PK\x05\x06";

    fn read(reader: &mut Box<dyn ZipSource>) -> Result<Self, Reason> {
        let io = |error: io::Error| super::unreadable("the zip file", &error);
        let len = reader.seek(SeekFrom::End(0)).map_err(io)?;
        sizes::check_total(len)?;
        let Some(start) = len.checked_sub(Self::LEN as u64) else {
            return Err(damaged(format!("{len} bytes")));
        };
        reader.seek(SeekFrom::Start(start)).map_err(io)?;
        let mut record = [0; Self::LEN];
        reader.read_exact(&mut record).map_err(io)?;
        let [m0, m1, m2, m3, disk @ .., c0, c1] = record;
        let [d0, d1, d2, d3, here0, here1, e0, e1, s0, s1, s2, s3, o0, o1, o2, o3] = disk;
        if [m0, m1, m2, m3] != Self::MAGIC || [c0, c1] != [0, 0] {
            return Err(not_alone("a comment, or other bytes behind its directory"));
        }
        let entries = u16::from_le_bytes([e0, e1]);
        let directory_len = u32::from_le_bytes([s0, s1, s2, s3]);
        let directory_start = u32::from_le_bytes([o0, o1, o2, o3]);
        sizes::check_entries(usize::from(entries))?;
        if [d0, d1, d2, d3] != [0; 4] || [here0, here1] != [e0, e1] {
            return Err(damaged("one of several parts"));
        }
        if directory_len > MAX_DIRECTORY_LEN {
            return Err(damaged(format!("a directory of {directory_len} bytes")));
        }
        if u64::from(directory_start) + u64::from(directory_len) != start {
            return Err(not_alone("bytes before its first entry, or around its directory"));
        }
        Ok(Self { entries, directory_start })
    }
}

fn failed(error: ZipError) -> Reason {
    match error {
        ZipError::Io(error) => super::unreadable("the zip file", &error),
        other => damaged(other.to_string()),
    }
}

/// Why a file is not read as a zip file.
pub(super) fn damaged(found: impl Into<String>) -> Reason {
    refused(
        "damaged_zip",
        "a zip file in one part, undamaged and consistent",
        one_line(&found.into(), 300),
        "fetch the bundle again; if it stays so, ask the vendor",
    )
}

fn not_alone(found: &str) -> Reason {
    refused(
        "bytes_around_zip",
        "a zip file and nothing else: no comment, no bytes before or behind it",
        found,
        "pack the bundle again, with the packer of this project",
    )
}

fn duplicate_name() -> Reason {
    refused(
        "duplicate_name",
        "each name once in the zip file",
        "a name twice",
        "pack the bundle again",
    )
}
