//! `toolbay serve`: offers the tools to a client of the Model Context Protocol.

use std::{fs::File, sync::Arc};

use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};
use toolbay_loader::AUDIT_DELAY;

use crate::{
    caller::caller,
    cli::ServeArgs,
    commands::{CommandError, open, suggest_refresh, warn_about_agent},
    config::HostConfig,
    exit::Exit,
    mcp::{McpServer, ServeError},
    output::Output,
};

/// Serves until the client closes its end, or the process is asked to end.
pub(super) fn serve(
    args: &ServeArgs,
    config: HostConfig,
    input: File,
    output: Output,
) -> Result<Exit, CommandError> {
    let caller = caller(&args.caller, &config.agents)?;
    let toolbay = Arc::new(open(config.loader)?);
    warn_about_agent(&caller, &toolbay);
    if toolbay.providers().is_empty() {
        suggest_refresh(toolbay.config());
    }
    let server = McpServer::new(toolbay, caller);
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
