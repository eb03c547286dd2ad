//! `toolbay audit`: what was called and decided. It needs neither a configuration nor a plugin, and reads while others write.

mod csv;
mod json;
mod output_file;
mod records;
mod summary;

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use thiserror::Error;
use toolbay_loader::{
    AuditCall, AuditDecision, AuditEntry, AuditEvent, AuditReadError, AuditTrail, AuditWrite,
};

use self::{records::Records, summary::Summary};
use crate::{
    cli::AuditArgs,
    commands::CommandError,
    exit::Exit,
    output::{Output, OutputError, Table},
    report,
};

/// Why the audit log can't be shown.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum AuditError {
    /// The log can't be read.
    ///
    /// Resolution: as the source says.
    #[error(transparent)]
    Read(#[from] AuditReadError),
    /// What was asked for can't be written to a file.
    ///
    /// Resolution: name a file that can be written.
    #[error("output file {}: not writable", .path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file would be taken for a part of the log, or is one.
    ///
    /// Resolution: name another one.
    #[error("output file {}: expected a place outside the folder of the audit log", .path.display())]
    InLog {
        /// The file.
        path: PathBuf,
    },
}

impl AuditError {
    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Read(_) | Self::Output { .. } => Exit::Unavailable,
            Self::InLog { .. } => Exit::Usage,
        }
    }
}

pub(super) fn audit(
    args: &AuditArgs,
    home: &Path,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let trail = AuditTrail::open(home).map_err(AuditError::from)?;
    let Some(path) = &args.output else { return show(args, trail, output) };
    let mut output = Output::new(output_file::create(path, trail.folder())?);
    show(args, trail, &mut output).map_err(|error| match error {
        CommandError::Output(OutputError::Write(source)) => {
            AuditError::Output { path: path.clone(), source }.into()
        }
        error => error,
    })
}

fn show(args: &AuditArgs, trail: AuditTrail, output: &mut Output) -> Result<Exit, CommandError> {
    let folder = trail.is_empty().then(|| trail.folder().display().to_string());
    let mut records = Records::new(trail, args.filter(), args.limit());
    if args.summary {
        let summary = Summary::of(&mut records)?;
        if args.json { summary.json(output)? } else { summary.tables(output)? }
    } else if args.json {
        json::object(&mut records, output)?;
    } else if args.jsonl {
        json::lines(&mut records, output)?;
    } else if args.csv {
        csv::rows(&mut records, output)?;
    } else {
        table(&mut records, output)?;
    }
    if let Some(damage) = records.damage() {
        report::warning(&damage);
    }
    if let Some(folder) = folder {
        report::note(&format!("nothing has been recorded in {folder} yet"));
    } else if records.shown() == 0 {
        report::note("no record fits");
    }
    Ok(Exit::Done)
}

fn table(records: &mut Records, output: &mut Output) -> Result<(), CommandError> {
    let mut table = Table::new(["TIME", "ACTOR", "TOOL", "OUTCOME", "WHY", "TOOK"]);
    records.each(|entry| {
        row(&mut table, entry);
        Ok(())
    })?;
    if records.shown() > 0 {
        output.table(table)?;
    }
    Ok(())
}

fn row(table: &mut Table, entry: &AuditEntry) {
    let actor = match &entry.agent {
        Some(agent) => format!("{} ({agent})", entry.actor),
        None => entry.actor.clone(),
    };
    let request = entry.approval.as_ref().map(|id| format!("request {id}"));
    match &entry.event {
        AuditEvent::Call(call) => {
            let why = [why(call), written(call), request];
            let took = call.duration.map(took).unwrap_or_default();
            table.row([&entry.time, &actor, &call.tool, &call.outcome, &joined(why), &took]);
        }
        AuditEvent::Decision(AuditDecision { kind, subject, owner, refused, detail, .. }) => {
            let refused = refused.as_ref().map(|code| format!("not done: {code}"));
            let owner = owner.as_ref().map(|owner| format!("of {owner}"));
            let why = joined([refused, request, owner, detail.clone()]);
            table.row([&entry.time, &actor, subject, kind, &why, ""]);
        }
        _ => {}
    }
}

fn took(duration: Duration) -> String {
    format!("{duration:.1?}")
}

fn why(call: &AuditCall) -> Option<String> {
    let observed = if call.observed_only { " (only observed)" } else { "" };
    call.why().map(|word| format!("{word}{observed}"))
}

fn written(call: &AuditCall) -> Option<String> {
    let AuditWrite { written, target_type, target, .. } = &**call.write.as_ref()?;
    Some(format!("{written} {target_type} {target}"))
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
