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
    time::{MissedTickBehavior, interval},
};

use crate::mcp::McpServer;

/// How long a change that another process has registered stays unnoticed while nobody asks for anything.
const RELOAD_PERIOD: Duration = Duration::from_secs(1);

/// Why a session ended before its client ended it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not begin as the protocol wants.
    ///
    /// Resolution: connect a client of the Model Context Protocol.
    #[error("session not begun: expected a client of the Model Context Protocol")]
    Begin(#[source] Box<ServerInitializeError>),
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
    /// Serves a client, whose messages are lines, until it sends nothing more or `stop` is ready. Calls that still run then get a
    /// few seconds to end.
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
        let mut stop = pin!(stop);
        let reader = UntilEnd { reader, ended: self.ended().clone() };
        let begun = tokio::select! {
            begun = ServiceExt::serve(self.clone(), (reader, writer)) => begun,
            () = &mut stop => return Ok(()),
        };
        let session = match begun {
            Ok(session) => session,
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Begin(Box::new(error))),
        };
        let peer = session.peer().clone();
        let mut cancel = Some(session.cancellation_token());
        let mut session = pin!(session.waiting());
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
                _ = reload.tick() => {
                    // An error has been logged, and the next tick tries again.
                    let _ = self.reload().await;
                }
                // Clients of the era without a handshake hear of it where they listen.
                Ok(()) = changes.changed() => if peer.peer_info().is_some() {
                    let peer = peer.clone();
                    // On its own, for a client that does not read must not hold up this loop.
                    tokio::spawn(async move { peer.notify_tool_list_changed().await });
                },
                () = &mut stop, if cancel.is_some() => {
                    if let Some(cancel) = cancel.take() {
                        cancel.cancel();
                    }
                }
            }
        }
    }
}

/// A reader that tells when nothing more will come.
struct UntilEnd<R> {
    reader: R,
    ended: watch::Sender<bool>,
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilEnd<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let poll = Pin::new(&mut this.reader).poll_read(context, buffer);
        let ended = match &poll {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if ended {
            this.ended.send_replace(true);
        }
        poll
    }
}
