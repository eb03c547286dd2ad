//! Zip files that somebody prepared.

use ::zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::*;

/// An archive that is written entry by entry, as somebody writes it who wants it to be taken for something else.
struct Archive(ZipWriter<Cursor<Vec<u8>>>);

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

impl Archive {
    /// Holds a whole bundle.
    fn new() -> Self {
        bundle().iter().fold(Self::empty(), |archive, (path, content)| archive.add(path, content))
    }

    fn empty() -> Self {
        Self(ZipWriter::new(Cursor::new(Vec::new())))
    }

    fn add(mut self, path: &str, content: &[u8]) -> Self {
        self.0.start_file(path, stored()).unwrap();
        self.0.write_all(content).unwrap();
        self
    }

    fn bytes(self) -> Vec<u8> {
        self.0.finish().unwrap().into_inner()
    }
}

/// Replaces a text wherever it is: names are there twice, in front of the content and in the directory.
fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let found: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert!(!found.is_empty());
    for at in found {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

/// Where the last header of a kind starts.
fn last(bytes: &[u8], magic: &[u8; 4]) -> usize {
    bytes.windows(4).rposition(|window| window == magic).unwrap()
}

const LOCAL: &[u8; 4] = b"PK\x03\x04";
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";

/// Overwrites a number of the last entry, which the two headers have at these offsets.
fn patch<const N: usize>(bytes: &mut [u8], local: usize, central: usize, to: [u8; N]) {
    for at in [last(bytes, LOCAL) + local, last(bytes, CENTRAL) + central] {
        bytes[at..at + N].copy_from_slice(&to);
    }
}

#[test]
fn an_archive_by_another_packer_is_taken() {
    let mut archive = Archive::new();
    for folder in ["docs/", "x86_64-linux-gnu/private", "empty"] {
        archive.0.add_directory(folder, SimpleFileOptions::default()).unwrap();
    }
    assert_eq!(code(open_zip(archive.bytes())), "taken");
}

#[test]
fn no_name_leads_out_of_the_bundle() {
    for (name, expected) in [
        ("../x", "bad_path"),
        ("docs/../../x", "bad_path"),
        ("/etc/x", "bad_path"),
        ("docs\\x", "bad_path"),
        ("C:x", "bad_path"),
        ("a\nb", "bad_path"),
        ("docs/x", "unlisted_file"),
        ("docs/GUIDE.md", "colliding_paths"),
        ("docs", "colliding_paths"),
        ("docs/guide.md/x", "colliding_paths"),
    ] {
        // The writer itself corrects some names.
        let placeholder = "_".repeat(name.len());
        let bytes = Archive::new().add(&placeholder, b"x").bytes();
        let bytes = replace(&bytes, placeholder.as_bytes(), name.as_bytes());
        assert_eq!(code(open_zip(bytes)), expected, "{name:?}");
    }
    let bytes = replace(&Archive::new().add("____", b"").bytes(), b"____", b"\xff\xfe\n/");
    assert_eq!(code(open_zip(bytes)), "bad_path");
    let twice = Archive::new().add("docs/quide.md", b"# Notes\n").bytes();
    assert_eq!(code(open_zip(twice.clone())), "unlisted_file");
    let twice = replace(&twice, b"docs/quide.md", GUIDE.as_bytes());
    assert_eq!(code(open_zip(twice)), "duplicate_name");
}

#[test]
fn only_files_and_folders_are_taken() {
    let mut archive = Archive::empty();
    archive.0.add_symlink(GUIDE, "/etc/passwd", SimpleFileOptions::default()).unwrap();
    assert_eq!(code(open_zip(archive.bytes())), "symbolic_link");
    let mut archive = Archive::new();
    archive.0.add_symlink("link", "docs", SimpleFileOptions::default()).unwrap();
    assert_eq!(code(open_zip(archive.bytes())), "symbolic_link");
    // A pipe.
    let good = Archive::new().bytes();
    let mut bytes = good.clone();
    let mode = last(&bytes, CENTRAL) + 40;
    assert_eq!(bytes[mode..mode + 2], 0o100_644_u16.to_le_bytes());
    bytes[mode..mode + 2].copy_from_slice(&0o010_644_u16.to_le_bytes());
    assert_eq!(code(open_zip(bytes)), "not_a_regular_file");
    assert_eq!(code(open_zip(good)), "taken");
}

#[test]
fn what_this_host_does_not_unpack_is_refused() {
    let good = Archive::new().bytes();
    let mut encrypted = good.clone();
    patch(&mut encrypted, 6, 8, [1, 0]);
    assert_eq!(code(open_zip(encrypted)), "zip_encrypted");
    for method in [1_u16, 9, 12, 14, 93, 99] {
        let mut other = good.clone();
        patch(&mut other, 8, 10, method.to_le_bytes());
        let refused = code(open_zip(other));
        // Encryption by AES is a method.
        assert!(matches!((refused, method), ("zip_method", _) | ("damaged_zip", 99)), "{method}");
    }
}

/// A bundle whose guide, listed with its eight bytes, is deflated and last.
fn with_packed_guide(content: &[u8]) -> Vec<u8> {
    let mut archive = Archive::empty();
    for (path, content) in bundle().iter().filter(|(path, _)| **path != GUIDE) {
        archive = archive.add(path, content);
    }
    archive.0.start_file(GUIDE, deflated()).unwrap();
    archive.0.write_all(content).unwrap();
    archive.bytes()
}

#[test]
fn a_bomb_does_not_go_off() {
    assert_eq!(code(open_zip(with_packed_guide(b"# Notes\n"))), "taken");
    let large = with_packed_guide(&vec![0; 8 * 1024 * 1024]);
    assert_eq!(code(open_zip(large.clone())), "zip_ratio");
    // It claims to be as small as it is listed.
    let mut small = large.clone();
    patch(&mut small, 22, 24, 8_u32.to_le_bytes());
    let mut opened = open_zip(small).unwrap();
    let mut out = Vec::new();
    let reason = opened.copy_file(&GUIDE.parse().unwrap(), &mut out).unwrap_err();
    assert_eq!((reason.code, out.len()), ("damaged_zip", 0), "{reason}");
    for size in [crate::MAX_FILE_LEN + 1, u64::from(u32::MAX) - 1] {
        let mut huge = large.clone();
        patch(&mut huge, 22, 24, u32::try_from(size).unwrap().to_le_bytes());
        assert_eq!(code(open_zip(huge)), "bundle_too_large", "{size}");
    }
    // Three files that are not too large by themselves.
    let mut archive = Archive::new();
    for name in ["a", "b", "c"] {
        archive = archive.add(name, b"");
    }
    let mut bytes = archive.bytes();
    let directories: Vec<_> =
        (0..bytes.len()).filter(|&at| bytes[at..].starts_with(CENTRAL)).collect();
    for at in &directories[directories.len() - 3..] {
        let size = u32::try_from(400 * 1024 * 1024).unwrap();
        bytes[at + 20..at + 24].copy_from_slice(&size.to_le_bytes());
        bytes[at + 24..at + 28].copy_from_slice(&size.to_le_bytes());
    }
    assert_eq!(code(open_zip(bytes)), "bundle_too_large");
}

#[test]
fn headers_that_lie_are_found_out() {
    let good = Archive::new().bytes();
    let (local, central) = (last(&good, LOCAL), last(&good, CENTRAL));
    let end = last(&good, END);
    let patched = |at: usize, to: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + to.len()].copy_from_slice(to);
        code(open_zip(bytes))
    };
    assert_eq!(patched(0, b"PK"), "taken");
    assert_eq!(patched(local + 30, b"y"), "damaged_zip", "a name that is not the directory's");
    assert_eq!(patched(local + 22, &[1]), "damaged_zip", "another size than the directory's");
    assert_eq!(patched(central + 42, &[0; 4]), "damaged_zip", "two entries in one place");
    assert_eq!(patched(central + 42, &[255; 4]), "damaged_zip", "an entry behind the end");
    assert_eq!(patched(local + 50, b"?"), "damaged_zip", "another checksum");
    assert_eq!(patched(end + 8, &[0, 0]), "damaged_zip", "one of several disks");
    assert_eq!(patched(end + 8, &[1, 0, 1, 0]), "damaged_zip", "fewer entries");
    assert_eq!(patched(end + 8, &[255; 4]), "too_many_files", "zip64");
    assert_eq!(patched(end + 12, &[255; 4]), "damaged_zip", "a large directory");
    assert_eq!(patched(end + 16, &[1]), "bytes_around_zip", "a directory elsewhere");
}

#[test]
fn nothing_is_around_the_archive() {
    let good = Archive::new().bytes();
    let before = [b"#!/bin/sh\n", &good[..]].concat();
    assert_eq!(code(open_zip(before)), "bytes_around_zip");
    let behind = [&good[..], b"\n"].concat();
    assert_eq!(code(open_zip(behind)), "bytes_around_zip");
    let twice = [&good[..], &good[..]].concat();
    assert_eq!(code(open_zip(twice)), "bytes_around_zip");
    let mut archive = Archive::new();
    archive.0.set_comment("a comment").unwrap();
    assert_eq!(code(open_zip(archive.bytes())), "bytes_around_zip");
    // Bytes before the first entry that every offset counts.
    let mut shifted = Cursor::new(Vec::new());
    shifted.write_all(b"#!/bin/sh\n").unwrap();
    let mut archive = Archive(ZipWriter::new(shifted));
    for (path, content) in &bundle() {
        archive = archive.add(path, content);
    }
    assert_eq!(code(open_zip(archive.bytes())), "bytes_around_zip");
    for (bytes, expected) in [(&b""[..], "damaged_zip"), (&good[..40], "bytes_around_zip")] {
        assert_eq!(code(open_zip(bytes.to_vec())), expected);
    }
    assert_eq!(code(open_zip(Archive::empty().bytes())), "no_manifest");
    assert_eq!(code(open_zip(good)), "taken");
}

#[test]
fn no_truncation_and_no_flipped_byte_panics_or_gives_other_content() {
    let mut bundle = bundle();
    bundle.get_mut(PLUGIN).unwrap().truncate(100);
    let mut small = files();
    small.insert(PLUGIN, bundle[PLUGIN].clone());
    bundle.insert(MANIFEST, canonical_bytes(&manifest(&small)));
    let packed = pack(&bundle, None);
    let expected = contents(&mut open_zip(packed.clone()).unwrap()).unwrap();
    for len in 0..packed.len() {
        assert!(open_zip(packed[..len].to_vec()).is_err(), "{len} bytes");
    }
    for at in 0..packed.len() {
        let mut bytes = packed.clone();
        bytes[at] ^= 0x41;
        if let Ok(mut opened) = open_zip(bytes)
            && let Ok(contents) = contents(&mut opened)
        {
            assert_eq!(contents, expected, "byte {at}");
        }
    }
}
