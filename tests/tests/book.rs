//! What the documents for operators show happens as they show it.
#![cfg(test)]

use std::{fs, path::Path};

use toolbay_tests::{Home, Transcript, host_binary};

#[test]
fn a_note_is_deleted_as_the_document_on_approvals_tells() {
    let home = Home::with(&["toolbay-plugin-greeting", "toolbay-plugin-notes"]);
    let notes = home.path().join("notes");
    fs::create_dir(&notes).unwrap();
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/approvals.md");
    let transcript = Transcript::of(&document, &[("/srv/notes", notes.to_str().unwrap())]);
    fs::write(home.path().join("toolbay.toml"), transcript.block("toml")).unwrap();
    let steps = transcript.play(host_binary().parent().unwrap(), home.path());
    assert!(steps > 10, "{steps} commands");
}
