//! One client from its first message to its last.

use std::{
    io,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use rmcp::service::{QuitReason, ServerInitializeError, ServiceExt};
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::watch,
    task::JoinError,
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use toolbay_loader::AccessError;

use crate::mcp::McpServer;

/// How long a change that another process has registered stays unnoticed while nobody asks for anything.
const RELOAD_PERIOD: Duration = Duration::from_secs(1);

/// The time for messages that are on their way when the client's last one has been read.
const SETTLING: Duration = Duration::from_millis(50);

/// The time for calls that run when the client's last message has been read. Then they are cancelled.
const GRACE: Duration = Duration::from_secs(5);

/// Why a session ended before its client ended it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not begin as the protocol wants.
    ///
    /// Resolution: connect a client of the Model Context Protocol.
    #[error("session not begun: expected a client of the Model Context Protocol")]
    Begin(#[source] Box<ServerInitializeError>),
    /// There is no such agent.
    ///
    /// Resolution: make the agent, or name one that is there.
    #[error(transparent)]
    Agent(#[from] AccessError),
    /// The system gives no random numbers, so that the session has no name of its own.
    ///
    /// Resolution: give the process a source of them.
    #[error("no session can be named")]
    Unnamed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The host's own code panicked. It is a bug of the host.
    ///
    /// Resolution: report it.
    #[error("session broken off; report this as a bug of the host")]
    BrokenOff(#[source] JoinError),
    /// The system gives no threads or no signals.
    ///
    /// Resolution: allow the process more of them.
    #[error("no session can be served")]
    System(#[source] io::Error),
}

impl McpServer {
    /// Serves a client, whose messages are lines, until it sends nothing more or `stop` is ready. Calls that run when the last
    /// message has been read are answered as far as they end within 5 seconds, and cancelled then; `stop` cancels them at once.
    ///
    /// # Errors
    ///
    /// [`ServeError`] where the client does not speak the protocol, or the session ends for a reason of the host's.
    pub async fn serve<R, W>(
        self,
        reader: R,
        writer: W,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let reader = Endless { reader, ended: self.ended().clone() };
        let mut stop = pin!(stop);
        let begun = tokio::select! {
            begun = ServiceExt::serve(self.clone(), (reader, writer)) => begun,
            () = self.until_ended() => return Ok(()),
            () = &mut stop => return Ok(()),
        };
        let session = begun.map_err(|error| ServeError::Begin(Box::new(error)))?;
        let peer = session.peer().clone();
        let mut cancel = Some(session.cancellation_token());
        let mut session = pin!(session.waiting());
        let mut done = pin!(async {
            tokio::select! {
                () = self.until_done() => {}
                () = &mut stop => {}
            }
        });
        let mut changes = self.changes();
        let mut reload = interval(RELOAD_PERIOD);
        reload.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                quit = &mut session => return match quit {
                    Ok(QuitReason::JoinError(error)) | Err(error) => {
                        Err(ServeError::BrokenOff(error))
                    }
                    Ok(_) => Ok(()),
                },
                () = &mut done, if cancel.is_some() => {
                    if let Some(cancel) = cancel.take() {
                        cancel.cancel();
                    }
                }
                _ = reload.tick() => {
                    // An error has been logged, and the next tick tries again.
                    let _ = self.reload().await;
                }
                // Clients of the era without a handshake hear of it where they listen.
                Ok(()) = changes.changed() => if peer.peer_info().is_some() {
                    let peer = peer.clone();
                    // On its own, for a client that does not read must not hold up this loop.
                    tokio::spawn(async move { peer.notify_tool_list_changed().await });
                }
            }
        }
    }

    /// Waits until the client has sent its last message and has its answers, or has had the time for them.
    async fn until_done(&self) {
        self.until_ended().await;
        sleep(SETTLING).await;
        if timeout(GRACE, self.until_idle()).await.is_err() {
            log::warn!("calls still run {} s after the client's last message", GRACE.as_secs());
        }
    }
}

/// A reader that tells when its input ends, and does not end itself.
///
/// Where rmcp sees the end of its input, it stops to send notifications, also those that a call waits for before it can be answered.
/// So it does not see it: the session is cancelled once everything is answered.
struct Endless<R> {
    reader: R,
    ended: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Endless<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        match Pin::new(&mut this.reader).poll_read(context, buffer) {
            Poll::Ready(Ok(())) if buffer.filled().len() > before => Poll::Ready(Ok(())),
            Poll::Pending => Poll::Pending,
            Poll::Ready(result) => {
                if let Err(error) = result {
                    log::warn!("the client's messages can't be read any more: {error}");
                }
                this.ended.send_replace(true);
                Poll::Pending
            }
        }
    }
}
