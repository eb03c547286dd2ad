//! The tables of a library, and the audit's judgement of them.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use toolbay_loader::{Content, HostSystem, StaticAuditPolicy, read_content, static_audit};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Content::Plugin { facts, .. }) = read_content(bytes) {
        let host = HostSystem { target: "x86_64-linux-gnu", glibc: Some((2, 36)) };
        let _ = static_audit(&facts, &host, &StaticAuditPolicy::default(), &BTreeSet::new());
    }
});
