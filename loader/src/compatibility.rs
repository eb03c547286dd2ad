//! The comparison of the interface that a plugin was built for with the one of this host, by the note alone.

mod shape_difference;

use toolbay_abi::{
    note::{Note, TARGET},
    shape,
};

use crate::{
    plugin_text::one_line,
    rejection::{Reason, Stage},
};

/// The longest word of a note in a message, in bytes.
const MAX_WORD: usize = 100;

/// The reasons for which this host can't load the plugin whose note it is, whatever its policy: another interface, another system.
///
/// Where the note spells its types out, the reason names the first place that differs.
pub fn compatibility(note: &Note) -> Vec<Reason> {
    [other_interface(note), other_target(note)].into_iter().flatten().collect()
}

fn other_interface(note: &Note) -> Option<Reason> {
    let digest = format!("{:016x}", shape::DIGEST);
    if (note.epoch, note.digest.as_str()) == (shape::EPOCH, digest.as_str()) {
        return None;
    }
    let mut expected = format!("interface {} with digest {digest}", shape::EPOCH);
    let mut found =
        format!("interface {} with digest {:?}", note.epoch, one_line(&note.digest, MAX_WORD));
    if let Some(difference) = shape_difference::first(shape::SHAPE, &note.shape) {
        expected.push_str(&format!(", {}: {}", difference.place, difference.expected));
        found.push_str(&format!(", {}: {}", difference.place, difference.found));
    }
    Some(Reason::plugin(
        Stage::Verify,
        "other_abi",
        expected,
        found,
        "build the plugin again with the toolbay-plugin-api of this host: cargo update -p toolbay-plugin-api && cargo build --release",
    ))
}

fn other_target(note: &Note) -> Option<Reason> {
    if note.target == TARGET {
        return None;
    }
    Some(Reason::plugin(
        Stage::Verify,
        "other_target",
        TARGET,
        one_line(&note.target, MAX_WORD),
        format!("build the plugin for this system: cargo build --release --target {}", triple()),
    ))
}

/// The name that cargo has for this host's system.
fn triple() -> &'static str {
    match TARGET {
        "x86_64-linux-gnu" => "x86_64-unknown-linux-gnu",
        "aarch64-linux-gnu" => "aarch64-unknown-linux-gnu",
        "x86_64-linux-musl" => "x86_64-unknown-linux-musl",
        "aarch64-linux-musl" => "aarch64-unknown-linux-musl",
        "x86_64-macos" => "x86_64-apple-darwin",
        "aarch64-macos" => "aarch64-apple-darwin",
        other => other,
    }
}

#[cfg(test)]
mod tests;
