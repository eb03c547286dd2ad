//! `cargo xtask tidy`: the rules of this repository that no compiler, lint or formatter checks.
//!
//! A rule is a function from a path and its text to findings; it reads nothing itself. All findings are told at once.

mod arrows;
mod boundary;
mod contracts;
mod documents;
mod finding;
mod manifests;
mod policy;
mod sources;
mod text;
mod tokens;
mod tree;

pub use finding::{Finding, Rule};

use crate::checkout::{Checkout, CheckoutError};

/// Checks all rules on a work tree and returns the findings in the order of their places.
///
/// # Errors
///
/// The work tree can't be read. What is wrong *in* a file is a finding, also where it can't be parsed.
pub fn check(checkout: &Checkout) -> Result<Vec<Finding>, CheckoutError> {
    let files = checkout.files()?;
    let texts: Vec<(&str, &str)> =
        files.iter().filter_map(|file| Some((&*file.path, file.text.as_deref()?))).collect();
    let tree = tree::Tree::new(files.iter().map(|file| &*file.path));
    let members = arrows::members(checkout, &texts);

    let mut findings = arrows::check(&members);
    findings
        .extend(members.iter().flat_map(|member| manifests::check(&member.manifest, member.text)));
    findings.extend(policy::check_lockfile(&files));
    findings.extend(sources::check_repeated_safety(&texts));
    for &(path, text) in &texts {
        findings.extend(text::check(path, text));
        match extension(path) {
            "rs" => findings.extend(check_source(path, text)),
            "md" => findings.extend(documents::check(path, text, &tree)),
            "toml" if path == "deny.toml" => findings.extend(policy::check_ignores(path, text)),
            _ => {}
        }
    }
    findings.sort();
    Ok(findings)
}

fn check_source(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = sources::check_layout(path, text);
    match tokens::Tokens::parse(text) {
        Ok(tokens) => {
            findings.extend(sources::check_items(path, &tokens));
            findings.extend(boundary::check_unsafe(path, &tokens));
            findings.extend(boundary::check_catches(path, &tokens));
            findings.extend(contracts::check(path, text));
        }
        Err(finding) => findings.push(finding.at(path)),
    }
    findings
}

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}
