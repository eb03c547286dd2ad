//! `cargo xtask bench`: runs the benchmark and shows what it summarised.
