//! What is left of the registry file where processes are killed as they write it.

use std::path::Path;

use super::*;
use crate::{killed_writer::KilledWriter, store::ContentHash, trust::Signer, verify::StoredPlugin};

const KILLS: u32 = 100;
const WRITER: KilledWriter = KilledWriter {
    test: "registry_file::killed::a_file_whose_writer_was_killed_is_as_before_or_after_the_refresh",
    home: "TOOLBAY_TEST_REGISTRY_HOME",
};

#[test]
fn a_file_whose_writer_was_killed_is_as_before_or_after_the_refresh() {
    WRITER.write_if_asked(replace);
    let folder = tempfile::tempdir().unwrap();
    let file = RegistryFile::new(folder.path().to_owned());
    let mut last = 0;
    for _ in 0..KILLS {
        let acknowledged = WRITER.kill(folder.path()).unwrap_or(last);
        let Reading { contents, problem, .. } = file.read();
        assert!(problem.is_none(), "{problem:?}");
        assert_eq!(contents.providers, registered(contents.generation), "one refresh writes all");
        assert!(contents.generation >= acknowledged && acknowledged >= last);
        assert!(
            contents.generation <= acknowledged + 1,
            "one refresh at most was not acknowledged"
        );
        last = contents.generation;
    }
}

fn replace(home: &Path) -> u64 {
    let file = RegistryFile::new(home.to_owned());
    let next = file.read().contents.generation + 1;
    file.begin().unwrap().replace(registered(next)).unwrap().generation
}

/// Providers of which each generation has others.
fn registered(generation: u64) -> Vec<Registered> {
    let provider = |number: u64| {
        let hash = ContentHash::of(format!("{generation} {number}").as_bytes());
        let plugin = StoredPlugin {
            id: format!("p{number}").parse().unwrap(),
            version: format!("{generation}.0.{number}").parse().unwrap(),
            hash,
            entry: hash,
            library: "a.so".to_owned(),
            bundled: false,
            signer: Signer::Nobody,
            declared: Vec::new(),
        };
        Registered { plugin, tools: Vec::new() }
    };
    (0..1 + generation % 5).map(provider).collect()
}
