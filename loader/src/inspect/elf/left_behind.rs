//! What compilers and packagers leave in sections that no linker loads: nobody is held to it, so it only ever speaks against a file.

use std::collections::BTreeSet;

use auditable_serde::Package;
use miniz_oxide::inflate;
use serde::Deserialize;

use super::{Dependencies, Dependency};
use crate::plugin_text::one_line;

/// The section of the compilers' names.
pub(super) const COMMENT: &str = ".comment";
/// The section of the list of crates, which `cargo auditable` writes.
pub(super) const DEPENDENCIES: &str = ".dep-v0";

/// The most bytes that are read of either section.
pub(super) const MAX_SECTION: u64 = 1024 * 1024;
/// The most bytes of the list of crates, decompressed.
const MAX_LIST: usize = 8 * 1024 * 1024;
/// The most compilers that are kept; an ordinary plugin has one.
const MAX_COMPILERS: usize = 64;

/// The versions of rustc among the compilers' names.
pub(super) fn rustc(comment: &[u8]) -> BTreeSet<String> {
    let names = comment.split(|&byte| byte == 0);
    let versions = names.filter_map(|name| {
        let version = name.strip_prefix(b"rustc version ")?;
        let version = version.split(|&byte| byte == b' ').next()?;
        Some(one_line(&String::from_utf8_lossy(version), 80))
    });
    versions.take(MAX_COMPILERS).collect()
}

/// The list, without the relations between its crates: checking those, as `VersionInfo` does, takes the square of their number.
#[derive(Deserialize)]
struct List {
    packages: Vec<Package>,
}

/// The crates in the list.
pub(super) fn dependencies(section: &[u8]) -> Dependencies {
    let text = match inflate::decompress_to_vec_zlib_with_limit(section, MAX_LIST) {
        Ok(text) => text,
        Err(error) => {
            return Dependencies::Unreadable(format!(
                "it does not decompress to {MAX_LIST} bytes at most: {error}"
            ));
        }
    };
    match serde_json::from_slice::<List>(&text) {
        Ok(List { packages }) => Dependencies::Listed(
            packages
                .into_iter()
                .map(|Package { name, version, .. }| Dependency { name, version })
                .collect(),
        ),
        Err(error) => Dependencies::Unreadable(one_line(&format!("it is no list: {error}"), 200)),
    }
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::*;

    #[test]
    fn the_compilers_versions_are_found_among_other_names() {
        let comment = b"rustc version 1.95.0 (59807616e 2026-04-14)\0Linker: LLD 22.1.2\0\0rustc version 1.80.0-nightly\0GCC: 12";
        let expected = ["1.80.0-nightly", "1.95.0"].map(str::to_owned);
        assert_eq!(rustc(comment), BTreeSet::from(expected));
        assert_eq!(rustc(b"GCC: (Debian) 12.2.0\0rustc versio"), BTreeSet::new());
    }

    #[test]
    fn a_list_of_crates_is_read_and_a_damaged_one_is_named() {
        let json = br#"{"packages":[{"name":"b","version":"1.2.3","source":"local","root":true,"dependencies":[1]},{"name":"a","version":"0.1.0","source":"elsewhere"}]}"#;
        let Dependencies::Listed(listed) = dependencies(&compress_to_vec_zlib(json, 6)) else {
            panic!("it is a list");
        };
        assert_eq!(
            listed.iter().map(Dependency::to_string).collect::<Vec<_>>(),
            ["a 0.1.0", "b 1.2.3"]
        );

        let bomb = compress_to_vec_zlib(&vec![b' '; MAX_LIST + 1], 6);
        let just_fits = compress_to_vec_zlib(&vec![b' '; MAX_LIST], 6);
        let not_json = compress_to_vec_zlib(b"{", 6);
        for (section, why) in [
            (&bomb[..], "it does not decompress"),
            (&just_fits, "it is no list"),
            (&not_json, "it is no list"),
            (b"not zlib", "it does not decompress"),
            (b"", "it does not decompress"),
        ] {
            let Dependencies::Unreadable(found) = dependencies(section) else {
                panic!("expected it to be unreadable: {why}");
            };
            assert!(found.starts_with(why), "{found}");
        }
    }
}
