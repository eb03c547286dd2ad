//! Takes the progress of a call from the tool's thread to the client that asked to hear of it.

use std::sync::Arc;

use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use tokio::sync::mpsc::{self, Receiver, Sender};
use toolbay_loader::{Progress, ProgressSink};

/// The steps that wait for a slow client; what comes on top is lost, for a tool must not wait.
const WAITING_STEPS: usize = 64;

struct Sink(Sender<Progress>);

impl ProgressSink for Sink {
    fn progress(&self, progress: Progress) {
        // Full, or the call is over.
        let _ = self.0.try_send(progress);
    }
}

/// What a client hears of one call.
pub(super) struct Listener {
    steps: Receiver<Progress>,
    token: ProgressToken,
    request: RequestContext<RoleServer>,
    told: f64,
}

impl Listener {
    /// A listener and the sink that the call gets, where the client wants to hear of its progress.
    pub(super) fn of(
        request: &RequestContext<RoleServer>,
    ) -> Option<(Self, Arc<dyn ProgressSink>)> {
        let token = request.meta.get_progress_token()?;
        let (sender, steps) = mpsc::channel(WAITING_STEPS);
        let request = request.clone();
        Some((Self { steps, token, request, told: f64::NEG_INFINITY }, Arc::new(Sink(sender))))
    }

    /// Waits for the next step. Nothing is lost where the waiting is broken off.
    pub(super) async fn next(&mut self) -> Option<Progress> {
        self.steps.recv().await
    }

    /// Tells the client of a step. Progress that does not grow is no progress, as the protocol has it.
    pub(super) async fn tell(&mut self, step: Progress) {
        let Progress { done, total, message } = step;
        if done <= self.told {
            return;
        }
        self.told = done;
        let mut notification = ProgressNotificationParam::new(self.token.clone(), done);
        notification.total = total;
        notification.message = message;
        tokio::select! {
            // A client that has gone hears nothing; the session ends by itself.
            _ = self.request.peer.notify_progress(notification) => {}
            () = self.request.ct.cancelled() => {}
        }
    }

    /// Tells the client of the steps that still wait, so that none comes after the result.
    pub(super) async fn finish(mut self) {
        self.steps.close();
        while let Ok(step) = self.steps.try_recv() {
            self.tell(step).await;
        }
    }
}
