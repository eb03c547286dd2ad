//! A library of another interface is told by its note, and never opened.
#![cfg(test)]

use std::fs;

use toolbay_loader::{Party, Stage};
use toolbay_tests::{Home, library};

// The only test of this file: what is mapped is the whole process's.
#[test]
fn a_library_of_another_interface_is_refused_before_it_is_opened() {
    let digest = format!("{:016x}", toolbay_abi::shape::DIGEST);
    let mut library = fs::read(library("toolbay-fixture-echo")).unwrap();
    let at = library.windows(16).position(|window| window == digest.as_bytes()).unwrap();
    library[at..at + 16].copy_from_slice(b"0123456789abcdef");
    let home = Home::new();
    fs::write(home.plugin("x.so"), library).unwrap();
    let rejections = home.rejections();
    let [rejection] = &rejections[..] else { panic!("{rejections:?}") };
    assert_eq!((rejection.reason.stage, rejection.reason.code), (Stage::Verify, "other_abi"));
    assert!(
        rejection.reason.expected.contains(&digest)
            && rejection.reason.found.contains("0123456789abcdef")
    );
    assert_eq!(rejection.reason.party(), Party::Plugin);
    assert_eq!(rejection.provider.as_deref(), Some("echo"));
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains("echo-"), "nothing of it was opened");
}
