//! The JSON payloads that cross, one definition for both sides.
//!
//! Readers ignore fields that they do not know, and every field that is not in the first release is optional: that is how these
//! shapes grow without a new epoch.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A tool as a provider lists it at run time. Its declarations stand in the note, where no running code can change them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Definition {
    /// The name, one that the note declares.
    pub name: String,
    /// What the tool does, for the model.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub input_schema: Box<RawValue>,
    /// The JSON Schema of the structured result, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Box<RawValue>>,
}

/// Why an entry returned no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// The plugin's code panicked.
    Panic {
        /// The panic's message, or a word that it had none.
        message: String,
        /// `file:line:column` of the panic.
        location: Option<String>,
    },
    /// The configuration was refused.
    Config {
        /// Where in the configuration, as a JSON path: `roots[1]`; `.` is the whole.
        path: String,
        /// What is wrong, with what was expected and found.
        problem: String,
    },
    /// The host passed what the interface forbids, such as a handle that is not alive.
    Contract {
        /// What was expected and found.
        problem: String,
    },
    /// The provider could not do it, and says why.
    Provider {
        /// The provider's words, for the operator.
        problem: String,
    },
    /// What a fault of a later release reads as.
    #[serde(other)]
    Unknown,
}

/// Who calls.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Context<'a> {
    /// On whose authority the call runs.
    #[serde(default, borrow)]
    pub actor: Actor<'a>,
    /// The agent's name, where an agent calls.
    #[serde(default, borrow)]
    pub agent: Option<Cow<'a, str>>,
    /// The run that the call belongs to.
    #[serde(default, borrow)]
    pub run: Option<Cow<'a, str>>,
    /// What the user attached.
    #[serde(default, borrow)]
    pub attachments: Vec<Attachment<'a>>,
}

/// On whose authority a call runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Actor<'a> {
    /// A person.
    User {
        /// The person's name at the host.
        #[serde(borrow)]
        name: Cow<'a, str>,
        /// Whether the person administers the host.
        admin: bool,
    },
    /// A program with an identity of its own.
    ServiceAccount {
        /// The account's name.
        #[serde(borrow)]
        name: Cow<'a, str>,
        /// What the account may do, in the host's words.
        #[serde(default)]
        scopes: Vec<String>,
    },
    /// Nobody that the host knows; also what an actor of a later release reads as.
    #[default]
    #[serde(other)]
    Anonymous,
}

/// The question whether somebody may read what the preview of a call shows; see
/// [`MAY_VIEWER_READ`](crate::extensions::MAY_VIEWER_READ).
#[derive(Debug, Serialize, Deserialize)]
pub struct ViewerQuestion<'a> {
    /// The tool's name, as listed.
    #[serde(borrow)]
    pub tool: Cow<'a, str>,
    /// The arguments of the call, an object.
    #[serde(borrow)]
    pub arguments: &'a RawValue,
    /// Who wants to read it, in the place of who calls.
    #[serde(borrow)]
    pub viewer: Context<'a>,
    /// The configuration of the tool for the agent that calls.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub tool_config: Option<&'a RawValue>,
}

/// Something that the user attached to the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment<'a> {
    /// The file's name as the user sees it.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The media type, such as `image/png`.
    #[serde(borrow)]
    pub media_type: Cow<'a, str>,
    /// Where the content is.
    #[serde(borrow)]
    pub uri: Cow<'a, str>,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What is done, in a unit of the tool's choice; it never goes back.
    pub done: f64,
    /// What `done` will be at the end, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A word for the person who waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What a reply holds besides text.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ReplyRest {
    /// Content blocks in the form that MCP gives them; empty where the reply is text alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Box<RawValue>>,
    /// The result as a JSON value, where the tool has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Box<RawValue>>,
    /// What people may see of the run and no model does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Box<RawValue>>,
    /// What the call wrote, where the tool says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Write>,
    /// Whether the reply holds all that there is to say; unstated where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completeness: Option<Completeness>,
}

/// What a call wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// What became of the target.
    pub kind: WriteKind,
    /// What was written.
    pub target: WriteTarget,
    /// Whether a hook failed after the write had landed. The write stands: whoever repeats the call writes twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hook_failed: bool,
}

/// What became of the target of a write. There is no fourth word: what a later release has to say is another member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteKind {
    /// It was not there before.
    Created,
    /// It was there before, and is another now.
    Updated,
    /// It is not there any more.
    Deleted,
}

/// What was written, in the tool's own terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteTarget {
    /// What it is, such as `note`.
    pub r#type: String,
    /// Which one it is, such as `groceries.md`.
    pub id: String,
}

/// Whether a reply holds all that there is to say. There is no third word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    /// It does.
    Complete,
    /// There is more than it holds.
    Partial,
}
