//! The one gate: who may use which tool. Listing, explaining and calling all ask it.

use std::{fmt, sync::Arc};

use crate::{
    caller::Caller,
    definition::ToolDefinition,
    name::ToolName,
    registry::{Entry, Registry},
    request::CallRequest,
};

/// Why a tool may not be used. The gates run in this order, from the least revealing to the most, and the first that fails names
/// the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// No tool has the name.
    NotRegistered,
    /// The tool is switched off.
    ToolDisabled,
    /// The tool is for administrators, and the actor is none.
    RequiresAdmin,
}

impl Reason {
    /// The word that stands for the reason in audit records and listings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRegistered => "notRegistered",
            Self::ToolDisabled => "toolDisabled",
            Self::RequiresAdmin => "requiresAdmin",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The outcome of the gates for one tool and one caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// The caller may use the tool.
    Allowed,
    /// The caller may not.
    Denied(Reason),
}

/// Whether a tool is switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    /// It is on.
    Enabled,
    /// It is off: it stays in the registry and is offered to nobody.
    Disabled,
}

impl Availability {
    /// Whether this tool is on: its code's own default decides.
    pub fn of(definition: &ToolDefinition) -> Self {
        if definition.declarations().enabled_by_default { Self::Enabled } else { Self::Disabled }
    }
}

/// A request that has passed every gate. Only [`authorize`] makes one.
#[must_use]
#[derive(Clone, Copy)]
pub(crate) struct Authorized<'a> {
    entry: &'a Entry,
    request: &'a CallRequest<'a>,
}

impl<'a> Authorized<'a> {
    pub(crate) fn entry(&self) -> &'a Entry {
        self.entry
    }

    pub(crate) fn request(&self) -> &'a CallRequest<'a> {
        self.request
    }
}

/// Decides whether the caller may use the tool that the registry has under a name, if it has one.
pub fn decide(entry: Option<&Entry>, caller: &Caller) -> Decision {
    match admit(entry, caller) {
        Ok(_) => Decision::Allowed,
        Err(reason) => Decision::Denied(reason),
    }
}

/// Lets a request through to the tool that the registry has under the requested name, if it has one.
///
/// Not public, so that no request comes to a tool but through a [`Pipeline`](crate::Pipeline), with its approval and its record.
pub(crate) fn authorize<'a>(
    entry: Option<&'a Entry>,
    request: &'a CallRequest<'a>,
) -> Result<Authorized<'a>, Reason> {
    let entry = admit(entry, request.caller())?;
    Ok(Authorized { entry, request })
}

/// The tools that the caller may use, in the order of the registry.
pub fn offered<'r>(
    registry: &'r Registry,
    caller: &'r Caller,
) -> impl Iterator<Item = &'r Arc<Entry>> {
    registry.iter().filter(|entry| decide(Some(entry), caller) == Decision::Allowed)
}

/// Up to three tools that the caller may use and may have meant by an unknown name, the most similar first.
pub fn nearest(registry: &Registry, caller: &Caller, name: &str) -> Vec<ToolName> {
    let names = offered(registry, caller).map(|entry| entry.definition().name());
    crate::nearest::similar(name, names, 3).into_iter().cloned().collect()
}

fn admit<'a>(entry: Option<&'a Entry>, caller: &Caller) -> Result<&'a Entry, Reason> {
    let entry = entry.ok_or(Reason::NotRegistered)?;
    if Availability::of(entry.definition()) == Availability::Disabled {
        return Err(Reason::ToolDisabled);
    }
    if entry.definition().declarations().requires_admin && !caller.actor().is_admin() {
        return Err(Reason::RequiresAdmin);
    }
    Ok(entry)
}
