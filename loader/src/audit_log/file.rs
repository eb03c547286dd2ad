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

    pub(super) fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        self.follow()?;
        if self.file.metadata()?.len() >= self.config.max_file_len {
            self.rotate()?;
        }
        self.file.write_all(lines)
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
        for number in (1..self.config.keep).rev() {
            let from = numbered(number);
            if from.exists() {
                fs::rename(from, numbered(number + 1))?;
            }
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
