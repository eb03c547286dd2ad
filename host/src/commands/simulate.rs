//! `toolbay simulate`: what would become of a call, by the code that decides about calls. It writes nothing.

use std::fs::File;

use serde::Serialize;
use toolbay_loader::{
    CallError, CallRequest, Decision, Reason, Simulation, SimulationVerdict, Verdict,
};

use crate::{
    arguments::Given,
    caller::caller,
    cli::SimulateArgs,
    commands::{CommandError, Opened, Setup, failure::FailureRow, warn_about_agent},
    exit::Exit,
    output::{Facts, Output},
    report,
};

#[derive(Serialize)]
struct SimulationJson<'a> {
    verdict: &'static str,
    /// Every gate in its order, also those behind one that fails.
    axes: Vec<AxisRow>,
    decision: DecisionRow<'a>,
    /// Whether the arguments were accepted; none where a gate refused before anybody looked at them.
    arguments_ok: Option<bool>,
    needs_approval: bool,
    needs_input: bool,
    /// Why the call would be refused: the very error of a real call.
    error: Option<FailureRow<'a>>,
}

/// What one gate says.
#[derive(Serialize)]
pub(super) struct AxisRow {
    gate: &'static str,
    verdict: &'static str,
}

impl AxisRow {
    pub(super) fn of((reason, verdict): &(Reason, Verdict)) -> Self {
        Self { gate: reason.as_str(), verdict: verdict_word(*verdict) }
    }
}

pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Observed => "observed",
        Verdict::Failed => "failed",
    }
}

#[derive(Serialize)]
pub(super) struct DecisionRow<'a> {
    tool: &'a str,
    allowed: bool,
    reason: Option<&'static str>,
    /// Whether it is allowed only because its gate observes.
    observed_only: bool,
    data_class: &'static str,
    /// Where the caller's model runs; none where no model calls.
    zone: Option<&'static str>,
    ceiling: Option<&'static str>,
}

impl<'a> From<&'a Decision> for DecisionRow<'a> {
    fn from(decision: &'a Decision) -> Self {
        Self {
            tool: &decision.tool,
            allowed: decision.allowed,
            reason: decision.reason.map(Reason::as_str),
            observed_only: decision.observed_only,
            data_class: decision.data_class.as_str(),
            zone: decision.zone.map(|zone| zone.as_str()),
            ceiling: decision.ceiling().map(|class| class.as_str()),
        }
    }
}

/// A call that would be refused is an answer, too.
pub(super) fn simulate(
    args: SimulateArgs,
    setup: Setup,
    input: File,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let SimulateArgs { tool, arguments, json, caller: who } = args;
    let given = Given::parse(&arguments)?;
    let Opened { toolbay, people, .. } = setup.open()?;
    let caller = caller(&who, &people, &toolbay)?;
    warn_about_agent(&caller, &toolbay);
    let arguments = given.for_tool(&tool, &toolbay, input)?;
    let simulation = toolbay.simulate(&CallRequest::new(&tool, &arguments, &caller));
    match json {
        true => output.json(&SimulationJson::from(&simulation))?,
        false => output.facts(&facts(&simulation))?,
    }
    Ok(Exit::Done)
}

/// Whether the arguments were accepted, where anybody looked at them.
fn arguments_ok(simulation: &Simulation) -> Option<bool> {
    match &simulation.refusal {
        None | Some(CallError::Rule { .. }) => Some(true),
        Some(CallError::Arguments { .. }) => Some(false),
        Some(_) => None,
    }
}

impl<'a> From<&'a Simulation> for SimulationJson<'a> {
    fn from(simulation: &'a Simulation) -> Self {
        Self {
            verdict: simulation.verdict.as_str(),
            axes: simulation.axes.iter().map(AxisRow::of).collect(),
            decision: DecisionRow::from(&simulation.decision),
            arguments_ok: arguments_ok(simulation),
            needs_approval: simulation.needs_approval,
            needs_input: simulation.needs_input,
            error: simulation.refusal.as_ref().map(FailureRow::from),
        }
    }
}

fn facts(simulation: &Simulation) -> Facts {
    let mut facts = Facts::new();
    facts.add("verdict", simulation.verdict.as_str());
    for (reason, verdict) in &simulation.axes {
        facts.add(format!("  {reason}"), verdict_word(*verdict));
    }
    facts.add("decision", simulation.decision.to_string());
    facts.add(
        "arguments",
        match arguments_ok(simulation) {
            Some(true) => "accepted",
            Some(false) => "refused",
            None => "not looked at",
        },
    );
    let needs = match (simulation.needs_approval, simulation.needs_input) {
        (true, _) => "somebody's approval, each time",
        (false, true) => "that somebody types something in, each time",
        (false, false) => "nothing else",
    };
    facts.add("needs", needs);
    facts.add(
        "outcome",
        match (&simulation.refusal, simulation.verdict) {
            (Some(error), _) => format!("refused: {}", report::chain(error)),
            (None, SimulationVerdict::Allow) => "the tool would run".to_owned(),
            (None, _) => "the call would wait as a request".to_owned(),
        },
    );
    facts
}
