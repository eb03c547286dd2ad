//! The current file of the audit log, and those that it has rotated to.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use crate::config::AuditConfig;

/// The current file.
pub(super) struct LogFile {
    path: PathBuf,
    config: AuditConfig,
    file: File,
}

impl LogFile {
    pub(super) fn open(path: PathBuf, config: AuditConfig) -> io::Result<Self> {
        let file = open_for_appending(&path)?;
        Ok(Self { path, config, file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends lines, and takes from `lines` what is in the file then: where that is not all of it, the rest can follow later without
    /// a line being torn or written twice.
    pub(super) fn append(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        self.follow()?;
        if self.file.metadata()?.len() >= self.config.max_file_len
            && let Err(error) = self.rotate()
        {
            log::error!("{} can't be rotated and grows on: {error}", self.path.display());
        }
        let mut written = 0;
        let result = loop {
            match self.file.write(&lines[written..]) {
                Ok(0) if written < lines.len() => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
            if written == lines.len() {
                break Ok(());
            }
        };
        lines.drain(..written);
        result
    }

    /// Another process may have rotated the log: then the path is another file by now.
    fn follow(&mut self) -> io::Result<()> {
        let here = self.file.metadata()?;
        let there = fs::metadata(&self.path);
        if !there.is_ok_and(|there| (there.dev(), there.ino()) == (here.dev(), here.ino())) {
            self.file = open_for_appending(&self.path)?;
        }
        Ok(())
    }

    /// Renames `audit.jsonl` to `audit.1.jsonl` and so on, under a lock that other processes wait for.
    fn rotate(&mut self) -> io::Result<()> {
        let lock = File::create(self.path.with_extension("lock"))?;
        lock.lock()?;
        self.follow()?;
        if self.file.metadata()?.len() < self.config.max_file_len {
            return Ok(());
        }
        let numbered = |number: usize| self.path.with_extension(format!("{number}.jsonl"));
        // Up to the first gap: what is beyond it need not move.
        let first_gap = (1..self.config.keep).find(|number| !numbered(*number).exists());
        for number in (1..first_gap.unwrap_or(self.config.keep)).rev() {
            fs::rename(numbered(number), numbered(number + 1))?;
        }
        match self.config.keep {
            0 => fs::remove_file(&self.path)?,
            _ => fs::rename(&self.path, numbered(1))?,
        }
        self.file = open_for_appending(&self.path)?;
        Ok(())
    }
}

fn open_for_appending(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}
