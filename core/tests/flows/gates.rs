//! Who may use which tool, and that nothing gets past that.

use toolbay_core::{
    Access, Actor, CallError, CallRequest, Caller, DefinitionParts, Plan, Reason, ToolDefinition,
    decide, nearest, offered,
};

use crate::fixture::{self, Bench, Fake, anonymous, offer, reader, user, with_aliases};

fn gated(name: &str, enabled: bool, requires_admin: bool) -> DefinitionParts {
    let mut parts = reader(name);
    parts.declarations.enabled_by_default = enabled;
    parts.declarations.requires_admin = requires_admin;
    parts
}

fn service() -> Caller {
    let scopes = vec!["admin".to_owned()];
    Caller::new(Actor::ServiceAccount { name: "bot".parse().unwrap(), scopes })
}

#[test]
fn the_first_gate_that_fails_names_the_reason() {
    // Edge case 20, and the order of the first gates.
    let cases = [
        (true, false, anonymous(), None),
        (true, true, user("ada", true), None),
        (true, true, user("bo", false), Some(Reason::RequiresAdmin)),
        (true, true, anonymous(), Some(Reason::RequiresAdmin)),
        (true, true, service(), Some(Reason::RequiresAdmin)),
        (false, false, user("ada", true), Some(Reason::ToolDisabled)),
        // Both gates would refuse: the less revealing reason is given.
        (false, true, anonymous(), Some(Reason::ToolDisabled)),
    ];
    for (enabled, requires_admin, caller, expected) in cases {
        let core = offer("core", [gated("t", enabled, requires_admin)]);
        let (plan, _) = Plan::new(core, vec![]).unwrap();
        let registry = plan.commit(1, &Access::default());
        let decision = decide(&registry, &caller, "t");
        let found = (decision.allowed, decision.reason);
        assert_eq!(found, (expected.is_none(), expected), "{decision} for {}", caller.label());
        let unknown = decide(&registry, &caller, "u");
        assert_eq!((unknown.allowed, unknown.reason), (false, Some(Reason::NotRegistered)));
    }
}

#[test]
fn reasons_are_ordered_from_the_least_revealing() {
    assert!(Reason::ALL.is_sorted());
    assert_eq!(
        Reason::ALL.map(Reason::as_str),
        ["notRegistered", "toolDisabled", "requiresAdmin", "configurationGroup", "trustZone"]
    );
}

#[test]
fn a_refused_call_runs_nothing_and_an_allowed_one_runs_once() {
    let cases = [
        (true, true, user("ada", true), None),
        (true, true, user("bo", false), Some(Reason::RequiresAdmin)),
        (false, false, user("ada", true), Some(Reason::ToolDisabled)),
    ];
    for (enabled, requires_admin, caller, refused) in cases {
        let backend = Fake::echo();
        let bench = Bench::of(gated("t", enabled, requires_admin), backend.clone());
        let result = bench.pipeline.call(&CallRequest::new("t", "", &caller));
        match (result, refused) {
            (Ok(_), None) => {}
            (Err(CallError::Denied { tool, reason }), Some(expected)) => {
                assert_eq!((tool.as_str(), reason), ("t", expected));
            }
            (result, _) => panic!("{result:?}"),
        }
        assert_eq!(backend.invocations(), usize::from(refused.is_none()));
    }
}

#[test]
fn the_gates_hold_under_an_alias_as_well() {
    let backend = Fake::echo();
    let mut parts = with_aliases("now", &["once"]);
    parts.declarations.enabled_by_default = false;
    let error = Bench::of(parts, backend.clone()).call("once", "").unwrap_err();
    assert!(matches!(error, CallError::Denied { reason: Reason::ToolDisabled, .. }), "{error:?}");
    assert_eq!(backend.invocations(), 0);
}

#[test]
fn a_listing_holds_what_the_caller_may_use_in_registry_order() {
    let core = offer("core", [gated("z", true, false), gated("off", false, false)]);
    let plugins = vec![offer("p", [gated("b", true, true), with_aliases("a", &["c"])])];
    let (plan, _) = Plan::new(core, plugins).unwrap();
    let registry = plan.commit(1, &Access::default());
    for (caller, expected) in
        [(user("ada", true), vec!["z", "b", "a"]), (anonymous(), vec!["z", "a"])]
    {
        let names: Vec<&str> =
            offered(&registry, &caller).map(|entry| entry.definition().name().as_str()).collect();
        assert_eq!(names, expected, "{}", caller.label());
    }
}

#[test]
fn suggestions_never_name_what_the_caller_may_not_use() {
    let tools = [
        gated("read_file", true, false),
        gated("read_fine", true, true),
        gated("read_fire", false, false),
    ];
    let (plan, _) = Plan::new(offer("core", tools), vec![]).unwrap();
    let registry = plan.commit(1, &Access::default());
    let names = |caller: &Caller| -> Vec<String> {
        nearest(&registry, caller, "read_fie").iter().map(ToString::to_string).collect()
    };
    assert_eq!(names(&anonymous()), ["read_file"]);
    assert_eq!(names(&user("ada", true)), ["read_file", "read_fine"]);
}

#[test]
fn an_approval_bound_tool_is_validated_first_and_then_not_run() {
    let backend = Fake::echo();
    let silent = DefinitionParts {
        declarations: toolbay_core::Declarations {
            enabled_by_default: true,
            ..toolbay_core::Declarations::default()
        },
        ..fixture::with_schema("write", r#"{"type":"object","required":["path"]}"#)
    };
    let bench = Bench::of(silent.clone(), backend.clone());
    let error = bench.call("write", r#"{"path":"/x"}"#).unwrap_err();
    assert!(matches!(&error, CallError::ApprovalRequired { tool } if tool.as_str() == "write"));
    let bench = Bench::of(silent, backend.clone());
    assert!(matches!(bench.call("write", "{}"), Err(CallError::Arguments { .. })));
    assert_eq!(backend.invocations(), 0);
}

#[test]
fn a_definition_compiles_its_schema_once_for_every_registry() {
    let definition = ToolDefinition::new(reader("t")).unwrap();
    let (first, second) = (definition.validator().unwrap(), definition.validator().unwrap());
    assert!(std::ptr::eq(first, second));
}
