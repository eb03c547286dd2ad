//! `toolbay quarantine`: which contents failed while their code ran, and which are to be tried again.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use toolbay_loader::{FailureClass, Quarantined, Retry};

use crate::{
    caller::administrator,
    cli::{QuarantineAction, QuarantineArgs},
    commands::{CommandError, Opened, Setup, time},
    exit::Exit,
    output::{Output, Table},
};

#[derive(Serialize)]
struct QuarantineRow {
    provider: String,
    content: String,
    class: FailureClass,
    strikes: u32,
    in_host: bool,
    stage: String,
    code: String,
    found: String,
    at: String,
    /// `now`, `never`, or when.
    again: String,
}

impl QuarantineRow {
    fn of(one: &Quarantined) -> Self {
        let time = |seconds| time::timestamp(Duration::from_secs(seconds));
        let failure = one.failure.clone();
        Self {
            provider: failure.provider,
            content: one.content.to_string(),
            class: failure.class,
            strikes: failure.strikes,
            in_host: failure.in_process,
            stage: failure.stage,
            code: failure.code,
            found: failure.found,
            at: time(failure.at),
            again: match one.retry {
                Retry::Now => "now".to_owned(),
                Retry::At(at) => time(at),
                Retry::Never => "never".to_owned(),
            },
        }
    }
}

pub(super) fn quarantine(
    args: &QuarantineArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, .. } = setup.open()?;
    let by = administrator(args.by.user.as_ref(), &people)?;
    let (key, contents) = match &args.action {
        QuarantineAction::List => ("contents", toolbay.quarantine()?),
        QuarantineAction::Release { subject } => ("released", toolbay.release(subject, &by)?),
    };
    let rows: Vec<_> = contents.iter().map(QuarantineRow::of).collect();
    if args.by.json {
        output.json(&BTreeMap::from([(key, rows)]))?;
    } else if let QuarantineAction::Release { .. } = args.action {
        for row in &rows {
            output.text(&format!("released: {} {}", row.provider, row.content))?;
        }
    } else if !rows.is_empty() {
        let header = ["PROVIDER", "CONTENT", "WHERE", "STRIKES", "AGAIN", "FOUND"];
        let mut table = Table::new(header);
        for row in &rows {
            let place = format!("{} in {}", row.stage, if row.in_host { "host" } else { "worker" });
            let found = format!("{}: {}", row.code, row.found);
            let strikes = row.strikes.to_string();
            table.row([&row.provider, &row.content, &place, &strikes, &row.again, &found]);
        }
        output.table(table)?;
    }
    Ok(Exit::Done)
}
