//! `toolbay serve`: offers the tools to a client of the Model Context Protocol.

use std::{fs::File, sync::Arc};

use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};
use toolbay_loader::{AUDIT_DELAY, Agent, Signer, Toolbay};

use crate::{
    caller::{CallerError, actor, loadout},
    cli::ServeArgs,
    commands::{CommandError, Opened, Setup, agent::held_back, suggest_refresh, warn_about_agent},
    exit::Exit,
    mcp::{Identity, McpServer, ServeError},
    output::Output,
    program::Program,
    report,
};

/// Serves until the client closes its end, or the process is asked to end.
pub(super) fn serve(
    args: &ServeArgs,
    setup: Setup,
    input: File,
    output: Output,
) -> Result<Exit, CommandError> {
    let Opened { toolbay, people, program } = setup.open()?;
    let toolbay = Arc::new(toolbay);
    let identity = Identity {
        actor: actor(args.user.as_ref(), &people)?,
        agent: Some(args.agent.clone()),
        loadout: loadout(args.pending),
    };
    let caller = identity.caller(&toolbay).map_err(CallerError::Agent)?;
    warn_about_agent(&caller, &toolbay);
    if let Some(agent) = caller.agent() {
        tell_zone(agent, &toolbay, &program);
    }
    if toolbay.providers().is_empty() {
        suggest_refresh(toolbay.config());
    }
    warn_about_unsigned(&toolbay);
    let server = McpServer::new(toolbay, identity)?;
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(ServeError::System)?;
    let result = runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).map_err(ServeError::System)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(ServeError::System)?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        let reader = tokio::fs::File::from_std(input);
        let writer = tokio::fs::File::from_std(output.into_file());
        server.serve(reader, writer, stop).await
    });
    // A tool that hangs keeps the audit log open; its lines must be written all the same before the process ends.
    runtime.shutdown_timeout(AUDIT_DELAY * 2);
    result?;
    Ok(Exit::Done)
}

/// Tells whose code will run for a model although nobody stands for it.
fn warn_about_unsigned(toolbay: &Toolbay) {
    let providers = toolbay.providers();
    let unsigned = providers.iter().filter(|provider| provider.signer == Signer::Nobody);
    let unsigned: Vec<&str> = unsigned.map(|provider| provider.id.as_str()).collect();
    if !unsigned.is_empty() {
        let names = unsigned.join(", ");
        report::warning(&format!(
            "nobody has signed {names}: the policy lets unsigned plugins run"
        ));
    }
}

/// Tells as which agent the server works, and what its zone holds back: whoever misses a tool looks for it here.
fn tell_zone(agent: &Agent, toolbay: &Toolbay, program: &Program) {
    let (name, zone) = (&agent.name, agent.zone);
    let held_back = held_back(zone, toolbay);
    report::note(&match held_back.len() {
        0 => format!("serving as agent {name}, whose model runs in zone {zone}"),
        count => {
            let command = program.command(["explain", &held_back[0], "--agent", name.as_str()]);
            format!(
                "serving as agent {name}, whose model runs in zone {zone}: {count} tools are held back, because their data may not go \
                 there; `{command}` says what to do where it runs elsewhere"
            )
        }
    });
}
