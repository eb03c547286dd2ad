//! Source files: how they are named and laid out, and what must not be left in them.

use std::collections::BTreeMap;

use super::{
    Finding, Rule,
    tokens::{Token, Tokens, first_group, starts_with},
};

/// The most lines that a source file may have.
const MAX_LINES: usize = 500;

/// Names that say nothing about what is inside.
const VAGUE_NAMES: [&str; 4] = ["utils", "helpers", "manager", "common"];

/// Macros that mark work in progress.
const PLACEHOLDERS: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Attributes of tests that don't run, or that any failure passes.
const TEST_ATTRIBUTES: [&str; 2] = ["ignore", "should_panic"];

/// How often the same SAFETY text may stand in the repository.
const MAX_SAFETY_REPEATS: usize = 2;

/// Checks name, length and opening of a source file.
pub(super) fn check_layout(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for part in path.split('/') {
        let stem = part.strip_suffix(".rs").unwrap_or(part);
        if VAGUE_NAMES.contains(&stem) {
            let found = format!("the name {stem}");
            findings.push(Finding::new(
                path,
                1,
                Rule::VagueName,
                found,
                "one that says what is inside",
            ));
        }
    }
    if path.ends_with("/mod.rs") {
        findings.push(Finding::new(path, 1, Rule::ModRs, "mod.rs", "`foo.rs` beside `foo/`"));
    }
    let lines = text.lines().count();
    if lines > MAX_LINES {
        let expected = format!("{MAX_LINES} at most, and 200 as the aim");
        findings.push(Finding::new(
            path,
            MAX_LINES + 1,
            Rule::Length,
            format!("{lines} lines"),
            expected,
        ));
    }
    // What the compiler must refuse is shown as a vendor would write it.
    let shown_to_compiler = path.contains("/tests/ui/") || path.starts_with("tests/ui/");
    let purpose = text.lines().next().and_then(|line| line.strip_prefix("//!"));
    if !shown_to_compiler && purpose.is_none_or(|purpose| purpose.trim().is_empty()) {
        let expected = "a `//!` line that says the module's purpose";
        findings.push(Finding::new(path, 1, Rule::ModuleDoc, "another first line", expected));
    }
    findings
}

/// Checks what a source file has in it.
pub(super) fn check_items(path: &str, tokens: &Tokens) -> Vec<Finding> {
    let mut findings = Vec::new();
    if path.ends_with("/lib.rs") {
        findings.extend(check_library_root(path, tokens));
    }
    for attribute in
        tokens.find(&["#", "["]).filter_map(|rest| forbidden_attribute(first_group(rest)))
    {
        let found = format!("`#[{}]`", attribute.text());
        let expected = "a test that runs and names the failure it expects";
        findings.push(Finding::new(path, attribute.line(), Rule::TestAttribute, found, expected));
    }
    for name in PLACEHOLDERS {
        for rest in tokens.find(&[name, "!"]) {
            let found = format!("`{name}!`");
            findings.push(Finding::new(
                path,
                rest[0].line(),
                Rule::Placeholder,
                found,
                "finished code",
            ));
        }
    }
    findings
}

/// Checks that no SAFETY text is pasted all over the repository.
pub(super) fn check_repeated_safety(files: &[(&str, &str)]) -> Vec<Finding> {
    let mut places: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for &(path, text) in files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        for (line, comment) in safety_comments(text) {
            places.entry(comment).or_default().push((path, line));
        }
    }
    let surplus =
        places.into_values().flat_map(|places| places.into_iter().skip(MAX_SAFETY_REPEATS));
    surplus
        .map(|(path, line)| {
            let expected = format!(
                "it {MAX_SAFETY_REPEATS} times at most; argue about this block, or share it"
            );
            Finding::new(
                path,
                line,
                Rule::SafetyText,
                "a SAFETY text that stands elsewhere",
                expected,
            )
        })
        .collect()
}

/// A `lib.rs` has no functions of its own, but for three kinds: that of a proc-macro crate, where the language wants its entries; that
/// of a plugin that is small enough to be one file, which its `export_provider!` shows; and that of a fixture, which is one defect.
fn check_library_root(path: &str, tokens: &Tokens) -> Vec<Finding> {
    let one_file_plugin = tokens.find(&["export_provider", "!"]).next().is_some();
    if one_file_plugin || path.starts_with("tests/fixtures/") {
        return Vec::new();
    }
    let proc_macros: Vec<usize> = ["proc_macro", "proc_macro_attribute", "proc_macro_derive"]
        .iter()
        .flat_map(|kind| tokens.all().iter().filter(move |token| token.text() == *kind))
        .map(Token::line)
        .collect();
    let is_entry =
        |line: usize| proc_macros.iter().any(|at| (1..=2).contains(&line.saturating_sub(*at)));
    tokens
        .find(&["fn"])
        .filter(|rest| rest.get(1).is_some_and(Token::is_word) && !is_entry(rest[0].line()))
        .map(|rest| {
            let found = format!("`fn {}`", rest[1].text());
            let expected = "documentation, `mod` and `pub use` alone";
            Finding::new(path, rest[0].line(), Rule::LibraryRoot, found, expected)
        })
        .collect()
}

/// The name of a forbidden attribute, also where `cfg_attr` adds it.
fn forbidden_attribute(inside: &[Token]) -> Option<&Token> {
    let named =
        if starts_with(inside, &["cfg_attr"]) { inside } else { &inside[..inside.len().min(1)] };
    named.iter().find(|name| TEST_ATTRIBUTES.contains(&name.text()))
}

/// The SAFETY comments of a file, each with its line and its words.
fn safety_comments(text: &str) -> Vec<(usize, String)> {
    let mut comments: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        let Some(words) = line.trim_start().strip_prefix("//") else {
            open = false;
            continue;
        };
        let words = words.trim();
        if words.starts_with("SAFETY:") {
            comments.push((at + 1, words.to_owned()));
            open = true;
        } else if open && let Some((_, comment)) = comments.last_mut() {
            comment.push(' ');
            comment.push_str(words);
        }
    }
    comments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(findings: &[Finding]) -> Vec<(usize, Rule)> {
        findings.iter().map(|finding| (finding.line(), finding.rule())).collect()
    }

    #[test]
    fn a_file_has_a_telling_name_a_purpose_and_an_end() {
        let long = format!("//! Long.\n{}", "\n".repeat(MAX_LINES));
        let full = format!("//! Full.\n{}", "\n".repeat(MAX_LINES - 1));
        for (path, text, expected) in [
            ("core/src/gate.rs", "//! The gates.\n", None),
            ("core/src/gate.rs", "use a;\n//! The gates.\n", Some((1, Rule::ModuleDoc))),
            ("core/src/gate.rs", "//!\n", Some((1, Rule::ModuleDoc))),
            ("core/src/gate.rs", "", Some((1, Rule::ModuleDoc))),
            ("plugin-api/tests/ui/abort.rs", "fn main() {}\n", None),
            ("core/src/gate/mod.rs", "//! The gates.\n", Some((1, Rule::ModRs))),
            ("core/src/utils.rs", "//! Things.\n", Some((1, Rule::VagueName))),
            ("core/src/common/gate.rs", "//! The gates.\n", Some((1, Rule::VagueName))),
            ("core/src/commons.rs", "//! What belongs to all.\n", None),
            ("core/src/gate.rs", &*full, None),
            ("core/src/gate.rs", &*long, Some((MAX_LINES + 1, Rule::Length))),
        ] {
            let expected: Vec<_> = expected.into_iter().collect();
            assert_eq!(places(&check_layout(path, text)), expected, "{path}");
        }
    }

    #[test]
    fn a_library_root_holds_no_logic() {
        for (source, line) in [
            ("mod a;\npub use a::f;\npub type F = fn(u8) -> u8;", None),
            ("mod a;\nfn f() {}", Some(2)),
            ("impl S {\n    pub const fn f() {}\n}", Some(2)),
            ("#[proc_macro_attribute]\npub fn tool() {}", None),
            ("#[proc_macro_derive(A)]\npub fn a() {}\n\n\nfn b() {}", Some(5)),
            ("fn greet() {}\nexport_provider! { id: \"greeting\", tools: [greet] }", None),
            ("/// ```\n/// fn f() {}\n/// ```\nmod a;", None),
        ] {
            let tokens = Tokens::parse(source).unwrap();
            let expected: Vec<_> = line.map(|line| (line, Rule::LibraryRoot)).into_iter().collect();
            assert_eq!(places(&check_items("core/src/lib.rs", &tokens)), expected, "{source}");
            assert_eq!(check_items("core/src/gate.rs", &tokens), [], "{source}");
            assert_eq!(check_items("tests/fixtures/bad/src/lib.rs", &tokens), [], "{source}");
        }
    }

    #[test]
    fn nothing_unfinished_and_no_silent_test_is_left() {
        for (source, expected) in [
            ("fn f() {\n    todo!()\n}", Some((2, Rule::Placeholder))),
            ("fn f() { unimplemented!() }", Some((1, Rule::Placeholder))),
            ("fn f() { dbg!(1); }", Some((1, Rule::Placeholder))),
            ("fn f() { let todo = \"todo!()\"; } // dbg!(1)", None),
            ("#[test]\n#[ignore]\nfn f() {}", Some((2, Rule::TestAttribute))),
            ("#[ignore = \"slow\"]\nfn f() {}", Some((1, Rule::TestAttribute))),
            ("#[should_panic(expected = \"x\")]\nfn f() {}", Some((1, Rule::TestAttribute))),
            ("#[cfg_attr(miri, ignore)]\nfn f() {}", Some((1, Rule::TestAttribute))),
            ("#[cfg_attr(miri, inline)]\nfn f() { ignore::WalkBuilder::new(); }", None),
        ] {
            let tokens = Tokens::parse(source).unwrap();
            let expected: Vec<_> = expected.into_iter().collect();
            assert_eq!(places(&check_items("core/src/gate.rs", &tokens)), expected, "{source}");
        }
    }

    #[test]
    fn a_safety_text_stands_twice_at_most() {
        let pasted = "    // SAFETY: it is\n    // not null.\n    f();\n    // Not this.\n";
        let other = "    // SAFETY: it is\n    // aligned.\n";
        let twice = [("a.rs", pasted), ("b.rs", pasted), ("c.rs", other), ("d.md", pasted)];
        assert_eq!(check_repeated_safety(&twice), []);
        let thrice = [("a.rs", pasted), ("b.rs", other), ("c.rs", pasted), ("d.rs", pasted)];
        let findings = check_repeated_safety(&thrice);
        assert_eq!(places(&findings), [(1, Rule::SafetyText)]);
        assert_eq!(findings[0].path(), "d.rs");
    }
}
