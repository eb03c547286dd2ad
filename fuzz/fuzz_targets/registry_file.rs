//! The registry file, whose content is believed about words. What was read reads the same when it is written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    toolbay_loader::fuzzing::registry_file(bytes);
});
