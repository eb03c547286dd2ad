//! `cargo xtask demo`: shows on the real binary what Toolbay does.
