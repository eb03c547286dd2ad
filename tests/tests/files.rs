//! Files that are no plugins, or no longer: each is named and stops nothing, and none of them is opened as a library.
#![cfg(test)]

use std::{
    fs::{self, File},
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
    process::Command,
};

use toolbay_loader::{Rejection, Stage};
use toolbay_tests::{Home, refreshed_beside_a_good_plugin};

const GREETING: &str = "toolbay-plugin-greeting";
const ECHO: &str = "toolbay-fixture-echo";

/// What was refused and ignored, by file name, beside a good plugin.
fn beside_a_good_plugin(spoil: impl FnOnce(&Home)) -> (Vec<Rejection>, Vec<String>) {
    let report = refreshed_beside_a_good_plugin(spoil);
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let ignored = report.ignored.iter().map(|(path, _)| name(path)).collect();
    (report.rejections, ignored)
}

fn the_only(rejections: &[Rejection]) -> &Rejection {
    let [rejection] = rejections else { panic!("expected one, found {rejections:?}") };
    rejection
}

#[test]
fn what_is_no_library_is_ignored() {
    let (rejections, ignored) = beside_a_good_plugin(|home| {
        fs::write(home.plugin("empty.so"), "").unwrap();
        fs::write(home.plugin("text.so"), "not a library").unwrap();
        fs::write(home.plugin("README"), "how to").unwrap();
        fs::write(home.plugin("short.so"), b"\x7fEL").unwrap();
        fs::create_dir(home.plugin("folder.so")).unwrap();
        fs::copy(std::env::current_exe().unwrap(), home.plugin("program")).unwrap();
    });
    assert_eq!(rejections, []);
    assert_eq!(ignored, ["README", "empty.so", "program", "short.so", "text.so"]);
}

#[test]
fn what_is_no_regular_file_is_refused_and_never_waited_for() {
    let pipe = |home: &Home| {
        assert!(Command::new("mkfifo").arg(home.plugin("x.so")).status().unwrap().success());
    };
    let link = |home: &Home| symlink(toolbay_tests::library(ECHO), home.plugin("x.so")).unwrap();
    let dangling = |home: &Home| symlink("/nowhere", home.plugin("x.so")).unwrap();
    let circle = |home: &Home| symlink("x.so", home.plugin("x.so")).unwrap();
    let socket = |home: &Home| drop(UnixListener::bind(home.plugin("x.so")).unwrap());
    type Spoil<'a> = &'a dyn Fn(&Home);
    let cases = [
        ("a pipe", &pipe as Spoil<'_>, "not_a_regular_file"),
        ("a link", &link, "symbolic_link"),
        ("a dangling link", &dangling, "symbolic_link"),
        ("a link to itself", &circle, "symbolic_link"),
        ("a socket", &socket, "not_a_regular_file"),
    ];
    for (name, spoil, code) in cases {
        let (rejections, _) = beside_a_good_plugin(spoil);
        let rejection = the_only(&rejections);
        assert_eq!(
            (rejection.reason.stage, rejection.reason.code),
            (Stage::Inspect, code),
            "{name}"
        );
    }
    let (rejections, _) = beside_a_good_plugin(|home| drop(home.install(ECHO)));
    assert_eq!(rejections, [], "the library itself is taken");
}

#[test]
fn a_truncated_library_is_refused_at_every_length() {
    let library = fs::read(toolbay_tests::library(ECHO)).unwrap();
    let page = 4096;
    let lengths = (1..library.len() / page)
        .step_by(library.len() / page / 24)
        .flat_map(|pages| [pages * page - 1, pages * page, pages * page + 1])
        .chain([64, 65, library.len() - 1]);
    for length in lengths {
        let home = Home::new();
        let file = File::create(home.plugin("cut.so")).unwrap();
        std::io::Write::write_all(&mut &file, &library[..length]).unwrap();
        let rejections = home.rejections();
        let reason = &the_only(&rejections).reason;
        assert_eq!((reason.stage, reason.code), (Stage::Inspect, "truncated"), "{length}");
    }
}

#[test]
fn a_library_for_another_system_is_refused() {
    // e_machine is at byte 18, EI_CLASS at byte 4.
    let patched = |at: usize, value: u8| {
        let mut library = fs::read(toolbay_tests::library(ECHO)).unwrap();
        library[at] = value;
        library
    };
    let home = Home::new();
    fs::write(home.plugin("x.so"), patched(18, 8)).unwrap();
    let rejections = home.rejections();
    assert_eq!(the_only(&rejections).reason.code, "other_machine");

    let (rejections, ignored) =
        beside_a_good_plugin(|home| fs::write(home.plugin("x.so"), patched(4, 1)).unwrap());
    assert_eq!((rejections, ignored), (vec![], vec!["x.so".to_owned()]));
}

#[test]
fn the_export_macro_refuses_to_compile_without_unwinding() {
    // In a target folder of its own: it would take the library away from the other tests.
    let target =
        toolbay_tests::library(GREETING).ancestors().nth(3).unwrap().join("without-unwinding");
    let made = Command::new(env!("CARGO"))
        .env("CARGO_TARGET_DIR", target)
        .args([
            "rustc",
            "--quiet",
            "--locked",
            "--package",
            GREETING,
            "--crate-type",
            "cdylib",
            "--",
        ])
        .args(["-C", "panic=abort"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(!made.status.success());
    assert!(said.contains("a Toolbay plugin must be built with panic = \"unwind\""), "{said}");
}
