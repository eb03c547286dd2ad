//! Where a name leads, or why it leads nowhere.

use toolbay_loader::{Entry, ToolName, similar};

use super::{Case, remedy::Remedy};
use crate::{
    commands::left_out::{Absence, LeftOut, left_out},
    config,
};

/// Where a name leads.
pub(super) struct Name {
    pub(super) state: &'static str,
    pub(super) fact: String,
    pub(super) nearest: Vec<String>,
    pub(super) remedies: Vec<Remedy>,
}

impl Name {
    /// Where the asked name leads, to this tool where it leads to one.
    pub(super) fn of(case: &Case<'_>, entry: Option<&Entry>) -> Self {
        let asked = case.args.tool.as_str();
        if let Some(entry) = entry {
            let own = entry.definition().name();
            let (state, fact) = match own.as_str() == asked {
                true => ("tool", format!("{asked} is its own name")),
                false => ("alias", format!("{asked} is a former name of {own}")),
            };
            return Self { state, fact, nearest: Vec::new(), remedies: Vec::new() };
        }
        let refresh = || case.opened.program.command(["refresh"]);
        let providers = case.opened.toolbay.providers();
        let declared = left_out(&providers, case.registry).find(|out| {
            out.tool.name.as_str() == asked
                || out.tool.aliases.iter().any(|alias| alias.as_str() == asked)
        });
        if let Some(LeftOut { provider, .. }) = declared {
            let id = &provider.id;
            let text = format!(
                "provider {id} may need a table [providers.{id}] in {}; then",
                config::FILE_NAME
            );
            return Self {
                state: "not_listed",
                fact: format!(
                    "provider {id} {} declares it and does not list it now",
                    provider.version
                ),
                nearest: Vec::new(),
                remedies: vec![Remedy::command(text, refresh())],
            };
        }
        let label = asked.parse::<ToolName>().ok();
        if let Some(label) = label.and_then(|name| case.opened.toolbay.label(&name)) {
            let provider = &label.provider;
            return Self {
                state: "stale",
                fact: format!("it was {:?} of provider {provider}, which is gone", label.label),
                nearest: Vec::new(),
                remedies: vec![Remedy::command(
                    format!("put the plugin {provider} back into a plugin directory; then"),
                    refresh(),
                )],
            };
        }
        Self::unknown(case)
    }

    fn unknown(case: &Case<'_>) -> Self {
        let allowed = case.registry.iter().map(|entry| entry.definition().name().as_str());
        let nearest: Vec<String> = similar(case.args.tool.as_str(), allowed, 3)
            .into_iter()
            .filter(|name| case.may_know(name))
            .map(str::to_owned)
            .collect();
        let explain = |name: &String| {
            let command = case.opened.program.command(["explain", name.as_str()]);
            Remedy::command(format!("did you mean {name}?"), command)
        };
        let mut remedies: Vec<Remedy> = nearest.iter().map(explain).collect();
        let refresh = case.opened.program.command(["refresh"]);
        remedies.push(Remedy::command("where its plugin is new, register it", refresh));
        Self {
            state: "unknown",
            fact: "nothing has this name, and nothing is known to have had it".to_owned(),
            nearest,
            remedies,
        }
    }
}

/// Others that claim the asked name and do not get it.
pub(super) fn collisions(case: &Case<'_>) -> Vec<String> {
    let asked = case.args.tool.as_str();
    let providers = case.opened.toolbay.providers();
    let taken = left_out(&providers, case.registry)
        .filter(|out| out.absence == Absence::NameTaken && out.tool.name.as_str() == asked)
        .map(|out| {
            format!("provider {} has a tool of this name, too, which is left out", out.provider.id)
        });
    let not_led = case.registry.iter().filter(|entry| {
        let claims = entry.definition().aliases().iter().any(|alias| alias.as_str() == asked);
        claims && !entry.names().any(|name| name.as_str() == asked)
    });
    let not_led = not_led.map(|entry| {
        let (tool, provider) = (entry.definition().name(), entry.provider());
        format!("{tool} of provider {provider} claims it as a former name, and does not get it")
    });
    taken.chain(not_led).collect()
}
