//! The provider behind the entries that a host calls, on folders made for each test.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a test fails, also in what tests share"
)]

mod config;
mod hostile;
mod list;
mod preview;
mod read;
mod shelf;
mod together;
mod write;
