//! Answers what clients ask: which tools there are, and to call one.

use std::{future, pin::pin, sync::Arc};

use log::Level;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::json;
use tokio::{
    sync::{Semaphore, watch},
    task,
};
use toolbay_loader::{
    CallError, CallRequest, CancelToken, Party, ProgressSink, Reply, ToolName, Toolbay, decide,
};

use crate::{
    mcp::{Identity, ServeError, content, progress::Listener, run::Run, tool::tool},
    report,
};

/// Calls that run at once; others wait. It is below the number of the runtime's blocking threads, so that tools that hang never
/// keep the server from reading what its client says.
const MAX_CALLS: u32 = 256;

/// Serves the tools of a [`Toolbay`] to one client, on whose behalf every call runs. Clones are the same server.
///
/// One value speaks the protocol's era with a handshake and the era without.
#[derive(Clone)]
pub struct McpServer {
    shared: Arc<Shared>,
}

struct Shared {
    toolbay: Arc<Toolbay>,
    run: Run,
    calls: Semaphore,
    /// Counts the changes of the list of tools.
    changes: watch::Sender<u64>,
    /// Whether the client will send nothing more.
    ended: watch::Sender<bool>,
}

impl McpServer {
    /// A server of these tools for this identity. What it calls is one run.
    ///
    /// # Errors
    ///
    /// [`ServeError`] where there is no such agent, or the run can't be named.
    pub fn new(toolbay: Arc<Toolbay>, identity: Identity) -> Result<Self, ServeError> {
        let run = Run::begin(identity, &toolbay)?;
        let calls = Semaphore::new(MAX_CALLS as usize);
        let (changes, ended) = (watch::Sender::new(0), watch::Sender::new(false));
        Ok(Self { shared: Arc::new(Shared { toolbay, run, calls, changes, ended }) })
    }

    /// Takes over what another process has registered or decided, and tells everybody who listens where that changed what is offered.
    pub(super) async fn reload(&self) -> Result<(), ErrorData> {
        self.blocking(Shared::reload).await
    }

    /// The number of the latest change of the list of tools.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// What knows that the client will send nothing more.
    pub(super) fn ended(&self) -> &watch::Sender<bool> {
        &self.shared.ended
    }

    /// Waits until the client will send nothing more.
    pub(super) async fn until_ended(&self) {
        // The sender lives as long as the server.
        let _ = self.shared.ended.subscribe().wait_for(|ended| *ended).await;
    }

    /// Waits until no call runs.
    pub(super) async fn until_idle(&self) {
        // Nobody closes the semaphore.
        let _ = self.shared.calls.acquire_many(MAX_CALLS).await;
    }

    /// Does work that may wait for files or for a tool.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shared = Arc::clone(&self.shared);
        task::spawn_blocking(move || work(&shared)).await.map_err(|error| broken_off(&error))
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Result<Reply, CallError>, ErrorData> {
        let permit = self.shared.calls.acquire().await.map_err(|error| internal(&error))?;
        let arguments = request.arguments.map(|arguments| serde_json::to_string(&arguments));
        let arguments = arguments.transpose().map_err(|error| internal(&error))?;
        let (mut listener, sink) = Listener::of(&context).unzip();
        let cancel = CancelToken::new();
        let mut call = pin!(self.blocking({
            let cancel = cancel.clone();
            move |shared| {
                let arguments = arguments.as_deref().unwrap_or_default();
                shared.call(&request.name, arguments, &cancel, sink.as_ref())
            }
        }));
        let result = loop {
            let step = async {
                match &mut listener {
                    Some(listener) => listener.next().await,
                    None => future::pending().await,
                }
            };
            tokio::select! {
                result = &mut call => break result,
                () = context.ct.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
                Some(step) = step => if let Some(listener) = &mut listener {
                    listener.tell(step).await;
                },
            }
        };
        if let Some(listener) = listener {
            listener.finish().await;
        }
        // Held until here, so that a session that ends waits for what the client is still told.
        drop(permit);
        result
    }
}

impl Shared {
    fn reload(&self) {
        if let Err(error) = self.toolbay.reload() {
            log::error!("the registry can't be read again: {error}");
        }
        if self.run.follow(&self.toolbay) {
            self.changes.send_modify(|changes| *changes += 1);
        }
    }

    fn tools(&self) -> Vec<Tool> {
        self.reload();
        let caller = self.run.caller();
        self.toolbay.tools(&caller).iter().map(|entry| tool(entry.definition())).collect()
    }

    fn call(
        &self,
        tool: &str,
        arguments: &str,
        cancel: &CancelToken,
        progress: Option<&Arc<dyn ProgressSink>>,
    ) -> Result<Reply, CallError> {
        self.reload();
        let caller = self.run.caller();
        let request = CallRequest::new(tool, arguments, &caller)
            .with_cancel(cancel)
            .with_history(self.run.history());
        let request = match progress {
            Some(progress) => request.with_progress(progress),
            None => request,
        };
        self.toolbay.call(&request)
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let server =
            Implementation::new("toolbay", env!("CARGO_PKG_VERSION")).with_title("Toolbay");
        ServerConfig::new(capabilities).with_server_info(server)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("unknown cursor: the list has one page", None));
        }
        let mut result = ListToolsResult::with_all_items(self.blocking(Shared::tools).await?);
        // Nobody knows when the next refresh comes, and another caller may see other tools.
        result.ttl_ms = Some(0);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let registry = self.shared.toolbay.registry();
        let entry = registry.get(name)?;
        decide(&registry, &self.shared.run.caller(), name).allowed.then(|| tool(entry.definition()))
    }

    /// An unknown name is a mistake of the client; everything else is a result that its model can read.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let entry = self.shared.toolbay.registry().get(&request.name).cloned();
        match self.call(request, context).await? {
            Ok(reply) => {
                let tool = entry.as_deref().map(|entry| &**entry.definition());
                Ok(content::result(&reply, tool).into())
            }
            Err(error @ CallError::NotRegistered { .. }) => Err(unknown_tool(&error)),
            Err(error) => {
                // What the caller can correct itself is no news for the operator.
                let level = match error.party() {
                    Party::Caller => Level::Info,
                    _ => Level::Warn,
                };
                log::log!(level, "{}", report::chain(&error));
                Ok(content::error(&error).into())
            }
        }
    }

    fn accepted_subscription_filter(
        &self,
        _requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes();
        let tell = async {
            while changes.changed().await.is_ok()
                && subscription.sink().notify_tool_list_changed().await.is_ok()
            {}
        };
        tokio::select! {
            () = tell => {}
            () = subscription.cancelled() => {}
            () = self.until_ended() => {}
        }
        Ok(())
    }
}

fn unknown_tool(error: &CallError) -> ErrorData {
    let nearest: Vec<&str> = match error {
        CallError::NotRegistered { nearest, .. } => nearest.iter().map(ToolName::as_str).collect(),
        _ => Vec::new(),
    };
    ErrorData::invalid_params(error.model_text(), Some(json!({ "nearest": nearest })))
}

/// The host's own code panicked, or the runtime is going down.
fn broken_off(error: &task::JoinError) -> ErrorData {
    log::error!("{error}");
    ErrorData::internal_error("the host broke off; the operator has the details", None)
}

fn internal(error: &dyn std::error::Error) -> ErrorData {
    log::error!("{error}");
    ErrorData::internal_error("the host could not take the call", None)
}
