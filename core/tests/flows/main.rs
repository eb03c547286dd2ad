//! What the crate does as a whole, seen from outside: one module for each stretch of the two flows.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops where it finds something else"
)]

mod desk;
mod fixture;
mod memory;

mod definitions;
mod schemas;

mod pins;
mod planning;

mod availability;
mod gates;
mod policy;

mod arguments;
mod coercing;

mod approving;
mod asking;
mod deciding;
mod delivering;
mod inputs;
mod previews;
mod recovering;
mod writing;

mod judging;
mod simulating;

mod counting;
mod queueing;
mod reserving;
mod turnstile;

mod replies;
mod writes;

mod auditing;
mod errors;

mod forcing;
mod recording;
