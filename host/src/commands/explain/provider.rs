//! Why a provider is there or not: the decision step by step.

use serde::Serialize;
use toolbay_loader::{Trace, TraceStep};

use crate::{
    commands::{
        CommandError,
        row::{ReasonRow, reason_lines},
    },
    exit::Exit,
    output::Output,
};

#[derive(Serialize)]
struct TraceJson<'a> {
    provider: &'a str,
    known: bool,
    fine: bool,
    steps: Vec<StepJson<'a>>,
}

#[derive(Serialize)]
struct StepJson<'a> {
    step: &'static str,
    verdict: &'static str,
    subject: &'a str,
    found: &'a str,
    reason: Option<ReasonRow<'a>>,
}

impl<'a> From<&'a TraceStep> for StepJson<'a> {
    fn from(step: &'a TraceStep) -> Self {
        Self {
            step: step.step,
            verdict: step.verdict.as_str(),
            subject: &step.subject,
            found: &step.found,
            reason: step.reason.as_ref().map(ReasonRow::of),
        }
    }
}

pub(super) fn show(trace: &Trace, json: bool, output: &mut Output) -> Result<Exit, CommandError> {
    if json {
        output.json(&TraceJson {
            provider: &trace.id,
            known: trace.is_known(),
            fine: trace.is_fine(),
            steps: trace.steps.iter().map(StepJson::from).collect(),
        })?;
        return Ok(Exit::Done);
    }
    let summary = match (trace.is_known(), trace.is_fine()) {
        (false, _) => "nothing is known of it",
        (true, true) => "nothing refuses it",
        (true, false) => "it is refused, or a file of it is",
    };
    output.text(&format!("provider {}: {summary}", trace.id))?;
    for step in &trace.steps {
        let TraceStep { step, verdict, subject, found, reason, .. } = step;
        output.text(&format!("{verdict}  {step}: {subject}: {found}"))?;
        if let Some(reason) = reason {
            output.text(&reason_lines(reason))?;
        }
    }
    Ok(Exit::Done)
}
