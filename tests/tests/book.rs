//! What the documents for operators show happens as they show it.
#![cfg(test)]

use std::{
    fs,
    path::{Path, PathBuf},
};

use toolbay_tests::{
    Home, Transcript,
    bay::operator,
    bundle::{Draft, Key, VENDOR},
    host_binary,
};

const GREETING: &str = "toolbay-plugin-greeting";
const NOTES: &str = "toolbay-plugin-notes";

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)
}

fn programs() -> PathBuf {
    host_binary().parent().unwrap().to_owned()
}

#[test]
fn a_note_is_deleted_as_the_document_on_approvals_tells() {
    let (home, key) = (Home::new(), Key::new());
    home.open().trust_key(&key.public(), VENDOR, &operator()).unwrap();
    for package in [GREETING, NOTES] {
        Draft::of(package).zip(&home.plugin(package), Some(&key));
    }
    let notes = home.path().join("notes");
    fs::create_dir(&notes).unwrap();
    let places = [("/srv/notes", notes.to_str().unwrap())];
    let transcript = Transcript::of(&document("approvals.md"), &places);
    fs::write(home.path().join("toolbay.toml"), transcript.block("toml")).unwrap();
    let steps = transcript.play(&programs(), home.path());
    assert!(steps > 10, "{steps} commands");
}

#[test]
fn a_bundle_is_trusted_installed_and_revoked_as_the_document_on_trust_tells() {
    let (home, key) = (Home::new(), Key::new());
    fs::remove_file(home.path().join("toolbay.toml")).unwrap();
    Draft::of(GREETING).zip(&home.path().join("greeting.toolbay"), Some(&key));
    let public = format!("untrusted comment: minisign public key\n{}\n", key.public());
    fs::write(home.path().join("example.pub"), public).unwrap();
    let transcript = Transcript::of(&document("trust.md"), &[]);
    let steps = transcript.play(&programs(), home.path());
    assert!(steps > 10, "{steps} commands");
}
