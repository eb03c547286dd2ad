//! What would become of a call, without making it.

use crate::{
    error::CallError,
    gate::{self, Decision, Reason, Verdict},
    pipeline::{Admitted, Pipeline, suspend},
    request::CallRequest,
};

/// What a call would come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulationVerdict {
    /// It would run.
    Allow,
    /// It would wait for somebody's approval.
    AllowWithApproval,
    /// It would wait for somebody to type something in.
    AllowWithInput,
    /// It would be refused.
    Block,
}

impl SimulationVerdict {
    /// The word that stands for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "ALLOW",
            Self::AllowWithApproval => "ALLOW_WITH_APPROVAL",
            Self::AllowWithInput => "ALLOW_WITH_INPUT",
            Self::Block => "BLOCK",
        }
    }
}

/// Everything that decides about a call, and what comes of it.
#[derive(Debug)]
pub struct Simulation {
    /// What each gate says, in their order, also behind one that fails.
    pub axes: Vec<(Reason, Verdict)>,
    /// What the gates come to.
    pub decision: Decision,
    /// Whether the tool's calls need an approval, whoever makes them.
    pub needs_approval: bool,
    /// Whether the tool's calls need an input.
    pub needs_input: bool,
    /// Why the call would be refused, where it would be: the very error of a real call.
    pub refusal: Option<CallError>,
    /// What comes of it all.
    pub verdict: SimulationVerdict,
}

impl Pipeline {
    /// Says what would become of a call, by the very code that decides about calls. It runs nothing of the tool, records nothing and
    /// lets nothing wait. What depends on the tool itself, such as its reply, and what stands outside the pipeline, such as a
    /// budget, is not in it; nor is how many other calls there are.
    pub fn simulate(&self, request: &CallRequest<'_>) -> Simulation {
        let registry = self.registry().load();
        let entry = registry.get(request.tool());
        let axes = gate::axes(&registry, request.caller(), request.tool());
        let decision = gate::decide(&registry, request.caller(), request.tool());
        let scope = &mut self.open(request, &registry).quiet();
        let (verdict, refusal) = match self.admit(request, &registry, scope) {
            Ok(Admitted::Ready(_)) => (SimulationVerdict::Allow, None),
            Ok(waiting) if self.config.approvals.is_none() => {
                (SimulationVerdict::Block, Some(suspend::alone(waiting.entry())))
            }
            Ok(Admitted::NeedsApproval(_)) => (SimulationVerdict::AllowWithApproval, None),
            Ok(Admitted::NeedsInput { .. }) => (SimulationVerdict::AllowWithInput, None),
            Err(error) => (SimulationVerdict::Block, Some(error)),
        };
        Simulation {
            axes,
            decision,
            needs_approval: entry.is_some_and(|entry| entry.needs_approval()),
            needs_input: entry
                .is_some_and(|entry| entry.definition().declarations().input.is_some()),
            refusal,
            verdict,
        }
    }
}
