//! The tasks of this repository that cargo has no command for: check, test, prove, fuzz, demonstrate, soak, measure, package.
//!
//! The binary of this package runs them as `cargo xtask tidy`, `test`, `model`, `sanitize`, `fuzz`, `demo`, `soak`, `bench` and `bundle`; each is a function of the
//! module that has its name and takes the [`Checkout`](checkout::Checkout) that it works on.

pub mod checkout;
pub mod steps;

pub mod bench;
pub mod bundle;
pub mod demo;
pub mod fuzz;
pub mod model;
pub mod sanitize;
pub mod soak;
pub mod test;
pub mod tidy;

/// The guide to packaging, compiled so that its program stays true.
#[cfg(doctest)]
#[doc = include_str!("../../docs/packaging.md")]
struct PackagingGuide;
