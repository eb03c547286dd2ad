//! The one gate: who may use which tool. Listing, explaining, simulating and calling all ask it.

use std::{collections::BTreeSet, fmt, sync::Arc};

use crate::{
    agent::Agent,
    caller::Caller,
    declaration::{DataClass, Origin},
    excerpt::excerpt,
    name::ToolName,
    registry::{Entry, Registry},
    request::CallRequest,
    zone::{Enforcement, TrustZone},
};

/// Why a tool may not be used. The gates run in this order, from the least revealing to the most, and the first that fails names
/// the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// No tool has the name.
    NotRegistered,
    /// The tool is switched off, alone, with its group or with its provider, or it waits for a review.
    ToolDisabled,
    /// The tool is for administrators, and the actor is none.
    RequiresAdmin,
    /// The agent's loadout, skills or groups leave the tool out.
    ConfigurationGroup,
    /// The tool's results may not go to where the agent's model runs.
    TrustZone,
}

impl Reason {
    /// Every reason, in the order of the gates.
    pub const ALL: [Self; 5] = [
        Self::NotRegistered,
        Self::ToolDisabled,
        Self::RequiresAdmin,
        Self::ConfigurationGroup,
        Self::TrustZone,
    ];

    /// The word that stands for the reason in audit records and listings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRegistered => "notRegistered",
            Self::ToolDisabled => "toolDisabled",
            Self::RequiresAdmin => "requiresAdmin",
            Self::ConfigurationGroup => "configurationGroup",
            Self::TrustZone => "trustZone",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What one gate says of one tool and one caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It lets the call through.
    Passed,
    /// It would stop the call, but only observes.
    Observed,
    /// It stops the call.
    Failed,
}

/// The outcome of the gates for one tool and one caller. It holds facts of policy only, never arguments or content.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The tool's name; of an unknown tool the name that was asked for, cut to 80 characters.
    pub tool: String,
    /// Whether the caller may use the tool.
    pub allowed: bool,
    /// The first gate that fails, or that would but only observes.
    pub reason: Option<Reason>,
    /// Whether the tool is allowed only because its gate observes.
    pub observed_only: bool,
    /// The class of data in the tool's results; the highest for an unknown tool.
    pub data_class: DataClass,
    /// Where the caller's model runs. A caller without an agent has none: a person reads the results.
    pub zone: Option<TrustZone>,
}

impl Decision {
    /// Decides whether the caller may use a registered tool.
    pub fn of(entry: &Entry, caller: &Caller) -> Self {
        let first = first(entry, caller);
        Self {
            tool: entry.definition().name().to_string(),
            allowed: !matches!(first, Some((_, Verdict::Failed))),
            reason: first.map(|(reason, _)| reason),
            observed_only: matches!(first, Some((_, Verdict::Observed))),
            data_class: entry.definition().declarations().data_class,
            zone: caller.agent().map(|agent| agent.zone),
        }
    }

    /// The highest class of data that may go to the caller's model.
    pub fn ceiling(&self) -> Option<DataClass> {
        self.zone.map(TrustZone::ceiling)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, allowed, reason, observed_only, data_class, zone } = self;
        let verdict = if *allowed { "allowed" } else { "denied" };
        write!(f, "{tool}: {verdict}")?;
        if let Some(reason) = reason {
            write!(f, ", {reason}")?;
        }
        if *observed_only {
            f.write_str(", observed only")?;
        }
        match zone {
            Some(zone) => {
                write!(f, " (class {data_class}, zone {zone}, ceiling {})", zone.ceiling())
            }
            None => write!(f, " (class {data_class}, no model)"),
        }
    }
}

/// A request that has passed every gate. Only [`authorize`] makes one.
#[must_use]
#[derive(Clone, Copy)]
pub(crate) struct Authorized<'a> {
    entry: &'a Entry,
    request: &'a CallRequest<'a>,
    observed: Option<Reason>,
}

impl<'a> Authorized<'a> {
    pub(crate) fn entry(&self) -> &'a Entry {
        self.entry
    }

    pub(crate) fn request(&self) -> &'a CallRequest<'a> {
        self.request
    }

    /// The same for a request that differs in nothing but the time that is left.
    pub(crate) fn in_time<'b>(self, request: &'b CallRequest<'b>) -> Authorized<'b>
    where
        'a: 'b,
    {
        Authorized { request, ..self }
    }

    /// The gate that would have refused it, but only observes.
    pub(crate) fn observed(&self) -> Option<Reason> {
        self.observed
    }
}

type Gate = fn(&Entry, &Caller) -> Verdict;

/// The gates for registered tools, in their order. Every question about who may use what comes down to them.
const GATES: [(Reason, Gate); 4] = [
    (Reason::ToolDisabled, |entry, _| pass(entry.availability().is_enabled())),
    (Reason::RequiresAdmin, |entry, caller| {
        pass(!entry.definition().declarations().requires_admin || caller.actor().is_admin())
    }),
    (Reason::ConfigurationGroup, |entry, caller| {
        pass(caller.agent().is_none_or(|agent| is_configured(entry, agent)))
    }),
    (Reason::TrustZone, |entry, caller| {
        caller.agent().map_or(Verdict::Passed, |agent| in_zone(entry, agent))
    }),
];

fn pass(passed: bool) -> Verdict {
    if passed { Verdict::Passed } else { Verdict::Failed }
}

fn is_configured(entry: &Entry, agent: &Agent) -> bool {
    let names = |list: &Option<BTreeSet<ToolName>>| {
        list.as_ref().is_none_or(|list| entry.names().any(|name| list.contains(name)))
    };
    let group = entry.definition().declarations().group.as_ref();
    let in_groups = agent
        .groups
        .as_ref()
        .is_none_or(|groups| group.is_some_and(|group| groups.contains(group)));
    let withheld = entry.names().any(|name| agent.withheld.contains(name));
    names(&agent.loadout) && names(&agent.skills) && in_groups && !withheld
}

fn in_zone(entry: &Entry, agent: &Agent) -> Verdict {
    if agent.zone.permits(entry.definition().declarations().data_class) {
        return Verdict::Passed;
    }
    match (agent.enforcement, entry.origin()) {
        (Enforcement::Observe, Origin::Local) => Verdict::Observed,
        _ => Verdict::Failed,
    }
}

/// The first gate that does not let the call through.
fn first(entry: &Entry, caller: &Caller) -> Option<(Reason, Verdict)> {
    GATES
        .iter()
        .map(|(reason, gate)| (*reason, gate(entry, caller)))
        .find(|(_, verdict)| *verdict != Verdict::Passed)
}

/// Decides whether the caller may use the tool of this name or alias.
pub fn decide(registry: &Registry, caller: &Caller, name: &str) -> Decision {
    match registry.get(name) {
        Some(entry) => Decision::of(entry, caller),
        None => Decision {
            tool: excerpt(name, 80).into_owned(),
            allowed: false,
            reason: Some(Reason::NotRegistered),
            observed_only: false,
            data_class: DataClass::SecretAdjacent,
            zone: caller.agent().map(|agent| agent.zone),
        },
    }
}

/// The verdict of every gate on the tool of this name, in their order, also of those behind one that fails. Of an unknown tool there
/// is only the first.
pub fn axes(registry: &Registry, caller: &Caller, name: &str) -> Vec<(Reason, Verdict)> {
    match registry.get(name) {
        None => vec![(Reason::NotRegistered, Verdict::Failed)],
        Some(entry) => {
            let registered = (Reason::NotRegistered, Verdict::Passed);
            let others = GATES.iter().map(|(reason, gate)| (*reason, gate(entry, caller)));
            std::iter::once(registered).chain(others).collect()
        }
    }
}

/// Lets a request through to the tool that the registry has under the requested name, if it has one.
///
/// Not public, so that no request comes to a tool but through a [`Pipeline`](crate::Pipeline), with its approval and its record.
pub(crate) fn authorize<'a>(
    entry: Option<&'a Entry>,
    request: &'a CallRequest<'a>,
) -> Result<Authorized<'a>, Reason> {
    let entry = entry.ok_or(Reason::NotRegistered)?;
    let observed = match first(entry, request.caller()) {
        None => None,
        Some((reason, Verdict::Observed)) => Some(reason),
        Some((reason, _)) => return Err(reason),
    };
    Ok(Authorized { entry, request, observed })
}

/// The tools that the caller may use, in the order of the registry.
pub fn offered<'r>(
    registry: &'r Registry,
    caller: &'r Caller,
) -> impl Iterator<Item = &'r Arc<Entry>> {
    registry.iter().filter(|entry| is_allowed(entry, caller))
}

fn is_allowed(entry: &Entry, caller: &Caller) -> bool {
    !matches!(first(entry, caller), Some((_, Verdict::Failed)))
}

/// Of these names, the tools that the caller may use: in the order of the list, each once, under whichever of its names it is asked
/// for. `None` asks for every tool that is on, and gives them in the order of the registry; no name gives no tool.
pub fn filter_offerable<'r>(
    registry: &'r Registry,
    caller: &Caller,
    requested: Option<&[&str]>,
) -> Vec<&'r Arc<Entry>> {
    let mut seen = BTreeSet::new();
    resolve(registry, requested)
        .into_iter()
        .filter_map(|(_, entry)| entry)
        .filter(|entry| is_allowed(entry, caller) && seen.insert(entry.definition().name()))
        .collect()
}

/// One decision for each of these names, in their order; `None` asks for every tool that is on.
pub fn explain(registry: &Registry, caller: &Caller, requested: Option<&[&str]>) -> Vec<Decision> {
    let decision = |(name, entry): (&str, Option<&Arc<Entry>>)| match entry {
        // Whoever asks for a name knows it already; a listing tells no remote name that is not for its reader.
        Some(entry) if requested.is_none() && !may_be_named(entry, caller) => {
            Some(Decision::of(entry, caller)).filter(|decision| decision.allowed)
        }
        Some(entry) => Some(Decision::of(entry, caller)),
        None => Some(decide(registry, caller, name)),
    };
    resolve(registry, requested).into_iter().filter_map(decision).collect()
}

/// Whether a caller may hear of a tool that is not for them.
fn may_be_named(entry: &Entry, caller: &Caller) -> bool {
    caller.actor().is_admin() || entry.origin() == Origin::Local
}

fn resolve<'a, 'r: 'a>(
    registry: &'r Registry,
    requested: Option<&[&'a str]>,
) -> Vec<(&'a str, Option<&'r Arc<Entry>>)> {
    match requested {
        Some(names) => names.iter().map(|name| (*name, registry.get(name))).collect(),
        None => registry
            .iter()
            .filter(|entry| entry.availability().is_enabled())
            .map(|entry| (entry.definition().name().as_str(), Some(entry)))
            .collect(),
    }
}

/// Every registered tool that the caller may not use, with the reason, in the order of the registry: for telling a model what exists
/// and is not for it. It decides nothing. Names of remote tools are for administrators alone.
pub fn unavailable(registry: &Registry, caller: &Caller) -> Vec<Decision> {
    registry
        .iter()
        .filter(|entry| may_be_named(entry, caller))
        .map(|entry| Decision::of(entry, caller))
        .filter(|decision| !decision.allowed)
        .collect()
}

/// Of these tools, those that need no person while they run, in the order of the list: neither an approval nor an input. It only
/// narrows a list and lets nobody use anything: ask [`filter_offerable`] first.
pub fn unattended<'a>(registry: &Registry, names: &[&'a str]) -> Vec<&'a str> {
    let attended = |name: &str| match registry.get(name) {
        None => true,
        Some(entry) => entry.needs_person(),
    };
    names.iter().copied().filter(|name| !attended(name)).collect()
}

/// Up to three tools that the caller may use and may have meant by an unknown name, the most similar first.
pub fn nearest(registry: &Registry, caller: &Caller, name: &str) -> Vec<ToolName> {
    let names = offered(registry, caller).map(|entry| entry.definition().name());
    crate::nearest::similar(name, names, 3).into_iter().cloned().collect()
}
