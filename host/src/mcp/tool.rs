//! Tools as the protocol has them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use toolbay_loader::{Declarations, Egress, Kind, Schema, ToolDefinition};

/// A tool as an element of `tools/list`.
pub(super) fn tool(definition: &ToolDefinition) -> Tool {
    let (name, description) = (definition.name().to_string(), definition.description().to_owned());
    let mut tool = Tool::new(name, description, object(definition.schema()))
        .with_title(definition.label())
        .with_annotations(annotations(definition.declarations()));
    tool.output_schema = definition.output_schema().map(object);
    tool
}

/// A schema is always an object; the core has parsed it.
fn object(schema: &Schema) -> Arc<JsonObject> {
    Arc::new(serde_json::from_str(schema.as_str()).unwrap_or_default())
}

/// Hints for clients. Of a tool that writes and does not say how, the worst is assumed.
fn annotations(declarations: &Declarations) -> ToolAnnotations {
    let Declarations { effect, egress, kind, .. } = declarations;
    ToolAnnotations::new()
        .read_only(!effect.is_write())
        .destructive(effect.is_write() && *kind != Kind::Write)
        .idempotent(effect.safe_to_retry())
        .open_world(*egress == Egress::ConfiguredEndpoint)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbay_loader::{DefinitionParts, Effect};

    use super::*;

    fn definition(declarations: Declarations) -> ToolDefinition {
        ToolDefinition::new(DefinitionParts {
            name: "find".parse().unwrap(),
            aliases: vec!["search".parse().unwrap()],
            label: Some("Find things".to_owned()),
            summary: Some("for people".to_owned()),
            description: "Finds things.".to_owned(),
            schema: Schema::parse(r#"{"type":"object","properties":{"q":{"type":"string"}}}"#)
                .unwrap(),
            output_schema: Some(Schema::parse(r#"{"type":"object","properties":{}}"#).unwrap()),
            declarations,
        })
        .unwrap()
    }

    #[test]
    fn a_client_sees_what_is_meant_for_models() {
        let reader = Declarations { effect: Effect::ReadOnly, ..Declarations::default() };
        let expected = json!({
            "name": "find",
            "title": "Find things",
            "description": "Finds things.",
            "inputSchema": { "type": "object", "properties": { "q": { "type": "string" } } },
            "outputSchema": { "type": "object", "properties": {} },
            "annotations": {
                "readOnlyHint": true,
                "destructiveHint": false,
                "idempotentHint": true,
                "openWorldHint": false,
            },
        });
        assert_eq!(serde_json::to_value(tool(&definition(reader))).unwrap(), expected);
    }

    #[test]
    fn the_hints_follow_the_declarations() {
        use Effect::{IdempotentWrite, NonIdempotentWrite, ReadOnly};
        let cases = [
            // Effect, kind, egress; read-only, destructive, idempotent, open world.
            (ReadOnly, Kind::Search, Egress::ConfiguredEndpoint, [true, false, true, true]),
            (ReadOnly, Kind::Unknown, Egress::OwnSite, [true, false, true, false]),
            (IdempotentWrite, Kind::Write, Egress::None, [false, false, true, false]),
            (NonIdempotentWrite, Kind::Write, Egress::None, [false, false, false, false]),
            (IdempotentWrite, Kind::Destructive, Egress::None, [false, true, true, false]),
            (NonIdempotentWrite, Kind::Unknown, Egress::None, [false, true, false, false]),
        ];
        for (effect, kind, egress, [read_only, destructive, idempotent, open_world]) in cases {
            let found =
                annotations(&Declarations { effect, kind, egress, ..Declarations::default() });
            let expected = ToolAnnotations::new()
                .read_only(read_only)
                .destructive(destructive)
                .idempotent(idempotent)
                .open_world(open_world);
            assert_eq!(found, expected, "{effect} {kind} {egress}");
        }
    }
}
