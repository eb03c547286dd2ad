//! `toolbay install` and `toolbay uninstall`.

use serde::Serialize;
use toolbay_loader::{Collision, InstallReport, RefreshOptions};

use super::refresh::{
    ChangedJson, ProviderJson, RejectionJson, changed_lines, collision_lines, rejection_lines, warn,
};
use crate::{
    caller::administrator,
    cli::{InstallArgs, UninstallArgs},
    commands::{CommandError, Opened, Setup, row::listed},
    exit::Exit,
    output::Output,
};

#[derive(Serialize)]
struct InstallJson<'a> {
    generation: u64,
    installed: Vec<ProviderJson<'a>>,
    rejections: Vec<RejectionJson<'a>>,
    warnings: Vec<RejectionJson<'a>>,
    collisions: Vec<String>,
    changed: Vec<ChangedJson<'a>>,
}

/// Whatever was not taken is the news of this command, and so is its exit code.
pub(super) fn install(
    args: &InstallArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, program } = setup.open()?;
    let by = administrator(args.by.user.as_ref(), &people)?;
    let options = RefreshOptions::default().replace(args.replace);
    let report = toolbay.install(&args.sources, &by, options)?;
    let InstallReport { generation, installed, rejections, warnings, collisions, changed, .. } =
        &report;
    if args.by.json {
        output.json(&InstallJson {
            generation: *generation,
            installed: installed.iter().map(ProviderJson::from).collect(),
            rejections: rejections.iter().map(RejectionJson::from).collect(),
            warnings: warnings.iter().map(RejectionJson::from).collect(),
            collisions: collisions.iter().map(Collision::to_string).collect(),
            changed: changed.iter().map(ChangedJson::from).collect(),
        })?;
    } else {
        for provider in installed {
            let ProviderJson { id, version, signer, tools, .. } = ProviderJson::from(provider);
            output.text(&format!(
                "installed {id} {version}, signed by {signer}; tools: {}",
                listed(tools)
            ))?;
        }
        rejection_lines(rejections, output)?;
        collision_lines(collisions, output)?;
        changed_lines(changed, &program, output)?;
        warn(warnings);
    }
    Ok(if rejections.is_empty() { Exit::Done } else { Exit::Refused })
}

#[derive(Serialize)]
struct UninstallJson<'a> {
    uninstalled: &'a str,
    generation: u64,
    /// The version of a plugin directory that has taken its place, where there is one.
    now: Option<String>,
}

pub(super) fn uninstall(
    args: &UninstallArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, .. } = setup.open()?;
    let by = administrator(args.by.user.as_ref(), &people)?;
    let id = &*args.provider;
    let report = toolbay.uninstall(id, &by)?;
    let now = report.providers.iter().find(|one| one.id.as_str() == id);
    let now = now.map(|one| one.version.clone());
    match args.by.json {
        true => {
            output.json(&UninstallJson { uninstalled: id, generation: report.generation, now })?;
        }
        false => {
            let now = now.map(|version| {
                format!("; version {version} of a plugin directory has taken its place")
            });
            output.text(&format!("uninstalled {id}{}", now.unwrap_or_default()))?;
        }
    }
    Ok(Exit::Done)
}
