//! Decisions about the host application's own tools, which are there without a refresh and change with the application.
#![cfg(test)]

use std::sync::Arc;

use toolbay_loader::{
    Actor, BackendError, Config, Declarations, DefinitionParts, Effect, Offer, OfferedTool,
    ProviderId, RawReply, ReplyStatus, Schema, Switch, ToolBackend, ToolDefinition, ToolState,
    Toolbay, ValidCall,
};
use toolbay_tests::Home;

struct Well;

impl ToolBackend for Well {
    fn invoke(&self, _: &ValidCall<'_>) -> Result<RawReply, BackendError> {
        Ok(RawReply::text(ReplyStatus::Ok, "well"))
    }
}

/// An application with one tool that reads, of the group `own`.
struct Tool {
    name: &'static str,
    former: &'static [&'static str],
    schema: &'static str,
}

impl Tool {
    fn of(self, home: &Home) -> Toolbay {
        let definition = ToolDefinition::new(DefinitionParts {
            name: self.name.parse().unwrap(),
            aliases: self.former.iter().map(|name| name.parse().unwrap()).collect(),
            label: None,
            summary: None,
            description: "Answers.".to_owned(),
            schema: Schema::parse(self.schema).unwrap(),
            output_schema: None,
            declarations: Declarations {
                effect: Effect::ReadOnly,
                enabled_by_default: true,
                requires_approval: false,
                group: Some("own".parse().unwrap()),
                ..Declarations::default()
            },
        });
        let tool =
            OfferedTool { definition: Arc::new(definition.unwrap()), backend: Arc::new(Well) };
        let core = Some(Offer::new(ProviderId::core(), "1.0.0", vec![tool]));
        Toolbay::open(Config { core, ..home.config() }).unwrap()
    }
}

const NARROW: &str = r#"{"type": "object", "additionalProperties": false}"#;
const WIDER: &str = r#"{"type": "object"}"#;

fn root() -> Actor {
    Actor::User { name: "root".parse().unwrap(), admin: true }
}

fn is_on(state: &ToolState) -> bool {
    state.availability.unwrap().is_enabled()
}

#[test]
fn what_a_switch_turns_on_for_the_first_time_can_not_change_unseen() {
    type Decide = fn(&Toolbay, Switch);
    let decisions: [Decide; 3] = [
        |toolbay, switch| drop(toolbay.switch_group("own", switch, &root()).unwrap()),
        |toolbay, switch| drop(toolbay.switch_provider("core", switch, &root()).unwrap()),
        // Its own code has it on: a reset turns it on as much as a switch does.
        |toolbay, switch| match switch {
            Switch::Off => drop(toolbay.switch_tool("answer", switch, &root()).unwrap()),
            _ => drop(toolbay.switch_tool("answer", Switch::Reset, &root()).unwrap()),
        },
    ];
    for (at, decide) in decisions.iter().enumerate() {
        let home = Home::new();
        let tool = |schema| Tool { name: "answer", former: &[], schema }.of(&home);
        let before = tool(NARROW);
        decide(&before, Switch::Off);
        before.refresh().unwrap();
        assert!(!before.tool_state("answer").unwrap().pinned, "{at}: it was never on");
        decide(&before, Switch::On);
        let on = before.tool_state("answer").unwrap();
        assert!(is_on(&on) && on.pinned, "{at}");
        drop(before);

        let same = tool(NARROW);
        assert!(same.refresh().unwrap().changed.is_empty(), "{at}");
        assert!(is_on(&same.tool_state("answer").unwrap()), "{at}");
        drop(same);
        let wider = tool(WIDER);
        assert!(wider.refresh().unwrap().changed[0].needs_review, "{at}");
        assert!(!is_on(&wider.tool_state("answer").unwrap()), "{at}");
    }
}

#[test]
fn an_approval_that_was_added_under_a_former_name_can_be_taken_away() {
    let home = Home::new();
    let before = Tool { name: "reply", former: &[], schema: NARROW }.of(&home);
    before.require_approval("reply", true, &root()).unwrap();
    drop(before);
    let renamed = || Tool { name: "answer", former: &["reply"], schema: NARROW }.of(&home);
    let added = |toolbay: &Toolbay| {
        toolbay.tool_state("answer").unwrap().availability.unwrap().approval_added
    };
    let toolbay = renamed();
    assert!(added(&toolbay), "a new name takes no approval away");
    for (required, name) in [(false, "answer"), (true, "reply"), (false, "reply")] {
        toolbay.require_approval(name, required, &root()).unwrap();
        assert_eq!(added(&toolbay), required, "{name}");
        assert_eq!(added(&renamed()), required, "{name}");
    }
}
