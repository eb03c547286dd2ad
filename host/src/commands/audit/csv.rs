//! Records as comma-separated values.

use std::{borrow::Cow, io};

use csv::{QuoteStyle, WriterBuilder};
use toolbay_loader::{AuditEntry, AuditEvent};

use super::records::Records;
use crate::{
    commands::CommandError,
    output::{Output, OutputError, visible},
};

/// The columns, under names that never change; more may come at the end.
const COLUMNS: [&str; 28] = [
    "time",
    "kind",
    "tool",
    "provider",
    "actor",
    "agent",
    "run",
    "effect",
    "outcome",
    "reason",
    "observed_only",
    "code",
    "approval",
    "written",
    "target_type",
    "target",
    "duration_us",
    "argument_bytes",
    "reply_bytes",
    "generation",
    "arguments",
    "reply",
    "artifacts",
    "decision",
    "subject",
    "owner",
    "refused",
    "detail",
];

/// The cells of one record.
type Row = [String; COLUMNS.len()];

pub(super) fn rows(records: &mut Records, output: &mut Output) -> Result<(), CommandError> {
    let terminal = output.is_terminal();
    // A separator in a text is one to a spreadsheet that expects another one, unless the text has quotes.
    let mut writer =
        WriterBuilder::new().quote_style(QuoteStyle::NonNumeric).from_writer(output.writer());
    writer.write_record(COLUMNS).map_err(failed)?;
    records.each(|entry| {
        let cells = row(entry);
        let cells = cells.iter().map(|cell| harmless(cell));
        let written = match terminal {
            true => writer.write_record(cells.map(|cell| visible(&cell).into_owned())),
            false => writer.write_record(cells.map(Cow::into_owned)),
        };
        Ok(written.map_err(failed)?)
    })?;
    Ok(writer.flush().map_err(OutputError::from)?)
}

fn failed(error: csv::Error) -> OutputError {
    OutputError::Write(match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    })
}

fn row(entry: &AuditEntry) -> Row {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let AuditEntry { time, actor, agent, run, approval, event, .. } = entry;
    let mut row = Row::default();
    let mut set = |column: &str, cell: String| {
        if let Some(at) = COLUMNS.iter().position(|name| *name == column) {
            row[at] = cell;
        }
    };
    set("time", time.clone());
    set("actor", actor.clone());
    set("agent", text(agent));
    set("run", text(run));
    set("approval", text(approval));
    match event {
        AuditEvent::Call(call) => {
            set("kind", "call".to_owned());
            set("tool", call.tool.clone());
            set("provider", text(&call.provider));
            set("effect", text(&call.effect));
            set("outcome", call.outcome.clone());
            set("reason", text(&call.reason));
            set("observed_only", if call.observed_only { "true" } else { "" }.to_owned());
            set("code", text(&call.code));
            let took = call.duration.and_then(|took| u64::try_from(took.as_micros()).ok());
            set("duration_us", number(took));
            set("argument_bytes", number(call.argument_bytes));
            set("reply_bytes", number(call.reply_bytes));
            if let Some(write) = &call.write {
                set("written", write.written.clone());
                set("target_type", write.target_type.clone());
                set("target", write.target.clone());
            }
            set("generation", number(call.generation));
            set("arguments", text(&call.arguments));
            set("reply", text(&call.reply));
            set("artifacts", call.artifacts.join("\n"));
        }
        AuditEvent::Decision(decision) => {
            set("kind", "decision".to_owned());
            set("decision", decision.kind.clone());
            set("subject", decision.subject.clone());
            set("owner", text(&decision.owner));
            set("refused", text(&decision.refused));
            set("detail", text(&decision.detail));
        }
        _ => {}
    }
    row
}

/// A spreadsheet takes some texts for formulas, and a model or a tool can have chosen the text: an apostrophe makes it a text again.
fn harmless(cell: &str) -> Cow<'_, str> {
    let begins = |text: &str| text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if begins(cell.trim_start()) || cell.starts_with(['\t', '\r', '\n']) {
        return format!("'{cell}").into();
    }
    cell.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_compute_becomes_text_and_the_rest_stays() {
        let cases = [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            (" =1", "' =1"),
            ("\t=1", "'\t=1"),
            ("\rx", "'\rx"),
            ("＝1", "'＝1"),
            ("user:ada", "user:ada"),
            ("a=b", "a=b"),
            ("{\"a\": -1}", "{\"a\": -1}"),
            ("2026-07-01T00:00:00.000Z", "2026-07-01T00:00:00.000Z"),
            ("17", "17"),
            ("", ""),
        ];
        for (cell, expected) in cases {
            assert_eq!(harmless(cell), expected, "{cell:?}");
        }
    }
}
