//! The judgement by itself: a plain library, and what each change of it makes of the verdict.

use semver::Version;
use toolbay_abi::ROOT_SYMBOL;

use super::*;
use crate::{
    inspect::{Dependencies, Dependency, RootFault, RootSymbol, Stack, VersionNeed},
    rejection::Stage,
};

const HOST: HostSystem = HostSystem { target: "x86_64-linux-gnu", glibc: Some((2, 36)) };

fn texts<const N: usize>(texts: [&str; N]) -> BTreeSet<String> {
    texts.map(str::to_owned).into()
}

/// What a plugin has that a plain build makes.
fn plain() -> LibraryFacts {
    LibraryFacts {
        machine: "x86_64",
        unwinds: true,
        root: RootSymbol::Defined { size: 256 },
        os_abi: 0,
        soname: None,
        needed: ["libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"].map(str::to_owned).to_vec(),
        run_paths: vec![],
        linker_hooks: vec![],
        version_needs: vec![need("libc.so.6", "GLIBC_2.34"), need("libgcc_s.so.1", "GCC_3.0")],
        imports: texts(["_Unwind_RaiseException", "malloc", "exit", "abort"]),
        exports: texts([ROOT_SYMBOL]),
        tls_bytes: 240,
        static_tls: false,
        stack: Stack::DataOnly,
        text_relocations: false,
        writable_code: false,
        constructors: 3,
        rustc: texts(["1.95.0"]),
        dependencies: Dependencies::Unlisted,
    }
}

fn need(library: &str, version: &str) -> VersionNeed {
    VersionNeed { library: library.to_owned(), version: version.to_owned(), weak: false }
}

fn listed(crates: &[(&str, [u64; 3])]) -> Dependencies {
    let crates = crates.iter().map(|&(name, [major, minor, patch])| Dependency {
        name: name.to_owned(),
        version: Version::new(major, minor, patch),
    });
    Dependencies::Listed(crates.collect())
}

fn verdicts(
    facts: &LibraryFacts,
    policy: &StaticAuditPolicy,
) -> Vec<(Check, Level, Stage, &'static str)> {
    static_audit(facts, &HOST, policy, &texts(["libbundled.so.1"]))
        .into_iter()
        .map(|finding| (finding.check, finding.level, finding.reason.stage, finding.reason.code))
        .collect()
}

/// A policy that has something to say about everything it can.
fn strict() -> StaticAuditPolicy {
    StaticAuditPolicy {
        levels: [(Check::DependencyList, Level::Warn)].into(),
        allowed_libraries: texts(["libz.so.1"]),
        denied_crates: [
            DeniedCrate::new("openssl", None),
            DeniedCrate::new("time", Some(&"<0.2.23".parse().unwrap())),
        ]
        .into(),
        oldest_rustc: Some(Version::new(1, 90, 0)),
        ..StaticAuditPolicy::default()
    }
}

#[test]
fn a_plain_library_passes_also_a_strict_policy() {
    assert_eq!(verdicts(&plain(), &StaticAuditPolicy::default()), []);
    let with_list = LibraryFacts { dependencies: listed(&[("serde", [1, 0, 0])]), ..plain() };
    assert_eq!(verdicts(&with_list, &strict()), []);
}

#[test]
fn each_change_of_a_plain_library_has_its_own_verdict() {
    use Level::{Deny, Warn};
    use Stage::{Audit, Verify};
    type Change = fn(&mut LibraryFacts);
    type Verdict = (Check, Level, Stage, &'static str);
    let cases: [(&str, Change, Verdict); 35] = [
        (
            "aarch64",
            |facts| facts.machine = "aarch64",
            (Check::Machine, Deny, Verify, "other_machine"),
        ),
        ("FreeBSD", |facts| facts.os_abi = 9, (Check::OsAbi, Deny, Audit, "other_os_abi")),
        (
            "musl of Alpine",
            |facts| facts.needed[1] = "libc.musl-x86_64.so.1".to_owned(),
            (Check::OtherLibc, Deny, Audit, "other_libc"),
        ),
        (
            "musl",
            |facts| facts.needed.push("libc.so".to_owned()),
            (Check::OtherLibc, Deny, Audit, "other_libc"),
        ),
        (
            "newer glibc",
            |facts| facts.version_needs.push(need("libc.so.6", "GLIBC_2.37")),
            (Check::Glibc, Deny, Audit, "newer_glibc"),
        ),
        (
            "far newer glibc",
            |facts| facts.version_needs.insert(0, need("libm.so.6", "GLIBC_9.9")),
            (Check::Glibc, Deny, Audit, "newer_glibc"),
        ),
        (
            "no root",
            |facts| facts.root = RootSymbol::Missing,
            (Check::RootModule, Deny, Verify, "no_root_module"),
        ),
        (
            "weak root",
            |facts| facts.root = RootSymbol::Malformed(RootFault::NotGlobal),
            (Check::RootModule, Deny, Verify, "no_root_module"),
        ),
        (
            "abort",
            |facts| facts.unwinds = false,
            (Check::PanicStrategy, Deny, Verify, "panic_abort"),
        ),
        ("no compiler", |facts| facts.rustc.clear(), (Check::Rustc, Deny, Audit, "unknown_rustc")),
        (
            "old compiler",
            |facts| facts.rustc.extend(["1.89.1".to_owned()]),
            (Check::Rustc, Deny, Audit, "old_rustc"),
        ),
        (
            "nightly before",
            |facts| facts.rustc = texts(["1.90.0-nightly"]),
            (Check::Rustc, Deny, Audit, "old_rustc"),
        ),
        (
            "no version",
            |facts| facts.rustc.extend(["newest".to_owned()]),
            (Check::Rustc, Deny, Audit, "old_rustc"),
        ),
        (
            "another library",
            |facts| facts.needed.push("libssl.so.3".to_owned()),
            (Check::NeededLibraries, Deny, Audit, "unlisted_library"),
        ),
        (
            "a path",
            |facts| facts.needed.push("/lib/libc.so.6".to_owned()),
            (Check::NeededLibraries, Deny, Audit, "unlisted_library"),
        ),
        (
            "a bundled one that is not found",
            |facts| facts.needed.push("libbundled.so.1".to_owned()),
            (Check::NeededLibraries, Deny, Audit, "no_run_path"),
        ),
        (
            "absolute run path",
            |facts| facts.run_paths.push("/usr/lib".to_owned()),
            (Check::RunPath, Deny, Audit, "foreign_run_path"),
        ),
        (
            "empty run path",
            |facts| facts.run_paths = vec!["$ORIGIN".to_owned(), String::new()],
            (Check::RunPath, Deny, Audit, "foreign_run_path"),
        ),
        (
            "auditor",
            |facts| facts.linker_hooks.push("DT_AUDIT x.so".to_owned()),
            (Check::LinkerHooks, Deny, Audit, "linker_hook"),
        ),
        (
            "static TLS",
            |facts| facts.static_tls = true,
            (Check::StaticTls, Deny, Audit, "static_tls"),
        ),
        (
            "executable stack",
            |facts| facts.stack = Stack::Executable,
            (Check::ExecStack, Deny, Audit, "executable_stack"),
        ),
        (
            "undeclared stack",
            |facts| facts.stack = Stack::Undeclared,
            (Check::ExecStack, Deny, Audit, "executable_stack"),
        ),
        (
            "text relocations",
            |facts| facts.text_relocations = true,
            (Check::TextRelocations, Deny, Audit, "text_relocations"),
        ),
        (
            "writable code",
            |facts| facts.writable_code = true,
            (Check::WritableCode, Deny, Audit, "writable_code"),
        ),
        (
            "one constructor more",
            |facts| facts.constructors = 4,
            (Check::Constructors, Warn, Audit, "many_constructors"),
        ),
        (
            "fork",
            |facts| facts.imports.extend(["fork".to_owned()]),
            (Check::DeniedImports, Deny, Audit, "denied_import"),
        ),
        (
            "setlocale",
            |facts| facts.imports.extend(["setlocale".to_owned()]),
            (Check::DeniedImports, Deny, Audit, "denied_import"),
        ),
        (
            "malloc exported",
            |facts| facts.exports.extend(["malloc".to_owned()]),
            (Check::Exports, Warn, Audit, "more_exports"),
        ),
        (
            "no list",
            |facts| facts.dependencies = Dependencies::Unlisted,
            (Check::DependencyList, Warn, Audit, "no_dependency_list"),
        ),
        (
            "damaged list",
            |facts| facts.dependencies = Dependencies::Unreadable("it is none".to_owned()),
            (Check::DependencyList, Warn, Audit, "bad_dependency_list"),
        ),
        (
            "denied crate",
            |facts| facts.dependencies = listed(&[("openssl", [0, 10, 0])]),
            (Check::DeniedCrates, Deny, Audit, "denied_crate"),
        ),
        (
            "denied version",
            |facts| facts.dependencies = listed(&[("time", [0, 2, 22])]),
            (Check::DeniedCrates, Deny, Audit, "denied_crate"),
        ),
        (
            "another among several",
            |facts| facts.dependencies = listed(&[("serde", [1, 0, 0]), ("time", [0, 1, 0])]),
            (Check::DeniedCrates, Deny, Audit, "denied_crate"),
        ),
        (
            "interposer",
            |facts| facts.linker_hooks.push("DF_1_INTERPOSE".to_owned()),
            (Check::LinkerHooks, Deny, Audit, "linker_hook"),
        ),
        (
            "root of another library",
            |facts| {
                facts.root = RootSymbol::Missing;
                facts.imports.insert(ROOT_SYMBOL.to_owned());
            },
            (Check::RootModule, Deny, Verify, "no_root_module"),
        ),
    ];
    for (name, change, expected) in cases {
        let mut facts = LibraryFacts { dependencies: listed(&[]), ..plain() };
        change(&mut facts);
        assert_eq!(verdicts(&facts, &strict()), [expected], "{name}");
    }
}

#[test]
fn what_looks_like_a_finding_and_is_none_passes() {
    type Change = fn(&mut LibraryFacts);
    let cases: [(&str, Change); 14] = [
        ("Linux in the header", |facts| facts.os_abi = 3),
        ("the host's own glibc", |facts| facts.version_needs.push(need("libc.so.6", "GLIBC_2.36"))),
        ("packed relocations", |facts| {
            facts.version_needs.push(need("libc.so.6", "GLIBC_ABI_DT_RELR"))
        }),
        ("a weak need", |facts| {
            facts.version_needs.push(VersionNeed { weak: true, ..need("libc.so.6", "GLIBC_9.9") });
        }),
        ("a version of something else", |facts| {
            facts.version_needs.push(need("libz.so.1", "ZLIB_9.9"))
        }),
        ("an allowed library", |facts| facts.needed.push("libz.so.1".to_owned())),
        ("a bundled library", |facts| {
            facts.needed.push("libbundled.so.1".to_owned());
            facts.run_paths.push("$ORIGIN".to_owned());
        }),
        ("a run path below", |facts| facts.run_paths.push("${ORIGIN}/lib".to_owned())),
        ("static TLS without data", |facts| (facts.static_tls, facts.tls_bytes) = (true, 0)),
        ("much dynamic TLS", |facts| facts.tls_bytes = 1 << 20),
        ("fewer constructors", |facts| facts.constructors = 0),
        ("a name like a denied one", |facts| facts.imports.extend(["forkpty2".to_owned()])),
        ("the oldest compiler", |facts| facts.rustc = texts(["1.90.0"])),
        ("a version that is not denied", |facts| {
            facts.dependencies = listed(&[("time", [0, 2, 23])])
        }),
    ];
    for (name, change) in cases {
        let mut facts = LibraryFacts { dependencies: listed(&[]), ..plain() };
        change(&mut facts);
        assert_eq!(verdicts(&facts, &strict()), [], "{name}");
    }
}

#[test]
fn all_findings_come_at_once_in_the_order_of_the_checks() {
    let mut facts = plain();
    facts.writable_code = true;
    facts.root = RootSymbol::Missing;
    facts.exports.insert("free".to_owned());
    facts.needed.push("libssl.so.3".to_owned());
    let found: Vec<Check> = verdicts(&facts, &StaticAuditPolicy::default())
        .into_iter()
        .map(|(check, ..)| check)
        .collect();
    let expected = [Check::RootModule, Check::NeededLibraries, Check::WritableCode, Check::Exports];
    assert_eq!(found, expected);
}

#[test]
fn a_level_decides_what_follows() {
    let facts = LibraryFacts { writable_code: true, machine: "riscv64", ..plain() };
    for (level, expected) in [
        (Level::Allow, vec![]),
        (Level::Warn, vec![(Check::WritableCode, Level::Warn)]),
        (Level::Deny, vec![(Check::WritableCode, Level::Deny)]),
    ] {
        let policy = StaticAuditPolicy {
            levels: [(Check::WritableCode, level), (Check::Machine, level)].into(),
            ..StaticAuditPolicy::default()
        };
        let found: Vec<_> = verdicts(&facts, &policy)
            .into_iter()
            .map(|(check, level, ..)| (check, level))
            .filter(|(check, _)| *check != Check::Machine)
            .collect();
        assert_eq!(found, expected);
        assert_eq!(verdicts(&facts, &policy)[0].0, Check::Machine, "which nobody can allow");
    }
}

#[test]
fn a_host_with_musl_takes_its_own_c_library_and_no_other() {
    let host = HostSystem { target: "x86_64-linux-musl", glibc: None };
    let codes = |needed: &[&str]| -> Vec<&str> {
        let needed = needed.iter().map(|&name| name.to_owned()).collect();
        let facts = LibraryFacts { needed, ..plain() };
        let policy = StaticAuditPolicy {
            allowed_libraries: texts(["libc.so", "libc.musl-x86_64.so.1"]),
            ..StaticAuditPolicy::default()
        };
        let found = static_audit(&facts, &host, &policy, &BTreeSet::new());
        found.iter().map(|finding| finding.reason.code).collect()
    };
    assert_eq!(codes(&["libc.so"]), [""; 0]);
    assert_eq!(codes(&["libc.so.6"]), ["other_libc"]);
}

#[test]
fn names_of_the_file_are_cut_and_made_fit_for_a_line() {
    let mut facts = plain();
    facts.needed = (0..100).map(|number| format!("\u{1b}[2J{number}{}", "x".repeat(500))).collect();
    let findings = static_audit(&facts, &HOST, &StaticAuditPolicy::default(), &BTreeSet::new());
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    let found = &finding.reason.found;
    assert!(found.ends_with("and 92 more") && found.len() < 1_500, "{found}");
    assert!(!found.contains(char::is_control), "{found}");
}
