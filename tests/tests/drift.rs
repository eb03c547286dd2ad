//! What a bundle's manifest promises of its tools against what the library declares and lists: one that differs is refused by its field,
//! and the others work.
#![cfg(test)]

use std::fs;

use serde_json::json;
use toolbay_loader::{BundledDefinition, Effect, Schema, Stage, Toolbay};
use toolbay_tests::{
    bay::{Bay, codes, install},
    bundle::{Draft, Key},
    call,
};

#[test]
fn a_tool_that_differs_from_its_manifest_is_refused_by_the_field_and_the_others_work() {
    type Change = fn(&mut Draft);
    fn tool<'d>(draft: &'d mut Draft, name: &str) -> &'d mut toolbay_loader::BundledTool {
        let mut tools = draft.parts.tools.iter_mut();
        tools.find(|tool| tool.declared.name.as_str() == name).unwrap()
    }
    fn fixed(
        draft: &mut Draft,
        change: impl FnOnce(&mut String, &mut Schema, &mut Option<Schema>),
    ) {
        match &mut tool(draft, "counted").definition {
            BundledDefinition::Fixed { description, input_schema, output_schema } => {
                change(description, input_schema, output_schema)
            }
            BundledDefinition::Configured => panic!("it is listed without a configuration"),
        }
    }
    fn other_schema() -> Schema {
        Schema::parse(r#"{"type":"object","properties":{"other":{"type":"string"}}}"#).unwrap()
    }
    let cases: [(&str, &str, Change); 9] = [
        ("tool of tool more", "more", |draft| {
            let mut more = tool(draft, "counted").clone();
            more.declared.name = "more".parse().unwrap();
            draft.parts.tools.push(more);
        }),
        ("tool of tool counted", "counted", |draft| {
            draft.parts.tools.retain(|tool| tool.declared.name.as_str() != "counted");
        }),
        ("description of tool counted", "counted", |draft| {
            fixed(draft, |description, _, _| description.push_str(" And more."));
        }),
        ("input_schema of tool counted", "counted", |draft| {
            fixed(draft, |_, input, _| *input = other_schema());
        }),
        ("output_schema of tool counted", "counted", |draft| {
            fixed(draft, |_, _, output| *output = None);
        }),
        ("output_schema of tool counted", "counted", |draft| {
            fixed(draft, |_, _, output| *output = Some(other_schema()));
        }),
        ("effect of tool counted", "counted", |draft| {
            tool(draft, "counted").declared.declarations.effect = Effect::IdempotentWrite;
        }),
        ("enabled_by_default of tool counted", "counted", |draft| {
            tool(draft, "counted").declared.declarations.enabled_by_default = false;
        }),
        ("summary of tool counted", "counted", |draft| {
            tool(draft, "counted").declared.summary = "Counts.".to_owned();
        }),
    ];
    let key = Key::new();
    let echo = Draft::of("toolbay-fixture-echo");
    let listed = |toolbay: &Toolbay| {
        let registry = toolbay.registry();
        registry.iter().map(|one| one.definition().name().to_string()).collect::<Vec<_>>()
    };
    let all = {
        let bay = Bay::trusting(&key);
        let toolbay = bay.open();
        assert_eq!(install(&toolbay, echo.zip(&bay.path("a"), Some(&key))).rejections, []);
        assert!(bay.open().refresh().unwrap().rejections.is_empty(), "the twin");
        listed(&toolbay)
    };
    for (field, refused, change) in cases {
        let bay = Bay::trusting(&key);
        let mut draft = echo.clone();
        change(&mut draft);
        let toolbay = bay.open();
        let report = install(&toolbay, draft.zip(&bay.path("a"), Some(&key)));
        assert_eq!(codes(&report.rejections), [(Stage::Adapt, "drift")], "{field}");
        let expected = &report.rejections[0].reason.expected;
        assert!(expected.starts_with(field), "{field}: {expected}");
        let others: Vec<_> = all.iter().filter(|name| **name != refused).cloned().collect();
        assert_eq!(listed(&toolbay), others, "{field}");
        let reply = call(&toolbay, "echo", &json!({ "text": "me" })).unwrap();
        assert_eq!(reply.model_text(), "me", "{field}");
        // Whoever looks later is told as well.
        let later = bay.open().refresh().unwrap();
        assert_eq!(later.rejections.len(), 1, "{field}");
        assert_eq!(later.rejections[0].reason, report.rejections[0].reason, "{field}");
    }
}

#[test]
fn what_a_configured_tool_says_of_itself_may_differ() {
    let key = Key::new();
    let draft = Draft::of("toolbay-plugin-catalogue");
    let is_configured =
        |tool: &toolbay_loader::BundledTool| tool.definition == BundledDefinition::Configured;
    assert!(draft.parts.tools.iter().all(is_configured));
    let descriptions = ["a,b", "c,d"].map(|columns| {
        let bay = Bay::trusting(&key);
        let file = bay.path("entries.csv");
        fs::write(&file, format!("id,title,{columns}\n1,One,x,y\n")).unwrap();
        let mut config = bay.config();
        let configuration = serde_json::value::to_raw_value(&json!({ "file": file })).unwrap();
        config.providers.insert("catalogue".parse().unwrap(), configuration);
        let toolbay = Toolbay::open(config).unwrap();
        let report = install(&toolbay, draft.zip(&bay.path("a"), Some(&key)));
        assert_eq!(report.rejections, []);
        let registry = toolbay.registry();
        registry.get("catalogue_search").unwrap().definition().description().to_owned()
    });
    assert_ne!(descriptions[0], descriptions[1]);
}
