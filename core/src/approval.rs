//! Calls that wait for a person: what is waiting, who may decide, and what came of it.
//!
//! A call that needs an approval or an input does not run. It becomes a [`PendingRequest`], which an [`ApprovalStore`] keeps durably,
//! bound to who asked, the agent, the tools, their arguments, the code behind them and an expiry. What a person decides about is its
//! [digest](PendingRequest::digest), so that nobody approves what they have not seen. A request is used once: whoever asked gets
//! what came of it by making the same call again.

mod decider;
mod error;
mod request;
mod state;
mod store;

pub use self::{
    decider::Decider,
    error::{ApprovalError, StoreError},
    request::{Need, Owner, PendingCall, PendingRequest, Preview},
    state::{CallResult, DecidedBy, RequestState, Settled, StoredReply, StoredRequest},
    store::{ApprovalStore, Claim, ClaimError, Suspension},
};
