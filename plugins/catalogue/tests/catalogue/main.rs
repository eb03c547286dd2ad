//! The provider behind the entries that a host calls, on the sample and on files made for each test.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a panic is how a test fails, also in what tests share"
)]

mod answers;
mod config;
mod files;
mod ranking;
mod scale;
mod served;
