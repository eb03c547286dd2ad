//! Reads the configured file: a regular one, of a size within the limit, in UTF-8.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use rustix::fs::{Mode, OFlags};

/// Why the file is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FileError {
    #[error("expected an absolute path, found {path}")]
    Relative { path: String },
    #[error("expected a regular file, found something else")]
    NotRegular,
    #[error(
        "expected at most {limit} bytes, found {found}; raise `limits.max_file_bytes` to take it"
    )]
    TooLarge { limit: u64, found: u64 },
    #[error("expected a file that can be read")]
    Unreadable(#[from] io::Error),
    #[error("expected UTF-8, found UTF-16; save the file as \"CSV UTF-8\"")]
    Utf16,
    #[error(
        "expected UTF-8, found another encoding in line {line}, such as Latin-1; save the file as UTF-8, or convert it: \
         iconv -f LATIN1 -t UTF-8"
    )]
    NotUtf8 { line: usize },
}

/// The text of the file without a byte-order mark.
pub(crate) fn read(path: &Path, limit: u64) -> Result<String, FileError> {
    if !path.is_absolute() {
        return Err(FileError::Relative { path: path.display().to_string() });
    }
    // NONBLOCK lets the open of a pipe return at once; the check is made on what was opened, not on its name.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        // The errors that a socket and a device without a driver give.
        Err(rustix::io::Errno::NXIO | rustix::io::Errno::NODEV) => {
            return Err(FileError::NotRegular);
        }
        Err(error) => return Err(FileError::Unreadable(error.into())),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular);
    }
    let found = metadata.len();
    if found > limit {
        return Err(FileError::TooLarge { limit, found });
    }
    let mut bytes = Vec::new();
    // What grows while it is read is read to the length that was checked.
    file.take(found).read_to_end(&mut bytes)?;
    text_of(bytes)
}

fn text_of(bytes: Vec<u8>) -> Result<String, FileError> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(FileError::Utf16);
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        FileError::NotUtf8 { line: 1 + good.iter().filter(|byte| **byte == b'\n').count() }
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}
