//! The thread that reads what a worker says.

use std::{os::unix::net::UnixStream, sync::Arc, time::Instant};

use bytes::Bytes;
use log::Level;
use toolbay_abi::wire;

use super::{
    client::Connection,
    frame::{FrameError, Frames},
    given::Given,
    message::FromWorker,
    process::Process,
};
use crate::{capture::Budget, entries::Crash, services};

/// Reads what a worker says, until its connection ends.
pub(super) struct Reader {
    pub(super) connection: Arc<Connection>,
    pub(super) process: Arc<Process>,
}

/// Why a worker is not listened to any longer.
#[derive(Debug, thiserror::Error)]
enum Breach {
    #[error("broke the protocol: {0}")]
    Frame(#[from] FrameError),
    #[error("broke the protocol: {0}")]
    Message(#[from] postcard::Error),
    #[error("broke the protocol: it answered question {0}, which nobody has asked")]
    Unasked(u64),
}

impl Reader {
    pub(super) fn run(self, reading: UnixStream) {
        let mut frames = Frames::new(reading);
        let mut budget = Budget::new();
        let how = loop {
            let taken = match frames.next() {
                Ok(Some(message)) => self.take(&message, &mut budget),
                Ok(None) => break "closed its connection to the host".to_owned(),
                Err(error) => Err(error.into()),
            };
            if let Err(breach) = taken {
                let how = breach.to_string();
                // At once: whatever it says next is nothing to go by.
                self.process.kill(Crash { how: how.clone(), hung: false });
                break how;
            }
        };
        self.connection.is_read.open();
        self.process.kill_unless_ending(Crash { how, hung: false });
    }

    fn take(&self, message: &Bytes, budget: &mut Budget) -> Result<(), Breach> {
        let connection = &self.connection;
        match postcard::from_bytes(message)? {
            FromWorker::Answer { number, answer } => {
                if !connection.pending.answer(number, Given::of(message, answer)) {
                    return Err(Breach::Unasked(number));
                }
            }
            FromWorker::Phase(phase) => {
                connection.entered(phase);
                self.process.wake();
            }
            FromWorker::Progress { number, done, total, message } => {
                let progress = wire::Progress { done, total, message: message.map(Into::into) };
                // One that comes late says something to nobody.
                if let Some(sink) = connection.pending.sink(number)
                    && let Some(progress) = services::checked(progress)
                {
                    // The host's own code: where it panics, the worker must be heard all the same.
                    services::guarded((), || sink.progress(progress));
                }
            }
            FromWorker::Log { level, target, message } => {
                let level = Level::iter().nth(usize::from(level).saturating_sub(1));
                if budget.take(target.len() + message.len(), Instant::now()).is_some() {
                    let level = level.unwrap_or(Level::Trace);
                    services::guarded((), || {
                        services::log_for(&connection.provider, level, &target, &message);
                    });
                }
            }
        }
        Ok(())
    }
}
