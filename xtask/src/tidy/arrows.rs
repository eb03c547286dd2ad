//! The dependency arrows between the packages, and the places where some packages from outside may be used.

use cargo_metadata::DependencyKind;

use super::{Finding, Rule};
use crate::checkout::Checkout;

/// A member of the workspace, with what it depends on.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) name: String,
    /// The folder, relative to the root.
    pub(super) folder: String,
    /// The manifest's path, relative to the root.
    pub(super) manifest: String,
    /// The manifest's text.
    pub(super) text: &'a str,
    pub(super) dependencies: Vec<Dependency>,
}

/// A direct dependency of a member.
#[derive(Debug)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) kind: DependencyKind,
}

/// What a member is in the design, by its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Core,
    Abi,
    Macros,
    PluginApi,
    Corpus,
    Loader,
    Host,
    Plugin,
    Fixture,
    Tests,
    Xtask,
}

impl Part {
    fn of(folder: &str) -> Option<Self> {
        Some(match folder {
            "core" => Self::Core,
            "plugin-api/abi" => Self::Abi,
            "plugin-api/macros" => Self::Macros,
            "plugin-api" => Self::PluginApi,
            "corpus" => Self::Corpus,
            "loader" => Self::Loader,
            "host" => Self::Host,
            "tests" => Self::Tests,
            "xtask" => Self::Xtask,
            _ if folder.starts_with("plugins/") => Self::Plugin,
            _ if folder.starts_with("tests/fixtures/") => Self::Fixture,
            _ => return None,
        })
    }

    /// The parts that this one may depend on, for building, running and testing alike.
    fn sees(self) -> &'static [Self] {
        match self {
            Self::Core | Self::Abi | Self::Macros => &[],
            Self::PluginApi => &[Self::Abi, Self::Macros],
            Self::Loader => &[Self::Core, Self::Abi],
            Self::Host => &[Self::Core, Self::Loader],
            // Whoever writes another host can use it, so that it knows none; what it makes is a plugin.
            Self::Corpus => &[Self::Abi, Self::PluginApi],
            Self::Plugin => &[Self::PluginApi],
            // One of them is the provider of the corpus.
            Self::Fixture => &[Self::PluginApi, Self::Corpus],
            Self::Tests => &[
                Self::Core,
                Self::Abi,
                Self::Macros,
                Self::PluginApi,
                Self::Corpus,
                Self::Loader,
                Self::Host,
                Self::Plugin,
                Self::Fixture,
                Self::Xtask,
            ],
            Self::Xtask => &[Self::Loader],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Abi => "plugin-api/abi",
            Self::Macros => "plugin-api/macros",
            Self::PluginApi => "plugin-api",
            Self::Corpus => "corpus",
            Self::Loader => "loader",
            Self::Host => "host",
            Self::Plugin => "plugins/*",
            Self::Fixture => "tests/fixtures/*",
            Self::Tests => "tests",
            Self::Xtask => "xtask",
        }
    }
}

/// A package from outside that only some parts may depend on directly.
struct Confined {
    package: &'static str,
    to: &'static [Part],
}

const CONFINED: &[Confined] = &[
    // Its types cross the boundary, and the frozen package alone decides which; the others use them through it. A fixture may make
    // the root module that the frozen package can't make: a wrong one.
    Confined { package: "abi_stable", to: &[Part::Abi, Part::Fixture] },
    // Opening a library runs its code. The loader does it after all checks; the benchmarks measure it bare.
    Confined { package: "libloading", to: &[Part::Loader, Part::Tests] },
    // Everything below the host is synchronous, so that an embedder chooses the runtime. A plugin may bring its own.
    Confined {
        package: "tokio",
        to: &[Part::Host, Part::Plugin, Part::Fixture, Part::Tests, Part::Xtask],
    },
];

/// What the core may depend on: packages that touch no file, clock or environment.
const CORE: &[&str] = &[
    "arc-swap",
    "bytes",
    "bytestring",
    "foldhash",
    "jsonschema",
    "log",
    "parking_lot",
    "regex",
    "serde",
    "serde_json",
    "sha2",
    "strsim",
    "thiserror",
];

/// What the core's tests may use besides; shuttle for its models alone.
const CORE_TESTS: &[&str] = &["proptest", "shuttle"];

/// The members of the checkout's workspace; a manifest that is not among the texts counts as empty.
pub(super) fn members<'a>(checkout: &Checkout, texts: &[(&str, &'a str)]) -> Vec<Member<'a>> {
    checkout
        .members()
        .into_iter()
        .map(|package| {
            let manifest = package.manifest_path.strip_prefix(checkout.root());
            let manifest = manifest.unwrap_or(&package.manifest_path);
            let folder = manifest.parent().map(ToString::to_string).unwrap_or_default();
            let text = texts.iter().find(|(path, _)| manifest == *path);
            Member {
                name: package.name.to_string(),
                folder,
                manifest: manifest.to_string(),
                text: text.map_or("", |(_, text)| text),
                dependencies: package
                    .dependencies
                    .iter()
                    .map(|found| Dependency { name: found.name.clone(), kind: found.kind })
                    .collect(),
            }
        })
        .collect()
}

/// Checks every direct dependency of every member.
pub(super) fn check(members: &[Member<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in members {
        let Some(part) = Part::of(&member.folder) else {
            findings.push(Finding::new(
                &member.manifest,
                1,
                Rule::Arrow,
                format!("a member in {}, which no rule knows", member.folder),
                "a folder of the design, or a line for it in xtask/src/tidy/arrows.rs",
            ));
            continue;
        };
        for dependency in &member.dependencies {
            let ours = members.iter().find(|other| other.name == dependency.name);
            let broken = match ours {
                Some(other) => broken_arrow(part, Part::of(&other.folder)),
                None => broken_confinement(part, dependency),
            };
            if let Some((rule, expected)) = broken {
                let line = line_of_dependency(member.text, &dependency.name);
                let found = format!("a {}dependency on {}", kind(dependency), dependency.name);
                findings.push(Finding::new(&member.manifest, line, rule, found, expected));
            }
        }
    }
    findings
}

fn broken_arrow(from: Part, to: Option<Part>) -> Option<(Rule, String)> {
    if to.is_some_and(|to| from.sees().contains(&to)) {
        return None;
    }
    Some((
        Rule::Arrow,
        format!("{} to see {}", from.name(), list(from.sees().iter().map(|part| part.name()))),
    ))
}

fn broken_confinement(from: Part, dependency: &Dependency) -> Option<(Rule, String)> {
    let name = &*dependency.name;
    if let Some(confined) = CONFINED.iter().find(|confined| confined.package == name)
        && !confined.to.contains(&from)
    {
        let parts = list(confined.to.iter().map(|part| part.name()));
        return Some((Rule::Confined, format!("it only in {parts}")));
    }
    let tests_only = dependency.kind == DependencyKind::Development && CORE_TESTS.contains(&name);
    if from == Part::Core && !CORE.contains(&name) && !tests_only {
        return Some((
            Rule::Confined,
            format!("only packages that do no input or output: {}", list(CORE.iter().copied())),
        ));
    }
    None
}

fn kind(dependency: &Dependency) -> &'static str {
    match dependency.kind {
        DependencyKind::Development => "dev-",
        DependencyKind::Build => "build-",
        _ => "",
    }
}

fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    if names.is_empty() { "none of ours".to_owned() } else { names.join(", ") }
}

/// The line of a manifest that names the dependency; 1 where none does, as for a renamed one.
fn line_of_dependency(text: &str, name: &str) -> usize {
    let names_it = |line: &str| {
        line.trim_start()
            .trim_start_matches("[dependencies.")
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(['.', ' ', '=', ']']))
    };
    text.lines().position(names_it).map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDERS: [(&str, &str); 11] = [
        ("toolbay-core", "core"),
        ("toolbay-abi", "plugin-api/abi"),
        ("toolbay-macros", "plugin-api/macros"),
        ("toolbay-plugin-api", "plugin-api"),
        ("toolbay-corpus", "corpus"),
        ("toolbay-loader", "loader"),
        ("toolbay", "host"),
        ("toolbay-plugin-greeting", "plugins/greeting"),
        ("toolbay-fixture-hangs", "tests/fixtures/hangs"),
        ("toolbay-tests", "tests"),
        ("toolbay-xtask", "xtask"),
    ];

    /// The rules that a workspace breaks in which `from` has this one dependency.
    fn broken(from: &str, to: &str, kind: DependencyKind) -> Vec<Rule> {
        let members: Vec<_> = FOLDERS
            .iter()
            .map(|&(name, folder)| Member {
                name: name.to_owned(),
                folder: folder.to_owned(),
                manifest: format!("{folder}/Cargo.toml"),
                text: "",
                dependencies: if name == from {
                    vec![Dependency { name: to.to_owned(), kind }]
                } else {
                    vec![]
                },
            })
            .collect();
        check(&members).iter().map(Finding::rule).collect()
    }

    #[test]
    fn only_the_arrows_of_the_design_are_allowed() {
        let allowed = [
            ("toolbay-plugin-api", "toolbay-abi"),
            ("toolbay-plugin-api", "toolbay-macros"),
            ("toolbay-loader", "toolbay-core"),
            ("toolbay-loader", "toolbay-abi"),
            ("toolbay", "toolbay-core"),
            ("toolbay", "toolbay-loader"),
            ("toolbay-plugin-greeting", "toolbay-plugin-api"),
            ("toolbay-fixture-hangs", "toolbay-plugin-api"),
            ("toolbay-fixture-hangs", "toolbay-corpus"),
            ("toolbay-corpus", "toolbay-abi"),
            ("toolbay-corpus", "toolbay-plugin-api"),
            ("toolbay-xtask", "toolbay-loader"),
        ];
        for kind in [DependencyKind::Normal, DependencyKind::Development, DependencyKind::Build] {
            for (from, _) in FOLDERS {
                for (to, _) in FOLDERS {
                    let good = allowed.contains(&(from, to))
                        || from == "toolbay-tests" && to != "toolbay-tests";
                    let expected = if good { vec![] } else { vec![Rule::Arrow] };
                    assert_eq!(broken(from, to, kind), expected, "{from} -> {to}");
                }
            }
        }
    }

    #[test]
    fn some_packages_are_confined() {
        use DependencyKind::{Development, Normal};
        for (from, to, kind, good) in [
            ("toolbay-abi", "abi_stable", Normal, true),
            ("toolbay-loader", "abi_stable", Normal, false),
            ("toolbay-plugin-greeting", "abi_stable", Normal, false),
            ("toolbay-fixture-hangs", "abi_stable", Normal, true),
            ("toolbay-loader", "libloading", Normal, true),
            ("toolbay-tests", "libloading", Development, true),
            ("toolbay", "libloading", Normal, false),
            ("toolbay", "tokio", Normal, true),
            ("toolbay-loader", "tokio", Development, false),
            ("toolbay-plugin-api", "tokio", Normal, false),
            ("toolbay-core", "serde", Normal, true),
            ("toolbay-core", "tempfile", Normal, false),
            ("toolbay-core", "proptest", Development, true),
            ("toolbay-core", "proptest", Normal, false),
            ("toolbay-loader", "tempfile", Normal, true),
        ] {
            let expected = if good { vec![] } else { vec![Rule::Confined] };
            assert_eq!(broken(from, to, kind), expected, "{from} -> {to}");
        }
    }

    #[test]
    fn a_finding_stands_at_the_dependency() {
        let member = |folder: &str, text| Member {
            name: folder.to_owned(),
            folder: folder.to_owned(),
            manifest: format!("{folder}/Cargo.toml"),
            text,
            dependencies: vec![Dependency {
                name: "tokio".to_owned(),
                kind: DependencyKind::Development,
            }],
        };
        let text = "[dependencies]\ntokio-util.workspace = true\n\n[dev-dependencies]\ntokio.workspace = true\n";
        let findings = check(&[member("loader", text), member("elsewhere", "")]);
        let texts: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "loader/Cargo.toml:5: confined-dependency: found a dev-dependency on tokio, expected it only in host, plugins/*, \
                 tests/fixtures/*, tests, xtask",
                "elsewhere/Cargo.toml:1: arrow: found a member in elsewhere, which no rule knows, expected a folder of the design, \
                 or a line for it in xtask/src/tidy/arrows.rs",
            ]
        );
    }
}
