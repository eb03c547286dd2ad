//! How large arguments and replies may be.

/// The limits of one call, in bytes. The default suits a model's context window.
///
/// A reply with more than 16 MiB beside its text is refused unread, whatever these say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The arguments as text; 1 MiB.
    pub argument_bytes: usize,
    /// What the model reads of a reply, with the marker that says that something was cut; 50,000. The structured result has the
    /// same limit of its own.
    pub text_bytes: usize,
    /// The encoded images, sounds and other binary data of a reply together; 4 MiB.
    pub media_bytes: usize,
    /// The artifacts of a reply together, as JSON; 50,000.
    pub artifact_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            argument_bytes: 1024 * 1024,
            text_bytes: 50_000,
            media_bytes: 4 * 1024 * 1024,
            artifact_bytes: 50_000,
        }
    }
}
