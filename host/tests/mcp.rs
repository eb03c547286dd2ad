//! The server as clients of both eras see it, line by line. Its tools are the host's own, so that no library is needed.
#![cfg(test)]

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex},
    sync::oneshot,
    task::JoinHandle,
    time::timeout,
};
use toolbay::{Identity, McpServer, ServeError};
use toolbay_loader::{
    Actor, BackendError, Config, Declarations, DefinitionParts, Effect, Loadout, Offer,
    OfferedTool, Progress, ProviderId, RawReply, ReplyStatus, Schema, ToolBackend, ToolDefinition,
    Toolbay, ValidCall,
};

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// Far more than any answer takes.
const SILENCE: Duration = Duration::from_secs(30);

/// Does what its one argument says.
#[derive(Default)]
struct Worker {
    cancelled: AtomicUsize,
}

impl ToolBackend for Worker {
    fn invoke(&self, call: &ValidCall<'_>) -> Result<RawReply, BackendError> {
        let step = |done: f64| {
            let message = Some("on the way".to_owned());
            call.progress().unwrap().progress(Progress { done, total: Some(3.0), message });
        };
        if call.arguments().contains("steps") {
            // The second is no progress.
            for done in [1.0, 0.5, 2.0, 3.0] {
                step(done);
            }
        }
        if call.arguments().contains("wait") {
            if call.progress().is_some() {
                step(1.0);
            }
            let started = Instant::now();
            while !call.is_cancelled() && started.elapsed() < SILENCE {
                std::thread::yield_now();
            }
            self.cancelled.fetch_add(usize::from(call.is_cancelled()), Ordering::Relaxed);
            return Err(BackendError::Cancelled);
        }
        if call.arguments().contains("fault") {
            let message = "a secret of the plugin".to_owned();
            return Err(BackendError::Fault { message, location: None });
        }
        Ok(RawReply::text(ReplyStatus::Ok, call.arguments().to_owned()))
    }
}

fn definition(name: &str, enabled_by_default: bool) -> ToolDefinition {
    ToolDefinition::new(DefinitionParts {
        name: name.parse().unwrap(),
        aliases: Vec::new(),
        label: None,
        summary: None,
        description: "Works.".to_owned(),
        schema: Schema::parse(r#"{"type":"object","properties":{"do":{"type":"string"}}}"#)
            .unwrap(),
        output_schema: None,
        declarations: Declarations {
            effect: Effect::ReadOnly,
            requires_approval: false,
            enabled_by_default,
            ..Declarations::default()
        },
    })
    .unwrap()
}

fn config(home: &Path, worker: &Arc<Worker>) -> Config {
    let tools = [("work", true), ("hidden", false)].map(|(name, enabled)| OfferedTool {
        definition: Arc::new(definition(name, enabled)),
        backend: Arc::clone(worker) as Arc<dyn ToolBackend>,
    });
    let mut config = Config::new(home);
    config.core = Some(Offer::new(ProviderId::core(), "1.0.0", tools.into()));
    config
}

/// The server's next message, or `None` at its end. A server that says nothing fails the test instead of holding it up.
async fn line(from: &mut Lines<BufReader<DuplexStream>>) -> Option<Value> {
    let line = timeout(SILENCE, from.next_line()).await.unwrap().unwrap();
    line.map(|line| serde_json::from_str(&line).unwrap())
}

/// A client of one era, connected to a server.
struct Client {
    era: &'static str,
    to: DuplexStream,
    from: Lines<BufReader<DuplexStream>>,
    server: JoinHandle<Result<(), ServeError>>,
    stop: Option<oneshot::Sender<()>>,
    worker: Arc<Worker>,
    home: TempDir,
}

impl Client {
    async fn connected(era: &'static str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let worker = Arc::new(Worker::default());
        let toolbay = Arc::new(Toolbay::open(config(home.path(), &worker)).unwrap());
        let (to, input) = duplex(1024 * 1024);
        let (output, from) = duplex(1024 * 1024);
        let (stop, stopped) = oneshot::channel();
        let identity = Identity { actor: Actor::Anonymous, agent: None, loadout: Loadout::InForce };
        let server = McpServer::new(toolbay, identity).unwrap();
        let server = tokio::spawn(server.serve(input, output, async {
            // The sender is dropped together with the client, which ends the server just as well.
            let _ = stopped.await;
        }));
        let from = BufReader::new(from).lines();
        let stop = Some(stop);
        let mut client = Self { era, to, from, server, stop, worker, home };
        if era == LEGACY {
            let params = json!({
                "protocolVersion": era,
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            });
            assert_eq!(client.request("initialize", params).await["protocolVersion"], era);
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        } else {
            let found = client.request("server/discover", json!({})).await;
            assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(era)));
        }
        client
    }

    async fn send(&mut self, message: &Value) {
        self.to.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        line(&mut self.from).await.unwrap()
    }

    /// Sends a request with this id, in the form that the era wants.
    async fn ask(&mut self, id: u64, method: &str, mut params: Value) {
        if self.era == MODERN {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(self.era);
            meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request).await;
    }

    async fn response(&mut self, method: &str, params: Value) -> Value {
        self.ask(7, method, params).await;
        let response = self.receive().await;
        assert_eq!(response["id"], 7, "{response}");
        response
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.response(method, params).await["result"].take()
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Registers the host's tools, as `toolbay refresh` in another terminal does.
    async fn refresh_elsewhere(&self) {
        let config = config(self.home.path(), &self.worker);
        tokio::task::spawn_blocking(|| Toolbay::open(config).unwrap().refresh().unwrap())
            .await
            .unwrap();
    }

    /// Sends nothing more, and returns what the server still says until it ends.
    async fn finish(self) -> Vec<Value> {
        let Self { to, mut from, server, stop, .. } = self;
        drop(to);
        let mut rest = Vec::new();
        while let Some(message) = line(&mut from).await {
            rest.push(message);
        }
        server.await.unwrap().unwrap();
        drop(stop);
        rest
    }
}

#[tokio::test]
async fn both_eras_list_and_call_the_same_tools() {
    for era in [LEGACY, MODERN] {
        let mut client = Client::connected(era).await;
        let listed = client.request("tools/list", json!({})).await;
        let names: Vec<&Value> =
            listed["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["work"], "{era}");
        if era == MODERN {
            assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(0), &json!("private")));
        }
        let called = client.call("work", json!({ "do": "echo" })).await;
        assert_eq!(called["content"], json!([{ "type": "text", "text": r#"{"do":"echo"}"# }]));
        assert_eq!(called["isError"], false);
        assert_eq!(client.finish().await, Vec::<Value>::new(), "{era}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_the_clients_mistake() {
    for era in [LEGACY, MODERN] {
        let mut client = Client::connected(era).await;
        let response =
            client.response("tools/call", json!({ "name": "wrok", "arguments": {} })).await;
        assert_eq!(response["error"]["code"], -32602);
        assert_eq!(response["error"]["data"], json!({ "nearest": ["work"] }));
        let page = client.response("tools/list", json!({ "cursor": "2" })).await;
        assert_eq!(page["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn what_went_wrong_otherwise_is_a_result_that_a_model_can_read() {
    let mut client = Client::connected(MODERN).await;
    let cases = [
        ("work", json!({ "do": 5 }), "argument \"do\": expected a string, found 5"),
        ("hidden", json!({}), "switched off"),
        ("work", json!({ "do": "fault" }), "is broken"),
    ];
    for (tool, arguments, expected) in cases {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(expected) && !text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_result() {
    for era in [LEGACY, MODERN] {
        let mut client = Client::connected(era).await;
        let params = json!({
            "name": "work",
            "arguments": { "do": "steps" },
            "_meta": { "progressToken": "t" },
        });
        client.ask(8, "tools/call", params).await;
        for done in [1.0, 2.0, 3.0] {
            let step = client.receive().await;
            assert_eq!(step["method"], "notifications/progress");
            let expected = json!({
                "progressToken": "t", "progress": done, "total": 3.0, "message": "on the way",
            });
            assert_eq!(step["params"], expected);
        }
        assert_eq!(client.receive().await["id"], 8);
    }
}

#[tokio::test]
async fn a_cancelled_call_stops_and_gets_no_answer() {
    for era in [LEGACY, MODERN] {
        let mut client = Client::connected(era).await;
        let params = json!({
            "name": "work",
            "arguments": { "do": "wait" },
            "_meta": { "progressToken": 1 },
        });
        client.ask(8, "tools/call", params).await;
        // The call runs.
        assert_eq!(client.receive().await["method"], "notifications/progress");
        let cancelled = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 8 },
        });
        client.send(&cancelled).await;
        // The next answer is the next call's.
        assert_eq!(client.call("work", json!({})).await["isError"], false);
        let worker = Arc::clone(&client.worker);
        assert_eq!(client.finish().await, Vec::<Value>::new());
        assert_eq!(worker.cancelled.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test]
async fn clients_hear_that_another_process_has_registered_tools() {
    let changed = "notifications/tools/list_changed";
    let mut client = Client::connected(LEGACY).await;
    client.refresh_elsewhere().await;
    assert_eq!(client.receive().await["method"], changed);

    let mut client = Client::connected(MODERN).await;
    let params = json!({ "notifications": { "toolsListChanged": true } });
    client.ask(8, "subscriptions/listen", params).await;
    let acknowledged = client.receive().await;
    assert_eq!(acknowledged["params"]["notifications"], json!({ "toolsListChanged": true }));
    client.refresh_elsewhere().await;
    assert_eq!(client.receive().await["method"], changed);
    // The subscription ends with its result, and does not hold up the end of the session.
    let rest = client.finish().await;
    assert_eq!(rest.iter().map(|message| &message["id"]).collect::<Vec<_>>(), [8]);
}

#[tokio::test]
async fn a_call_is_answered_after_the_clients_last_message() {
    let mut client = Client::connected(LEGACY).await;
    let params = json!({
        "name": "work",
        "arguments": { "do": "steps" },
        "_meta": { "progressToken": 1 },
    });
    client.ask(8, "tools/call", params).await;
    let rest = client.finish().await;
    let methods: Vec<&Value> = rest.iter().map(|message| &message["method"]).collect();
    let progress = "notifications/progress";
    assert_eq!(methods, [&json!(progress), &json!(progress), &json!(progress), &Value::Null]);
    assert_eq!(rest[3]["id"], 8);
}

#[tokio::test]
async fn a_server_that_is_stopped_cancels_what_runs() {
    let mut client = Client::connected(LEGACY).await;
    let params = json!({
        "name": "work",
        "arguments": { "do": "wait" },
        "_meta": { "progressToken": 1 },
    });
    client.ask(8, "tools/call", params).await;
    assert_eq!(client.receive().await["method"], "notifications/progress");
    client.stop.take().unwrap().send(()).unwrap();
    let answer = client.receive().await;
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(8), &json!(true)));
    client.server.await.unwrap().unwrap();
    assert_eq!(client.worker.cancelled.load(Ordering::Relaxed), 1);
}
