//! A tool for people: what is in force, and what keeps it off.

use super::row::{Look, ToolRow};
use crate::{
    commands::{
        row::{ChangeRow, effect_words, listed},
        switches::OffBy,
    },
    diff::diff,
    output::{Facts, Output, OutputError, Table},
    program::Program,
    report,
};

pub(super) fn list(look: &Look, output: &mut Output) -> Result<(), OutputError> {
    let mut table = Table::new(["NAME", "PROVIDER", "GROUP", "STATE", "EFFECT", "SUMMARY"]);
    let mut any = false;
    for row in look.rows() {
        any = true;
        let effect = effect_words(row.declarations.effect, row.needs_approval);
        let group = row.group.unwrap_or("-");
        table.row([row.name, row.provider, group, &state(&row), &effect, row.summary]);
    }
    if any { output.table(table) } else { Ok(()) }
}

/// Whether a tool is on, or everything that keeps it off.
fn state(row: &ToolRow<'_>) -> String {
    match (row.state, row.off_by.as_slice()) {
        ("not_listed", _) => "not listed".to_owned(),
        ("name_taken", _) => "name taken".to_owned(),
        (state, []) => state.to_owned(),
        (_, causes) => listed(causes.iter().map(|cause| cause.words())),
    }
}

/// Tells what is in force after a decision, and what else keeps the tool off.
pub(super) fn decided(
    row: &ToolRow<'_>,
    program: &Program,
    output: &mut Output,
) -> Result<(), OutputError> {
    let approval = match row.approval_because {
        Some(_) if row.enabled => ", each call after approval",
        _ => "",
    };
    output.text(&format!("{}: {}{approval}", row.name, state(row)))?;
    // Who has just switched it off knows how to switch it on.
    let others =
        row.off_by.iter().filter(|cause| !matches!(cause, OffBy::Decision | OffBy::Default));
    for cause in others {
        if let Some(command) = row.entry.and_then(|entry| cause.remedy(entry, program)) {
            report::note(&format!("it is {}: `{command}`", cause.words()));
        }
    }
    Ok(())
}

/// Shows everything that decides about a tool.
pub(super) fn tool(row: &ToolRow<'_>, output: &mut Output) -> Result<(), OutputError> {
    let label = if row.label == row.name { String::new() } else { format!(" ({})", row.label) };
    output.text(&format!("{}{label}: {}\n\n", row.name, row.summary))?;
    let mut facts = Facts::new();
    facts.add("provider", format!("{} {}", row.provider, row.provider_version));
    facts.add("state", state(row));
    let yes_no = |yes| if yes { "on" } else { "off" };
    if let Some(switches) = &row.switches {
        let tool = match (switches.overridden, switches.tool_enabled) {
            (true, on) => format!("switched {}", yes_no(on)),
            (false, on) => format!("{} by default", yes_no(on)),
        };
        facts.add("  tool", tool);
        let group = match row.group {
            Some(group) => format!("{group}, {}", yes_no(switches.group_enabled)),
            None => "none".to_owned(),
        };
        facts.add("  group", group);
        let off = row.off_by.contains(&OffBy::Provider);
        facts.add("  provider", yes_no(!off));
        let review = match (switches.pinned, switches.needs_review, row.changes.len()) {
            (false, ..) => "not pinned yet: it will be when it is first on".to_owned(),
            (true, true, _) => "waits for somebody to look at what changed".to_owned(),
            (true, false, 0) => "as it was when somebody last looked at it".to_owned(),
            (true, false, _) => "changed, and can do no more than before".to_owned(),
        };
        facts.add("  review", review);
    }
    facts.add("approval", approval(row));
    facts.add(
        "input",
        match row.input.as_slice() {
            [] => "none".to_owned(),
            input => format!("a person types in {}", input.join(", ")),
        },
    );
    let declared = &row.declarations;
    facts.add("effect", effect_words(declared.effect, false));
    facts.add("data class", declared.data_class);
    facts.add("for", if declared.requires_admin { "administrators" } else { "everybody" });
    facts.add("egress", declared.egress);
    facts.add("kind", declared.kind);
    facts.add("repetitions", format!("{} of the same call", declared.loop_budget));
    facts.add("aliases", listed(&row.aliases));
    output.facts(&facts)?;
    if !row.changes.is_empty() {
        output.text("\nchanged since somebody looked at it:\n")?;
        output.text(&change_lines(&row.changes))?;
    }
    Ok(())
}

fn approval(row: &ToolRow<'_>) -> String {
    match row.approval_because {
        Some(reason) => format!("each call waits for it, {}", reason.words()),
        None if row.needs_approval => "each call waits for it".to_owned(),
        None => "none".to_owned(),
    }
}

/// What changed of a tool, the old and the new line by line.
pub(in crate::commands) fn change_lines(changes: &[ChangeRow<'_>]) -> String {
    let mut text = String::new();
    for change in changes {
        let widens = if change.widens { " (lets it do more)" } else { "" };
        text.push_str(&format!("  {}{widens}\n", change.field));
        for line in diff(change.before, change.after).lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}
