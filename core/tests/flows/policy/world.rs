//! Random registries, decisions of administrators, agents and callers, and the same as the core has them.

use std::{collections::BTreeSet, sync::Arc};

use proptest::{
    collection::{btree_map, btree_set, vec},
    prelude::*,
    sample::{select, subsequence},
};
use toolbay_core::{
    Access, Actor, Agent, Caller, DataClass, Declarations, DefinitionParts, Effect, Egress,
    Enforcement, Offer, Origin, Pin, Schema, ToolDefinition, TrustZone,
};

use super::model::{Rows, Source, Tool, Who, Worker, World};
use crate::fixture::{Fake, offer, offered, reader};

/// Names so few that tools collide, and some that only former names have.
pub(crate) const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "x", "y", "z"];
const TOOLS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
const GROUPS: [&str; 2] = ["g", "h"];
const PROVIDERS: [&str; 3] = ["alpha", "beta", "gamma"];

pub(crate) const CLASSES: [DataClass; 6] = [
    DataClass::PublicContent,
    DataClass::EditorContent,
    DataClass::SourceCode,
    DataClass::InternalConfiguration,
    DataClass::SystemDiagnostics,
    DataClass::SecretAdjacent,
];
pub(crate) const ZONES: [TrustZone; 4] =
    [TrustZone::Local, TrustZone::PrivateHosted, TrustZone::ExternalEu, TrustZone::ExternalGlobal];
const EFFECTS: [Effect; 3] =
    [Effect::ReadOnly, Effect::IdempotentWrite, Effect::NonIdempotentWrite];
const EGRESS: [Egress; 3] = [Egress::None, Egress::OwnSite, Egress::ConfiguredEndpoint];

fn any_tool() -> impl Strategy<Value = Tool> {
    let names = (select(&TOOLS), vec(select(&NAMES), 0..3));
    let ranks = (prop_oneof![3 => Just(0_usize), 2 => 1..3_usize], 0..6_usize, 0..3_usize);
    let flags = (
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.1),
    );
    let budget = prop::option::weighted(0.3, 1..4_u8);
    (names, ranks, flags, prop::option::of(select(&GROUPS)), budget).prop_map(
        |((name, aliases), (effect, class, egress), flags, group, budget)| {
            let (admin, on, approval, input, reworded, reshaped) = flags;
            // No definition wants both of a person.
            let input = input && !approval && effect == 0;
            Tool {
                name,
                aliases,
                effect,
                class,
                group,
                admin,
                on,
                approval,
                input,
                egress,
                budget,
                reworded,
                reshaped,
            }
        },
    )
}

/// Core's own tools, of which no two have one name.
fn any_core() -> impl Strategy<Value = Vec<Tool>> {
    vec(any_tool(), 0..3).prop_map(|tools| {
        let mut taken = BTreeSet::new();
        let mut core: Vec<Tool> =
            tools.into_iter().filter(|tool| taken.insert(tool.name)).collect();
        for tool in &mut core {
            tool.aliases.retain(|alias| taken.insert(alias));
        }
        core
    })
}

fn any_plugins() -> impl Strategy<Value = Vec<Source>> {
    let source = (any::<bool>(), vec(any_tool(), 0..4));
    (subsequence(&PROVIDERS, 0..=3), vec(source, 3)).prop_map(|(ids, sources)| {
        let source = |(id, (remote, tools))| Source { id, remote, tools };
        ids.into_iter().zip(sources).map(source).collect()
    })
}

/// The tool, but with one part of the other.
fn as_it_was(tool: Tool, other: Tool, part: usize) -> Tool {
    match part {
        0 => Tool { effect: other.effect, input: false, ..tool },
        1 => Tool { class: other.class, ..tool },
        2 => Tool { group: other.group, ..tool },
        3 => Tool { admin: other.admin, ..tool },
        4 => Tool { on: other.on, ..tool },
        5 => Tool { approval: other.approval, input: false, ..tool },
        6 => Tool { egress: other.egress, ..tool },
        7 => Tool { budget: other.budget, ..tool },
        8 => Tool { reworded: other.reworded, ..tool },
        9 => Tool { reshaped: other.reshaped, ..tool },
        10 => Tool { name: other.name, ..tool },
        _ => tool,
    }
}

/// Decisions about these tools and others. Most pins are of tools as they were but for one thing.
fn any_rows(tools: Vec<Tool>) -> impl Strategy<Value = Rows> {
    let pinned = match tools.is_empty() {
        true => any_tool().boxed(),
        false => prop_oneof![2 => select(tools.clone()), 1 => any_tool()].boxed(),
    };
    let pin = (pinned, any_tool(), 0..13_usize, select(&NAMES), prop::bool::weighted(0.8));
    let pin = pin.prop_map(|(tool, other, part, name, own)| {
        (if own { tool.name } else { name }, as_it_was(tool, other, part))
    });
    let on = || prop::bool::weighted(0.6);
    (
        prop::bool::weighted(0.1),
        btree_map(select(&NAMES), on(), 0..4),
        btree_map(select(&GROUPS), on(), 0..2),
        btree_map(select(&PROVIDERS), prop::bool::weighted(0.8), 0..2),
        btree_set(select(&NAMES), 0..2),
        vec(pin, 0..3).prop_map(|pins| pins.into_iter().collect()),
    )
        .prop_map(|(closed, tools, groups, providers, approvals, pins)| Rows {
            closed,
            tools,
            groups,
            providers,
            approvals,
            pins,
        })
}

fn any_worker() -> impl Strategy<Value = Option<Worker>> {
    let list = || prop::option::weighted(0.4, btree_set(select(&NAMES), 0..7));
    let groups = prop::option::weighted(0.3, btree_set(select(&["g", "h", "unknown"]), 0..3));
    let worker = (list(), list(), groups, 0..4_usize, any::<bool>()).prop_map(
        |(loadout, skills, groups, zone, observe)| Worker {
            loadout,
            skills,
            groups,
            zone,
            observe,
        },
    );
    prop::option::weighted(0.8, worker)
}

pub(crate) fn any_world() -> impl Strategy<Value = World> {
    let who = select(&[Who::Admin, Who::User, Who::Service, Who::Nobody]);
    (any_core(), any_plugins(), any_worker(), who).prop_flat_map(|(core, plugins, worker, who)| {
        let plugged = plugins.iter().flat_map(|source| source.tools.clone());
        let tools = core.iter().cloned().chain(plugged).collect();
        any_rows(tools).prop_map(move |rows| World {
            core: core.clone(),
            plugins: plugins.clone(),
            rows,
            worker: worker.clone(),
            who,
        })
    })
}

impl Tool {
    fn parts(&self) -> DefinitionParts {
        let schema = |json| Schema::parse(json).unwrap();
        let typed = r#"{"type":"object","properties":{"code":{"type":"string"}}}"#;
        DefinitionParts {
            aliases: self.aliases.iter().map(|alias| alias.parse().unwrap()).collect(),
            description: if self.reworded { "Another." } else { "One." }.to_owned(),
            schema: schema(match self.reshaped {
                true => r#"{"type":"object","properties":{"more":{}}}"#,
                false => r#"{"type":"object"}"#,
            }),
            declarations: Declarations {
                effect: EFFECTS[self.effect],
                data_class: CLASSES[self.class],
                group: self.group.map(|group| group.parse().unwrap()),
                requires_admin: self.admin,
                enabled_by_default: self.on,
                requires_approval: self.approval,
                egress: EGRESS[self.egress],
                loop_budget: self.budget,
                input: self.input.then(|| schema(typed)),
                ..Declarations::default()
            },
            ..reader(self.name)
        }
    }
}

impl Source {
    pub(crate) fn offer(&self, backend: &Arc<Fake>) -> Offer {
        let tool = |tool: &Tool| offered(tool.parts(), backend.clone());
        Offer {
            origin: if self.remote { Origin::Remote } else { Origin::Local },
            tools: self.tools.iter().map(tool).collect(),
            ..offer(self.id, [])
        }
    }
}

impl World {
    pub(crate) fn access(&self) -> Access {
        let Rows { closed, tools, groups, providers, approvals, pins } = &self.rows;
        let pin = |tool: &Tool| Pin::of(&ToolDefinition::new(tool.parts()).unwrap());
        Access {
            closed: *closed,
            tools: tools.iter().map(|(name, on)| (name.parse().unwrap(), *on)).collect(),
            groups: groups.iter().map(|(name, on)| (name.parse().unwrap(), *on)).collect(),
            providers: providers.iter().map(|(name, on)| (name.parse().unwrap(), *on)).collect(),
            approvals: approvals.iter().map(|name| name.parse().unwrap()).collect(),
            pins: pins.iter().map(|(name, tool)| (name.parse().unwrap(), pin(tool))).collect(),
        }
    }

    pub(crate) fn caller(&self) -> Caller {
        let name = "bo".parse().unwrap();
        let caller = Caller::new(match self.who {
            Who::Admin => Actor::User { name, admin: true },
            Who::User => Actor::User { name, admin: false },
            Who::Service => Actor::ServiceAccount { name, scopes: vec!["admin".to_owned()] },
            Who::Nobody => Actor::Anonymous,
        });
        let Some(worker) = &self.worker else { return caller };
        let tools = |list: &Option<BTreeSet<&str>>| {
            let list = list.as_ref()?;
            Some(list.iter().map(|name| name.parse().unwrap()).collect())
        };
        let groups = worker.groups.as_ref();
        caller.with_agent(Arc::new(Agent {
            loadout: tools(&worker.loadout),
            skills: tools(&worker.skills),
            groups: groups.map(|list| list.iter().map(|name| name.parse().unwrap()).collect()),
            zone: ZONES[worker.zone],
            enforcement: if worker.observe { Enforcement::Observe } else { Enforcement::Enforce },
            ..Agent::new("helper".parse().unwrap())
        }))
    }
}
