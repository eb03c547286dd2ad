//! Copies of a library with other bytes: another deed, another note.

use serde_json::Value;
use toolbay_abi::note::{HEADER_LEN, MAGIC};

use crate::{Deed, Moment, PLACE_LEN, WORD};

/// Why bytes could not be put in the place of others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// What is to be replaced is not there.
    ///
    /// *Resolution*: take a library of the violent provider of this release that was not patched at this place.
    #[error("expected {text:?} somewhere in the library, found it nowhere")]
    NotThere {
        /// What was looked for.
        text: String,
    },
    /// The moment has no place in the file.
    ///
    /// *Resolution*: tell it in the arguments of a call.
    #[error("expected a moment that stands in the file, found {moment:?}")]
    NoPlace {
        /// The moment.
        moment: Moment,
    },
    /// There is no room for the new text.
    ///
    /// *Resolution*: write a shorter one.
    #[error("expected {room} bytes at most, found {len}")]
    TooLong {
        /// The room that there is.
        room: usize,
        /// The length of the text.
        len: usize,
    },
}

/// The bytes of a library that are changed in place.
#[derive(Debug)]
pub struct Patch<'a>(pub &'a mut [u8]);

impl Patch<'_> {
    /// Where bytes are.
    pub fn places(content: &[u8], bytes: &[u8]) -> Vec<usize> {
        let windows = content.windows(bytes.len()).enumerate();
        windows.filter(|(_, window)| *window == bytes).map(|(at, _)| at).collect()
    }

    /// Replaces bytes wherever they are.
    ///
    /// # Errors
    ///
    /// [`PatchError`] where they are nowhere, or the new ones have another length.
    pub fn replace(&mut self, from: &[u8], to: &[u8]) -> Result<(), PatchError> {
        if from.len() != to.len() {
            return Err(PatchError::TooLong { room: from.len(), len: to.len() });
        }
        let places = Self::places(self.0, from);
        if places.is_empty() {
            return Err(PatchError::NotThere { text: String::from_utf8_lossy(from).into_owned() });
        }
        for at in places {
            self.0[at..at + to.len()].copy_from_slice(to);
        }
        Ok(())
    }

    /// Makes a library of the violent provider do something at a moment, whatever it is configured with.
    ///
    /// # Errors
    ///
    /// [`PatchError`] where it does that already, or the moment has no place in the file.
    pub fn deed(&mut self, moment: Moment, deed: Deed) -> Result<(), PatchError> {
        let marker = moment.marker().ok_or(PatchError::NoPlace { moment })?;
        let place = format!("{marker}{:width$}", deed.word(), width = PLACE_LEN - WORD);
        self.replace(&moment.benign_place(), place.as_bytes())
    }

    /// Changes what a library's note says. The text may not become longer, so its tools lose their summaries.
    ///
    /// # Errors
    ///
    /// [`PatchError`] where there is no note, or no room for the new one.
    pub fn note(&mut self, change: impl FnOnce(&mut Value)) -> Result<(), PatchError> {
        let found = Self::places(self.0, &MAGIC).into_iter().find_map(|at| {
            let len = self.0.get(at + MAGIC.len()..at + HEADER_LEN)?.try_into().ok()?;
            let len = usize::try_from(u32::from_le_bytes(len)).ok()?;
            let text = at + HEADER_LEN..at + HEADER_LEN + len;
            let note: Value = serde_json::from_slice(self.0.get(text.clone())?).ok()?;
            Some((text, note))
        });
        let not_there = || PatchError::NotThere { text: "a note".to_owned() };
        let (place, mut note) = found.ok_or_else(not_there)?;
        for tool in note["tools"].as_array_mut().into_iter().flatten() {
            tool.as_object_mut().map(|tool| tool.remove("summary"));
        }
        change(&mut note);
        let mut text = note.to_string().into_bytes();
        if text.len() > place.len() {
            return Err(PatchError::TooLong { room: place.len(), len: text.len() });
        }
        // Its length stays as it is: JSON may end with spaces.
        text.resize(place.len(), b' ');
        self.0[place].copy_from_slice(&text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_takes_the_place_of_nothing_once() {
        let benign = Moment::Create.benign_place();
        let mut library = [b"..".as_slice(), &benign, b".."].concat();
        let mut patch = Patch(&mut library);
        patch.deed(Moment::Create, Deed::Abort).unwrap();
        let again = patch.deed(Moment::Create, Deed::Hang).unwrap_err();
        assert!(matches!(again, PatchError::NotThere { .. }), "{again}");
        let no_place = patch.deed(Moment::Call, Deed::Hang).unwrap_err();
        assert_eq!(no_place, PatchError::NoPlace { moment: Moment::Call });
        assert_eq!(library, b"..toolbay-violent create:      abort              ..");
    }

    #[test]
    fn every_word_fits_into_its_place() {
        for deed in Deed::ALL {
            assert!(deed.word().len() <= PLACE_LEN - WORD, "{deed:?}");
            assert_eq!(Deed::named(deed.word()), Some(*deed));
        }
        for marker in Moment::ALL.into_iter().filter_map(Moment::marker) {
            assert_eq!(marker.len(), WORD, "{marker}");
        }
    }

    #[test]
    fn a_note_that_is_changed_keeps_its_length() {
        let text = br#"{"id":"violent","tools":[{"name":"do","summary":"Does it."}]}"#;
        let len = u32::try_from(text.len()).unwrap().to_le_bytes();
        let mut library = [b"elf".as_slice(), &MAGIC, &len, text, b"end"].concat();
        let before = library.len();
        Patch(&mut library).note(|note| note["id"] = "other".into()).unwrap();
        assert_eq!(library.len(), before);
        let note = &library[3 + HEADER_LEN..before - 3];
        let note: Value = serde_json::from_slice(note).unwrap();
        assert_eq!(note["id"], "other");
        let long = Patch(&mut library).note(|note| note["id"] = "x".repeat(99).into());
        assert!(matches!(long, Err(PatchError::TooLong { .. })), "{long:?}");
        let none = Patch(&mut []).note(|_| ());
        assert!(matches!(none, Err(PatchError::NotThere { .. })), "{none:?}");
    }
}
