//! `toolbay lock`: writes down what is registered, so that with `--locked` nothing else runs.

use toolbay_loader::{LOCK_FILE_NAME, LockedPlugin};

use crate::{
    cli::PlainArgs,
    commands::{CommandError, Opened, Setup},
    exit::Exit,
    output::{Output, Table},
};

pub(super) fn lock(
    args: &PlainArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, .. } = setup.open()?;
    let lock = toolbay.lock_plugins()?;
    if args.json {
        output.json(&lock)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["PROVIDER", "VERSION", "TARGET", "SIGNED BY", "SHA-256"]);
    for LockedPlugin { id, target, version, hash, signer } in lock.plugins() {
        table.row([id, version, target, signer, hash]);
    }
    if !lock.plugins().is_empty() {
        output.table(table)?;
    }
    let path = toolbay.config().home.join(LOCK_FILE_NAME);
    output.text(&format!("{}: {} plugins", path.display(), lock.plugins().len()))?;
    Ok(Exit::Done)
}
