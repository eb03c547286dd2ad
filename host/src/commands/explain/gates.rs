//! Each gate with the fact behind its verdict, and what to do where it fails.

use serde::Serialize;
use toolbay_loader::{
    Agent, AgentProfile, DataClass, Entry, Reason, ToolName, TrustZone, Verdict, Visibility, axes,
};

use super::{Case, name::Name, remedy::Remedy};
use crate::{
    cli::Fallback,
    commands::{simulate::verdict_word, switches::OffBy},
    config,
};

#[derive(Serialize)]
pub(super) struct GateRow {
    pub(super) gate: &'static str,
    pub(super) verdict: &'static str,
    pub(super) fact: String,
    pub(super) remedies: Vec<Remedy>,
}

/// Every gate in its order. The verdicts are those of the gates themselves; here are only the words for them.
pub(super) fn gates(case: &Case<'_>, entry: Option<&Entry>, name: &mut Name) -> Vec<GateRow> {
    let Some(entry) = entry else {
        let remedies = std::mem::take(&mut name.remedies);
        return vec![row(Reason::NotRegistered, Verdict::Failed, name.fact.clone(), remedies)];
    };
    axes(case.registry, case.caller, &case.args.tool)
        .into_iter()
        .map(|(reason, verdict)| {
            let (fact, remedies) = match reason {
                Reason::NotRegistered => (listed(entry), Vec::new()),
                Reason::ToolDisabled => switched(case, entry),
                Reason::RequiresAdmin => admin(case, entry, verdict),
                Reason::ConfigurationGroup => configured(case, entry, verdict),
                Reason::TrustZone => zone(case, entry, verdict),
                _ => (String::new(), Vec::new()),
            };
            row(reason, verdict, fact, remedies)
        })
        .collect()
}

fn row(reason: Reason, verdict: Verdict, fact: String, remedies: Vec<Remedy>) -> GateRow {
    GateRow { gate: reason.as_str(), verdict: verdict_word(verdict), fact, remedies }
}

fn listed(entry: &Entry) -> String {
    format!("provider {} {} lists it", entry.provider(), entry.provider_version())
}

fn switched(case: &Case<'_>, entry: &Entry) -> (String, Vec<Remedy>) {
    let availability = entry.availability();
    let problem = case.opened.toolbay.access_problem();
    let causes = OffBy::of(availability, problem.is_some());
    if causes.is_empty() {
        let fact = match availability.tool_override {
            Some(_) => "it is switched on",
            None => "it is on by default",
        };
        return (fact.to_owned(), Vec::new());
    }
    let words: Vec<&str> = causes.iter().map(|cause| cause.words()).collect();
    let remedy = |cause: &OffBy| match cause.remedy(entry, &case.opened.program) {
        Some(command) => {
            let text = match cause {
                OffBy::Review => "look at what changed with `toolbay tool show`; then",
                _ => "switch it on",
            };
            Remedy::command(text, command)
        }
        None => Remedy::by_hand("correct the file of decisions, which the warning names"),
    };
    (words.join(", "), causes.iter().map(remedy).collect())
}

fn admin(case: &Case<'_>, entry: &Entry, verdict: Verdict) -> (String, Vec<Remedy>) {
    let actor = case.caller.label();
    match (entry.definition().declarations().requires_admin, verdict) {
        (false, _) => ("it is for everybody".to_owned(), Vec::new()),
        (true, Verdict::Failed) => {
            let fact = format!("it is for administrators, and {actor} is none");
            let remedy = match case.opened.people.admins.first() {
                Some(admin) => {
                    let command = case.again_as(admin.as_str());
                    Remedy::command("use it as an administrator", command)
                }
                None => Remedy::by_hand(format!(
                    "name administrators as [users] admins in {}, and use it as one",
                    config::FILE_NAME
                )),
            };
            (fact, vec![remedy])
        }
        (true, _) => (format!("it is for administrators, and {actor} is one"), Vec::new()),
    }
}

fn configured(case: &Case<'_>, entry: &Entry, verdict: Verdict) -> (String, Vec<Remedy>) {
    let Some(agent) = case.caller.agent() else {
        return ("no agent calls, so that no list leaves it out".to_owned(), Vec::new());
    };
    let name = &agent.name;
    if verdict != Verdict::Failed {
        let fact = match agent.loadout {
            Some(_) => format!("it is among the tools of agent {name}"),
            None => format!("agent {name} has every enabled tool"),
        };
        return (fact, Vec::new());
    }
    let profile =
        case.opened.toolbay.agent(name).unwrap_or_else(|_| AgentProfile::new(name.clone()));
    let found = [
        out_of_loadout(case, entry, agent, &profile),
        out_of_skills(case, entry, agent, &profile),
        out_of_groups(case, entry, agent),
    ];
    let found: Vec<(String, Vec<Remedy>)> = found.into_iter().flatten().collect();
    let facts: Vec<&str> = found.iter().map(|(fact, _)| fact.as_str()).collect();
    let fact = format!("agent {name} may not use it: {}", facts.join("; "));
    (fact, found.into_iter().flat_map(|(_, remedies)| remedies).collect())
}

fn has<'n>(list: impl IntoIterator<Item = &'n ToolName>, entry: &Entry) -> bool {
    list.into_iter().any(|name| entry.names().any(|own| own == name))
}

fn out_of_loadout(
    case: &Case<'_>,
    entry: &Entry,
    agent: &Agent,
    profile: &AgentProfile,
) -> Option<(String, Vec<Remedy>)> {
    if has(agent.loadout.as_ref()?, entry) {
        return None;
    }
    let (name, tool) = (agent.name.as_str(), entry.definition().name().as_str());
    let pending = profile.pending.as_ref().filter(|_| case.args.caller.pending);
    let stored = pending.map_or(&profile.loadout, |pending| &pending.loadout);
    if stored.as_ref().is_some_and(|stored| has(stored, entry)) {
        let fact = format!("its set of tools is not for {} agents", profile.visibility);
        let remedy = match visibility_of_sets(case, entry) {
            Some(visibility) => case.command(
                "where the agent is no more than that, say so",
                &["agent", "set", name, "--visibility", visibility],
            ),
            None => Remedy::by_hand(format!(
                "change the visibility of its sets under [tool_sets] in {}",
                config::FILE_NAME
            )),
        };
        return Some((fact, vec![remedy]));
    }
    let mut remedies =
        vec![case.command("give it to the agent", &["agent", "loadout", name, "--add", tool])];
    if profile.visibility == Visibility::Shared {
        let admin = case.opened.people.admins.first().map_or("ADMIN", |admin| admin.as_str());
        remedies.push(case.command(
            "the agent is shared, so another administrator approves that",
            &["agent", "loadout", name, "--approve", "--as", admin],
        ));
    }
    Some(("its loadout leaves it out".to_owned(), remedies))
}

/// The visibility with which an agent may have every set that the tool is in.
fn visibility_of_sets(case: &Case<'_>, entry: &Entry) -> Option<&'static str> {
    let sets = &case.opened.toolbay.config().tool_sets;
    let admits = |visibility: &Visibility| {
        let mut of_tool = sets.iter().filter(|set| has(&set.tools, entry));
        of_tool.all(|set| set.visibility.contains(visibility))
    };
    let all = [Visibility::Shared, Visibility::Team, Visibility::Personal];
    all.into_iter().find(admits).map(Visibility::as_str)
}

fn out_of_skills(
    case: &Case<'_>,
    entry: &Entry,
    agent: &Agent,
    profile: &AgentProfile,
) -> Option<(String, Vec<Remedy>)> {
    if has(agent.skills.as_ref()?, entry) {
        return None;
    }
    let with_list = profile.skills.iter().find_map(|(skill, tools)| Some((skill, tools.as_ref()?)));
    let remedies = with_list.map(|(skill, tools)| {
        let tools = tools.iter().chain([entry.definition().name()]);
        let tools: Vec<&str> = tools.map(ToolName::as_str).collect();
        let setting = format!("{skill}={}", tools.join(","));
        let text = format!("where skill {skill} needs it, say so");
        case.command(&text, &["agent", "set", agent.name.as_str(), "--skill", &setting])
    });
    Some(("none of its skills needs it".to_owned(), remedies.into_iter().collect()))
}

fn out_of_groups(case: &Case<'_>, entry: &Entry, agent: &Agent) -> Option<(String, Vec<Remedy>)> {
    let groups = agent.groups.as_ref()?;
    let own = entry.definition().declarations().group.as_ref();
    let name = agent.name.as_str();
    match own {
        Some(own) if groups.contains(own) => None,
        Some(own) => {
            let mut all: Vec<&str> = groups.iter().map(|group| group.as_str()).collect();
            all.push(own.as_str());
            let words = ["agent", "set", name, "--groups", &all.join(",")];
            let remedy = case.command("let the agent use the group", &words);
            Some((format!("it may not use group {own}"), vec![remedy]))
        }
        None => {
            let words = ["agent", "set", name, "--any-group"];
            let remedy = case.command("let the agent use tools of any group and of none", &words);
            Some(("it may use certain groups, and the tool is in none".to_owned(), vec![remedy]))
        }
    }
}

fn zone(case: &Case<'_>, entry: &Entry, verdict: Verdict) -> (String, Vec<Remedy>) {
    let class = entry.definition().declarations().data_class;
    let Some(agent) = case.caller.agent() else {
        return ("no model reads its results".to_owned(), Vec::new());
    };
    let (zone, ceiling) = (agent.zone, agent.zone.ceiling());
    let bound = format!("zone {zone} takes data up to class {ceiling}");
    match verdict {
        Verdict::Passed => (format!("its data is of class {class}, and {bound}"), Vec::new()),
        Verdict::Observed => {
            let fact =
                format!("its data is of class {class}, though {bound}: that is only recorded");
            (fact, Vec::new())
        }
        Verdict::Failed => {
            let fact = format!("its data is of class {class}, but {bound}");
            (fact, vec![nearer(case, agent, class)])
        }
    }
}

/// Says where the agent's model would have to run, for an operator who knows that it does.
fn nearer(case: &Case<'_>, agent: &Agent, class: DataClass) -> Remedy {
    use TrustZone::{ExternalEu, ExternalGlobal, Local, PrivateHosted};

    let farthest = [ExternalGlobal, ExternalEu, PrivateHosted];
    let needed = farthest.into_iter().find(|zone| zone.permits(class)).unwrap_or(Local);
    let made = case.opened.toolbay.agents().into_iter().find(|made| made.name == agent.name);
    let verb = if made.is_some() { "set" } else { "create" };
    let profile = made.unwrap_or_else(|| AgentProfile::new(agent.name.clone()));
    let own = profile.zone.min(needed).as_str();
    let mut words = vec!["agent", verb, agent.name.as_str(), "--zone", own];
    let breaks = |zone: &Option<TrustZone>| zone.is_none_or(|zone| zone > needed);
    if profile.fallbacks.iter().any(breaks) {
        for fallback in &profile.fallbacks {
            let fallback = fallback.map_or(needed, |zone| zone.min(needed));
            words.extend(["--fallback", Fallback(Some(fallback)).as_str()]);
        }
    }
    case.command("where its model runs no farther away than that, say so", &words)
}
