//! Pins: a tool that may do more than when it was reviewed is off until somebody looks at it; one that may do less stays on.

use toolbay_core::{
    Access, Actor, Caller, Change, DataClass, Declarations, DefinitionParts, Effect, Egress, Kind,
    Pin, Plan, Reason, Schema, ToolDefinition, decide,
};

use crate::fixture::{offer, reader, with_aliases};

/// Whether the tool waits for a review, pinned as it was and as it is now. An administrator has switched it on.
fn waits(pins: &[(&str, &DefinitionParts)], now: &DefinitionParts) -> bool {
    let pin = |parts: &DefinitionParts| Pin::of(&ToolDefinition::new(parts.clone()).unwrap());
    let access = Access {
        tools: pins.iter().map(|(name, _)| (name.parse().unwrap(), true)).collect(),
        pins: pins.iter().map(|(name, was)| (name.parse().unwrap(), pin(was))).collect(),
        ..Access::default()
    };
    let (plan, _) = Plan::new(offer("core", []), vec![offer("acme", [now.clone()])]).unwrap();
    let registry = plan.commit(1, &access);
    let admin = Caller::new(Actor::User { name: "ada".parse().unwrap(), admin: true });
    let decision = decide(&registry, &admin, now.name.as_str());
    assert_eq!(decision.reason, (!decision.allowed).then_some(Reason::ToolDisabled));
    let entry = registry.get(now.name.as_str()).unwrap();
    assert_eq!(entry.availability().needs_review, !decision.allowed);
    !decision.allowed
}

fn changes(was: &DefinitionParts, now: &DefinitionParts) -> Vec<Change> {
    let definition = |parts: &DefinitionParts| ToolDefinition::new(parts.clone()).unwrap();
    Pin::of(&definition(was)).changes(&definition(now))
}

type Part = fn(&mut DefinitionParts);

fn schema(json: &str) -> Schema {
    Schema::parse(json).unwrap()
}

fn typed(limit: u8) -> Option<Schema> {
    let code = format!(r#"{{"type":"string","maxLength":{limit}}}"#);
    Some(schema(&format!(r#"{{"type":"object","properties":{{"code":{code}}}}}"#)))
}

#[test]
fn a_declaration_that_widens_waits_for_a_review_and_one_that_narrows_does_not() {
    // What is changed, how it was, how it is; whether that waits, and whether the way back does.
    let cases: [(&str, Part, Part, bool, bool); 21] = [
        (
            "effect",
            |it| it.declarations.effect = Effect::ReadOnly,
            |it| it.declarations.effect = Effect::IdempotentWrite,
            true,
            // It writes no more, and so needs no approval any more.
            true,
        ),
        (
            "effect",
            |it| it.declarations.effect = Effect::IdempotentWrite,
            |it| it.declarations.effect = Effect::NonIdempotentWrite,
            true,
            false,
        ),
        (
            "effect",
            |it| it.declarations.requires_approval = true,
            |it| {
                it.declarations.requires_approval = true;
                it.declarations.effect = Effect::NonIdempotentWrite;
            },
            true,
            false,
        ),
        (
            "data class",
            |it| it.declarations.data_class = DataClass::PublicContent,
            |it| it.declarations.data_class = DataClass::EditorContent,
            true,
            true,
        ),
        ("group", |_| {}, |it| it.declarations.group = Some("g".parse().unwrap()), true, true),
        (
            "group",
            |it| it.declarations.group = Some("h".parse().unwrap()),
            |it| it.declarations.group = Some("g".parse().unwrap()),
            true,
            true,
        ),
        ("egress", |_| {}, |it| it.declarations.egress = Egress::OwnSite, true, false),
        (
            "egress",
            |it| it.declarations.egress = Egress::OwnSite,
            |it| it.declarations.egress = Egress::ConfiguredEndpoint,
            true,
            false,
        ),
        ("kind", |_| {}, |it| it.declarations.kind = Kind::Search, false, false),
        ("loop budget", |it| it.declarations.loop_budget = Some(3), |_| {}, true, false),
        (
            "loop budget",
            |it| it.declarations.loop_budget = Some(2),
            |it| it.declarations.loop_budget = Some(3),
            true,
            false,
        ),
        ("requires admin", |it| it.declarations.requires_admin = true, |_| {}, true, false),
        (
            "enabled by default",
            |it| it.declarations.enabled_by_default = false,
            |it| it.declarations.enabled_by_default = true,
            true,
            false,
        ),
        ("needs approval", |it| it.declarations.requires_approval = true, |_| {}, true, false),
        // Whoever types something in gives it to the tool.
        ("input", |_| {}, |it| it.declarations.input = typed(4), true, true),
        (
            "input",
            |it| it.declarations.input = typed(5),
            |it| it.declarations.input = typed(4),
            true,
            true,
        ),
        (
            "schema",
            |_| {},
            |it| it.schema = schema(r#"{"type":"object","required":["a"]}"#),
            true,
            true,
        ),
        ("description", |_| {}, |it| "Another.".clone_into(&mut it.description), false, false),
        (
            "description",
            |it| it.declarations.effect = Effect::IdempotentWrite,
            |it| {
                it.declarations.effect = Effect::IdempotentWrite;
                "Another.".clone_into(&mut it.description);
            },
            true,
            true,
        ),
        // A tool that needs approvals, and that writes in one form alone.
        (
            "description",
            |it| {
                it.declarations.requires_approval = true;
                it.declarations.effect = Effect::IdempotentWrite;
            },
            |it| {
                it.declarations.requires_approval = true;
                "Another.".clone_into(&mut it.description);
            },
            true,
            true,
        ),
        (
            // A write needs an approval with or without the marker.
            "effect",
            |it| {
                it.declarations.requires_approval = true;
                it.declarations.effect = Effect::IdempotentWrite;
            },
            |it| it.declarations.effect = Effect::NonIdempotentWrite,
            true,
            false,
        ),
    ];
    for (field, was, now, there, back) in cases {
        let (mut one, mut other) = (reader("t"), reader("t"));
        was(&mut one);
        now(&mut other);
        for (one, other, expected) in [(&one, &other, there), (&other, &one, back)] {
            let changes = changes(one, other);
            let told: Vec<_> = changes.iter().map(ToString::to_string).collect();
            assert!(changes.iter().any(|change| change.field == field), "{field}: {told:?}");
            assert_eq!(waits(&[("t", one)], other), expected, "{told:?}");
            assert_eq!(changes.iter().any(|change| change.widens), expected, "{told:?}");
        }
        assert!(!waits(&[("t", &one)], &one) && changes(&one, &one).is_empty(), "{field}");
        assert!(!waits(&[], &other), "what was never reviewed has not changed: {field}");
    }
}

#[test]
fn what_people_read_of_a_tool_is_not_pinned() {
    let was = reader("t");
    let now = DefinitionParts {
        label: Some("Tee".to_owned()),
        summary: Some("Another.".to_owned()),
        aliases: vec!["u".parse().unwrap()],
        output_schema: Some(schema(r#"{"type":"object"}"#)),
        ..was.clone()
    };
    assert!(!waits(&[("t", &was)], &now));
    assert_eq!(changes(&was, &now), []);
}

#[test]
fn a_tool_under_another_name_is_the_one_that_was_reviewed_under_its_former_name() {
    let off = |parts: DefinitionParts| DefinitionParts {
        declarations: Declarations { enabled_by_default: false, ..parts.declarations.clone() },
        ..parts
    };
    let was = off(reader("old"));
    let renamed = DefinitionParts {
        description: was.description.clone(),
        ..off(with_aliases("new", &["old", "older"]))
    };
    let mut wider = renamed.clone();
    wider.declarations.data_class = DataClass::SecretAdjacent;
    let mut narrow = was.clone();
    narrow.declarations.data_class = DataClass::PublicContent;

    assert!(!waits(&[("old", &was)], &renamed), "it is on by the row of its former name");
    assert!(waits(&[("old", &narrow)], &wider));
    // The pin of its own name counts, then that of its first former name.
    assert!(!waits(&[("new", &wider), ("old", &narrow)], &wider));
    assert!(waits(&[("new", &narrow), ("old", &wider)], &wider));
    assert!(waits(&[("old", &narrow), ("older", &wider)], &wider));
    // A name that leads to another tool is nothing to it.
    assert!(!waits(&[("oldest", &narrow), ("new", &renamed)], &renamed));
}

#[test]
fn whoever_reviews_a_change_reads_it_in_one_bounded_line() {
    let was = reader("t");
    let long = DefinitionParts { description: "d".repeat(10_000), ..was.clone() };
    let lines: Vec<_> = changes(&was, &long).iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].starts_with("description: The tool t. is now ddd"), "{}", lines[0]);
    assert!(lines[0].chars().count() < 500, "{}", lines[0]);
}

#[test]
fn the_same_tool_of_another_provider_is_another_tool() {
    let tool = ToolDefinition::new(reader("t")).unwrap();
    let provider = |id: &str| id.parse::<toolbay_core::ProviderId>().unwrap();
    let pin = Pin::of(&tool).from_provider(&provider("acme"));
    assert!(!pin.is_widened_by(&tool, &provider("acme")));
    assert!(pin.is_widened_by(&tool, &provider("other")));
    let changes = pin.all_changes(&tool, &provider("other"));
    assert_eq!(changes[0].to_string(), "provider: acme is now other");
}

#[test]
fn words_in_a_schema_are_reviewed_where_the_tool_writes() {
    let schema = |words: &str| {
        format!(
            r#"{{"type":"object","description":"{words}","properties":{{
                "title":{{"type":"string","title":"{words}","examples":["{words}"]}},
                "kind":{{"enum":[{{"description":"a"}}]}}}}}}"#
        )
    };
    let parts = |effect, text: &str| {
        let mut parts = crate::fixture::with_schema("t", text);
        parts.declarations.effect = effect;
        parts
    };
    let (old, words) = (schema("One."), schema("Two."));
    let (renamed, other) =
        (old.replace("\"title\":{", "\"name\":{"), old.replace(":\"a\"", ":\"b\""));
    let cases = [
        (Effect::ReadOnly, &words, false),
        (Effect::IdempotentWrite, &words, true),
        // A member is no annotation because of its name, and data is none either.
        (Effect::ReadOnly, &renamed, true),
        (Effect::ReadOnly, &other, true),
    ];
    for (effect, new, expected) in cases {
        assert_ne!(*new, old);
        let (was, now) = (parts(effect, &old), parts(effect, new));
        assert_eq!(waits(&[("t", &was)], &now), expected, "{effect} {new}");
        assert_eq!(changes(&was, &now).len(), 1, "it is told in any case");
    }
}
