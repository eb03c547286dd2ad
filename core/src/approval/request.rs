//! A request as it waits.

use std::{fmt, time::Duration};

use serde_json::json;

use crate::{
    caller::{Actor, Attachment, Caller},
    canonical::{self, Digest},
    declaration::Effect,
    history::PastCall,
    name::{AgentName, ProviderId, RunId, ToolName},
    schema::Schema,
};

/// Who asked. The request runs under this identity, whoever approves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// On whose authority.
    pub actor: Actor,
    /// The agent, where one asked.
    pub agent: Option<AgentName>,
    /// The run that the calls belong to.
    pub run: Option<RunId>,
    /// What the user attached.
    pub attachments: Vec<Attachment>,
}

impl Owner {
    /// Whoever makes this call.
    pub fn of(caller: &Caller) -> Self {
        Self {
            actor: caller.actor().clone(),
            agent: caller.agent().map(|agent| agent.name.clone()),
            run: caller.run().cloned(),
            attachments: caller.attachments().to_vec(),
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.agent {
            Some(agent) => write!(f, "{} with agent {agent}", self.actor),
            None => write!(f, "{}", self.actor),
        }
    }
}

/// What a call would do, for the person who decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    /// The tool can't tell.
    Absent,
    /// At most [`Preview::MAX_LINES`] lines and one that says what is left out; each of at most
    /// [`Preview::MAX_LINE_CHARACTERS`], with its white space collapsed.
    Lines(Vec<String>),
    /// The tool could not tell: which kind of error it was, never its text.
    Failed(String),
}

/// Whether a character shows nothing itself, and can make what stands around it look like something else: control characters, and those that
/// turn the direction of a text.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

impl Preview {
    /// The most lines that are kept.
    pub const MAX_LINES: usize = 20;

    /// The most characters of a line.
    pub const MAX_LINE_CHARACTERS: usize = 500;

    /// Bounds what a tool said.
    pub fn of_lines(lines: &[String]) -> Self {
        let collapse = |line: &String| {
            let kept = |character: &char| character.is_whitespace() || !is_hidden(*character);
            let visible: String = line.chars().filter(kept).collect();
            let words = visible.split_whitespace().collect::<Vec<_>>().join(" ");
            crate::excerpt::excerpt(&words, Self::MAX_LINE_CHARACTERS).into_owned()
        };
        let mut kept: Vec<String> = lines.iter().take(Self::MAX_LINES).map(collapse).collect();
        let is_long = |line: &String| line.chars().count() > Self::MAX_LINE_CHARACTERS;
        if lines.len() > Self::MAX_LINES || lines.iter().any(is_long) {
            // With it, what was left out can't change unseen either.
            let digest = canonical::digest(&json!(lines)).to_string();
            let more = lines.len().saturating_sub(Self::MAX_LINES);
            kept.push(format!("[cut: {more} more lines; SHA-256 of all: {}]", &digest[..12]));
        }
        match kept.is_empty() {
            true => Self::Absent,
            false => Self::Lines(kept),
        }
    }

    /// Whether a decision that was made on this preview no longer holds where the tool says something else now.
    pub fn binds(&self) -> bool {
        matches!(self, Self::Lines(_))
    }
}

/// One call of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// The tool.
    pub tool: ToolName,
    /// Who contributes it.
    pub provider: ProviderId,
    /// The provider's code at that time.
    pub content: String,
    /// What a call does to the world, as declared at that time.
    pub effect: Effect,
    /// The checked arguments, a JSON object as the caller wrote it.
    pub arguments: String,
    /// What the call would do.
    pub preview: Preview,
}

/// What a request waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// That a person approves the calls.
    Approval,
    /// That a person types in the arguments that this schema describes, for the call at this place.
    Input {
        /// Which call, counted from 0.
        call: usize,
        /// What to type in.
        schema: Schema,
    },
}

/// Calls of one turn that wait together: one decision covers them all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRequest {
    /// Who asked.
    pub owner: Owner,
    /// The calls, in the model's order; at least one.
    pub calls: Vec<PendingCall>,
    /// What it waits for.
    pub need: Need,
    /// The earlier calls of the run, where all of them are known.
    pub history: Option<Vec<PastCall>>,
    /// When it was asked for, as the time since the start of 1970, UTC.
    pub requested: Duration,
    /// When it ends as denied by nobody.
    pub expires: Duration,
}

impl PendingRequest {
    /// Whether any of its calls writes.
    pub fn writes(&self) -> bool {
        self.calls.iter().any(|call| call.effect.is_write())
    }

    /// Whether it could be run once more after nobody knows how far it came.
    pub fn safe_to_retry(&self) -> bool {
        self.calls.iter().all(|call| call.effect.safe_to_retry())
    }

    /// Whether its time is over.
    pub fn is_expired(&self, now: Duration) -> bool {
        now >= self.expires
    }

    /// What makes the same call the same: who asks for what, and the code that would run.
    pub fn key(&self) -> Digest {
        let calls: Vec<_> = self
            .calls
            .iter()
            .map(|call| {
                let arguments = canonical::exact(&call.arguments);
                json!([call.tool.as_str(), call.provider.as_str(), call.content, arguments])
            })
            .collect();
        let owner =
            (self.owner.actor.to_string(), self.owner.agent.as_ref().map(AgentName::as_str));
        canonical::digest(&json!(["toolbay request 1", owner, calls]))
    }

    /// What a person decides about: the key, what it waits for, until when, and the previews.
    pub fn digest(&self) -> Digest {
        let need = match &self.need {
            Need::Approval => json!("approval"),
            Need::Input { call, schema } => json!([call, schema.as_str()]),
        };
        let previews: Vec<_> = self.calls.iter().map(|call| preview(&call.preview)).collect();
        let expires = u64::try_from(self.expires.as_millis()).unwrap_or(u64::MAX);
        canonical::digest(&json!([
            "toolbay decision 1",
            self.key().to_string(),
            need,
            expires,
            previews
        ]))
    }
}

fn preview(preview: &Preview) -> serde_json::Value {
    match preview {
        Preview::Absent => json!(null),
        Preview::Lines(lines) => json!(lines),
        Preview::Failed(class) => json!({ "failed": class }),
    }
}
