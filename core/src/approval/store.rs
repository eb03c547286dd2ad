//! What keeps requests: every change is durable when its function returns.

use std::time::Duration;

use thiserror::Error;

use crate::{
    approval::{CallResult, PendingRequest, Settled, StoreError, StoredRequest},
    canonical::Digest,
    name::ApprovalId,
};

/// What whoever makes a call that needs a person gets at once.
#[derive(Debug, Clone)]
pub enum Suspension {
    /// It waits.
    Waiting {
        /// Under which id.
        id: ApprovalId,
        /// Whether it has just begun to.
        new: bool,
    },
    /// It was approved and runs.
    Running {
        /// Under which id.
        id: ApprovalId,
    },
    /// It is over, and nobody else gets this outcome.
    Settled {
        /// Its id.
        id: ApprovalId,
        /// How it ended.
        settled: Settled,
    },
}

impl Suspension {
    /// The request.
    pub fn id(&self) -> &ApprovalId {
        match self {
            Self::Waiting { id, .. } | Self::Running { id } | Self::Settled { id, .. } => id,
        }
    }
}

/// Why a request can't be claimed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// It does not wait, or no longer.
    ///
    /// Resolution: look at what came of it.
    #[error("the request does not wait for a decision")]
    NotWaiting,
    /// Somebody else is deciding about it at this moment.
    ///
    /// Resolution: look at what came of it.
    #[error("somebody else is deciding about the request")]
    Taken,
    /// The store failed.
    ///
    /// Resolution: the source says what to do.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps requests. Several processes may share one store.
pub trait ApprovalStore: Send + Sync {
    /// What has become of the request of this key, if there is one that has not been delivered. An outcome is marked as delivered.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the store can't be read or written.
    fn answer(&self, key: &Digest, now: Duration) -> Result<Option<Suspension>, StoreError>;

    /// Keeps a new request, or answers as [`answer`](Self::answer) does where another one of its key came first.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the request can't be kept: then nothing waits.
    fn suspend(&self, request: PendingRequest, now: Duration) -> Result<Suspension, StoreError>;

    /// The request of this id, expired or recovered where its time or its process is over.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where it can't be read; it stays as it is.
    fn get(&self, id: &ApprovalId, now: Duration) -> Result<Option<StoredRequest>, StoreError>;

    /// Claims a request that waits: of any number of processes, one gets it. Nothing on disk says so before [`Claim::run`].
    ///
    /// # Errors
    ///
    /// [`ClaimError`] where it is not to be had.
    fn claim(&self, id: &ApprovalId, now: Duration) -> Result<Box<dyn Claim + '_>, ClaimError>;
}

/// A request that nobody else can decide about. Dropping it gives it up; after [`run`](Self::run) it stays claimed for good, as a crash
/// would leave it.
pub trait Claim {
    /// The request, as it is while it is claimed.
    fn request(&self) -> &StoredRequest;

    /// Puts other previews into the request, with the calls whose preview has changed, and leaves it waiting.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where that can't be kept; it stays as it was.
    fn restate(
        self: Box<Self>,
        request: PendingRequest,
        stale: Vec<usize>,
    ) -> Result<(), StoreError>;

    /// Marks the request as running, the fence behind which a crash can't repeat it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where that can't be kept: then nothing may run.
    fn run(&mut self, by: &str, at: Duration) -> Result<(), StoreError>;

    /// Ends it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] where the outcome can't be kept.
    fn settle(self: Box<Self>, by: &str, at: Duration, settled: Settled) -> Result<(), StoreError>;
}

impl Settled {
    /// What came of one call after another.
    pub(crate) fn done(results: Vec<CallResult>) -> Self {
        Self::Done { results }
    }
}
