//! A test kit: a provider behind the very entries and guard that a host calls, without a library or a host.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};
use toolbay_abi::{
    CallInput, Extension, HostServices, PluginRootRef,
    abi_stable::std_types::{ROption, RResult, RSlice, RStr, RVec},
    extensions::MAY_VIEWER_READ,
    note::NoteTool,
    reply_status,
    wire::{Completeness, Definition, Fault, Progress, ReplyRest, Write},
};

use crate::{entry, provider::Provider};

/// A provider under test.
///
/// ```
/// # use toolbay_plugin_api::prelude::*;
/// # #[arguments] struct Nothing {}
/// # /// Tells the answer.
/// # #[tool(effect = ReadOnly, enabled)]
/// # fn answer(_: Nothing) -> Result<Reply, Failure> { Ok(Reply::text("42")) }
/// # export_provider! { id: "answers", tools: [answer] }
/// use toolbay_plugin_api::testing::Plugin;
///
/// # fn main() -> Result<(), toolbay_plugin_api::wire::Fault> {
/// let plugin = Plugin::create::<ExportedProvider>(&serde_json::json!({}))?;
/// let answer = plugin.call("answer", &serde_json::json!({}))?;
/// assert_eq!(answer.text, "42");
/// # Ok(())
/// # }
/// ```
pub struct Plugin {
    root: PluginRootRef,
    handle: u64,
}

/// What a call under test answered.
#[derive(Debug)]
pub struct Answer {
    /// Whether the tool did what it was asked.
    pub ok: bool,
    /// Whether it stopped because the call was cancelled.
    pub cancelled: bool,
    /// The text for the model; of an answer in blocks, its text blocks with a blank line between them.
    pub text: String,
    /// Content blocks in the form that MCP gives them.
    pub content: Vec<Value>,
    /// The answer as a JSON value.
    pub structured: Option<Value>,
    /// What people see and no model does.
    pub artifacts: Vec<Value>,
    /// What the call wrote, where the tool says it.
    pub write: Option<Write>,
    /// Whether the answer holds all that there is to say, where the tool says it.
    pub completeness: Option<Completeness>,
}

/// How a call under test is made.
#[derive(Debug, Clone, Default)]
pub struct Call<'a> {
    /// Who calls, in the form of [`wire::Context`](toolbay_abi::wire::Context).
    pub context: Option<&'a Value>,
    /// The agent's configuration of the tool.
    pub tool_config: Option<&'a Value>,
    /// Milliseconds that are left.
    pub remaining_ms: u64,
    /// Whether the call is cancelled from the start.
    pub cancelled: bool,
}

impl Plugin {
    /// Makes the provider from a configuration, as a host does.
    ///
    /// # Errors
    ///
    /// The [`Fault`] that a host would get: a refused configuration, or a panic.
    pub fn create<P: Provider>(configuration: &Value) -> Result<Self, Fault> {
        USED.store(true, Ordering::Relaxed);
        let root = entry::root::<P>();
        let configuration = configuration.to_string();
        let handle = settle(root.create()(host(), configuration.as_bytes().into()))?;
        Ok(Self { root, handle })
    }

    /// The tools that it lists now.
    ///
    /// # Errors
    ///
    /// The [`Fault`] that a host would get.
    pub fn tools(&self) -> Result<Vec<Definition>, Fault> {
        let json = settle(self.root.tools()(self.handle))?;
        serde_json::from_slice(&json).map_err(|error| unreadable(&error))
    }

    /// The tools that the provider `P` declares, as its note says it.
    ///
    /// # Errors
    ///
    /// [`Fault`] where the note can't be read, which would be a bug of this crate.
    pub fn declared<P: Provider>() -> Result<Vec<NoteTool>, Fault> {
        P::TOOLS.iter().map(crate::note::tool_of).collect()
    }

    /// Calls a tool for nobody in particular.
    ///
    /// # Errors
    ///
    /// The [`Fault`] that a host would get. A tool that says no is an [`Answer`] whose `ok` is false.
    pub fn call(&self, tool: &str, arguments: &Value) -> Result<Answer, Fault> {
        self.call_with(tool, arguments, &Call::default())
    }

    /// Calls a tool as `call` says.
    ///
    /// # Errors
    ///
    /// As [`call`](Self::call).
    pub fn call_with(
        &self,
        tool: &str,
        arguments: &Value,
        call: &Call<'_>,
    ) -> Result<Answer, Fault> {
        let texts = Texts::new(arguments, call);
        let reply = settle(self.root.execute()(self.handle, texts.input(tool, call)))?;
        let rest: ReplyRest = match reply.rest.as_slice() {
            [] => ReplyRest::default(),
            json => serde_json::from_slice(json).map_err(|error| unreadable(&error))?,
        };
        let values = |raw: Vec<Box<serde_json::value::RawValue>>| {
            raw.iter().map(|raw| serde_json::from_str(raw.get())).collect::<Result<Vec<Value>, _>>()
        };
        let content = values(rest.content).map_err(|error| unreadable(&error))?;
        let blocks = content.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>();
        let text = if content.is_empty() {
            String::from_utf8_lossy(&reply.text).into_owned()
        } else {
            blocks.join("\n\n")
        };
        Ok(Answer {
            ok: reply.status == reply_status::OK,
            cancelled: reply.status == reply_status::CANCELLED,
            text,
            content,
            structured: rest
                .structured
                .map(|raw| serde_json::from_str(raw.get()))
                .transpose()
                .map_err(|error| unreadable(&error))?,
            artifacts: values(rest.artifacts).map_err(|error| unreadable(&error))?,
            write: rest.write,
            completeness: rest.completeness,
        })
    }

    /// What the tool says that a call would do.
    ///
    /// # Errors
    ///
    /// The [`Fault`] that a host would get.
    pub fn preview(&self, tool: &str, arguments: &Value) -> Result<Option<Vec<String>>, Fault> {
        self.preview_with(tool, arguments, &Call::default())
    }

    /// What the tool says that a call made as `call` says would do.
    ///
    /// # Errors
    ///
    /// As [`preview`](Self::preview).
    pub fn preview_with(
        &self,
        tool: &str,
        arguments: &Value,
        call: &Call<'_>,
    ) -> Result<Option<Vec<String>>, Fault> {
        let texts = Texts::new(arguments, call);
        let json = settle(self.root.preview()(self.handle, texts.input(tool, call)))?;
        serde_json::from_slice(&json).map_err(|error| unreadable(&error))
    }

    /// Whether `viewer`, in the form of [`wire::Context`](toolbay_abi::wire::Context), may read what the preview of a call shows; `None`
    /// where the tool does not say.
    ///
    /// # Errors
    ///
    /// The [`Fault`] that a host would get.
    pub fn may_viewer_read(
        &self,
        tool: &str,
        arguments: &Value,
        viewer: &Value,
    ) -> Result<Option<bool>, Fault> {
        let question =
            json!({ "tool": tool, "arguments": arguments, "viewer": viewer }).to_string();
        let (id, version) = MAY_VIEWER_READ;
        let ROption::RSome(extension) = self.root.extension()(id.into(), version) else {
            return Err(Fault::Contract { problem: format!("expected the extension {id}") });
        };
        let json = settle((extension.invoke)(self.handle, question.as_bytes().into()))?;
        serde_json::from_slice(&json).map_err(|error| unreadable(&error))
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        let _ = self.root.destroy()(self.handle);
    }
}

/// The progress that tools of this process have reported since the last time it was asked for.
pub fn take_progress() -> Vec<Progress> {
    std::mem::take(&mut PROGRESS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether this process tests a plugin, and hosts none.
pub(crate) fn is_used() -> bool {
    USED.load(Ordering::Relaxed)
}

static USED: AtomicBool = AtomicBool::new(false);

static PROGRESS: Mutex<Vec<Progress>> = Mutex::new(Vec::new());

const RUNNING: u64 = 1;
const CANCELLED: u64 = 2;

struct Texts {
    arguments: String,
    context: String,
    tool_config: String,
}

impl Texts {
    fn new(arguments: &Value, call: &Call<'_>) -> Self {
        Self {
            arguments: arguments.to_string(),
            context: call.context.map_or_else(|| "{}".to_owned(), Value::to_string),
            tool_config: call.tool_config.map(Value::to_string).unwrap_or_default(),
        }
    }

    fn input<'a>(&'a self, tool: &'a str, call: &Call<'_>) -> CallInput<'a> {
        CallInput {
            tool: tool.into(),
            arguments: self.arguments.as_str().into(),
            context: self.context.as_bytes().into(),
            tool_config: self.tool_config.as_bytes().into(),
            call: if call.cancelled { CANCELLED } else { RUNNING },
            remaining_ms: call.remaining_ms,
        }
    }
}

fn settle<T>(result: RResult<T, RVec<u8>>) -> Result<T, Fault> {
    result
        .into_result()
        .map_err(|json| serde_json::from_slice(&json).unwrap_or_else(|e| unreadable(&e)))
}

fn unreadable(error: &serde_json::Error) -> Fault {
    Fault::Contract { problem: format!("expected JSON in the form of the wire module: {error}") }
}

fn host() -> HostServices {
    HostServices {
        provider: 0,
        log_level: test_log_level,
        log: test_log,
        cancelled: test_cancelled,
        progress: test_progress,
        extension: test_extension,
    }
}

extern "C" fn test_log_level(_provider: u64) -> u32 {
    5
}

extern "C" fn test_log(_provider: u64, level: u32, target: RStr<'_>, message: RStr<'_>) {
    let level = ["OFF", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"][level.min(5) as usize];
    eprintln!("{level} {target}: {message}");
}

extern "C" fn test_cancelled(call: u64) -> bool {
    call == CANCELLED
}

extern "C" fn test_progress(_call: u64, payload: RSlice<'_, u8>) {
    if let Ok(progress) = serde_json::from_slice(payload.as_slice()) {
        PROGRESS.lock().unwrap_or_else(PoisonError::into_inner).push(progress);
    }
}

extern "C" fn test_extension(_id: RStr<'_>, _version: u32) -> ROption<Extension> {
    ROption::RNone
}
