//! The note: what a plugin's file says about the plugin, without being run.
//!
//! It stands in the allocated section [`SECTION`] as one record: [`MAGIC`], the length of the JSON text as a little-endian `u32`,
//! and the JSON text of a [`Note`]. A linker may put several records after one another, so each one says how long it is.

use serde::{Deserialize, Serialize};

/// The ELF section that holds the note.
pub const SECTION: &str = ".toolbay";

/// The first bytes of a record.
pub const MAGIC: [u8; 8] = *b"TOOLBAY\x01";

/// Bytes before the JSON text.
pub const HEADER_LEN: usize = MAGIC.len() + 4;

/// The longest section that a host reads, in bytes.
pub const MAX_LEN: usize = 256 * 1024;

/// What a plugin says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The interface's generation, [`shape::EPOCH`](crate::shape::EPOCH) at the time of the build.
    pub epoch: u32,
    /// The interface's digest in 16 hexadecimal digits, [`shape::DIGEST`](crate::shape::DIGEST).
    pub digest: String,
    /// The crossing types spelled out, [`shape::SHAPE`](crate::shape::SHAPE), so that a host can name what differs; empty where the
    /// note has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shape: Vec<String>,
    /// The provider's id.
    pub id: String,
    /// The provider's version.
    pub version: String,
    /// `unwind` or `abort`.
    pub panic: String,
    /// The processor and system that the library is for, such as `x86_64-linux-gnu`.
    pub target: String,
    /// Every tool that the provider may ever offer.
    pub tools: Vec<NoteTool>,
    /// Which values of its configuration are folders or files: in a worker it reaches no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<NotePath>,
    /// Which values of its configuration are endpoints, by the names of the members with dots between them: in a worker, tools whose
    /// egress is `configured_endpoint` reach the ports of no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<String>,
}

/// A value of a provider's configuration that is a folder or a file, or a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotePath {
    /// The names of the members that lead to it, with dots between them; lists on the way count as each of their items.
    pub key: String,
    /// Whether the provider writes there, and not only reads.
    pub write: bool,
}

/// What a plugin declares of one tool. What it leaves out is the strictest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoteTool {
    /// The name that models call.
    pub name: String,
    /// Former names that still work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The name that people read.
    pub label: String,
    /// One line for people.
    pub summary: String,
    /// `read_only`, `idempotent_write` or `non_idempotent_write`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// The class of data that results may hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_class: Option<String>,
    /// The group that the tool is switched with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Where the tool may open network connections.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress: Option<String>,
    /// What the tool is for, to whoever budgets its calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether only administrators may use it.
    pub requires_admin: bool,
    /// Whether it is on before an administrator decides.
    pub enabled: bool,
    /// Whether a person must approve each call, also of a tool that only reads.
    pub approval: bool,
    /// The JSON Schema, as text, of what a person must type in before the call runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// How often the same call may be repeated in a row before a host stops offering the tool; at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loop_budget: Option<u8>,
}

/// The system that this crate is compiled for, in the form that [`Note::target`] has.
pub const TARGET: &str =
    if cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        "x86_64-linux-gnu"
    } else if cfg!(all(target_arch = "aarch64", target_os = "linux", target_env = "gnu")) {
        "aarch64-linux-gnu"
    } else if cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "musl")) {
        "x86_64-linux-musl"
    } else if cfg!(all(target_arch = "aarch64", target_os = "linux", target_env = "musl")) {
        "aarch64-linux-musl"
    } else if cfg!(all(target_arch = "x86_64", target_os = "macos")) {
        "x86_64-macos"
    } else if cfg!(all(target_arch = "aarch64", target_os = "macos")) {
        "aarch64-macos"
    } else {
        "other"
    };

/// The panic strategy that this crate is compiled with, in the form that [`Note::panic`] has.
pub const PANIC: &str = if cfg!(panic = "unwind") { "unwind" } else { "abort" };
