//! The words for making and changing agents.

use std::{collections::BTreeSet, str::FromStr};

use clap::{
    ArgGroup, Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use serde_json::{Value, value::RawValue};
use toolbay_loader::{
    AgentName, Enforcement, GroupName, NameError, ToolName, TrustZone, Visibility, tool_list,
};

use crate::cli::ByArgs;

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub(crate) action: AgentAction,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentAction {
    /// Show the agents
    List,
    /// Make an agent, which has every enabled tool until it gets a loadout
    Create(SettingsArgs),
    /// Show an agent
    Show {
        /// The name of the agent
        name: AgentName,
        /// Show the values of its tools' settings too, which may be secret
        #[arg(long)]
        config_values: bool,
    },
    /// Change what is named of an agent; everything else stays
    #[command(group = ArgGroup::new("what").required(true).multiple(true).args(SettingsArgs::NAMES))]
    Set(SettingsArgs),
    /// Remove an agent: who works as it can use nothing from then on; `default` has every enabled tool again
    Delete {
        /// The name of the agent
        name: AgentName,
    },
    /// Show an agent's loadout, change it as a whole, or review a change
    Loadout(LoadoutArgs),
}

impl SettingsArgs {
    /// What can be named of an agent.
    const NAMES: [&str; 12] = [
        "zone",
        "fallback",
        "no_fallback",
        "enforcement",
        "four_eyes",
        "groups",
        "any_group",
        "visibility",
        "skill",
        "no_skill",
        "config",
        "no_config",
    ];
}

/// What is decided about an agent. What is not named stays, or is as for every new agent.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// The name of the agent
    pub(crate) name: AgentName,
    /// Where its model runs
    #[arg(long, value_parser = words::<TrustZone>(TrustZone::WORDS))]
    pub(crate) zone: Option<TrustZone>,
    /// Where a model runs that stands in for it; may be repeated, and replaces the list
    #[arg(long, value_name = "ZONE|unknown", value_parser = fallback())]
    pub(crate) fallback: Vec<Fallback>,
    /// No model stands in for it
    #[arg(long, conflicts_with = "fallback")]
    pub(crate) no_fallback: bool,
    /// Whether a breach of the zone stops a call or is only recorded
    #[arg(long, value_parser = words::<Enforcement>(Enforcement::WORDS))]
    pub(crate) enforcement: Option<Enforcement>,
    /// Whether somebody else must approve what a user of the agent has started
    #[arg(long, value_name = "true|false")]
    pub(crate) four_eyes: Option<bool>,
    /// The groups whose tools it may use, with commas between them; '' for none
    #[arg(long, value_parser = group_list)]
    pub(crate) groups: Option<BTreeSet<GroupName>>,
    /// It may use the tools of any group, and those of none
    #[arg(long, conflicts_with = "groups")]
    pub(crate) any_group: bool,
    /// Who works with it; of a shared agent, a change of the loadout waits for a review
    #[arg(long, value_parser = words::<Visibility>(Visibility::WORDS))]
    pub(crate) visibility: Option<Visibility>,
    /// A skill with the tools that it needs; NAME= for one that needs none, NAME alone for one that does not say; may be repeated
    #[arg(long, value_name = "NAME[=TOOL,TOOL]")]
    pub(crate) skill: Vec<Skill>,
    /// Remove a skill; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) no_skill: Vec<String>,
    /// What a tool gets as settings of this agent, a JSON object; may be repeated
    #[arg(long, value_name = "TOOL=JSON")]
    pub(crate) config: Vec<ToolSetting>,
    /// Remove a tool's settings; may be repeated
    #[arg(long, value_name = "TOOL")]
    pub(crate) no_config: Vec<ToolName>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("part").multiple(true))]
pub(crate) struct LoadoutArgs {
    /// The name of the agent
    pub(crate) name: AgentName,
    /// Give it these tools and no others, with commas between them
    #[arg(long, value_name = "TOOL,TOOL", value_parser = tool_list, group = "whole", conflicts_with = "part")]
    pub(crate) set: Option<BTreeSet<ToolName>>,
    /// Give it every enabled tool
    #[arg(long, group = "whole", conflicts_with = "part")]
    pub(crate) every_enabled_tool: bool,
    /// Give it no tool
    #[arg(long, group = "whole", conflicts_with = "part")]
    pub(crate) none: bool,
    /// Add these tools to its list
    #[arg(long, value_name = "TOOL,TOOL", value_parser = tool_list, group = "part")]
    pub(crate) add: Option<BTreeSet<ToolName>>,
    /// Remove these tools from its list
    #[arg(long, value_name = "TOOL,TOOL", value_parser = tool_list, group = "part")]
    pub(crate) remove: Option<BTreeSet<ToolName>>,
    /// Put the loadout in force that waits for a review
    #[arg(long, group = "whole", conflicts_with = "part")]
    pub(crate) approve: bool,
    /// Drop the loadout that waits for a review
    #[arg(long, group = "whole", conflicts_with = "part")]
    pub(crate) reject: bool,
}

/// Where a model runs that stands in for another; `None` where that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fallback(pub(crate) Option<TrustZone>);

impl Fallback {
    /// The word for one that is not known.
    pub(crate) const UNKNOWN: &str = "unknown";

    /// The word that stands for it.
    pub(crate) fn as_str(self) -> &'static str {
        self.0.map_or(Self::UNKNOWN, TrustZone::as_str)
    }
}

/// A skill with its tools, where it says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skill {
    pub(crate) name: String,
    pub(crate) tools: Option<BTreeSet<ToolName>>,
}

impl FromStr for Skill {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, tools) = match text.split_once('=') {
            Some((name, tools)) => {
                (name, Some(tool_list(tools).map_err(|error| error.to_string())?))
            }
            None => (text, None),
        };
        match name.trim() {
            "" => Err("expected the name of a skill before \"=\"".to_owned()),
            name => Ok(Self { name: name.to_owned(), tools }),
        }
    }
}

/// The settings of one tool.
#[derive(Debug, Clone)]
pub(crate) struct ToolSetting {
    pub(crate) tool: ToolName,
    pub(crate) settings: Box<RawValue>,
}

impl FromStr for ToolSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected TOOL=JSON, such as greet={\"language\": \"de\"}";
        let (tool, json) = text.split_once('=').ok_or(expected)?;
        let tool = tool.parse().map_err(|error: NameError| error.to_string())?;
        match serde_json::from_str::<Value>(json) {
            Ok(Value::Object(_)) => {}
            Ok(_) => return Err(format!("settings of {tool}: expected a JSON object")),
            Err(error) => {
                return Err(format!("settings of {tool}: expected a JSON object: {error}"));
            }
        }
        let settings = RawValue::from_string(json.trim().to_owned());
        Ok(Self { tool, settings: settings.map_err(|error| error.to_string())? })
    }
}

fn words<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| word.parse::<T>())
}

fn fallback() -> impl TypedValueParser<Value = Fallback> {
    let words = TrustZone::WORDS.iter().copied().chain([Fallback::UNKNOWN]);
    PossibleValuesParser::new(words).map(|word| Fallback(word.parse().ok()))
}

fn group_list(text: &str) -> Result<BTreeSet<GroupName>, NameError> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(text: &str) -> BTreeSet<ToolName> {
        tool_list(text).unwrap()
    }

    #[test]
    fn a_skill_without_a_list_is_not_one_with_an_empty_list() {
        let cases = [
            ("research", "research", None),
            ("research=", "research", Some(tools(""))),
            ("research=a, b", "research", Some(tools("a b"))),
            ("two words=a", "two words", Some(tools("a"))),
        ];
        for (text, name, tools) in cases {
            assert_eq!(text.parse(), Ok(Skill { name: name.to_owned(), tools }), "{text}");
        }
        for text in ["", "=a", "x=a/b"] {
            assert!(text.parse::<Skill>().is_err(), "{text}");
        }
    }

    #[test]
    fn settings_are_an_object() {
        let setting: ToolSetting = r#"greet= {"key": "a=b"} "#.parse().unwrap();
        assert_eq!((setting.tool.as_str(), setting.settings.get()), ("greet", r#"{"key": "a=b"}"#));
        for text in ["greet", "greet=", "greet=\"text\"", "greet={\"key\": text}", "a b={}"] {
            assert!(text.parse::<ToolSetting>().is_err(), "{text}");
        }
    }

    #[test]
    fn no_groups_are_not_any_group() {
        assert_eq!(group_list(""), Ok(BTreeSet::new()));
        assert_eq!(group_list("a, b").unwrap().len(), 2);
        assert!(group_list("A").is_err());
    }
}
