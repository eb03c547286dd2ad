//! What pins and judges the packages from outside: the lock file, and the reasons in `deny.toml`.

use toml::de::{DeTable, DeValue};

use super::{Finding, Rule, text::line_at};
use crate::checkout::TrackedFile;

/// Checks that git has the lock file.
pub(super) fn check_lockfile(files: &[TrackedFile]) -> Option<Finding> {
    if files.iter().any(|file| file.tracked && file.path == "Cargo.lock") {
        return None;
    }
    Some(Finding::new(
        "Cargo.lock",
        1,
        Rule::Lockfile,
        "no such file in git",
        "it there, since every build is `--locked`",
    ))
}

/// Checks that each advisory that `deny.toml` ignores has a reason with the date of the decision.
pub(super) fn check_ignores(path: &str, text: &str) -> Vec<Finding> {
    let policy = match DeTable::parse(text) {
        Ok(policy) => policy.into_inner(),
        Err(error) => {
            let line = line_at(text, error.span().map_or(0, |span| span.start));
            return vec![Finding::new(path, line, Rule::Syntax, error.message(), "TOML")];
        }
    };
    let ignored = policy
        .get("advisories")
        .and_then(|advisories| advisories.get_ref().get("ignore"))
        .and_then(|ignored| ignored.get_ref().as_array());
    let mut findings = Vec::new();
    for entry in ignored.into_iter().flatten() {
        let found = match reason(entry.get_ref()) {
            None => "an ignored advisory without a reason",
            Some(reason) if !has_date(reason) => "a reason without a date",
            Some(_) => continue,
        };
        let line = line_at(text, entry.span().start);
        let expected = "`{ id = \"...\", reason = \"YYYY-MM-DD: why\" }`";
        findings.push(Finding::new(path, line, Rule::IgnoreReason, found, expected));
    }
    findings
}

fn reason<'a>(entry: &'a DeValue<'_>) -> Option<&'a str> {
    entry.get("reason")?.get_ref().as_str()
}

/// Whether a date like 2026-11-30 stands somewhere in the text.
fn has_date(text: &str) -> bool {
    text.as_bytes().windows(10).any(|window| {
        window.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_is_tracked() {
        let file = |path: &str, tracked| TrackedFile { path: path.to_owned(), tracked, text: None };
        for (files, good) in [
            (vec![file("Cargo.lock", true)], true),
            (vec![file("Cargo.lock", false)], false),
            (vec![file("core/Cargo.lock", true)], false),
            (vec![], false),
        ] {
            assert_eq!(check_lockfile(&files).is_none(), good, "{files:?}");
        }
    }

    #[test]
    fn an_ignored_advisory_has_a_dated_reason() {
        for (ignored, line) in [
            ("", None),
            ("{ id = \"A\", reason = \"2026-11-30: no fix\" }", None),
            ("{ id = \"A\", reason = \"no fix since 2026-1-3\" }", Some(3)),
            ("{ id = \"A\", reason = \"\" }", Some(3)),
            ("{ id = \"A\" }", Some(3)),
            ("\"A\"", Some(3)),
        ] {
            let text = format!("[advisories]\nignore = [\n    {ignored}\n]\n");
            let found: Vec<_> = check_ignores("deny.toml", &text)
                .iter()
                .map(|finding| (finding.line(), finding.rule()))
                .collect();
            let expected: Vec<_> =
                line.map(|line| (line, Rule::IgnoreReason)).into_iter().collect();
            assert_eq!(found, expected, "{ignored}");
        }
        assert_eq!(check_ignores("deny.toml", "[bans]\n"), []);
    }
}
