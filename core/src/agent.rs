//! The profile under which a model works.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use crate::{
    name::{AgentName, GroupName, ToolName},
    zone::{Enforcement, TrustZone},
};

/// The profile under which a model works: which of the tools it gets, how each is configured, and what may reach its model.
///
/// In every list of tools, `None` and `Some` of nothing are different: no restriction, and no tool.
///
/// ```
/// use toolbay_core::{Agent, TrustZone};
///
/// let helper = Agent::new("helper".parse()?);
/// assert_eq!(helper.zone, TrustZone::ExternalGlobal); // nobody has said where its model runs
///
/// let local = Agent { zone: TrustZone::Local, loadout: Some(["greet".parse()?].into()), ..helper };
/// assert_eq!(local.loadout.map(|tools| tools.len()), Some(1));
/// # Ok::<(), toolbay_core::NameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Agent {
    /// Its name.
    pub name: AgentName,
    /// The tools that are assigned to it, also by former names; every enabled tool where there is no such list.
    pub loadout: Option<BTreeSet<ToolName>>,
    /// The tools that its skills allow, where any of them restricts them.
    pub skills: Option<BTreeSet<ToolName>>,
    /// The tools that it may not have whatever else it has, also by former names.
    pub withheld: BTreeSet<ToolName>,
    /// The groups whose tools it may use, where it is restricted to some.
    pub groups: Option<BTreeSet<GroupName>>,
    /// Where its model runs, its fallbacks included.
    pub zone: TrustZone,
    /// Whether a breach of the zone stops a call.
    pub enforcement: Enforcement,
    /// Whether somebody else must approve what a user of this agent has started.
    pub four_eyes: bool,
    /// Its settings per tool, which may stand under a former name of the tool.
    pub tool_config: BTreeMap<ToolName, Box<RawValue>>,
}

impl Agent {
    /// An agent about which nothing else is known: every enabled tool whose results may go anywhere.
    pub fn new(name: AgentName) -> Self {
        Self {
            name,
            loadout: None,
            skills: None,
            withheld: BTreeSet::new(),
            groups: None,
            zone: TrustZone::ExternalGlobal,
            enforcement: Enforcement::Enforce,
            four_eyes: false,
            tool_config: BTreeMap::new(),
        }
    }
}
