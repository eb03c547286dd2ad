//! Other notes for libraries: a copy with another one is another provider, or another version of it.

use serde_json::Value;
use toolbay_abi::note::{HEADER_LEN, MAGIC};

use crate::bundle::places;

/// Changes what a library's note says. The text may not become longer, so its tools lose their summaries.
///
/// # Panics
///
/// Where there is no note, or no room for the new one.
#[expect(clippy::expect_used, reason = "a test whose library can't be made has failed")]
pub fn change_note(library: &mut [u8], change: impl FnOnce(&mut Value)) {
    let found = places(library, &MAGIC).into_iter().find_map(|at| {
        let len = library.get(at + MAGIC.len()..at + HEADER_LEN)?.try_into().ok()?;
        let len = usize::try_from(u32::from_le_bytes(len)).ok()?;
        let text = at + HEADER_LEN..at + HEADER_LEN + len;
        let note: Value = serde_json::from_slice(library.get(text.clone())?).ok()?;
        Some((text, note))
    });
    let (place, mut note) = found.expect("a note in the library");
    for tool in note["tools"].as_array_mut().into_iter().flatten() {
        tool.as_object_mut().map(|tool| tool.remove("summary"));
    }
    change(&mut note);
    let mut text = note.to_string().into_bytes();
    assert!(text.len() <= place.len(), "{} bytes where {} are", text.len(), place.len());
    // Its length stays as it is: JSON may end with spaces.
    text.resize(place.len(), b' ');
    library[place].copy_from_slice(&text);
}
