//! What bounds and steers the loop in which a model calls tools. All of it is decided by values: the loop itself is the host's.

mod budget;
mod forced_search;
mod repeat;

pub(crate) use self::budget::class_budget;
pub use self::{
    budget::{batch_budget, loop_budget},
    forced_search::{ForcedSearch, forced_search, search_score},
    repeat::{CallSignature, Repeat, RoundSignature, RunSignatures},
};
