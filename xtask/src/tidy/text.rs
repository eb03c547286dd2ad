//! Text files: how their lines end, and paths of somebody's machine.

use super::{Finding, Rule, extension};

/// Folders that stand for the machine somebody worked on, at the beginning of an absolute path.
const MACHINE_FOLDERS: [&str; 2] = ["/work", "/root"];

/// Checks a file that people write: sources, documents, manifests and scripts. Other files, such as samples, are left alone.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let written = matches!(extension(path), "md" | "rs" | "toml" | "sh") || path == ".ci/run";
    if !written {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let mut find = |rule, found: &str, expected| {
            findings.push(Finding::new(path, at + 1, rule, found, expected));
        };
        let content = line.strip_suffix('\n').unwrap_or(line);
        if content.ends_with('\r') {
            find(Rule::LineEnd, "a carriage return", "a line feed alone");
        } else if content.ends_with([' ', '\t']) {
            find(Rule::LineEnd, "white space at the end", "none");
        }
        if content.len() == line.len() {
            find(Rule::LineEnd, "a last line without a line feed", "one");
        }
        for folder in MACHINE_FOLDERS {
            if names_folder(content, folder) {
                let found = format!("the machine path {folder}/");
                find(Rule::MachinePath, &found, "a path relative to the repository");
            }
        }
    }
    findings
}

/// The line of a byte offset, counted from 1.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

/// Whether an absolute path below the folder stands in the line, and not only the end of a longer path.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        line[at + folder.len()..].starts_with('/')
            && !before.is_some_and(|before| before.is_alphanumeric() || "._-}>".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_plainly() {
        for (path, text, expected) in [
            ("a.rs", "fn f() {}\n", None),
            ("a.rs", "", None),
            ("a.rs", "fn f() {} \n", Some(1)),
            ("a.md", "one\ntwo\t\n", Some(2)),
            ("a.toml", "a = 1\r\n", Some(1)),
            (".ci/run", "set -e\ntrue", Some(2)),
            ("a.csv", "a,b \r\n", None),
        ] {
            let found: Vec<_> =
                check(path, text).iter().map(|finding| (finding.line(), finding.rule())).collect();
            let expected: Vec<_> = expected.map(|line| (line, Rule::LineEnd)).into_iter().collect();
            assert_eq!(found, expected, "{path}: {text:?}");
        }
    }

    #[test]
    fn machine_paths_are_found() {
        for folder in MACHINE_FOLDERS {
            for (text, bad) in [
                (format!("see {folder}/x\n"), true),
                (format!("\"{folder}/x\"\n"), true),
                (format!("`{folder}/`\n"), true),
                (format!("see {folder}shop/x\n"), false),
                (format!("target{folder}/x\n"), false),
                (format!("{{home}}{folder}/x\n"), false),
                (format!("the folder {folder}\n"), false),
            ] {
                let found: Vec<_> = check("a.md", &text).iter().map(Finding::rule).collect();
                assert_eq!(found, if bad { vec![Rule::MachinePath] } else { vec![] }, "{text}");
            }
        }
    }
}
