//! Which contents have run in a worker without harm, so that they may run in the host: a small file for each, in `probed`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::store::{ContentHash, private_dir};

/// The contents that were probed.
#[derive(Debug)]
pub(crate) struct Probes {
    folder: PathBuf,
}

impl Probes {
    pub(crate) fn new(home: &Path) -> Self {
        Self { folder: home.join("probed") }
    }

    /// Whether a content was probed by this build of the host.
    pub(crate) fn has_passed(&self, content: ContentHash, build: &str) -> bool {
        fs::read(self.file(content)).is_ok_and(|by| by == build.as_bytes())
    }

    /// Keeps in mind that a content has passed. A file that was cut short counts for nothing.
    pub(crate) fn passed(&self, content: ContentHash, build: &str) -> io::Result<()> {
        private_dir(&self.folder)?;
        fs::write(self.file(content), build)
    }

    /// Forgets the contents that are not to be kept, which would be probed again. What can't be removed stays, and does no harm.
    pub(crate) fn forget_others(&self, is_kept: impl Fn(ContentHash) -> bool) {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        for file in files {
            let content = file.file_name().to_str().and_then(|name| name.parse().ok());
            if !content.is_some_and(&is_kept) {
                let _ = fs::remove_file(file.path());
            }
        }
    }

    fn file(&self, content: ContentHash) -> PathBuf {
        self.folder.join(content.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_has_passed_once_this_build_has_probed_it() {
        let home = tempfile::tempdir().unwrap();
        let probes = Probes::new(home.path());
        let [content, other] = [b"a", b"b"].map(|bytes| ContentHash::of(bytes));
        assert!(!probes.has_passed(content, "1"));
        probes.passed(content, "1").unwrap();
        assert!(probes.has_passed(content, "1"));
        assert!(!probes.has_passed(content, "2") && !probes.has_passed(other, "1"));
        fs::write(probes.file(content), "").unwrap();
        assert!(!probes.has_passed(content, "1"), "it was cut short");
        probes.passed(content, "2").unwrap();
        assert!(probes.has_passed(content, "2"));
        probes.passed(other, "2").unwrap();
        probes.forget_others(|kept| kept == other);
        assert!(!probes.has_passed(content, "2") && probes.has_passed(other, "2"));
    }
}
