//! The static audit of real libraries: plain ones pass, and each hostile one is told by what is wrong with it, before it is opened.
#![cfg(test)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use miniz_oxide::deflate::compress_to_vec_zlib;
use semver::Version;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolbay_loader::{
    Candidate, Check, Content, DeniedCrate, HostSystem, Inspected, Inspection, Level, Party,
    Problem, RejectionReason, Stage, StaticAuditPolicy, findings, inspect, read_content,
};
use toolbay_tests::{Home, c_library, changed_note_define, library, note_define};

const RUST: [&str; 8] = [
    "toolbay-plugin-catalogue",
    "toolbay-plugin-code",
    "toolbay-plugin-greeting",
    "toolbay-plugin-notes",
    "toolbay-fixture-echo",
    "toolbay-fixture-misbehaving",
    "toolbay-fixture-other-root",
    "toolbay-fixture-own-allocator",
];
const ECHO: &str = "toolbay-fixture-echo";

/// What a finding says: the check, where it is one of the audit, the level, the stage and the code.
type Verdict = (Option<Check>, Level, Stage, &'static str);

const fn denied(check: Check, code: &'static str) -> Verdict {
    (Some(check), Level::Deny, Stage::Audit, code)
}

const fn unfit(check: Check, code: &'static str) -> Verdict {
    (Some(check), Level::Deny, Stage::Verify, code)
}

fn inspected(path: &Path) -> Inspected {
    match inspect(&Candidate::at(path)) {
        Ok(Inspection::Plugin(plugin)) => *plugin,
        other => panic!("{}: {other:?}", path.display()),
    }
}

fn problems(path: &Path, policy: &StaticAuditPolicy, companions: &[&str]) -> Vec<Problem> {
    let companions = companions.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    findings(&inspected(path), &HostSystem::current(), policy, &companions)
}

fn verdicts(path: &Path, policy: &StaticAuditPolicy, companions: &[&str]) -> Vec<Verdict> {
    let of = |problem: &Problem| {
        let reason = problem.reason();
        (problem.check(), problem.level(), reason.stage, reason.code)
    };
    problems(path, policy, companions).iter().map(of).collect()
}

fn by_default(path: &Path) -> Vec<Verdict> {
    verdicts(path, &StaticAuditPolicy::default(), &[])
}

/// A folder with C fixtures.
struct Fixtures(TempDir);

impl Fixtures {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Builds `audited.c` with these arguments for compiler and linker.
    fn audited(&self, name: &str, arguments: &[&str]) -> PathBuf {
        self.with_note(name, &note_define("audited"), arguments)
    }

    fn with_note(&self, name: &str, note: &str, arguments: &[&str]) -> PathBuf {
        let path = self.path(name);
        let arguments: Vec<_> = std::iter::once(&note)
            .chain(arguments)
            .chain(&["-lgcc_s"])
            .map(AsRef::as_ref)
            .collect();
        c_library("audited.c", &path, &arguments);
        path
    }

    /// A library that others need, under the soname.
    fn dependency(&self, soname: &str) -> PathBuf {
        let path = self.path(soname);
        c_library("dependency.c", &path, &[format!("-Wl,-soname,{soname}").as_ref()]);
        path
    }

    /// A copy of a package's library, changed.
    fn changed(&self, package: &str, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
        let mut content = fs::read(library(package)).unwrap();
        change(&mut content);
        let path = self.path("changed.so");
        fs::write(&path, content).unwrap();
        path
    }
}

fn replace_all(content: &mut [u8], from: &[u8], to: &[u8]) -> usize {
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> = content
        .windows(from.len())
        .enumerate()
        .filter(|(_, at)| *at == from)
        .map(|(at, _)| at)
        .collect();
    for &at in &places {
        content[at..at + to.len()].copy_from_slice(to);
    }
    places.len()
}

#[test]
fn every_plain_library_passes_without_a_word() {
    for package in RUST {
        assert_eq!(by_default(&library(package)), [], "{package}");
    }
    let fixtures = Fixtures::new();
    assert_eq!(by_default(&fixtures.audited("plain.so", &[])), []);
}

#[test]
fn what_a_plain_library_is_made_of_is_read() {
    let plugin = inspected(&library(ECHO));
    let facts = plugin.facts();
    assert!(facts.unwinds && facts.imports.contains("malloc") && facts.exports.len() == 1);
    assert!(facts.needed.iter().any(|name| name == "libc.so.6"), "{:?}", facts.needed);
    assert!(facts.version_needs.iter().any(|need| need.glibc().is_some()));
    assert!(facts.tls_bytes > 0 && !facts.static_tls);
    assert_eq!(facts.constructors, 3);
    let rustc: Vec<Version> = facts.rustc.iter().map(|version| version.parse().unwrap()).collect();
    let [rustc] = &rustc[..] else { panic!("{rustc:?}") };
    // From a file and from memory it is the same.
    let Ok(Content::Plugin { note, facts: again }) =
        read_content(&fs::read(library(ECHO)).unwrap())
    else {
        panic!("it is a plugin");
    };
    assert_eq!((&*note, &*again), (plugin.note(), facts));

    let from = |oldest: Version| StaticAuditPolicy {
        oldest_rustc: Some(oldest),
        ..StaticAuditPolicy::default()
    };
    assert_eq!(verdicts(&library(ECHO), &from(rustc.clone()), &[]), []);
    let newer = Version::new(rustc.major, rustc.minor + 1, 0);
    let expected = [denied(Check::Rustc, "old_rustc")];
    assert_eq!(verdicts(&library(ECHO), &from(newer.clone()), &[]), expected);
    let c_library = Fixtures::new();
    let expected = [denied(Check::Rustc, "unknown_rustc")];
    assert_eq!(verdicts(&c_library.audited("c.so", &[]), &from(newer), &[]), expected);
}

/// Each thing that a library may have wrong, and its twin, which does the same in a way that is right.
#[test]
fn each_hostile_library_has_its_verdict_and_its_twin_passes() {
    let more_exports = (Some(Check::Exports), Level::Warn, Stage::Audit, "more_exports");
    let constructors = (Some(Check::Constructors), Level::Warn, Stage::Audit, "many_constructors");
    let cases: [(&str, &[&str], Verdict, &[&str]); 18] = [
        ("function as root", &["-DROOT_FUNCTION"], unfit(Check::RootModule, "no_root_module"), &[]),
        ("small root", &["-DROOT_SMALL"], unfit(Check::RootModule, "no_root_module"), &[]),
        ("weak root", &["-DROOT_WEAK"], unfit(Check::RootModule, "no_root_module"), &[]),
        ("undefined root", &["-DROOT_UNDEFINED"], unfit(Check::RootModule, "no_root_module"), &[]),
        (
            "relative run path",
            &["-Wl,-rpath,lib"],
            denied(Check::RunPath, "foreign_run_path"),
            &["-Wl,-rpath,$ORIGIN/lib"],
        ),
        (
            "absolute run path",
            &["-Wl,-rpath,/usr/lib"],
            denied(Check::RunPath, "foreign_run_path"),
            &["-Wl,-rpath,$ORIGIN"],
        ),
        (
            "run path upwards",
            &["-Wl,-rpath,$ORIGIN/../.."],
            denied(Check::RunPath, "foreign_run_path"),
            &["-Wl,-rpath,$ORIGIN"],
        ),
        (
            "old run path",
            &["-Wl,--disable-new-dtags,-rpath,/usr/lib"],
            denied(Check::RunPath, "foreign_run_path"),
            &["-Wl,--disable-new-dtags,-rpath,$ORIGIN"],
        ),
        ("exports", &["-DEXPORTS"], more_exports, &["-DEXPORTS", "-DHIDDEN"]),
        (
            "static TLS",
            &["-DSTATIC_TLS"],
            denied(Check::StaticTls, "static_tls"),
            &["-DDYNAMIC_TLS"],
        ),
        (
            "executable stack",
            &["-Wl,-z,execstack"],
            denied(Check::ExecStack, "executable_stack"),
            &["-Wl,-z,noexecstack"],
        ),
        (
            "text relocation",
            &["-DTEXT_RELOCATION", "-Wl,-z,notext"],
            denied(Check::TextRelocations, "text_relocations"),
            &["-Wl,-z,notext"],
        ),
        ("writable code", &["-DWRITABLE_CODE"], denied(Check::WritableCode, "writable_code"), &[]),
        ("constructors", &["-DCONSTRUCTORS"], constructors, &[]),
        ("abort", &["-DABORTS"], unfit(Check::PanicStrategy, "panic_abort"), &[]),
        ("fork", &["-DFORKS"], denied(Check::DeniedImports, "denied_import"), &[]),
        ("auditor", &["-Wl,--audit,x.so"], denied(Check::LinkerHooks, "linker_hook"), &[]),
        ("interposer", &["-Wl,-z,interpose"], denied(Check::LinkerHooks, "linker_hook"), &[]),
    ];
    let fixtures = Fixtures::new();
    for (name, arguments, verdict, twin) in cases {
        assert_eq!(by_default(&fixtures.audited("hostile.so", arguments)), [verdict], "{name}");
        assert_eq!(by_default(&fixtures.audited("twin.so", twin)), [], "the twin of {name}");
    }
}

#[test]
fn of_many_libraries_with_static_tls_each_is_refused() {
    let fixtures = Fixtures::new();
    let built = fs::read(fixtures.audited("static_tls.so", &["-DSTATIC_TLS"])).unwrap();
    let home = Home::new();
    for number in 0..64 {
        fs::write(home.plugin(&format!("{number}.so")), &built).unwrap();
    }
    let rejections = home.rejections();
    assert_eq!(rejections.len(), 64);
    for rejection in rejections {
        assert_eq!((rejection.reason.stage, rejection.reason.code), (Stage::Audit, "static_tls"));
    }
}

#[test]
fn a_library_without_a_root_module_of_its_own_is_told_whatever_it_links() {
    let fixtures = Fixtures::new();
    let (plugin, impostor) = (library("toolbay-plugin-greeting"), fixtures.path("impostor.so"));
    c_library(
        "note_only.c",
        &impostor,
        &[note_define("impostor").as_ref(), "-Wl,--no-as-needed".as_ref(), plugin.as_os_str()],
    );
    let expected = [
        unfit(Check::RootModule, "no_root_module"),
        unfit(Check::PanicStrategy, "panic_abort"),
        denied(Check::NeededLibraries, "unlisted_library"),
    ];
    assert_eq!(by_default(&impostor), expected);
}

#[test]
fn a_library_for_a_newer_glibc_is_told_and_the_environment_is_at_fault() {
    let fixtures = Fixtures::new();
    let patched = fixtures.changed(ECHO, |content| {
        assert!(replace_all(content, b"\0GLIBC_2.34\0", b"\0GLIBC_9.99\0") > 0);
    });
    assert_eq!(by_default(&patched), [denied(Check::Glibc, "newer_glibc")]);
    let problem = problems(&patched, &StaticAuditPolicy::default(), &[]).remove(0);
    assert_eq!(problem.reason().party(), Party::Environment);
    assert!(problem.reason().found.contains("GLIBC_9.99 of libc.so.6"), "{problem:?}");
}

#[test]
fn a_library_for_another_processor_is_told_and_one_of_32_bits_is_no_plugin() {
    // e_machine is at byte 18, EI_OSABI at byte 7, EI_CLASS at byte 4.
    let fixtures = Fixtures::new();
    let arm32 = fixtures.changed(ECHO, |content| content[18] = 40);
    assert!(by_default(&arm32).contains(&unfit(Check::Machine, "other_machine")));
    let free_bsd = fixtures.changed(ECHO, |content| content[7] = 9);
    assert_eq!(by_default(&free_bsd), [denied(Check::OsAbi, "other_os_abi")]);
    let linux = fixtures.changed(ECHO, |content| content[7] = 3);
    assert_eq!(by_default(&linux), []);
    let small = fixtures.changed(ECHO, |content| content[4] = 1);
    let inspection = inspect(&Candidate::at(&small));
    assert!(matches!(inspection, Ok(Inspection::NotAPlugin(_))), "{inspection:?}");
}

#[test]
fn what_a_library_needs_must_be_the_systems_the_bundles_or_allowed() {
    let fixtures = Fixtures::new();
    let needs = |soname: &str, run_path: &str| {
        let dependency = fixtures.dependency(soname);
        let dependency = dependency.to_str().unwrap().to_owned();
        fixtures.audited("needs.so", &["-DLINKS", &dependency, run_path])
    };
    let own = "-Wl,-rpath,$ORIGIN";
    let path = needs("libmissing.so.1", own);
    assert_eq!(by_default(&path), [denied(Check::NeededLibraries, "unlisted_library")]);
    assert_eq!(verdicts(&path, &StaticAuditPolicy::default(), &["libmissing.so.1"]), []);
    let allowing = StaticAuditPolicy {
        allowed_libraries: BTreeSet::from(["libmissing.so.1".to_owned()]),
        ..StaticAuditPolicy::default()
    };
    assert_eq!(verdicts(&path, &allowing, &[]), []);
    let path = needs("libmissing.so.1", "-Wl,--enable-new-dtags");
    let expected = [denied(Check::NeededLibraries, "no_run_path")];
    assert_eq!(verdicts(&path, &StaticAuditPolicy::default(), &["libmissing.so.1"]), expected);

    let musl = needs("libc.musl-x86_64.so.1", own);
    assert_eq!(by_default(&musl), [denied(Check::OtherLibc, "other_libc")]);
}

#[test]
fn a_crate_that_is_denied_is_found_in_the_list_of_crates() {
    let fixtures = Fixtures::new();
    let list = |content: &[u8]| {
        let (path, section) = (fixtures.path("listed.so"), fixtures.path("section"));
        fs::write(&section, content).unwrap();
        let made = Command::new("objcopy")
            .arg(format!("--add-section=.dep-v0={}", section.display()))
            .args([&library(ECHO), &path])
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        path
    };
    let json = json!({ "packages": [
        { "name": "good", "version": "1.0.0", "source": "registry" },
        { "name": "bad", "version": "1.2.3", "source": "registry", "root": true, "dependencies": [0] },
    ] });
    let listed = list(&compress_to_vec_zlib(json.to_string().as_bytes(), 6));
    let denying = |versions: Option<&str>| StaticAuditPolicy {
        levels: [(Check::DependencyList, Level::Warn)].into(),
        denied_crates: [DeniedCrate::new(
            "bad",
            versions.map(|versions| versions.parse().unwrap()).as_ref(),
        )]
        .into(),
        ..StaticAuditPolicy::default()
    };
    let expected = [denied(Check::DeniedCrates, "denied_crate")];
    assert_eq!(verdicts(&listed, &denying(None), &[]), expected);
    assert_eq!(verdicts(&listed, &denying(Some("<1.2.4")), &[]), expected);
    assert_eq!(verdicts(&listed, &denying(Some("<1.2.3")), &[]), []);
    let warned = |code| [(Some(Check::DependencyList), Level::Warn, Stage::Audit, code)];
    assert_eq!(verdicts(&library(ECHO), &denying(None), &[]), warned("no_dependency_list"));
    let damaged = list(b"no zlib");
    assert_eq!(verdicts(&damaged, &denying(None), &[]), warned("bad_dependency_list"));
    assert_eq!(by_default(&damaged), [], "which nobody asked about");
}

/// A note of another digest, whose shape has `from` replaced by `to`.
fn other_shape(from: &str, to: &str) -> RejectionReason {
    let fixtures = Fixtures::new();
    let note = changed_note_define("other", |note: &mut Value| {
        let shape = note["shape"].to_string();
        assert!(shape.contains(from), "{from}");
        note["shape"] = shape.replacen(from, to, 1).parse().unwrap();
        note["digest"] = json!("0123456789abcdef");
    });
    let path = fixtures.with_note("other.so", &note, &[]);
    let verdict = (None, Level::Deny, Stage::Verify, "other_abi");
    assert_eq!(by_default(&path), [verdict]);
    problems(&path, &StaticAuditPolicy::default(), &[]).remove(0).into_reason()
}

#[test]
fn a_plugin_of_another_interface_hears_the_first_difference() {
    for (from, to, expected, found) in [
        (
            "remaining_ms:u64",
            "remaining_ms:u32",
            "CallInput.remaining_ms: u64",
            "CallInput.remaining_ms: u32",
        ),
        (
            "call:u64;remaining_ms:u64",
            "remaining_ms:u64;call:u64",
            "CallInput, field 5: call",
            "CallInput, field 5: remaining_ms",
        ),
        (
            ";remaining_ms:u64",
            "",
            "CallInput.remaining_ms: u64",
            "CallInput.remaining_ms: no such field",
        ),
        (
            "remaining_ms:u64",
            "remaining_ms:u64;trace:RStr",
            "CallInput.trace: no such field",
            "CallInput.trace: RStr",
        ),
        ("minor:0.11", "minor:0.12", "abi_stable.minor: 0.11", "abi_stable.minor: 0.12"),
    ] {
        let reason = other_shape(from, to);
        assert!(reason.expected.ends_with(expected), "{}", reason.expected);
        assert!(reason.found.ends_with(found), "{}", reason.found);
        assert!(reason.remedy.contains("cargo update"), "{}", reason.remedy);
    }
}

#[test]
fn a_symbol_that_nobody_defines_is_an_error_when_the_library_is_opened() {
    let fixtures = Fixtures::new();
    let path = fixtures.audited("undefined.so", &["-DUNDEFINED", "-Wl,-z,lazy"]);
    assert_eq!(by_default(&path), [], "no table tells what other libraries define");
    let home = Home::new();
    fs::copy(path, home.plugin("undefined.so")).unwrap();
    let rejections = home.rejections();
    let [rejection] = &rejections[..] else { panic!("{rejections:?}") };
    assert_eq!((rejection.reason.stage, rejection.reason.code), (Stage::Load, "not_opened"));
    assert!(rejection.reason.found.contains("nobody_defines_this"), "{rejection}");
}

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

#[test]
fn no_change_of_bytes_makes_reading_panic() {
    let fixtures = Fixtures::new();
    let whole = fs::read(fixtures.audited("plain.so", &[])).unwrap();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut refused, mut taken) = (0, 0);
    for round in 0..6_000 {
        let mut content = whole.clone();
        if round % 8 == 0 {
            content.truncate(numbers.below(content.len()));
        }
        // Most of what is read stands at the beginning, and some of it at the end.
        let region = if round % 2 == 0 { 0x400 } else { whole.len() };
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(region);
            let value = u8::try_from(numbers.below(256)).unwrap();
            if let Some(byte) = content.get_mut(at) {
                *byte = if round % 3 == 0 { 0xff } else { value };
            }
        }
        match read_content(&content) {
            Err(reason) => {
                assert_eq!(reason.stage, Stage::Inspect);
                refused += 1;
            }
            Ok(_) => taken += 1,
        }
    }
    assert!(refused > 500 && taken > 500, "{refused} refused, {taken} taken");
}
