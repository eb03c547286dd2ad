//! The extensions that there are: what a side offers beyond the frozen functions, looked up by id and version.
//!
//! Another form of payload is another version. Whoever looks one up that the other side does not have gets none, and does without.

/// Asks a tool whether somebody may read what its previews show. The plugin offers it.
///
/// It takes a [`wire::ViewerQuestion`](crate::wire::ViewerQuestion) and gives `true`, `false`, or `null` where the tool does not say.
///
/// `[any-thread, concurrently] [between create and destroy] [payload: host's, borrowed until it returns; returns: plugin's buffer; no side effects]`
pub const MAY_VIEWER_READ: (&str, u32) = ("toolbay.may_viewer_read", 1);
