//! Hostile plugins for those who write hosts: each does one thing that a host must live with or refuse, has a benign twin that differs in
//! nothing else, and comes with the verdict that a host should reach.
//!
//! 1. [`Deed`] is what can be done to a process, and [`Moment`] is when: while the library is opened, made, listed, called or stopped.
//! 2. A [`Case`] puts the two together, or names a fault of a library's tables; [`catalogue`] has them all. Its [`Verdict`]s say what comes of it
//!    when the file is only read, in the host's process and in a process of its own.
//! 3. [`Provider`] is the one library in Rust that does it: a case is a copy with other bytes, which [`Patch`] knows. What Rust would never make is
//!    C, which [`CSource`] compiles.
//! 4. [`make()`] writes cases and their twins into a folder, with `corpus.json`, which says what each is.
//! 5. [`check()`] runs a host once per case and tells whether it survived.
//!
//! ```
//! use toolbay_corpus::{Moment, Verdict, catalogue};
//!
//! let cases = catalogue();
//! let case = cases.iter().find(|case| case.id == "constructor-segfault").unwrap();
//! assert_eq!(case.moment, Moment::Constructor);
//! assert_eq!(case.in_host, [Verdict::EndsHost]);
//! ```

mod deed;
mod moment;
mod verdict;

mod c_source;
mod patch;
mod provider;

mod case;
mod catalogue;

mod check;
mod make;
mod placeholders;

pub use c_source::{CError, CSource, changed_note_define, note_define};
pub use case::{Case, Making};
pub use catalogue::catalogue;
pub use check::{CheckError, Checked, Host, check};
pub use deed::Deed;
pub use make::{FileEntry, Index, IndexedCase, MakeError, make};
pub use moment::{Moment, PLACE_LEN, WORD};
pub use patch::{Patch, PatchError};
pub use placeholders::Placeholders;
pub use provider::{Provider, ProviderError, TOOL};
pub use verdict::{Expected, Verdict};
