//! Plays what a document shows: each `$ command` in its console blocks is run, and must print what stands below it.
//!
//! In what stands there, `…` is any text within a line, a line of `...` alone any number of lines, and one space as good as many. What differs each time, an id or a
//! digest, stands there as a word of 12 or more characters with a digit: the first time it is whatever comes, and from then on that very
//! word, also in commands.

use std::{collections::BTreeMap, path::Path, process::Command};

use regex::{Captures, Regex};

/// One command with what it must print.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    command: String,
    prints: Vec<String>,
}

/// A reader who types what a document shows.
#[derive(Debug)]
pub struct Transcript {
    document: String,
    steps: Vec<Step>,
    /// The words that differ each time, as they stand in the document, with what they are now.
    words: BTreeMap<String, String>,
    word: Regex,
}

#[expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a transcript that goes otherwise is a failed test"
)]
impl Transcript {
    /// The console blocks of a document, with each of these places in it replaced by another.
    pub fn of(document: &Path, places: &[(&str, &str)]) -> Self {
        let mut text = std::fs::read_to_string(document).unwrap();
        for (shown, real) in places {
            text = text.replace(shown, real);
        }
        Self {
            steps: steps(&text),
            document: text,
            words: BTreeMap::new(),
            word: Regex::new(r"\b[0-9A-Za-z]{12,64}\b").unwrap(),
        }
    }

    /// The first block of this language.
    pub fn block(&self, language: &str) -> &str {
        let fence = format!("```{language}\n");
        let start = self.document.find(&fence).unwrap() + fence.len();
        let len = self.document[start..].find("```").unwrap();
        &self.document[start..start + len]
    }

    /// Types every command, with the programs of `path` found first and in this home, and returns how many there were.
    pub fn play(mut self, path: &Path, home: &Path) -> usize {
        let steps = std::mem::take(&mut self.steps);
        for step in &steps {
            let command = self.known(&step.command);
            let search = std::env::var("PATH").unwrap_or_default();
            let output = Command::new("sh")
                .args(["-c", &format!("({command}) 2>&1")])
                .env("PATH", format!("{}:{search}", path.display()))
                .env("TOOLBAY_HOME", home)
                .current_dir(home)
                .output()
                .unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            if let Err(line) = self.compare(&step.prints, &printed) {
                panic!("$ {command}\nexpected {line:?}, found in all\n{printed}");
            }
        }
        steps.len()
    }

    /// A command with the words of this time.
    fn known(&self, text: &str) -> String {
        let now = |captures: &Captures<'_>| {
            let word = &captures[0];
            self.words.get(word).map_or(word, String::as_str).to_owned()
        };
        self.word.replace_all(text, now).into_owned()
    }

    fn compare(&mut self, expected: &[String], printed: &str) -> Result<(), String> {
        let mut printed = printed.lines();
        let mut skipping = false;
        for line in expected {
            if line == "..." {
                skipping = true;
                continue;
            }
            loop {
                let Some(found) = printed.next() else { return Err(line.clone()) };
                match self.matches(&spaced(line), &spaced(found)) {
                    true => break,
                    false if skipping => {}
                    false => return Err(line.clone()),
                }
            }
            skipping = false;
        }
        match printed.next() {
            Some(more) if !skipping => Err(format!("nothing after {more:?}")),
            _ => Ok(()),
        }
    }

    fn matches(&mut self, expected: &str, found: &str) -> bool {
        let mut pattern = String::from("^");
        let mut new = Vec::new();
        let mut rest = expected;
        while let Some(next) = self.word.find(rest).filter(|word| varies(word.as_str())) {
            pattern.push_str(&literal(&rest[..next.start()]));
            match self.words.get(next.as_str()) {
                Some(known) => pattern.push_str(&regex::escape(known)),
                None => {
                    pattern.push_str("([0-9A-Za-z]{12,64})");
                    new.push(next.as_str().to_owned());
                }
            }
            rest = &rest[next.end()..];
        }
        pattern.push_str(&literal(rest));
        pattern.push('$');
        let Some(captures) = Regex::new(&pattern).unwrap().captures(found) else {
            return false;
        };
        let now = captures.iter().skip(1).flatten().map(|word| word.as_str().to_owned());
        self.words.extend(new.into_iter().zip(now));
        true
    }
}

fn spaced(line: &str) -> String {
    line.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn varies(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

fn literal(text: &str) -> String {
    regex::escape(text).replace('…', ".*")
}

fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in document.lines() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    steps.push(Step { command: command.to_owned(), prints: Vec::new() });
                }
                (None, Some(step)) => step.prints.push(line.to_owned()),
                (None, None) => {}
            },
            _ => {}
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn plays(document: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, document).unwrap();
        let home = folder.path().to_owned();
        std::panic::catch_unwind(|| Transcript::of(&path, &[]).play(&home, &home)).is_ok()
    }

    #[test]
    fn a_document_must_show_what_happens() {
        let cases = [
            ("```console\n$ echo one; echo two\none\ntwo\n```\n", true),
            ("```console\n$ echo one; echo two\none\n```\n", false),
            ("```console\n$ echo one\none\ntwo\n```\n", false),
            ("```console\n$ printf 'a\\nb\\nc\\n'\n...\nc\n```\n", true),
            ("```console\n$ printf 'a\\nb\\nc\\n'\na\n...\n```\n", true),
            ("```console\n$ printf 'a\\nb\\nc\\n'\n...\nd\n```\n", false),
            ("```console\n$ echo it took 5 ms\nit  took … ms\n```\n", true),
            // A word that differs each time is the same from then on.
            (
                "```console\n$ echo id 0123456789ab\nid 9zzzzzzzzzzz\n$ echo 9zzzzzzzzzzz\n9zzzzzzzzzzz\n```\n",
                true,
            ),
            (
                "```console\n$ echo id 0123456789ab\nid 9zzzzzzzzzzz\n$ echo 0123456789ac\n9zzzzzzzzzzz\n```\n",
                false,
            ),
        ];
        for (document, expected) in cases {
            assert_eq!(plays(document), expected, "{document}");
        }
    }
}
