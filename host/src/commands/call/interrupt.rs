//! Runs a call until it is done, or until whoever waits for it presses ctrl-c.

use std::io;

use thiserror::Error;
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
    task,
};
use toolbay_loader::CancelToken;

use crate::{exit::Exit, report};

/// Why a call has no result to show.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum InterruptError {
    /// The user would not wait for the tool to stop.
    ///
    /// Resolution: none; what the tool has done until then is unknown.
    #[error("interrupted: the tool did not stop when it was asked to")]
    Interrupted,
    /// The system gives no threads or no signals.
    ///
    /// Resolution: allow the process more of them.
    #[error("no call can be watched for ctrl-c")]
    System(#[source] io::Error),
    /// The host's own code panicked. It is a bug of the host.
    ///
    /// Resolution: report it.
    #[error("the host broke off; report this as a bug of the host")]
    Host(#[source] task::JoinError),
}

impl InterruptError {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Interrupted => Exit::Failed,
            Self::System(_) => Exit::Unavailable,
            Self::Host(_) => Exit::Broken,
        }
    }
}

/// Runs the work on a thread of its own. The first ctrl-c cancels it, and the second leaves it behind.
pub(super) fn until_interrupted<T: Send + 'static>(
    work: impl FnOnce(&CancelToken) -> T + Send + 'static,
) -> Result<T, InterruptError> {
    let runtime =
        Builder::new_current_thread().enable_all().build().map_err(InterruptError::System)?;
    let result = runtime.block_on(async {
        let mut interrupts = signal(SignalKind::interrupt()).map_err(InterruptError::System)?;
        let cancel = CancelToken::new();
        let mut work = task::spawn_blocking({
            let cancel = cancel.clone();
            move || work(&cancel)
        });
        loop {
            tokio::select! {
                result = &mut work => return result.map_err(InterruptError::Host),
                _ = interrupts.recv() => {
                    if cancel.is_cancelled() {
                        return Err(InterruptError::Interrupted);
                    }
                    cancel.cancel();
                    report::note("cancelling the call; press ctrl-c again to leave it behind");
                }
            }
        }
    });
    // A tool that does not stop must not hold up the end of the program.
    runtime.shutdown_background();
    result
}
