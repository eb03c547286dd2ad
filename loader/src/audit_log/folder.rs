//! Which files of a folder are the audit log.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The log's folder in the home folder.
pub(crate) const FOLDER: &str = "audit";

/// The name of the file that records go to.
pub(crate) const CURRENT: &str = "audit.jsonl";

/// Where the file is that has been rotated this many times.
pub(crate) fn numbered(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("audit.{number}.jsonl"))
}

/// The numbers of the rotated files, the newest, which is the lowest, first.
pub(crate) fn rotated(folder: &Path) -> io::Result<Vec<usize>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        numbers.extend(entry?.file_name().to_str().and_then(number));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// A name like `audit.01.jsonl` is none that the log gives.
fn number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix("audit.")?.strip_suffix(".jsonl")?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_the_log_gives_are_rotated_files() {
        let cases = [
            ("audit.1.jsonl", Some(1)),
            ("audit.12.jsonl", Some(12)),
            ("audit.jsonl", None),
            ("audit..jsonl", None),
            ("audit.0.jsonl", None),
            ("audit.01.jsonl", None),
            ("audit.+1.jsonl", None),
            ("audit.1.jsonl.gz", None),
            ("audit.99999999999999999999999.jsonl", None),
            ("other.1.jsonl", None),
        ];
        for (name, expected) in cases {
            assert_eq!(number(name), expected, "{name}");
        }
    }
}
