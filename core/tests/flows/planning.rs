//! Offers become a registry: who wins a name, what is left out, and that the order of arrival never counts.

use proptest::prelude::*;
use toolbay_core::{
    Access, Collision, DefinitionParts, Offer, Origin, Plan, PlanError, ProviderId, Registry,
    ToolName,
};

use crate::fixture::{Fake, offer, offered, reader, with_aliases};

fn plan(core: Offer, plugins: Vec<Offer>) -> (Registry, Vec<Collision>) {
    let (plan, collisions) = Plan::new(core, plugins).unwrap();
    (plan.commit(1, &Access::default()), collisions)
}

/// The tools as `name@provider`, in order.
fn listed(registry: &Registry) -> Vec<String> {
    registry
        .iter()
        .map(|entry| format!("{}@{}", entry.definition().name(), entry.provider()))
        .collect()
}

fn aliased(registry: &Registry) -> Vec<(String, String)> {
    let mut aliases: Vec<_> = registry
        .aliases()
        .map(|(alias, entry)| (alias.to_string(), entry.definition().name().to_string()))
        .collect();
    aliases.sort();
    aliases
}

fn tool(name: &str) -> ToolName {
    name.parse().unwrap()
}

fn provider(id: &str) -> ProviderId {
    id.parse().unwrap()
}

#[test]
fn core_comes_first_then_plugins_by_id_each_in_its_own_order() {
    let core = offer("core", [reader("z"), reader("a")]);
    let plugins = vec![offer("y", [reader("m")]), offer("b", [reader("q"), reader("c")])];
    let (registry, collisions) = plan(core, plugins);
    assert_eq!(listed(&registry), ["z@core", "a@core", "q@b", "c@b", "m@y"]);
    assert_eq!((collisions, registry.generation(), registry.len()), (vec![], 1, 5));
}

#[test]
fn a_plugin_tool_named_like_a_core_tool_is_skipped_also_while_that_is_off() {
    // Edge case 4.
    for enabled_by_default in [true, false] {
        let mut own = with_aliases("read", &["cat"]);
        own.declarations.enabled_by_default = enabled_by_default;
        let rival = offer("rival", [reader("read"), reader("cat"), reader("other")]);
        let (registry, collisions) = plan(offer("core", [own]), vec![rival]);

        assert_eq!(listed(&registry), ["read@core", "other@rival"]);
        let skipped = |name| Collision::Tool {
            tool: tool(name),
            kept: ProviderId::core(),
            skipped: provider("rival"),
        };
        assert_eq!(collisions, [skipped("read"), skipped("cat")]);
        let owner = registry.get("cat").map(|entry| entry.definition().name().as_str());
        assert_eq!(owner, Some("read"), "a core alias is reserved, too");
    }
}

#[test]
fn of_two_plugins_with_one_tool_name_the_first_by_id_has_it() {
    // Edge case 5: whichever was registered first, the ids decide.
    let offers = [offer("beta", [reader("t"), reader("u")]), offer("alpha", [reader("t")])];
    for plugins in [offers.to_vec(), offers.iter().rev().cloned().collect()] {
        let (registry, collisions) = plan(offer("core", []), plugins);
        assert_eq!(listed(&registry), ["t@alpha", "u@beta"]);
        assert_eq!(
            collisions.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "tool t of provider beta is skipped, because provider alpha has the name: rename the tool or remove one provider"
            ]
        );
    }
}

#[test]
fn a_name_twice_in_core_is_fatal_and_named() {
    // Edge case 6.
    let cases: [(Vec<DefinitionParts>, &str, &str, &str); 3] = [
        (vec![reader("a"), reader("a")], "a", "a", "a"),
        (vec![reader("a"), with_aliases("b", &["a"])], "a", "a", "b"),
        (vec![with_aliases("a", &["x"]), with_aliases("b", &["x"])], "x", "a", "b"),
    ];
    for (tools, name, first, second) in cases {
        let error = Plan::new(offer("core", tools), Vec::new()).unwrap_err();
        let (name, first, second) = (tool(name), tool(first), tool(second));
        assert_eq!(error, PlanError::DuplicateCoreName { name, first, second });
    }
    assert!(Plan::new(offer("core", [reader("a"), with_aliases("b", &["x"])]), vec![]).is_ok());
}

#[test]
fn only_the_host_is_core() {
    let error = Plan::new(offer("mine", []), Vec::new()).unwrap_err();
    assert_eq!(error, PlanError::NotCore { found: provider("mine") });

    let (registry, collisions) =
        plan(offer("core", [reader("a")]), vec![offer("core", [reader("b")])]);
    assert_eq!(listed(&registry), ["a@core"]);
    assert_eq!(collisions, [Collision::ReservedProvider { version: "1.0.0".to_owned() }]);
}

#[test]
fn an_alias_leads_to_its_tool_and_is_no_second_tool() {
    let (registry, collisions) =
        plan(offer("core", []), vec![offer("acme", [with_aliases("search", &["find", "lookup"])])]);
    assert_eq!(collisions, []);
    assert_eq!(listed(&registry), ["search@acme"]);
    for name in ["search", "find", "lookup"] {
        assert_eq!(registry.get(name).unwrap().definition().name().as_str(), "search");
    }
    assert!(registry.get("Search").is_none() && registry.get("").is_none());
}

#[test]
fn an_alias_that_is_a_name_or_an_alias_is_refused_and_its_tool_stays() {
    let plugins = vec![
        // `late` is the real name of a tool that is registered after this one.
        offer("a", [with_aliases("one", &["late", "shared", "own", "one"])]),
        offer("b", [with_aliases("late", &["shared"]), reader("own")]),
        offer("c", [with_aliases("two", &["hosted", "free"])]),
    ];
    let (registry, collisions) = plan(offer("core", [with_aliases("base", &["hosted"])]), plugins);

    assert_eq!(listed(&registry), ["base@core", "one@a", "late@b", "own@b", "two@c"]);
    let leads = |alias: &str, name: &str| (alias.to_owned(), name.to_owned());
    assert_eq!(
        aliased(&registry),
        [leads("free", "two"), leads("hosted", "base"), leads("shared", "one")]
    );
    let refused = |alias, of, skipped, owner, kept| Collision::Alias {
        alias: tool(alias),
        tool: tool(of),
        skipped: provider(skipped),
        owner: tool(owner),
        kept: provider(kept),
    };
    assert_eq!(
        collisions,
        [
            refused("late", "one", "a", "late", "b"),
            refused("own", "one", "a", "own", "b"),
            refused("one", "one", "a", "one", "a"),
            refused("shared", "late", "b", "one", "a"),
            refused("hosted", "two", "c", "base", "core"),
        ]
    );
}

#[test]
fn aliases_of_a_skipped_tool_lead_nowhere() {
    let plugins = vec![offer("a", [reader("t")]), offer("b", [with_aliases("t", &["old"])])];
    let (registry, collisions) = plan(offer("core", []), plugins);
    assert_eq!((collisions.len(), aliased(&registry)), (1, vec![]));
}

#[test]
fn of_two_offers_of_one_provider_one_is_used_whatever_the_order() {
    let version = |version: &str, name| Offer {
        version: version.to_owned(),
        ..offer("acme", [reader(name)])
    };
    let cases = [
        ([version("1.0.0", "old"), version("2.0.0", "new")], "old@acme"),
        // Nothing but the tools tells them apart.
        ([version("1.0.0", "x"), version("1.0.0", "w")], "w@acme"),
    ];
    for (offers, expected) in cases {
        for plugins in [offers.to_vec(), offers.iter().rev().cloned().collect()] {
            let (registry, collisions) = plan(offer("core", []), plugins);
            assert_eq!(listed(&registry), [expected]);
            assert!(
                matches!(collisions.as_slice(), [Collision::Provider { .. }]),
                "{collisions:?}"
            );
        }
    }
}

#[test]
fn of_two_offers_of_the_same_tools_one_code_is_used_whatever_the_order() {
    let of = |content: &str, origin| Offer {
        content: content.to_owned(),
        origin,
        ..offer("acme", [reader("t")])
    };
    for offers in [
        [of("a", Origin::Local), of("b", Origin::Local)],
        // What is ours needs an approval wherever it writes.
        [of("a", Origin::Local), of("a", Origin::Remote)],
    ] {
        let kept = |plugins: Vec<Offer>| {
            let (registry, collisions) = plan(offer("core", []), plugins);
            assert_eq!(collisions.len(), 1);
            let entry = registry.get("t").unwrap();
            (entry.provider_content().to_owned(), entry.origin())
        };
        let backwards = offers.iter().rev().cloned().collect();
        let expected = (offers[0].content.clone(), offers[0].origin);
        assert_eq!((kept(offers.to_vec()), kept(backwards)), (expected.clone(), expected));
    }
}

#[test]
fn one_bad_core_offer_changes_nothing() {
    let cell = toolbay_core::RegistryCell::default();
    let (plan, _) = Plan::new(offer("core", [reader("a")]), vec![]).unwrap();
    cell.replace(plan.commit(3, &Access::default()));
    assert!(Plan::new(offer("core", [reader("b"), reader("b")]), vec![]).is_err());
    assert_eq!((listed(&cell.load()), cell.load().generation()), (vec!["a@core".to_owned()], 3));
}

#[test]
fn who_holds_a_registry_keeps_it_while_the_next_one_comes() {
    let cell = toolbay_core::RegistryCell::default();
    let before = cell.load();
    let (plan, _) = Plan::new(offer("core", [reader("a")]), vec![]).unwrap();
    cell.replace(plan.commit(1, &Access::default()));
    assert!(before.is_empty() && before.generation() == 0);
    assert_eq!(cell.load().len(), 1);
}

const PROVIDERS: [&str; 5] = ["ab", "b", "core", "c-1", "z_2"];

/// A tool with a name and aliases out of so few that most plans have collisions.
fn any_tool() -> impl Strategy<Value = DefinitionParts> {
    let name = "[a-d]";
    (name, prop::collection::vec(name, 0..3), any::<bool>()).prop_map(|(name, aliases, enabled)| {
        let aliases: Vec<&str> = aliases.iter().map(String::as_str).collect();
        let mut parts = with_aliases(&name, &aliases);
        parts.declarations.enabled_by_default = enabled;
        parts
    })
}

fn any_offer() -> impl Strategy<Value = Offer> {
    let tools = prop::collection::vec(any_tool(), 0..4);
    (prop::sample::select(&PROVIDERS), "[12]", tools).prop_map(|(provider, version, tools)| Offer {
        version,
        tools: tools.into_iter().map(|parts| offered(parts, Fake::says("x"))).collect(),
        ..offer(provider, [])
    })
}

fn shuffled() -> impl Strategy<Value = (Vec<Offer>, Vec<Offer>)> {
    prop::collection::vec(any_offer(), 0..6)
        .prop_flat_map(|offers| (Just(offers.clone()), Just(offers).prop_shuffle()))
}

proptest! {
    #[test]
    fn the_order_of_offers_never_changes_the_registry((one, other) in shuffled()) {
        let core = || offer("core", [with_aliases("a", &["b"]), reader("k")]);
        let (first, first_left_out) = plan(core(), one);
        let (second, second_left_out) = plan(core(), other);

        prop_assert_eq!(first_left_out, second_left_out);
        prop_assert_eq!(listed(&first), listed(&second));
        prop_assert_eq!(aliased(&first), aliased(&second));
        let definitions = |registry: &Registry| -> Vec<_> {
            registry.iter().map(|entry| entry.definition().parts().clone()).collect()
        };
        prop_assert_eq!(definitions(&first), definitions(&second));
    }

    #[test]
    fn core_is_never_shadowed_and_each_name_has_one_owner((plugins, _) in shuffled()) {
        let (registry, _) = plan(offer("core", [with_aliases("a", &["b"]), reader("k")]), plugins);
        for (name, owner) in [("a", "a"), ("b", "a"), ("k", "k")] {
            let entry = registry.get(name).unwrap();
            prop_assert!(entry.provider().is_core());
            prop_assert_eq!(entry.definition().name().as_str(), owner);
        }
        let mut names: Vec<_> = registry.iter().map(|entry| entry.definition().name()).collect();
        names.sort();
        prop_assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        for entry in registry.iter() {
            let found = registry.get(entry.definition().name().as_str()).unwrap();
            prop_assert!(std::sync::Arc::ptr_eq(found, entry));
        }
    }
}
