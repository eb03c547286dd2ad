//! A call as it was asked for, before anything of it is trusted.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{caller::Caller, history::RunHistory, signal::Signal};

/// A request to call a tool.
///
/// ```
/// use std::time::Duration;
/// use toolbay_core::{Actor, CallRequest, Caller};
///
/// let caller = Caller::new(Actor::Anonymous);
/// let request = CallRequest::new("greet", r#"{"name": "Ada"}"#, &caller).with_deadline(Duration::from_secs(5));
/// assert_eq!(request.tool(), "greet");
/// ```
#[derive(Clone, Copy)]
pub struct CallRequest<'a> {
    tool: &'a str,
    arguments: &'a str,
    caller: &'a Caller,
    deadline: Option<Duration>,
    cancel: Option<&'a CancelToken>,
    progress: Option<&'a Arc<dyn ProgressSink>>,
    history: Option<&'a RunHistory>,
}

impl<'a> CallRequest<'a> {
    /// A call of the tool of this name or alias with these arguments, a JSON text; an empty text means no arguments.
    pub fn new(tool: &'a str, arguments: &'a str, caller: &'a Caller) -> Self {
        Self {
            tool,
            arguments,
            caller,
            deadline: None,
            cancel: None,
            progress: None,
            history: None,
        }
    }

    /// The call with this much time left.
    #[must_use]
    pub fn with_deadline(self, remaining: Duration) -> Self {
        Self { deadline: Some(remaining), ..self }
    }

    /// The call as one that can be cancelled.
    #[must_use]
    pub fn with_cancel(self, cancel: &'a CancelToken) -> Self {
        Self { cancel: Some(cancel), ..self }
    }

    /// The call with a sink for what it says of its progress. The sink is shared, because a tool may speak on threads of its own
    /// when the call is already over.
    #[must_use]
    pub fn with_progress(self, progress: &'a Arc<dyn ProgressSink>) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// The call as one of this run: rules may judge by its earlier calls, and it becomes one of them. Without a history, a rule that needs
    /// one refuses the call.
    #[must_use]
    pub fn with_history(self, history: &'a RunHistory) -> Self {
        Self { history: Some(history), ..self }
    }

    /// The tool as requested: any text.
    pub fn tool(&self) -> &'a str {
        self.tool
    }

    /// The arguments as requested: any text.
    pub fn arguments(&self) -> &'a str {
        self.arguments
    }

    /// Who calls.
    pub fn caller(&self) -> &'a Caller {
        self.caller
    }

    /// The time that is left.
    pub fn deadline(&self) -> Option<Duration> {
        self.deadline
    }

    /// How the call can be cancelled.
    pub fn cancel(&self) -> Option<&'a CancelToken> {
        self.cancel
    }

    /// Where the call's progress goes.
    pub fn progress(&self) -> Option<&'a Arc<dyn ProgressSink>> {
        self.progress
    }

    /// What the run has called so far.
    pub fn history(&self) -> Option<&'a RunHistory> {
        self.history
    }

    /// The request when this much of its time is over.
    pub(crate) fn after(self, waited: Duration) -> Self {
        Self { deadline: self.deadline.map(|deadline| deadline.saturating_sub(waited)), ..self }
    }

    /// Whether whoever asked for the call no longer wants it.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_some_and(CancelToken::is_cancelled)
    }
}

/// A flag that says that a call is no longer wanted. Clones share it; it never goes back.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<Cancellation>);

#[derive(Debug, Default)]
struct Cancellation {
    cancelled: AtomicBool,
    /// Those that wait for something else, and should hear of it.
    waiting: Mutex<Vec<Weak<Signal>>>,
}

impl CancelToken {
    /// A token that nobody has cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels every call that has the token.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        let waiting = std::mem::take(&mut *self.waiting());
        waiting.iter().filter_map(Weak::upgrade).for_each(|signal| signal.raise());
    }

    /// Whether somebody cancelled it.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Raises the signal when somebody cancels it. Whoever asks afterwards whether somebody has misses nothing.
    pub(crate) fn wake(&self, signal: &Arc<Signal>) {
        let mut waiting = self.waiting();
        waiting.retain(|signal| signal.strong_count() > 0);
        waiting.push(Arc::downgrade(signal));
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Weak<Signal>>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What is done, in a unit of the tool's choice.
    pub done: f64,
    /// What `done` will be at the end, where that is known.
    pub total: Option<f64>,
    /// A word for the person who waits, as the tool wrote it.
    pub message: Option<String>,
}

/// Where the progress of a call goes.
pub trait ProgressSink: Send + Sync {
    /// Takes note of it. Called on whichever thread the tool works on, so it must not wait.
    fn progress(&self, progress: Progress);
}
