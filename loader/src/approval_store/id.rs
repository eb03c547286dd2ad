//! Ids that nobody guesses.

use toolbay_core::{ApprovalId, StoreError};

const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// The characters of an id: about 62 bits.
const LENGTH: usize = 12;

/// A new id.
pub(super) fn random() -> Result<ApprovalId, StoreError> {
    let mut id = String::with_capacity(LENGTH);
    while id.len() < LENGTH {
        let mut bytes = [0; 2 * LENGTH];
        getrandom::fill(&mut bytes).map_err(|error| StoreError::Other(Box::new(error)))?;
        // Bytes above the last whole multiple of 36 would make some letters likelier.
        let even = bytes.iter().filter(|byte| **byte < 252);
        let letters = even.map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]));
        id.extend(letters.take(LENGTH - id.len()));
    }
    id.parse().map_err(|error| StoreError::Other(Box::new(error)))
}
