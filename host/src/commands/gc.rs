//! `toolbay gc`: removes copies of plugins that nobody uses any more.

use serde::Serialize;
use toolbay_loader::Collected;

use crate::{
    cli::GcArgs,
    commands::{CommandError, Opened, Setup},
    exit::Exit,
    output::{Output, grouped},
};

#[derive(Serialize)]
struct GcJson {
    removed: Vec<String>,
    bytes: u64,
    kept: usize,
    dry_run: bool,
}

pub(super) fn gc(args: &GcArgs, setup: Setup, output: &mut Output) -> Result<Exit, CommandError> {
    let Opened { toolbay, .. } = setup.open()?;
    let Collected { entries, bytes, kept, .. } = toolbay.collect_store(args.dry_run)?;
    let removed: Vec<String> = entries.iter().map(ToString::to_string).collect();
    if args.json {
        output.json(&GcJson { removed, bytes, kept, dry_run: args.dry_run })?;
        return Ok(Exit::Done);
    }
    let word = if args.dry_run { "would remove" } else { "removed" };
    for entry in &removed {
        output.text(&format!("{word} {entry}"))?;
    }
    let freed = if args.dry_run { String::new() } else { format!(", {} bytes", grouped(bytes)) };
    output.text(&format!("{word} {} copies{freed}; {kept} stay", removed.len()))?;
    Ok(Exit::Done)
}
