//! Manifests of members: lints and versions come from the workspace.

use toml::de::{DeTable, DeValue};

use super::{Finding, Rule, text::line_at};

const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks the manifest of one member.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let manifest = match DeTable::parse(text) {
        Ok(manifest) => manifest.into_inner(),
        Err(error) => {
            let line = line_at(text, error.span().map_or(0, |span| span.start));
            return vec![Finding::new(path, line, Rule::Syntax, error.message(), "TOML")];
        }
    };
    let mut findings = Vec::new();
    let lints = manifest.get("lints").and_then(|lints| lints.get_ref().as_table());
    if !lints.is_some_and(inherits) {
        let found = if lints.is_some() { "lints of its own" } else { "no lints" };
        findings.push(Finding::new(path, 1, Rule::Inherited, found, "`[lints] workspace = true`"));
    }
    // A fixture may pin what the workspace must not have, such as an older release of a package.
    if !path.starts_with("tests/fixtures/") {
        for table in dependency_tables(&manifest) {
            for (name, value) in table {
                if !value.get_ref().as_table().is_some_and(inherits) {
                    findings.push(Finding::new(
                        path,
                        line_at(text, name.span().start),
                        Rule::Inherited,
                        format!("{} with a version of its own", name.get_ref()),
                        "`workspace = true` and its version in the root manifest",
                    ));
                }
            }
        }
    }
    findings
}

fn inherits(table: &DeTable<'_>) -> bool {
    table.get("workspace").and_then(|value| value.get_ref().as_bool()) == Some(true)
}

/// The tables of dependencies, also those for some targets only.
fn dependency_tables<'a>(manifest: &'a DeTable<'a>) -> Vec<&'a DeTable<'a>> {
    let mut holders = vec![manifest];
    if let Some(DeValue::Table(targets)) = manifest.get("target").map(|value| value.get_ref()) {
        holders.extend(targets.values().filter_map(|target| target.get_ref().as_table()));
    }
    holders
        .into_iter()
        .flat_map(|holder| DEPENDENCY_TABLES.map(|name| holder.get(name)))
        .filter_map(|table| table?.get_ref().as_table())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINTS: &str = "\n[lints]\nworkspace = true\n";

    fn places(path: &str, text: &str) -> Vec<(usize, Rule)> {
        check(path, text).iter().map(|finding| (finding.line(), finding.rule())).collect()
    }

    #[test]
    fn lints_come_from_the_workspace() {
        for (text, good) in [
            ("[lints]\nworkspace = true\n", true),
            ("[package]\nname = \"x\"\nlints.workspace = true\n", false),
            ("lints.workspace = true\n", true),
            ("[lints]\nworkspace = false\n", false),
            ("[lints.clippy]\npanic = \"allow\"\n", false),
            ("", false),
        ] {
            let expected = if good { vec![] } else { vec![(1, Rule::Inherited)] };
            assert_eq!(places("core/Cargo.toml", text), expected, "{text}");
        }
    }

    #[test]
    fn versions_come_from_the_workspace() {
        for (text, line) in [
            ("[dependencies]\nlog.workspace = true\n", None),
            ("[dependencies]\nlog = { workspace = true, features = [\"std\"] }\n", None),
            ("[dependencies]\nserde.workspace = true\nlog = \"0.4\"\n", Some(3)),
            ("[dev-dependencies]\nlog = { version = \"0.4\" }\n", Some(2)),
            ("[build-dependencies]\nlog = { path = \"../log\" }\n", Some(2)),
            ("[target.'cfg(unix)'.dependencies]\nlog = \"0.4\"\n", Some(2)),
            ("[target.'cfg(unix)'.dependencies]\nlog.workspace = true\n", None),
        ] {
            let expected: Vec<_> = line.map(|line| (line, Rule::Inherited)).into_iter().collect();
            assert_eq!(places("core/Cargo.toml", &format!("{text}{LINTS}")), expected, "{text}");
            assert_eq!(places("tests/fixtures/old/Cargo.toml", &format!("{text}{LINTS}")), []);
        }
    }

    #[test]
    fn what_is_no_toml_is_a_finding() {
        assert_eq!(places("core/Cargo.toml", "[lints]\nworkspace =\n"), [(2, Rule::Syntax)]);
    }
}
