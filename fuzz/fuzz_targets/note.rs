//! The section that holds a plugin's note, and the tools that it declares.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbay_loader::{compatibility, declared_tools, parse_note};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(note) = parse_note(bytes) {
        let (tools, left_out) = declared_tools(&note);
        assert_eq!(tools.len() + left_out.len(), note.tools.len());
        let _ = compatibility(&note);
    }
});
