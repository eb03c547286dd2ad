//! An agent as administrators keep it, and the agent that comes of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use serde_json::value::RawValue;

use crate::{
    agent::Agent,
    name::{AgentName, GroupName, NameError, ToolName},
    vocabulary::vocabulary,
    zone::{Enforcement, TrustZone},
};

vocabulary! {
    /// Who works with an agent.
    Visibility, "visibility" {
        /// One person.
        Personal = "personal",
        /// A team.
        Team = "team",
        /// Everybody. A change of its loadout waits for a review.
        Shared = "shared",
    }
}

/// A loadout that waits for a review, while the other one stays in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingLoadout {
    /// The tools.
    pub loadout: Option<BTreeSet<ToolName>>,
    /// Who proposes it, as audit records name an actor.
    pub by: String,
    /// Since when, as the time since the start of 1970, UTC.
    pub at: Duration,
}

/// Tools that belong together: where a loadout has one of them, it has all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSet {
    /// The tools.
    pub tools: BTreeSet<ToolName>,
    /// The agents that may have them; any other agent's loadout loses them.
    pub visibility: BTreeSet<Visibility>,
}

/// What administrators decide about an agent.
///
/// ```
/// use toolbay_core::{AgentProfile, TrustZone, tool_list};
///
/// let mut helper = AgentProfile::new("helper".parse()?);
/// helper.zone = TrustZone::ExternalEu;
/// helper.skills.insert("research".to_owned(), Some(tool_list("code_search, code_read")?));
/// let agent = helper.agent(&[]);
/// assert_eq!(agent.skills.map(|tools| tools.len()), Some(2));
/// # Ok::<(), toolbay_core::NameError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AgentProfile {
    /// The agent's name.
    pub name: AgentName,
    /// The tools that are assigned to it; every enabled tool where there is no such list. A name that no tool has does nothing.
    pub loadout: Option<BTreeSet<ToolName>>,
    /// Another loadout that waits for a review.
    pub pending: Option<PendingLoadout>,
    /// Its skills, each with the tools that it needs where it says so.
    pub skills: BTreeMap<String, Option<BTreeSet<ToolName>>>,
    /// The groups whose tools it may use; any group where there is no such list.
    pub groups: Option<BTreeSet<GroupName>>,
    /// Where its model runs.
    pub zone: TrustZone,
    /// Where the models run that stand in for it; `None` where that is not known.
    pub fallbacks: Vec<Option<TrustZone>>,
    /// Whether a breach of the zone stops a call.
    pub enforcement: Enforcement,
    /// Whether somebody else must approve what a user of this agent has started.
    pub four_eyes: bool,
    /// Who works with it.
    pub visibility: Visibility,
    /// Its settings per tool.
    pub tool_config: BTreeMap<ToolName, Box<RawValue>>,
}

impl AgentProfile {
    /// The profile of an agent about which nobody has decided anything yet.
    pub fn new(name: AgentName) -> Self {
        Self {
            name,
            loadout: None,
            pending: None,
            skills: BTreeMap::new(),
            groups: None,
            zone: TrustZone::ExternalGlobal,
            fallbacks: Vec::new(),
            enforcement: Enforcement::Enforce,
            four_eyes: false,
            visibility: Visibility::Personal,
            tool_config: BTreeMap::new(),
        }
    }

    /// The agent, with these sets of tools.
    pub fn agent(&self, sets: &[ToolSet]) -> Agent {
        self.with_loadout(self.loadout.as_ref(), sets)
    }

    /// The agent with the loadout that waits for a review, for whoever tries it out; with the one in force where none waits.
    pub fn agent_under_review(&self, sets: &[ToolSet]) -> Agent {
        let pending = self.pending.as_ref().map(|pending| pending.loadout.as_ref());
        self.with_loadout(pending.unwrap_or(self.loadout.as_ref()), sets)
    }

    fn with_loadout(&self, loadout: Option<&BTreeSet<ToolName>>, sets: &[ToolSet]) -> Agent {
        Agent {
            name: self.name.clone(),
            loadout: loadout.map(|loadout| expand(loadout, self.visibility, sets)),
            withheld: withheld(self.visibility, sets),
            skills: skills_allow(self.skills.values().map(Option::as_ref)),
            groups: self.groups.clone(),
            zone: TrustZone::with_fallbacks(self.zone, self.fallbacks.iter().copied()),
            enforcement: self.enforcement,
            four_eyes: self.four_eyes,
            tool_config: self.tool_config.clone(),
        }
    }
}

/// The tools that skills allow together: no restriction where none of them has a list, or else whatever is in any list.
pub fn skills_allow<'a>(
    skills: impl Iterator<Item = Option<&'a BTreeSet<ToolName>>>,
) -> Option<BTreeSet<ToolName>> {
    skills.flatten().fold(None, |allowed, tools| {
        let mut allowed = allowed.unwrap_or_default();
        allowed.extend(tools.iter().cloned());
        Some(allowed)
    })
}

/// A loadout with each set of tools that it has a part of, but without the tools of sets that agents of this visibility may not have. The
/// order of the sets changes nothing.
fn expand(
    loadout: &BTreeSet<ToolName>,
    visibility: Visibility,
    sets: &[ToolSet],
) -> BTreeSet<ToolName> {
    let withheld = withheld(visibility, sets);
    let permitted: Vec<_> =
        sets.iter().filter(|set| set.visibility.contains(&visibility)).collect();
    let mut expanded = loadout.clone();
    expanded.retain(|tool| !withheld.contains(tool));
    loop {
        // A set can bring in a part of another one.
        let of_part = permitted.iter().filter(|set| !set.tools.is_disjoint(&expanded));
        let more: Vec<ToolName> = of_part
            .flat_map(|set| &set.tools)
            .filter(|tool| !withheld.contains(*tool) && !expanded.contains(*tool))
            .cloned()
            .collect();
        if more.is_empty() {
            return expanded;
        }
        expanded.extend(more);
    }
}

/// The tools of the sets that agents of this visibility may not have.
fn withheld(visibility: Visibility, sets: &[ToolSet]) -> BTreeSet<ToolName> {
    let others = sets.iter().filter(|set| !set.visibility.contains(&visibility));
    others.flat_map(|set| set.tools.iter().cloned()).collect()
}

/// Names in one text, with commas, semicolons or white space between them. An empty text is an empty list.
///
/// # Errors
///
/// [`NameError`] for the first part that is no name of a tool.
pub fn tool_list(text: &str) -> Result<BTreeSet<ToolName>, NameError> {
    text.split(|character: char| matches!(character, ',' | ';') || character.is_whitespace())
        .filter(|name| !name.is_empty())
        .map(str::parse)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(text: &str) -> BTreeSet<ToolName> {
        tool_list(text).unwrap()
    }

    #[test]
    fn no_skill_with_a_list_restricts_nothing_and_an_empty_list_everything() {
        // Edge case 23.
        let (none, empty) = (None, Some(tools("")));
        let one = Some(tools("a, b;c\td"));
        let cases = [
            (vec![], None),
            (vec![&none, &none], None),
            (vec![&none, &empty], Some(tools(""))),
            (vec![&empty, &one], Some(tools("a b c d"))),
            (vec![&one, &none], Some(tools("a b c d"))),
        ];
        for (skills, expected) in cases {
            let allowed = skills_allow(skills.iter().map(|skill| skill.as_ref()));
            assert_eq!(allowed, expected, "{skills:?}");
        }
        assert!(tool_list("a, b c/d").is_err());
    }

    #[test]
    fn a_part_of_a_set_is_the_whole_and_a_shared_agent_has_none_of_it() {
        // Edge case 17.
        let wiki = ToolSet {
            tools: tools("wiki_read wiki_write"),
            visibility: [Visibility::Personal, Visibility::Team].into(),
        };
        let cases = [
            ("wiki_read other", Visibility::Personal, "other wiki_read wiki_write"),
            ("wiki_read other", Visibility::Team, "other wiki_read wiki_write"),
            ("wiki_read other", Visibility::Shared, "other"),
            ("other", Visibility::Shared, "other"),
            ("", Visibility::Personal, ""),
        ];
        for (loadout, visibility, expected) in cases {
            let profile = AgentProfile {
                loadout: Some(tools(loadout)),
                visibility,
                ..AgentProfile::new("bot".parse().unwrap())
            };
            let agent = profile.agent(std::slice::from_ref(&wiki));
            assert_eq!(agent.loadout, Some(tools(expected)), "{loadout} {visibility}");
        }
        // Without a loadout there is none to take the set from: it is withheld all the same, also under former names.
        let unrestricted = AgentProfile {
            visibility: Visibility::Shared,
            ..AgentProfile::new("bot".parse().unwrap())
        };
        let agent = unrestricted.agent(&[wiki]);
        assert_eq!((agent.loadout, agent.withheld), (None, tools("wiki_read wiki_write")));
    }

    #[test]
    fn sets_that_overlap_give_the_same_tools_in_any_order() {
        let set = |names: &str, visibility| ToolSet {
            tools: tools(names),
            visibility: [visibility].into(),
        };
        let (own, other) = (Visibility::Personal, Visibility::Team);
        let cases = [
            // A set brings in a part of another one.
            ("a", vec![set("a b", own), set("b c", own), set("c d", own)], "a b c d"),
            // What one set may not have here, no other one brings in.
            ("a b", vec![set("a b", own), set("b c", other)], "a"),
            ("a", vec![set("a b", own), set("b c", other)], "a"),
            ("b", vec![set("a b", own), set("b c", other)], ""),
            ("a", vec![set("a b", own), set("b c", other), set("c d", own)], "a"),
            ("x", vec![set("a b", own), set("b c", other)], "x"),
        ];
        for (loadout, sets, expected) in cases {
            let backwards: Vec<_> = sets.iter().rev().cloned().collect();
            for sets in [&sets, &backwards] {
                let expanded = expand(&tools(loadout), own, sets);
                assert_eq!(expanded, tools(expected), "{loadout} {sets:?}");
            }
        }
    }

    #[test]
    fn a_pending_loadout_is_for_those_who_try_it_out() {
        let mut profile =
            AgentProfile { loadout: Some(tools("a")), ..AgentProfile::new("bot".parse().unwrap()) };
        assert_eq!(profile.agent_under_review(&[]).loadout, Some(tools("a")));
        for pending in [Some(tools("b")), Some(tools("")), None] {
            let loadout = pending.clone();
            let (by, at) = ("user:ada".to_owned(), Duration::ZERO);
            profile.pending = Some(PendingLoadout { loadout, by, at });
            assert_eq!(profile.agent(&[]).loadout, Some(tools("a")));
            assert_eq!(profile.agent_under_review(&[]).loadout, pending);
        }
    }
}
