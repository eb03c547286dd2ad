//! Notes of this host and of others, and what is said about each.

use toolbay_abi::{
    note::{Note, TARGET},
    shape::{DIGEST, EPOCH, SHAPE},
};

use super::*;

fn note() -> Note {
    Note {
        epoch: EPOCH,
        digest: format!("{DIGEST:016x}"),
        shape: SHAPE.iter().map(|&line| line.to_owned()).collect(),
        id: "sample".to_owned(),
        version: "1.0.0".to_owned(),
        panic: "unwind".to_owned(),
        target: TARGET.to_owned(),
        tools: vec![],
        paths: vec![],
        endpoints: vec![],
    }
}

/// The reason for a note of another digest, whose shape has `from` replaced by `to`.
fn other_shape(from: &str, to: &str) -> Reason {
    let mut note = note();
    note.digest = "0123456789abcdef".to_owned();
    let text = note.shape.join("\n");
    assert!(text.contains(from), "{from}");
    note.shape = text.replacen(from, to, 1).lines().map(str::to_owned).collect();
    let [reason] = <[Reason; 1]>::try_from(compatibility(&note)).unwrap();
    assert_eq!((reason.stage, reason.code), (Stage::Verify, "other_abi"));
    reason
}

#[test]
fn a_note_of_this_host_fits() {
    assert_eq!(compatibility(&note()), []);
    let older = Note { shape: vec![], ..note() };
    assert_eq!(compatibility(&older), [], "the digest decides, not the shape");
}

#[test]
fn the_first_place_that_differs_is_named_with_both_sides() {
    for (from, to, place, expected, found) in [
        ("remaining_ms:u64", "remaining_ms:u32", "CallInput.remaining_ms", "u64", "u32"),
        (";remaining_ms:u64", "", "CallInput.remaining_ms", "u64", "no such field"),
        (
            "remaining_ms:u64",
            "remaining_ms:u64;trace:RStr",
            "CallInput.trace",
            "no such field",
            "RStr",
        ),
        (
            "tool:RStr;arguments:RStr",
            "arguments:RStr;tool:RStr",
            "CallInput, field 1",
            "tool",
            "arguments",
        ),
        ("call:u64;", "call:u64;call:u64;", "CallInput, field 6", "remaining_ms", "call"),
        (
            "destroy:fn(u64)",
            "destroy:fn(u32)",
            "PluginRoot.destroy",
            "fn(u64)->RResult<(),RVec<u8>>",
            "fn(u32)->RResult<(),RVec<u8>>",
        ),
        ("PluginReply{status", "Answer{status", "PluginReply", "a type", "no such type"),
        (
            "abi_stable{",
            "Stream{next:fn(u64)->u64}\nabi_stable{",
            "Stream",
            "no such type",
            "a type",
        ),
        ("minor:0.11", "minor:0.12", "abi_stable.minor", "0.11", "0.12"),
        ("Extension{invoke", "Extension\u{1b}[2J{invoke", "Extension", "a type", "no such type"),
    ] {
        let reason = other_shape(from, to);
        let expected = format!("interface {EPOCH} with digest {DIGEST:016x}, {place}: {expected}");
        assert_eq!(reason.expected, expected);
        let found = format!("interface {EPOCH} with digest \"0123456789abcdef\", {place}: {found}");
        assert_eq!(reason.found, found);
        assert!(reason.remedy.contains("cargo update -p toolbay-plugin-api"), "{}", reason.remedy);
    }
}

#[test]
fn without_another_shape_the_digests_are_all_there_is_to_say() {
    for shape in [note().shape, vec![]] {
        let other = Note { digest: "0".repeat(16), shape, ..note() };
        let [reason] = <[Reason; 1]>::try_from(compatibility(&other)).unwrap();
        assert_eq!(reason.found, format!("interface {EPOCH} with digest \"0000000000000000\""));
    }
    let hostile =
        Note { digest: "\n".repeat(100_000), shape: vec!["\u{1b}".repeat(100_000)], ..note() };
    let found = compatibility(&hostile).remove(0).found;
    assert!(found.len() < 2_000 && !found.contains(char::is_control), "{found}");
}

#[test]
fn another_system_is_named_with_the_command_for_this_one() {
    let other = Note { target: "riscv64-linux-gnu".to_owned(), ..note() };
    let [reason] = <[Reason; 1]>::try_from(compatibility(&other)).unwrap();
    assert_eq!((reason.stage, reason.code), (Stage::Verify, "other_target"));
    assert_eq!((reason.expected.as_str(), reason.found.as_str()), (TARGET, "riscv64-linux-gnu"));
    assert!(reason.remedy.contains("cargo build --release --target "), "{}", reason.remedy);
    assert!(
        cfg!(not(all(target_arch = "x86_64", target_env = "gnu")))
            || reason.remedy.ends_with("x86_64-unknown-linux-gnu")
    );
}
