//! `toolbay trust`: whose plugins may run.

use std::{collections::BTreeMap, fs, path::Path, time::Duration};

use serde::Serialize;
use toolbay_loader::TrustedKey;

use crate::{
    caller::administrator,
    cli::{TrustAction, TrustArgs},
    commands::{CommandError, Opened, Setup, time},
    exit::Exit,
    output::{Output, Table},
};

#[derive(Serialize)]
struct KeyRow<'a> {
    id: &'a str,
    publisher: &'a str,
    /// The key in the one line that minisign takes with `-P`.
    key: &'a str,
    added: String,
    revoked: Option<String>,
    reason: Option<&'a str>,
}

impl<'a> KeyRow<'a> {
    fn of(id: &'a str, key: &'a TrustedKey) -> Self {
        let revoked = key.revoked.as_ref();
        Self {
            id,
            publisher: &key.publisher,
            key: &key.key,
            added: time::timestamp(Duration::from_secs(key.added)),
            revoked: revoked.map(|revoked| time::timestamp(Duration::from_secs(revoked.at))),
            reason: revoked.map(|revoked| &*revoked.reason),
        }
    }
}

pub(super) fn trust(
    args: &TrustArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, .. } = setup.open()?;
    let by = administrator(args.by.user.as_ref(), &people)?;
    let (id, done) = match &args.action {
        TrustAction::List => {
            let keys = toolbay.trusted_keys()?;
            let rows: Vec<_> = keys.iter().map(|(id, key)| KeyRow::of(id, key)).collect();
            list(&rows, args.by.json, output)?;
            return Ok(Exit::Done);
        }
        TrustAction::Add { key, publisher } => {
            // A key has no slash at its beginning and is no file's name, so that the two can't be mistaken.
            let text = fs::read_to_string(Path::new(key)).unwrap_or_else(|_| key.clone());
            (toolbay.trust_key(&text, publisher, &by)?.to_string(), "trusted")
        }
        TrustAction::Revoke { key, reason } => {
            toolbay.revoke_key(key, reason, &by)?;
            (key.to_uppercase(), "revoked")
        }
    };
    let keys = toolbay.trusted_keys()?;
    let Some((id, key)) = keys.iter().find(|(known, _)| *known == id) else {
        return Ok(Exit::Done);
    };
    let row = KeyRow::of(id, key);
    match args.by.json {
        true => output.json(&row)?,
        false => output.text(&format!("{done}: key {id} of {}", row.publisher))?,
    }
    Ok(Exit::Done)
}

fn list(rows: &[KeyRow<'_>], json: bool, output: &mut Output) -> Result<(), CommandError> {
    if json {
        output.json(&BTreeMap::from([("keys", rows)]))?;
    } else if !rows.is_empty() {
        let mut table = Table::new(["KEY", "PUBLISHER", "ADDED", "REVOKED"]);
        for row in rows {
            let revoked = match (&row.revoked, row.reason) {
                (Some(at), Some(reason)) => format!("{at}: {reason}"),
                _ => "-".to_owned(),
            };
            table.row([row.id, row.publisher, &row.added, &revoked]);
        }
        output.table(table)?;
    }
    Ok(())
}
