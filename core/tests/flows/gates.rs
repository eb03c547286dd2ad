//! Who may use which tool, and that nothing gets past that.

use toolbay_core::{
    Actor, CallError, CallRequest, Caller, Decision, DefinitionParts, Plan, Reason, ToolDefinition,
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
    use Decision::{Allowed, Denied};
    let cases = [
        (true, false, anonymous(), Allowed),
        (true, true, user("ada", true), Allowed),
        (true, true, user("bo", false), Denied(Reason::RequiresAdmin)),
        (true, true, anonymous(), Denied(Reason::RequiresAdmin)),
        (true, true, service(), Denied(Reason::RequiresAdmin)),
        (false, false, user("ada", true), Denied(Reason::ToolDisabled)),
        // Both gates would refuse: the less revealing reason is given.
        (false, true, anonymous(), Denied(Reason::ToolDisabled)),
    ];
    for (enabled, requires_admin, caller, expected) in cases {
        let core = offer("core", [gated("t", enabled, requires_admin)]);
        let (plan, _) = Plan::new(core, vec![]).unwrap();
        let registry = plan.commit(1);
        let decision = decide(registry.get("t").map(|entry| &**entry), &caller);
        assert_eq!(decision, expected, "{enabled} {requires_admin} {}", caller.label());
    }
    assert_eq!(decide(None, &user("ada", true)), Denied(Reason::NotRegistered));
}

#[test]
fn reasons_are_ordered_from_the_least_revealing() {
    let reasons = [Reason::NotRegistered, Reason::ToolDisabled, Reason::RequiresAdmin];
    assert!(reasons.is_sorted());
    assert_eq!(reasons.map(Reason::as_str), ["notRegistered", "toolDisabled", "requiresAdmin"]);
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
    let registry = plan.commit(1);
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
    let registry = plan.commit(1);
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
