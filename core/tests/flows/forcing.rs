//! Which tool is searched with where a search is forced, and which never is.

use toolbay_core::{
    Declarations, DefinitionParts, Effect, Kind, Plan, ToolDefinition, forced_search,
    offered as offered_tools, search_score,
};

use crate::fixture::{anonymous, offer, with_schema};

const QUERY: &str =
    r#"{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}"#;

fn tool(name: &str, description: &str, kind: Kind) -> DefinitionParts {
    let parts = with_schema(name, QUERY);
    let declarations = Declarations { kind, ..parts.declarations };
    DefinitionParts { description: description.to_owned(), declarations, ..parts }
}

fn with_query(schema: &str) -> DefinitionParts {
    let parts = with_schema("web_search", schema);
    DefinitionParts { description: "Searches the web.".to_owned(), ..parts }
}

/// The tool that is forced of these, and its arguments.
fn forced(core: Vec<DefinitionParts>, tools: Vec<DefinitionParts>, words: &str) -> Option<String> {
    let core = offer("core", core);
    let (plan, collisions) = Plan::new(core, vec![offer("acme", tools)]).unwrap();
    assert_eq!(collisions, []);
    let (registry, caller) = (plan.commit(1, &toolbay_core::Access::default()), anonymous());
    let forced = forced_search(offered_tools(&registry, &caller), words)?;
    Some(format!("{} {}", forced.entry.definition().name(), forced.arguments))
}

fn plugin(tools: Vec<DefinitionParts>) -> Option<String> {
    forced(Vec::new(), tools, "@bot what is \"new\"?")
}

const COURSES: &str = "Searches the catalogue of courses. Read the summary of each; the map shows where it is. Any input will do.";

#[test]
fn a_search_of_courses_may_mention_whatever_it_likes() {
    for kind in [Kind::Search, Kind::Unknown] {
        let courses = tool("catalogue_search", COURSES, kind);
        let expected = r#"catalogue_search {"query":"what is \"new\"?"}"#;
        assert_eq!(plugin(vec![courses]).unwrap(), expected, "{kind}");
    }
}

// Edge case 44.
#[test]
fn no_tool_of_the_core_none_that_writes_and_none_without_a_text_to_search_for() {
    let good = || tool("web_search", "Searches the web.", Kind::Search);
    assert!(plugin(vec![good()]).is_some());
    assert_eq!(forced(vec![good()], Vec::new(), "new"), None, "a tool of the core");

    let writes = |effect| {
        let declarations = Declarations { effect, requires_approval: false, ..good().declarations };
        DefinitionParts { declarations, ..good() }
    };
    assert_eq!(plugin(vec![writes(Effect::IdempotentWrite)]), None);
    assert_eq!(plugin(vec![writes(Effect::NonIdempotentWrite)]), None);

    let cases = [
        (r#"{"type":"object","properties":{"query":{"type":"string"}}}"#, true),
        (r#"{"type":"object","properties":{"query":{"type":["string","null"]}}}"#, true),
        (
            r##"{"type":"object","properties":{"query":{"$ref":"#/$defs/q"}},"$defs":{"q":{"type":"string"}}}"##,
            true,
        ),
        (r#"{"type":"object","properties":{"query":{"type":"integer"}}}"#, false),
        (
            r#"{"type":"object","properties":{"query":{"type":"array","items":{"type":"string"}}}}"#,
            false,
        ),
        (r#"{"type":"object","properties":{"q":{"type":"string"}}}"#, false),
        (r#"{"type":"object"}"#, false),
        // What needs more than words can't be called with words alone.
        (
            r#"{"type":"object","properties":{"query":{"type":"string"},"site":{}},"required":["site"]}"#,
            false,
        ),
        (r#"{"type":"object","properties":{"query":{"type":"string","maxLength":3}}}"#, false),
    ];
    for (schema, is_forced) in cases {
        assert_eq!(plugin(vec![with_query(schema)]).is_some(), is_forced, "{schema}");
    }
}

#[test]
fn the_highest_score_wins_the_first_of_equals_and_nobody_without_one() {
    let names = |tools: Vec<DefinitionParts>| {
        plugin(tools).map(|forced| forced.split(' ').next().unwrap_or_default().to_owned())
    };
    let search = |name: &str| tool(name, "Searches.", Kind::Search);
    assert_eq!(names(vec![search("a_search"), search("b_search")]).unwrap(), "a_search");
    assert_eq!(names(vec![search("find"), search("b_search")]).unwrap(), "b_search");
    assert_eq!(names(vec![tool("notes", "Lists notes.", Kind::Unknown)]), None);
    assert_eq!(names(Vec::new()), None);
    for nothing in ["", "  ", "@bot", "@bot: "] {
        let optional = with_query(&QUERY.replace(r#","required":["query"]"#, ""));
        assert_eq!(forced(Vec::new(), vec![optional], nothing), None, "{nothing:?}");
    }
}

#[test]
fn declarations_come_before_words() {
    let cases = [
        ("web_search", "Searches the internet.", Kind::Unknown, 60 + 40 + 20 + 20),
        ("web_search", "Searches the internet.", Kind::Search, 40 + 60 + 40 + 20 + 20),
        ("courses", "Finds courses.", Kind::Search, 40),
        ("courses", "Finds courses.", Kind::Unknown, 0),
        ("lookup", "For research in a browser.", Kind::Unknown, 20 + 20 + 10),
        ("websites", "Researches.", Kind::Unknown, 0),
        ("read_search", "Searches.", Kind::Unknown, 0),
        ("read_search", "Searches.", Kind::Search, 140),
        ("catalog_search", "Searches.", Kind::Unknown, 100),
        ("roadmap_search", "Already searches inputs.", Kind::Unknown, 100),
        ("mapping_search", "Searches.", Kind::Unknown, 0),
        ("web_search", "Searches.", Kind::Read, 0),
        ("web_search", "Searches.", Kind::Destructive, 0),
        ("web_search", "Searches.", Kind::Write, 0),
    ];
    for (name, description, kind, expected) in cases {
        let definition = ToolDefinition::new(tool(name, description, kind)).unwrap();
        assert_eq!(search_score(&definition), expected, "{name} {description} {kind}");
    }
}
