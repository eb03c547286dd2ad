//! The explanation, under keys that never change, and as lines for people.

use serde::Serialize;
use toolbay_loader::{Actor, ActorName, Decider, Entry, ToolState};

use super::{
    Case,
    gates::{GateRow, gates},
    limits::LimitRow,
    name::{Name, collisions},
};
use crate::{
    commands::switches::ApprovalReason,
    output::{Facts, Output, OutputError},
};

#[derive(Serialize)]
pub(super) struct Explanation {
    /// The name that was asked for.
    asked: String,
    /// `tool`, `alias`, `not_listed`, `stale` or `unknown`.
    name: &'static str,
    fact: String,
    nearest: Vec<String>,
    collisions: Vec<String>,
    tool: Option<String>,
    label: Option<String>,
    provider: Option<String>,
    provider_version: Option<String>,
    caller: String,
    agent: Option<String>,
    allowed: bool,
    /// The first gate that fails.
    reason: Option<&'static str>,
    gates: Vec<GateRow>,
    on_call: Option<OnCall>,
    /// The limits of its provider, and its own.
    limits: Vec<LimitRow>,
    /// How the tool stands to what somebody has looked at.
    pin: Option<&'static str>,
}

/// What happens when the tool is called.
#[derive(Serialize)]
struct OnCall {
    needs_approval: bool,
    needs_input: bool,
    fact: String,
    /// Who may decide.
    deciders: Option<String>,
}

impl Explanation {
    pub(super) fn of(case: &Case<'_>) -> Self {
        let entry = case.entry();
        let mut name = Name::of(case, entry);
        let gates = gates(case, entry, &mut name);
        let failed = gates.iter().find(|gate| gate.verdict == "failed");
        let state = entry.and_then(|entry| {
            case.opened.toolbay.tool_state(entry.definition().name().as_str()).ok()
        });
        Self {
            asked: case.args.tool.clone(),
            name: name.state,
            fact: name.fact,
            nearest: name.nearest,
            collisions: collisions(case),
            tool: entry.map(|entry| entry.definition().name().to_string()),
            label: entry.map(|entry| entry.definition().label().to_owned()),
            provider: entry.map(|entry| entry.provider().to_string()),
            provider_version: entry.map(|entry| entry.provider_version().to_owned()),
            caller: case.caller.label().to_owned(),
            agent: case.caller.agent().map(|agent| agent.name.to_string()),
            allowed: failed.is_none(),
            reason: failed.map(|gate| gate.gate),
            on_call: entry.map(|entry| on_call(case, entry)),
            limits: entry.map(|entry| limits(case, entry)).unwrap_or_default(),
            pin: state.map(|state| pin(&state)),
            gates,
        }
    }
}

fn pin(state: &ToolState) -> &'static str {
    match (state.pinned, state.changes.as_slice()) {
        (false, _) => "not pinned yet: it will be when it is first on",
        (true, []) => "as it was when somebody last looked at it",
        (true, changes) if changes.iter().any(|change| change.widens) => {
            "changed since somebody looked at it, and lets it do more"
        }
        (true, _) => "changed since somebody looked at it, and can do no more than before",
    }
}

fn limits(case: &Case<'_>, entry: &Entry) -> Vec<LimitRow> {
    let uses = case.opened.toolbay.limits(entry);
    uses.iter().map(|used| LimitRow::of(&used.scope, &used.limits)).collect()
}

fn on_call(case: &Case<'_>, entry: &Entry) -> OnCall {
    let input = entry.definition().declarations().input.as_ref();
    let (fact, deciders) = match (ApprovalReason::of(entry), input) {
        (Some(reason), _) => (
            format!("waits until somebody approves it, {}", reason.words()),
            Some(deciders(case, entry)),
        ),
        (None, Some(schema)) => {
            let fields: Vec<String> = schema.properties().into_iter().collect();
            let fact = format!("waits until somebody types in {}", fields.join(", "));
            (fact, Some(deciders(case, entry)))
        }
        (None, None) => ("runs at once".to_owned(), None),
    };
    OnCall { needs_approval: entry.needs_approval(), needs_input: input.is_some(), fact, deciders }
}

/// Who may decide about a call of the tool by this caller.
fn deciders(case: &Case<'_>, entry: &Entry) -> String {
    let people = &case.opened.people;
    let declared = entry.definition().declarations();
    let names = |names: &mut dyn Iterator<Item = &ActorName>| {
        let names: Vec<&str> = names.map(ActorName::as_str).collect();
        if names.is_empty() { "there are none".to_owned() } else { names.join(", ") }
    };
    let mut who = vec![format!("an administrator ({})", names(&mut people.admins.iter()))];
    let needs_rights = declared.effect.is_write() || declared.input.is_some();
    if !(declared.requires_admin && needs_rights) {
        who.push(format!("an approver ({})", names(&mut people.approvers.iter())));
        let service = people.services.iter();
        let mut service = service
            .filter(|(_, scopes)| scopes.iter().any(|scope| scope == Decider::SCOPE))
            .map(|(name, _)| name)
            .peekable();
        if !needs_rights && service.peek().is_some() {
            who.push(format!("a service account ({})", names(&mut service)));
        }
        let four_eyes = case.caller.agent().filter(|agent| agent.four_eyes);
        match (case.caller.actor(), four_eyes) {
            (Actor::User { name, .. }, None) => who.push(format!("{name}, who asks")),
            (_, Some(agent)) => {
                let who = who.join(", ");
                return format!(
                    "{who}; nobody approves their own call, for agent {} needs two",
                    agent.name
                );
            }
            _ => {}
        }
    }
    who.join(", ")
}

pub(super) fn show(row: &Explanation, output: &mut Output) -> Result<(), OutputError> {
    let mut facts = Facts::new();
    let agent = row.agent.as_ref().map(|agent| format!(" as agent {agent}")).unwrap_or_default();
    let verdict = match row.reason {
        None => format!("{}{agent} can use it", row.caller),
        Some(reason) => format!("{}{agent} can't use it: {reason}", row.caller),
    };
    facts.add(&row.asked, verdict);
    facts.add("name", &row.fact);
    for collision in &row.collisions {
        facts.add("collision", collision);
    }
    for gate in &row.gates {
        let mut text = format!("{}: {}", gate.verdict, gate.fact);
        for remedy in &gate.remedies {
            text.push('\n');
            text.push_str(&remedy.lines());
        }
        facts.add(gate.gate, text);
    }
    if let Some(OnCall { fact, deciders, .. }) = &row.on_call {
        facts.add("a call", fact);
        if let Some(deciders) = deciders {
            facts.add("deciders", deciders);
        }
    }
    if !row.limits.is_empty() {
        let lines: Vec<String> = row.limits.iter().map(LimitRow::words).collect();
        facts.add("limits", lines.join("\n"));
    }
    if let Some(pin) = row.pin {
        facts.add("review", pin);
    }
    output.facts(&facts)
}
