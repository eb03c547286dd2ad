//! From the note's words to core's declarations. What the note does not say, or says in a word of a later release, is the strictest.

use std::{collections::HashSet, str::FromStr};

use toolbay_abi::note::{Note, NoteTool};
use toolbay_core::{
    Declarations, DefinitionError, DefinitionParts, Effect, GroupName, Origin, Schema,
    ToolDefinition, ToolName,
};

use crate::{
    plugin_text::one_line,
    rejection::{Reason, Stage},
};

/// A tool as the note declares it: all that is known of it without running code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredTool {
    /// The name that models call.
    pub name: ToolName,
    /// Former names that still work.
    pub aliases: Vec<ToolName>,
    /// The name that people read.
    pub label: String,
    /// One line for people.
    pub summary: String,
    /// What it declares.
    pub declarations: Declarations,
}

impl DeclaredTool {
    /// The tool, made whole with what its provider says of it at run time.
    pub(crate) fn define(
        &self,
        description: String,
        schema: Schema,
        output_schema: Option<Schema>,
    ) -> Result<ToolDefinition, DefinitionError> {
        ToolDefinition::new(DefinitionParts {
            name: self.name.clone(),
            aliases: self.aliases.clone(),
            label: Some(self.label.clone()),
            summary: Some(self.summary.clone()),
            description,
            schema,
            output_schema,
            declarations: self.declarations.clone(),
        })
    }
}

/// The tools that a note declares, and why the others are left out.
pub fn declared_tools(note: &Note) -> (Vec<DeclaredTool>, Vec<Reason>) {
    let mut tools = Vec::new();
    let mut left_out = Vec::new();
    let mut names = HashSet::new();
    for tool in &note.tools {
        match declared(tool) {
            Ok(tool) if names.insert(tool.name.clone()) => tools.push(tool),
            Ok(tool) => left_out.push(mistake(
                "duplicate_tool",
                "each tool once",
                format!("{} twice", tool.name),
            )),
            Err(reason) => left_out.push(reason),
        }
    }
    (tools, left_out)
}

fn declared(tool: &NoteTool) -> Result<DeclaredTool, Reason> {
    let name = |name: &str| {
        name.parse::<ToolName>().map_err(|error| {
            mistake(
                "bad_tool_name",
                "1 to 64 characters of A-Z a-z 0-9 _ -",
                format!("{:?}", error.found()),
            )
        })
    };
    let strictest = Declarations::default();
    let effect: Option<Effect> = word(tool.effect.as_deref());
    let input = tool.input.as_deref().map(input).transpose()?;
    let declared = DeclaredTool {
        name: name(&tool.name)?,
        aliases: tool.aliases.iter().map(|alias| name(alias)).collect::<Result<_, _>>()?,
        label: tool.label.clone(),
        summary: tool.summary.clone(),
        declarations: Declarations {
            // A tool that says what it does needs no approval for being silent.
            requires_approval: tool.approval || effect.is_none(),
            effect: effect.unwrap_or(strictest.effect),
            data_class: word(tool.data_class.as_deref()).unwrap_or(strictest.data_class),
            group: group(tool.group.as_deref())?,
            requires_admin: tool.requires_admin,
            enabled_by_default: tool.enabled,
            egress: word(tool.egress.as_deref()).unwrap_or(strictest.egress),
            kind: word(tool.kind.as_deref()).unwrap_or(strictest.kind),
            loop_budget: tool.loop_budget,
            input,
        },
    };
    if declared.declarations.input.is_some() && declared.declarations.needs_approval(Origin::Local)
    {
        let found = format!("{} with an input, which a person approves as well", declared.name);
        let expected = "an input only of tools that read and need no approval";
        return Err(mistake("approval_and_input", expected, found));
    }
    Ok(declared)
}

/// The schema of what a person types in, compiled once so that nobody waits for an input that can't be checked.
fn input(text: &str) -> Result<Schema, Reason> {
    let mistaken = |found: String| {
        let expected = "a JSON schema of what a person types in, an object with properties";
        mistake("bad_input_schema", expected, one_line(&found, 300))
    };
    let schema = Schema::parse(text).map_err(|error| mistaken(error.to_string()))?;
    schema.compile().map_err(|error| mistaken(error.to_string()))?;
    match schema.properties().is_empty() {
        true => Err(mistaken("no properties".to_owned())),
        false => Ok(schema),
    }
}

/// A group that breaks the rule is no missing group: the tool would escape whoever switches the group off.
fn group(name: Option<&str>) -> Result<Option<GroupName>, Reason> {
    let parsed = name.map(|name| name.parse::<GroupName>()).transpose();
    parsed.map_err(|error| {
        let expected = "a group of a lower-case letter, then letters, digits, _ and -, 64 at most";
        mistake("bad_group_name", expected, format!("{:?}", error.found()))
    })
}

fn word<T: FromStr>(word: Option<&str>) -> Option<T> {
    word?.parse().ok()
}

fn mistake(code: &'static str, expected: &str, found: String) -> Reason {
    Reason::plugin(
        Stage::Verify,
        code,
        expected,
        found,
        "correct the tool's spec; the other tools are not affected",
    )
}

#[cfg(test)]
mod tests {
    use toolbay_core::DataClass;

    use super::*;

    fn note(tools: Vec<NoteTool>) -> Note {
        Note {
            epoch: 1,
            shape: vec![],
            digest: String::new(),
            id: "a".to_owned(),
            version: "1.0.0".to_owned(),
            panic: "unwind".to_owned(),
            target: String::new(),
            tools,
            paths: vec![],
            endpoints: vec![],
        }
    }

    fn named(name: &str) -> NoteTool {
        NoteTool { name: name.to_owned(), ..NoteTool::default() }
    }

    #[test]
    fn silence_and_unknown_words_are_the_strictest() {
        let silent = named("silent");
        let unknown = NoteTool {
            effect: Some("read-mostly".to_owned()),
            data_class: Some("harmless".to_owned()),
            ..named("unknown")
        };
        let (tools, left_out) = declared_tools(&note(vec![silent, unknown]));
        assert_eq!(left_out, []);
        for tool in tools {
            assert_eq!(tool.declarations, Declarations::default(), "{}", tool.name);
        }
    }

    #[test]
    fn a_reader_that_says_so_needs_no_approval() {
        let reader = NoteTool {
            effect: Some("read_only".to_owned()),
            data_class: Some("public_content".to_owned()),
            enabled: true,
            ..named("reader")
        };
        let asked = NoteTool { approval: true, ..reader.clone() };
        let (tools, _) =
            declared_tools(&note(vec![reader, NoteTool { name: "asked".to_owned(), ..asked }]));
        assert!(
            !tools[0].declarations.needs_approval(Origin::Local)
                && tools[0].declarations.enabled_by_default
        );
        assert_eq!(tools[0].declarations.data_class, DataClass::PublicContent);
        assert!(tools[1].declarations.needs_approval(Origin::Local));
    }

    #[test]
    fn an_input_is_for_tools_that_need_no_approval() {
        // Edge case 7, and edge case 68: nobody could fill in a schema without a single argument.
        let asks = |name: &str, effect: &str, input: &str| NoteTool {
            effect: Some(effect.to_owned()),
            input: Some(input.to_owned()),
            loop_budget: Some(3),
            ..named(name)
        };
        let typed = r#"{"type":"object","properties":{"code":{"type":"string"}}}"#;
        let marked = NoteTool { approval: true, ..asks("marked", "read_only", typed) };
        let (tools, left_out) = declared_tools(&note(vec![
            asks("good", "read_only", typed),
            asks("writes", "idempotent_write", typed),
            marked,
            asks("scalar", "read_only", r#"{"type":"string"}"#),
            asks("empty", "read_only", r#"{"type":"object"}"#),
        ]));
        assert_eq!(tools.len(), 1, "{left_out:?}");
        assert!(tools[0].declarations.input.is_some());
        assert_eq!(tools[0].declarations.loop_budget, Some(3));
        let codes: Vec<_> = left_out.iter().map(|reason| reason.code).collect();
        assert_eq!(
            codes,
            ["approval_and_input", "approval_and_input", "bad_input_schema", "bad_input_schema"]
        );
    }

    #[test]
    fn a_tool_with_a_mistake_is_left_out_alone() {
        let bad_group = NoteTool { group: Some("Rag Tools".to_owned()), ..named("bad_group") };
        let bad_alias = NoteTool { aliases: vec!["has space".to_owned()], ..named("bad_alias") };
        let (tools, left_out) = declared_tools(&note(vec![
            named("good"),
            named("no.dots"),
            bad_alias,
            bad_group,
            named("good"),
            named("also-good"),
        ]));
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["good", "also-good"]);
        let codes: Vec<_> = left_out.iter().map(|reason| reason.code).collect();
        assert_eq!(codes, ["bad_tool_name", "bad_tool_name", "bad_group_name", "duplicate_tool"]);
    }
}
