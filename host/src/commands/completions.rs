//! `toolbay completions`: the script that completes commands in a shell.

use clap::CommandFactory;

use crate::{
    cli::{Cli, CompletionsArgs},
    commands::CommandError,
    exit::Exit,
    output::Output,
};

pub(super) fn completions(
    args: &CompletionsArgs,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "toolbay", &mut script);
    output.raw(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
