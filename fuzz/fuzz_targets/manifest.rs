//! A manifest that is read says the same when it is written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbay_loader::Manifest;

fuzz_target!(|bytes: &[u8]| {
    let Ok(manifest) = Manifest::parse(bytes) else { return };
    let written = manifest.parts().to_manifest().expect("what was read can be written");
    assert_eq!(written.parts(), manifest.parts());
    written.check_canonical().expect("what is written is canonical");
});
