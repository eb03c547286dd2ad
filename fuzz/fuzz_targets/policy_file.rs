//! `toolbay.toml`, whose mistakes are told with their line.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use toolbay::HostConfig;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = str::from_utf8(bytes) {
        let _ = HostConfig::parse(Path::new("/home/ada/bay"), text);
    }
});
