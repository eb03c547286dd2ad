//! Limits of providers and tools, each below, at and above its bound.

use std::{sync::Arc, time::Duration};

use toolbay_core::{
    Access, ArgumentsError, CallError, CallLimits, LimitError, LimitScope, Limits, Offer, Outcome,
    Party, Plan, RawReply, ReplyError, ReplyStatus,
};

use crate::{
    desk::{Hands, acme},
    fixture::{Bench, Fake, offer, offered, reader, with_aliases},
    turnstile::{counts, limits, per_minute, uses},
};

fn provider(id: &str) -> LimitScope {
    LimitScope::Provider(id.parse().unwrap())
}

fn tool(name: &str) -> LimitScope {
    LimitScope::Tool(name.parse().unwrap())
}

fn bench(limits: Limits) -> (Bench, Arc<Hands>) {
    let clock = Arc::<Hands>::default();
    let offers = vec![offer("acme", [reader("a"), reader("b")]), offer("other", [reader("c")])];
    (Bench::with_clock(offers, limits, clock.clone()), clock)
}

#[test]
fn a_rate_lets_so_many_begin_and_then_one_in_each_part_of_a_minute() {
    let (bench, clock) = bench(limits(&[("acme", per_minute(3))], &[]));
    for _ in 0..3 {
        bench.call("a", "").unwrap();
    }
    let refused = bench.call("b", "").unwrap_err();
    assert_eq!(
        refused.model_text(),
        "The tool \"b\" was not run: too many calls of provider acme: expected at most 3 a minute, found more; call again in 20000 ms."
    );
    assert_eq!((refused.code(), refused.party()), ("rate_limited", Party::Caller));
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(20)));
    // The other provider has no limit, and what was refused counts for nothing.
    bench.call("c", "").unwrap();
    clock.advance(19);
    let refused = bench.call("a", "").unwrap_err();
    assert_eq!(refused.retry_after(), Some(Duration::from_secs(1)));
    clock.advance(1);
    bench.call("a", "").unwrap();
    bench.call("a", "").unwrap_err();
    assert_eq!(counts(&bench, "a"), [(0, 0, 3)]);
    let refused = "rate_limited";
    let expected = ["a ok -", "a ok -", "a ok -", &format!("b limited {refused}"), "c ok -"];
    assert_eq!(bench.ended()[..5], expected);
}

#[test]
fn a_call_is_counted_by_its_provider_and_its_tool_or_by_neither() {
    let both = limits(&[("acme", per_minute(3))], &[("a", per_minute(1))]);
    let (bench, clock) = bench(both);
    let whose = |name: &str| match bench.call(name, "") {
        Ok(_) => None,
        Err(CallError::Limit { source: LimitError::Rate { scope, per_minute, .. }, .. }) => {
            Some((scope, per_minute.get()))
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(whose("a"), None);
    // Two more by the provider, of which the refused ones of the tool take none.
    for _ in 0..5 {
        assert_eq!(whose("a"), Some((tool("a"), 1)));
    }
    assert_eq!([whose("b"), whose("b")], [None, None]);
    assert_eq!(whose("b"), Some((provider("acme"), 3)));
    // Now by both: the one that lasts longer says it.
    assert_eq!(whose("a"), Some((tool("a"), 1)));
    clock.advance(40);
    assert_eq!(whose("a"), Some((tool("a"), 1)));
    // Nor did the tool's refusals take anything of the provider.
    assert_eq!([whose("b"), whose("b")], [None, None]);
    assert_eq!(whose("b"), Some((provider("acme"), 3)));
    clock.advance(20);
    assert_eq!(whose("a"), None);
}

#[test]
fn every_provider_has_the_common_limits_for_itself_but_for_what_its_own_say() {
    let own = CallLimits { argument_bytes: Some(9), ..per_minute(2) };
    let calls = CallLimits { result_bytes: Some(7), argument_bytes: Some(5), ..per_minute(1) };
    let (bench, _) = bench(Limits { calls, ..limits(&[("acme", own)], &[]) });
    let in_force =
        |name| uses(&bench.pipeline, name).into_iter().map(|used| (used.scope, used.limits));
    let merged = CallLimits { result_bytes: Some(7), ..own };
    assert_eq!(in_force("a").collect::<Vec<_>>(), [(provider("acme"), merged)]);
    assert_eq!(in_force("c").collect::<Vec<_>>(), [(provider("other"), calls)]);
    for (name, fits) in [("a", true), ("b", true), ("a", false), ("c", true), ("c", false)] {
        assert_eq!(bench.call(name, "").is_ok(), fits, "{name}");
    }
}

#[test]
fn arguments_fit_up_to_the_last_byte() {
    let bytes = |bytes| CallLimits { argument_bytes: Some(bytes), ..CallLimits::default() };
    let host = |argument_bytes, limits| Limits { argument_bytes, ..limits };
    let of_tool = Some(tool("a"));
    let of_provider = Some(provider("acme"));
    // The limits, and which of them holds.
    let cases = [
        (host(20, Limits::default()), 20, None),
        (host(20, limits(&[], &[("b", bytes(3))])), 20, None),
        (host(20, limits(&[("acme", bytes(12))], &[])), 12, of_provider.clone()),
        (host(20, limits(&[("acme", bytes(40))], &[])), 40, of_provider.clone()),
        (host(20, limits(&[], &[("a", bytes(12))])), 12, of_tool.clone()),
        (host(20, limits(&[], &[("a", bytes(40))])), 20, None),
        (host(20, limits(&[("acme", bytes(15))], &[("a", bytes(12))])), 12, of_tool),
        (host(20, limits(&[("acme", bytes(12))], &[("a", bytes(15))])), 12, of_provider),
    ];
    for (limits, limit, scope) in cases {
        let (bench, _) = bench(limits.clone());
        // A letter of two bytes: bytes count, not characters.
        let of = |bytes: usize| format!(r#"{{"ä":"{}"}}"#, "x".repeat(bytes - 9));
        for fits in [limit - 1, limit] {
            assert_eq!(of(fits).len(), fits);
            bench.call("a", &of(fits)).unwrap();
        }
        match bench.call("a", &of(limit + 1)).unwrap_err() {
            CallError::Arguments {
                source: ArgumentsError::TooLarge { limit: told, scope: whose, found },
                ..
            } => {
                assert_eq!((told, whose, found), (limit, scope, limit + 1), "{limits:?}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(bench.ended()[2], "a refused invalid_arguments");
    }
    let (bench, _) = bench(limits(&[], &[("a", bytes(2))]));
    assert_eq!(
        bench.call("a", "{ }").unwrap_err().model_text(),
        "The tool \"a\" was not run: the arguments are too large: expected at most 2 bytes in calls of tool a, found 3. Correct \
         the arguments and call it again."
    );
}

#[test]
fn a_result_fits_up_to_the_last_byte_with_what_comes_beside_its_text() {
    const REST: &str = r#"{"structured":{"ä":1}}"#;
    let bytes = |bytes| CallLimits { result_bytes: Some(bytes), ..CallLimits::default() };
    let most = CallLimits::MAX_RESULT_BYTES;
    let (of_provider, of_tool) = (provider("acme"), tool("a"));
    let cases = [
        (limits(&[("acme", bytes(40))], &[]), 40, of_provider.clone()),
        (limits(&[], &[("a", bytes(40))]), 40, of_tool.clone()),
        (limits(&[("acme", bytes(50))], &[("a", bytes(40))]), 40, of_tool),
        (limits(&[("acme", bytes(40))], &[("a", bytes(50))]), 40, of_provider.clone()),
        (limits(&[("acme", bytes(usize::MAX))], &[]), most, of_provider),
    ];
    for (limits, limit, scope) in cases {
        for rest in ["", REST] {
            let returns = |total: usize| {
                let text = "x".repeat(total - rest.len());
                let fake = Fake::new(move |_| {
                    let (text, rest) = (text.clone().into(), rest.into());
                    Ok(RawReply { status: ReplyStatus::Ok, text, rest })
                });
                let offers = vec![acme("1", [(reader("a"), fake)])];
                let bench = Bench::with_limits(offers, limits.clone());
                let result = bench.call("a", "");
                (result, bench.record())
            };
            for fits in [limit - 1, limit] {
                returns(fits).0.unwrap();
            }
            let (result, record) = returns(limit + 1);
            let error = result.unwrap_err();
            match &error {
                CallError::Reply {
                    source: ReplyError::OverLimit { scope: whose, limit: told, found },
                    ..
                } => {
                    assert_eq!((whose, *told, *found), (&scope, limit, limit + 1), "{limits:?}");
                }
                other => panic!("{other:?}"),
            }
            assert_eq!((error.code(), error.party()), ("result_too_large", Party::Environment));
            let ended = (record.outcome, record.code, record.bytes.1);
            assert_eq!(ended, (Outcome::Fault, Some("result_too_large"), limit + 1));
            assert_eq!(
                error.model_text(),
                format!(
                    "The tool \"a\" has run, and its result is too large to be handed out: it has {} bytes, the limit is {limit}. \
                     What it has done is done; ask it for less.",
                    limit + 1
                )
            );
        }
    }
}

#[test]
fn a_tools_limits_are_found_under_its_former_name() {
    let clock = Arc::<Hands>::default();
    let offers = vec![offer("acme", [with_aliases("new", &["old"])])];
    let bench = Bench::with_clock(offers, limits(&[], &[("old", per_minute(1))]), clock);
    bench.call("new", "").unwrap();
    let error = bench.call("old", "").unwrap_err();
    assert!(
        matches!(&error, CallError::Limit { source, .. } if *source.scope() == tool("old")),
        "{error:?}"
    );
}

#[test]
fn whoever_may_not_use_a_tool_learns_nothing_of_its_calls() {
    let mut off = reader("off");
    off.declarations.enabled_by_default = false;
    let mut admin = reader("admin");
    admin.declarations.requires_admin = true;
    let offers = vec![offer("acme", [reader("a"), off, admin])];
    let clock = Arc::<Hands>::default();
    let bench = Bench::with_clock(offers, limits(&[("acme", per_minute(1))], &[]), clock);
    bench.call("a", "").unwrap();
    for (name, code) in [
        ("a", "rate_limited"),
        ("off", "tool_disabled"),
        ("admin", "requires_admin"),
        ("no", "not_registered"),
    ] {
        assert_eq!(bench.call(name, "").unwrap_err().code(), code);
    }
    let wrong = bench.call("a", "[]").unwrap_err();
    assert_eq!(wrong.code(), "invalid_arguments", "nor is anything counted that would not run");
    assert_eq!(counts(&bench, "a"), [(0, 0, 1)]);
}

#[test]
fn a_registry_that_is_replaced_neither_loses_nor_doubles_a_count() {
    let (bench, _) = bench(limits(&[("acme", per_minute(2))], &[("a", per_minute(2))]));
    bench.call("a", "").unwrap();
    // The same provider in a later version, whose tool is another one of the same name.
    let offered = offered(reader("a"), Fake::says("later"));
    let later = Offer { version: "2.0.0".to_owned(), tools: vec![offered], ..offer("acme", []) };
    let (plan, _) = Plan::new(offer("core", []), vec![later]).unwrap();
    bench.pipeline.registry().replace(plan.commit(8, &Access::default()));
    assert_eq!(bench.call("a", "").unwrap().model_text(), "later");
    assert_eq!(bench.call("a", "").unwrap_err().code(), "rate_limited");
}
