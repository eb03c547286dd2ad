//! Files that are hardly ones: links, devices, names that are no text, empty and enormous ones, and libraries cut at every page. Each is named or
//! passed over, none is waited for, and the good plugin beside it answers.
#![cfg(test)]

use std::{
    ffi::OsStr,
    fs::{self, File, Permissions},
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::Path,
};

use toolbay_loader::{Candidate, Inspection, Rejection, Stage, inspect, read_content};
use toolbay_tests::{Home, bay::codes, bundle::Draft, refreshed_beside_a_good_plugin};

const GREETING: &str = "toolbay-plugin-greeting";
const ECHO: &str = "toolbay-fixture-echo";

/// What was refused beside a good plugin, and how many providers there are.
fn beside_a_good_plugin(spoil: impl FnOnce(&Home)) -> (Vec<Rejection>, usize) {
    let report = refreshed_beside_a_good_plugin(spoil);
    (report.rejections, report.providers.len())
}

#[test]
fn a_library_that_is_cut_at_any_page_is_refused_and_the_whole_one_is_read() {
    // F03.
    let library = Draft::of(ECHO).library().to_vec();
    assert!(read_content(&library).is_ok());
    let pages =
        (1..library.len() / 4096).flat_map(|page| [-1, 0, 1].map(|by| (page * 4096) as i64 + by));
    for len in pages.chain([64, 65, library.len() as i64 - 1]) {
        let cut = &library[..usize::try_from(len).unwrap()];
        let reason = read_content(cut).map(|_| ()).unwrap_err();
        assert_eq!((reason.stage, reason.code), (Stage::Inspect, "truncated"), "{len}");
    }
}

#[test]
fn a_second_name_for_a_library_is_the_same_plugin() {
    // F08: a hard link, a copy, and names that differ in case alone.
    let (rejections, providers) = beside_a_good_plugin(|home| {
        let library = home.plugin(&format!("{GREETING}.so"));
        fs::hard_link(&library, home.plugin("link.so")).unwrap();
        fs::copy(&library, home.plugin("copy.so")).unwrap();
        fs::copy(&library, home.plugin(&format!("{GREETING}.SO"))).unwrap();
    });
    assert_eq!((codes(&rejections), providers), (vec![], 1));
}

#[test]
fn a_name_that_is_no_text_is_a_name() {
    // F09: also with a line's end in it.
    for name in [&b"echo-\xff.so"[..], b"echo\n.so", b"echo %25.so"] {
        let (rejections, providers) = beside_a_good_plugin(|home| {
            let to = home.path().join("plugins").join(OsStr::from_bytes(name));
            fs::copy(toolbay_tests::library(ECHO), to).unwrap();
        });
        assert_eq!((codes(&rejections), providers), (vec![], 2), "{name:?}");
    }
    // In a bundle such a file is none that a manifest can list.
    for name in [&b"more-\xff"[..], b"more\n"] {
        let (rejections, providers) = beside_a_good_plugin(|home| {
            let bundle = Draft::of(ECHO).folder(&home.plugin("echo"), None);
            fs::write(bundle.join(OsStr::from_bytes(name)), "").unwrap();
        });
        assert_eq!((codes(&rejections), providers), (vec![(Stage::Bundle, "bad_path")], 1));
    }
}

#[test]
fn an_empty_or_enormous_file_is_told_at_once() {
    // F09: a manifest without a byte, and a library of 1 GiB that has none either.
    let (rejections, _) = beside_a_good_plugin(|home| {
        let bundle = Draft::of(ECHO).folder(&home.plugin("echo"), None);
        fs::write(bundle.join("toolbay.json"), "").unwrap();
    });
    assert_eq!(codes(&rejections), [(Stage::Bundle, "manifest_not_json")]);
    let (rejections, _) = beside_a_good_plugin(|home| {
        File::create(home.plugin("sparse.so")).unwrap().set_len(1 << 30).unwrap();
    });
    assert_eq!(codes(&rejections), [(Stage::Inspect, "file_too_large")]);
    let (rejections, providers) = beside_a_good_plugin(|home| {
        Draft::of(ECHO).folder(&home.plugin("echo"), None);
    });
    assert_eq!((codes(&rejections), providers), (vec![], 2), "the whole bundle is taken");
}

#[test]
fn a_device_and_a_file_that_nobody_may_read_are_refused() {
    // F09.
    let rejection = inspect(&Candidate::at("/dev/null")).map(|_| ()).unwrap_err();
    assert_eq!(
        (rejection.reason.stage, rejection.reason.code),
        (Stage::Inspect, "not_a_regular_file")
    );
    let home = Home::with(&[GREETING]);
    let library = home.plugin(&format!("{GREETING}.so"));
    let readable = |path: &Path| matches!(inspect(&Candidate::at(path)), Ok(Inspection::Plugin(_)));
    assert!(readable(&library));
    fs::set_permissions(&library, Permissions::from_mode(0o000)).unwrap();
    if File::open(&library).is_ok() {
        eprintln!("not shown: this user may read everything");
        return;
    }
    let rejection = inspect(&Candidate::at(&library)).map(|_| ()).unwrap_err();
    assert_eq!(
        (rejection.reason.stage, rejection.reason.code),
        (Stage::Inspect, "unreadable_file")
    );
}
