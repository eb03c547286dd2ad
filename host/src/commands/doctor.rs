//! `toolbay doctor`: whether the home and this machine are fit for running plugins.

use serde::Serialize;
use toolbay_loader::{Diagnosis, Health};

use crate::{
    cli::PlainArgs,
    commands::{CommandError, Opened, Setup},
    exit::Exit,
    output::Output,
};

#[derive(Serialize)]
struct DoctorJson<'a> {
    health: &'static str,
    checks: Vec<CheckJson<'a>>,
}

#[derive(Serialize)]
struct CheckJson<'a> {
    check: &'static str,
    health: &'static str,
    found: &'a str,
    remedy: Option<&'static str>,
}

impl<'a> From<&'a Diagnosis> for CheckJson<'a> {
    fn from(Diagnosis { check, health, found, remedy, .. }: &'a Diagnosis) -> Self {
        Self { check, health: health.as_str(), found, remedy: *remedy }
    }
}

pub(super) fn doctor(
    args: &PlainArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, .. } = setup.open_quietly()?;
    let checks = toolbay.diagnose();
    let health = checks.iter().map(|one| one.health).max().unwrap_or(Health::Fine);
    if args.json {
        let checks = checks.iter().map(CheckJson::from).collect();
        output.json(&DoctorJson { health: health.as_str(), checks })?;
    } else {
        for Diagnosis { check, health, found, remedy, .. } in &checks {
            output.text(&format!("{:<8} {check}: {found}", health.as_str()))?;
            if let Some(remedy) = remedy {
                output.text(&format!("         remedy: {remedy}"))?;
            }
        }
    }
    Ok(if health == Health::Broken { Exit::Unavailable } else { Exit::Done })
}
