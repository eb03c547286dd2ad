//! The options of `toolbay audit`.

use std::{
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

use clap::{Args, builder::PossibleValuesParser};
use toolbay_loader::{AuditFilter, DecisionKind, Moment, Outcome};

/// What `--decision` stands for without a value.
const ANY: &str = "any";

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// From when on: a time such as 2026-07-01 or 2026-07-01T08:30:00+02:00, in UTC where it has no offset, or how long ago, such as 2h or 7d
    #[arg(long, value_name = "WHEN", help_heading = FILTERS)]
    since: Option<Moment>,
    /// Until when; what happened at that moment is left out
    #[arg(long, value_name = "WHEN", help_heading = FILTERS)]
    until: Option<Moment>,
    /// Calls of this tool, and decisions about it; a filter with a value can be repeated and then admits each of them
    #[arg(long, value_name = "NAME", help_heading = FILTERS)]
    tool: Vec<String>,
    /// Calls of this provider's tools
    #[arg(long, value_name = "ID", help_heading = FILTERS)]
    provider: Vec<String>,
    /// What this actor did: user:ada, or ada alone
    #[arg(long, value_name = "ACTOR", help_heading = FILTERS)]
    actor: Vec<String>,
    /// What this agent did, or what was decided about it
    #[arg(long, value_name = "NAME", help_heading = FILTERS)]
    agent: Vec<String>,
    /// What belongs to this run
    #[arg(long, value_name = "ID", help_heading = FILTERS)]
    run: Vec<String>,
    /// What belongs to this request for approval
    #[arg(long, value_name = "ID", help_heading = FILTERS)]
    approval: Vec<String>,
    /// Calls that ended so
    #[arg(long, help_heading = FILTERS, value_parser = PossibleValuesParser::new(Outcome::ALL.map(Outcome::as_str)))]
    outcome: Vec<String>,
    /// What was refused or failed for this reason or with this code, such as toolDisabled or invalid_arguments
    #[arg(long, value_name = "WORD", help_heading = FILTERS)]
    reason: Vec<String>,
    /// Decisions of this kind, or all of them
    #[arg(
        long,
        value_name = "KIND",
        help_heading = FILTERS,
        num_args = 0..=1,
        default_missing_value = ANY,
        hide_default_value = true,
        value_parser = decisions(),
    )]
    decision: Vec<String>,
    /// What did not come to what was asked for
    #[arg(long, help_heading = FILTERS)]
    errors: bool,
    /// Calls of tools that write
    #[arg(long, help_heading = FILTERS)]
    writes: bool,
    /// What has this text in it, in upper or lower case
    #[arg(long, help_heading = FILTERS)]
    text: Option<String>,
    /// The last so many; otherwise a table has 50, and every other form all
    #[arg(long, value_name = "COUNT", help_heading = FILTERS)]
    limit: Option<usize>,
    /// Print one JSON object
    #[arg(long, group = "form")]
    pub(crate) json: bool,
    /// Print the records as they stand in the log, one JSON object on each line
    #[arg(long, group = "form", conflicts_with = "summary")]
    pub(crate) jsonl: bool,
    /// Print comma-separated values for a spreadsheet
    #[arg(long, group = "form", conflicts_with = "summary")]
    pub(crate) csv: bool,
    /// Print counts by tool, by reason of denial and by actor
    #[arg(long)]
    pub(crate) summary: bool,
    /// Write to this file, which only you can read where it is new
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

const FILTERS: &str = "Filters";

fn decisions() -> PossibleValuesParser {
    PossibleValuesParser::new([ANY].into_iter().chain(DecisionKind::ALL.map(DecisionKind::as_str)))
}

impl AuditArgs {
    /// How many records a table has where nobody says it.
    const TABLE: usize = 50;

    pub(crate) fn filter(&self) -> AuditFilter {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = |moment: Option<Moment>| moment.map(|moment| moment.before(now));
        let any = self.decision.iter().any(|kind| kind == ANY);
        AuditFilter {
            since: at(self.since),
            until: at(self.until),
            tools: self.tool.clone(),
            providers: self.provider.clone(),
            actors: self.actor.clone(),
            agents: self.agent.clone(),
            runs: self.run.clone(),
            approvals: self.approval.clone(),
            outcomes: self.outcome.clone(),
            reasons: self.reason.clone(),
            decisions: if any { Vec::new() } else { self.decision.clone() },
            only_decisions: any,
            only_errors: self.errors,
            only_writes: self.writes,
            text: self.text.clone(),
        }
    }

    /// The most records that are shown; `None` where all are.
    pub(crate) fn limit(&self) -> Option<usize> {
        let table = !(self.json || self.jsonl || self.csv || self.summary);
        self.limit.or(table.then_some(Self::TABLE))
    }
}
