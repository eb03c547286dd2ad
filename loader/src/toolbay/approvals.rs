//! Requests for approval, as people decide about them.

use toolbay_core::{
    ApprovalError, ApprovalId, ApprovalStore, CallError, CallRequest, Decided, Decider,
    PendingRequest, Reply, Simulation, StoreError, StoredRequest,
};

use super::Toolbay;

impl Toolbay {
    /// Every request that is kept, sorted by the time at which it was made, and what is wrong with those that can't be read.
    pub fn approvals(&self) -> (Vec<StoredRequest>, Vec<StoreError>) {
        self.approvals.list(self.now())
    }

    /// The request of this id.
    ///
    /// # Errors
    ///
    /// [`ApprovalError`] where there is none, or where it can't be read.
    pub fn approval(&self, id: &ApprovalId) -> Result<StoredRequest, ApprovalError> {
        let stored = self.approvals.get(id, self.now());
        let stored = stored.map_err(|source| ApprovalError::Store { id: id.clone(), source })?;
        stored.ok_or_else(|| ApprovalError::NotFound { id: id.clone() })
    }

    /// Whether a viewer may read the preview of each call of a request, in their order.
    pub fn may_read(&self, request: &PendingRequest, viewer: &Decider) -> Vec<bool> {
        let owner = self.caller_of(&request.owner);
        self.pipeline.may_read(request, viewer, owner.as_ref())
    }

    /// Approves a request, and runs its calls under the identity of whoever asked; as
    /// [`Pipeline::approve`](toolbay_core::Pipeline::approve).
    ///
    /// # Errors
    ///
    /// [`ApprovalError`]: unless it says otherwise, the request waits as before.
    pub fn approve(
        &self,
        id: &ApprovalId,
        seen: &str,
        decider: &Decider,
    ) -> Result<Decided, ApprovalError> {
        self.catch_up();
        self.pipeline.approve(id, seen, decider, &|owner| self.caller_of(owner))
    }

    /// Denies a request; as [`Pipeline::deny`](toolbay_core::Pipeline::deny).
    ///
    /// # Errors
    ///
    /// [`ApprovalError`]: the request waits as before.
    pub fn deny(
        &self,
        id: &ApprovalId,
        seen: &str,
        decider: &Decider,
    ) -> Result<(), ApprovalError> {
        self.pipeline.deny(id, seen, decider)
    }

    /// Types in what a request waits for, a JSON object, and runs its calls; as
    /// [`Pipeline::submit`](toolbay_core::Pipeline::submit).
    ///
    /// # Errors
    ///
    /// [`ApprovalError`]: the request waits as before.
    pub fn submit(
        &self,
        id: &ApprovalId,
        seen: &str,
        decider: &Decider,
        typed: &str,
    ) -> Result<Decided, ApprovalError> {
        self.catch_up();
        self.pipeline.submit(id, seen, decider, typed, &|owner| self.caller_of(owner))
    }

    /// Executes the calls of one turn of a model; as [`Pipeline::turn`](toolbay_core::Pipeline::turn).
    pub fn turn(&self, requests: &[CallRequest<'_>]) -> Vec<Result<Reply, CallError>> {
        self.pipeline.turn(requests)
    }

    /// Says what would become of a call, and changes nothing; as [`Pipeline::simulate`](toolbay_core::Pipeline::simulate).
    pub fn simulate(&self, request: &CallRequest<'_>) -> Simulation {
        self.pipeline.simulate(request)
    }

    /// Takes over what other processes have decided, so that nothing is run by what holds no longer.
    fn catch_up(&self) {
        if let Err(error) = self.reload() {
            log::error!("what was registered can't be taken over: {error}");
        }
    }
}
