//! What the policy says, read anew from plain data: nothing here looks at how the gates are made.

use std::collections::{BTreeMap, BTreeSet};

use toolbay_core::{Reason, Verdict};

/// What a tool's code declares. Ranks count from the harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) aliases: Vec<&'static str>,
    pub(crate) effect: usize,
    pub(crate) class: usize,
    pub(crate) group: Option<&'static str>,
    pub(crate) admin: bool,
    pub(crate) on: bool,
    pub(crate) approval: bool,
    pub(crate) input: bool,
    pub(crate) egress: usize,
    pub(crate) budget: Option<u8>,
    /// Another description.
    pub(crate) reworded: bool,
    /// Another schema.
    pub(crate) reshaped: bool,
}

/// Who contributes tools.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) id: &'static str,
    pub(crate) remote: bool,
    pub(crate) tools: Vec<Tool>,
}

/// What administrators have decided.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    /// Whether nobody knows what was decided.
    pub(crate) closed: bool,
    pub(crate) tools: BTreeMap<&'static str, bool>,
    pub(crate) groups: BTreeMap<&'static str, bool>,
    pub(crate) providers: BTreeMap<&'static str, bool>,
    pub(crate) approvals: BTreeSet<&'static str>,
    pub(crate) pins: BTreeMap<&'static str, Tool>,
}

#[derive(Debug, Clone)]
pub(crate) struct Worker {
    pub(crate) loadout: Option<BTreeSet<&'static str>>,
    pub(crate) skills: Option<BTreeSet<&'static str>>,
    pub(crate) groups: Option<BTreeSet<&'static str>>,
    /// From local to anywhere.
    pub(crate) zone: usize,
    pub(crate) observe: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    Admin,
    User,
    Service,
    Nobody,
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) core: Vec<Tool>,
    pub(crate) plugins: Vec<Source>,
    pub(crate) rows: Rows,
    pub(crate) worker: Option<Worker>,
    pub(crate) who: Who,
}

/// A tool that is registered, under these names.
#[derive(Debug)]
pub(crate) struct Known<'w> {
    pub(crate) tool: &'w Tool,
    pub(crate) source: &'static str,
    pub(crate) remote: bool,
    pub(crate) names: Vec<&'static str>,
}

impl World {
    /// The registered tools: core's, then those of the plugins by id. The first to claim a name has it, and no plugin's former name
    /// takes the place of a tool's own name.
    pub(crate) fn known(&self) -> Vec<Known<'_>> {
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let mut known = Vec::new();
        for tool in &self.core {
            let names: Vec<_> = [tool.name].into_iter().chain(tool.aliases.clone()).collect();
            taken.extend(&names);
            known.push(Known { tool, source: "core", remote: false, names });
        }
        let by_id: BTreeMap<_, _> = self.plugins.iter().map(|source| (source.id, source)).collect();
        for source in by_id.values() {
            for tool in source.tools.iter().filter(|tool| taken.insert(tool.name)) {
                let names = vec![tool.name];
                known.push(Known { tool, source: source.id, remote: source.remote, names });
            }
        }
        for Known { tool, names, .. } in &mut known[self.core.len()..] {
            names.extend(tool.aliases.iter().filter(|alias| taken.insert(alias)));
        }
        known
    }
}

impl Known<'_> {
    /// The gates after the first, each asked alone.
    pub(crate) fn axes(&self, world: &World) -> [(Reason, Verdict); 4] {
        let fails = |fails| if fails { Verdict::Failed } else { Verdict::Passed };
        [
            (Reason::ToolDisabled, fails(!self.is_enabled(&world.rows))),
            (Reason::RequiresAdmin, fails(self.tool.admin && world.who != Who::Admin)),
            (Reason::ConfigurationGroup, fails(self.is_left_out(world.worker.as_ref()))),
            (Reason::TrustZone, self.in_zone(world.worker.as_ref())),
        ]
    }

    /// The first gate that does not let the call through.
    pub(crate) fn first(&self, world: &World) -> Option<(Reason, Verdict)> {
        self.axes(world).into_iter().find(|(_, verdict)| *verdict != Verdict::Passed)
    }

    pub(crate) fn is_allowed(&self, world: &World) -> bool {
        self.axes(world).iter().all(|(_, verdict)| *verdict != Verdict::Failed)
    }

    /// On are: the provider, the group, the tool; and it is no wider than what was reviewed.
    pub(crate) fn is_enabled(&self, rows: &Rows) -> bool {
        let off = |row: Option<&bool>| row == Some(&false);
        let row = self.names.iter().find_map(|name| rows.tools.get(name));
        let pin = self.names.iter().find_map(|name| rows.pins.get(name));
        !rows.closed
            && !off(rows.providers.get(self.source))
            && !off(self.tool.group.and_then(|group| rows.groups.get(group)))
            && *row.unwrap_or(&self.tool.on)
            && !pin.is_some_and(|pin| self.tool.is_wider_than(pin))
    }

    fn is_left_out(&self, worker: Option<&Worker>) -> bool {
        let Some(worker) = worker else { return false };
        let lists = [&worker.loadout, &worker.skills];
        let missing = |list: &BTreeSet<&str>| self.names.iter().all(|name| !list.contains(name));
        lists.into_iter().flatten().any(missing)
            || worker.groups.as_ref().is_some_and(|groups| match self.tool.group {
                None => true,
                Some(group) => !groups.contains(group),
            })
    }

    fn in_zone(&self, worker: Option<&Worker>) -> Verdict {
        const CEILINGS: [usize; 4] = [5, 4, 3, 1];
        match worker {
            Some(worker) if self.tool.class > CEILINGS[worker.zone] => {
                if worker.observe && !self.remote { Verdict::Observed } else { Verdict::Failed }
            }
            _ => Verdict::Passed,
        }
    }

    /// A person approves what asks for it, what writes and is ours, and what an administrator wants approved.
    pub(crate) fn needs_approval(&self, rows: &Rows) -> bool {
        self.tool.approval
            || (self.tool.effect > 0 && !self.remote)
            || self.names.iter().any(|name| rows.approvals.contains(name))
    }

    /// Whether a person has to do with each call.
    pub(crate) fn is_attended(&self, rows: &Rows) -> bool {
        self.needs_approval(rows) || self.tool.input
    }
}

impl Tool {
    fn is_wider_than(&self, pin: &Self) -> bool {
        let held = |tool: &Self| tool.approval || tool.effect > 0;
        let writes = self.effect > 0 || pin.effect > 0;
        let repeats = |tool: &Self| tool.budget.map_or(u16::MAX, u16::from);
        self.effect > pin.effect
            || self.class != pin.class
            || self.egress > pin.egress
            || self.group != pin.group
            || (pin.admin && !self.admin)
            || (!pin.on && self.on)
            || (held(pin) && !held(self))
            || self.input != pin.input
            || self.reshaped != pin.reshaped
            || (writes && self.reworded != pin.reworded)
            || repeats(self) > repeats(pin)
    }
}
