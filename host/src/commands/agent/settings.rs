//! What the command line changes of an agent.

use std::collections::BTreeSet;

use toolbay_loader::{AgentProfile, GroupName, ToolName, Toolbay};

use crate::{
    cli::{Fallback, SettingsArgs, Skill, ToolSetting},
    commands::{unknown::UnknownTool, warn_about_settings},
    nearest::nearest,
    report,
};

impl SettingsArgs {
    /// Changes what is named, and leaves everything else.
    pub(super) fn apply(self, profile: &mut AgentProfile) {
        let Self { zone, enforcement, four_eyes, visibility, .. } = self;
        profile.zone = zone.unwrap_or(profile.zone);
        profile.enforcement = enforcement.unwrap_or(profile.enforcement);
        profile.four_eyes = four_eyes.unwrap_or(profile.four_eyes);
        profile.visibility = visibility.unwrap_or(profile.visibility);
        if self.no_fallback || !self.fallback.is_empty() {
            profile.fallbacks = self.fallback.into_iter().map(|Fallback(zone)| zone).collect();
        }
        if self.any_group {
            profile.groups = None;
        }
        if let Some(groups) = self.groups {
            profile.groups = Some(groups);
        }
        for name in &self.no_skill {
            profile.skills.remove(name);
        }
        for Skill { name, tools } in self.skill {
            profile.skills.insert(name, tools);
        }
        for tool in &self.no_config {
            profile.tool_config.remove(tool);
        }
        for ToolSetting { tool, settings } in self.config {
            profile.tool_config.insert(tool, settings);
        }
    }
}

/// The names of tools and groups in settings. They may be plans, so that nothing is refused for them.
pub(super) struct Mentioned {
    agent: String,
    skills: BTreeSet<ToolName>,
    configured: BTreeSet<ToolName>,
    groups: BTreeSet<GroupName>,
}

impl Mentioned {
    pub(super) fn of(settings: &SettingsArgs) -> Self {
        let skills = settings.skill.iter().filter_map(|skill| skill.tools.as_ref());
        Self {
            agent: settings.name.to_string(),
            skills: skills.flatten().cloned().collect(),
            configured: settings.config.iter().map(|setting| setting.tool.clone()).collect(),
            groups: settings.groups.clone().unwrap_or_default(),
        }
    }

    /// Tells which of the names nothing has.
    pub(super) fn warn(&self, toolbay: &Toolbay) {
        for unknown in UnknownTool::among(&self.skills, toolbay) {
            report::warning(&format!("a skill needs {unknown}"));
        }
        warn_about_settings(&self.agent, self.configured.iter(), toolbay);
        let groups = toolbay.groups();
        let known = || groups.iter().map(|group| group.name.as_str());
        for group in &self.groups {
            if !known().any(|known| known == group.as_str()) {
                let near = nearest(group.as_str(), known());
                let near = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
                let group = group.as_str();
                report::warning(&format!("no tool is in group {group:?} now{near}"));
            }
        }
    }
}
