//! Definitions: which texts may stand in one.

use toolbay_core::{DefinitionError, DefinitionParts, Effect, Schema, ToolDefinition, ToolName};

use crate::fixture::{reader, with_aliases};

fn refused(parts: DefinitionParts) -> DefinitionError {
    ToolDefinition::new(parts).unwrap_err()
}

fn tool() -> ToolName {
    "t".parse().unwrap()
}

#[test]
fn a_blank_description_is_refused() {
    for description in ["", " \n\t "] {
        let parts = DefinitionParts { description: description.to_owned(), ..reader("t") };
        assert_eq!(refused(parts), DefinitionError::DescriptionBlank { tool: tool() });
    }
}

#[test]
fn each_text_is_limited_to_the_byte() {
    type Set = fn(&mut DefinitionParts, String);
    let cases: [(&'static str, usize, Set); 3] = [
        ("label", ToolDefinition::MAX_LABEL_BYTES, |parts, text| parts.label = Some(text)),
        ("summary", ToolDefinition::MAX_SUMMARY_BYTES, |parts, text| parts.summary = Some(text)),
        ("description", ToolDefinition::MAX_DESCRIPTION_BYTES, |parts, text| {
            parts.description = text
        }),
    ];
    for (part, limit, set) in cases {
        let of = |bytes| {
            let mut parts = reader("t");
            set(&mut parts, "x".repeat(bytes));
            parts
        };
        assert!(ToolDefinition::new(of(limit)).is_ok(), "{part}");
        let found = limit + 1;
        assert_eq!(
            refused(of(found)),
            DefinitionError::TooLong { tool: tool(), part, limit, found }
        );
    }
}

#[test]
fn control_characters_are_refused_but_for_lines_and_tabs_of_a_description() {
    let described = |text: &str| DefinitionParts { description: text.to_owned(), ..reader("t") };
    assert!(ToolDefinition::new(described("One.\n\tTwo. ä 🦀")).is_ok());
    for (text, found, at) in
        [("ä\u{1b}[2J", '\u{1b}', 2), ("a\r\nb", '\r', 1), ("\u{9b}1m", '\u{9b}', 0)]
    {
        let expected =
            DefinitionError::ControlCharacter { tool: tool(), part: "description", found, at };
        assert_eq!(refused(described(text)), expected);
    }
    let labelled = DefinitionParts { label: Some("a\nb".to_owned()), ..reader("t") };
    let expected =
        DefinitionError::ControlCharacter { tool: tool(), part: "label", found: '\n', at: 1 };
    assert_eq!(refused(labelled), expected);
}

#[test]
fn aliases_are_limited() {
    let names: Vec<String> = (0..17).map(|n| format!("a{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(ToolDefinition::new(with_aliases("t", &names[..16])).is_ok());
    let expected = DefinitionError::TooManyAliases { tool: tool(), limit: 16, found: 17 };
    assert_eq!(refused(with_aliases("t", &names)), expected);
}

#[test]
fn label_and_summary_fall_back_to_name_and_description() {
    let plain = ToolDefinition::new(reader("t")).unwrap();
    assert_eq!((plain.label(), plain.summary()), ("t", "The tool t."));
    let parts = DefinitionParts {
        label: Some("Tool".to_owned()),
        summary: Some("Short.".to_owned()),
        ..reader("t")
    };
    let named = ToolDefinition::new(parts).unwrap();
    assert_eq!((named.label(), named.summary()), ("Tool", "Short."));
}

#[test]
fn a_tool_waits_for_a_person_once() {
    // Edge case 7, without the operator's part in it: a definition knows only what the code declares.
    let cases = [
        (Effect::ReadOnly, false, true, true),
        (Effect::ReadOnly, true, true, false),
        (Effect::IdempotentWrite, false, true, false),
        (Effect::NonIdempotentWrite, false, true, false),
        (Effect::NonIdempotentWrite, true, false, true),
    ];
    for (effect, requires_approval, input, allowed) in cases {
        let mut parts = reader("t");
        parts.declarations.effect = effect;
        parts.declarations.requires_approval = requires_approval;
        parts.declarations.input = input.then(|| Schema::parse(r#"{"type":"object"}"#).unwrap());
        match ToolDefinition::new(parts) {
            Ok(definition) => assert!(allowed, "{:?}", definition.declarations()),
            Err(error) => {
                assert_eq!(error, DefinitionError::ApprovalAndInput { tool: tool() });
                assert!(!allowed);
            }
        }
    }
}
