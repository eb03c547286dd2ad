//! Who decides about a call that waits, and what must be so before anything runs.

use toolbay_core::{
    Actor, ApprovalError, Caller, Decider, DefinitionParts, Owner, RequestState, Settled,
};

use crate::{
    desk::{Desk, admin, as_asked, guarded, helper, owner, service, writer},
    fixture::{Bench, Fake, reader, user},
    memory::Step,
};

#[test]
fn nobody_approves_what_they_have_not_seen() {
    // Edge case 56.
    let write = Fake::echo();
    let desk = Desk::of([(writer("write"), write.clone())]);
    desk.call(&user("bo", false), "write", r#"{"a":1}"#).unwrap_err();
    let (_, other) = desk.seen();
    desk.call(&user("bo", false), "write", r#"{"a":2}"#).unwrap_err();
    let (id, digest) = desk.seen();
    for seen in ["", &digest[..11], &digest.to_uppercase(), &other, &format!("{digest}0")] {
        for deny in [false, true] {
            let error = match deny {
                true => desk.pipeline.deny(&id, seen, &admin()).unwrap_err(),
                false => desk.pipeline.approve(&id, seen, &admin(), &as_asked).unwrap_err(),
            };
            match error {
                ApprovalError::Stale { expected, .. } => assert_eq!(expected, digest),
                error => panic!("{seen}: {error:?}"),
            }
            assert!(desk.waits(), "{seen}");
        }
    }
    assert_eq!((write.invocations(), desk.records.decisions().len()), (0, 0));
    let refusals = desk.records.refusals();
    assert_eq!(refusals.len(), 10, "each attempt leaves a record");
    assert!(refusals.iter().all(|refusal| refusal.ends_with(": stale")), "{refusals:?}");
    desk.pipeline.approve(&id, &digest[..12], &admin(), &as_asked).unwrap();
    assert_eq!(write.invocations(), 1);
}

#[test]
fn who_may_decide_is_the_owner_or_whoever_was_given_the_right() {
    let person = |name: &str| Actor::User { name: name.parse().unwrap(), admin: false };
    let robot = |scopes| service(scopes);
    let cases: [(Decider, bool); 9] = [
        (admin(), true),
        (owner(), true),
        (Decider::new(person("cy")).with_grant(), true),
        (Decider::new(person("cy")), false),
        (robot(&["approve"]), true),
        (robot(&["approve:all", "Approve", " approve", "admin"]), false),
        (robot(&[]).with_grant(), false),
        (Decider::new(Actor::Anonymous).with_grant(), false),
        // Of the same name, but no person.
        (
            Decider::new(Actor::ServiceAccount { name: "bo".parse().unwrap(), scopes: vec![] }),
            false,
        ),
    ];
    for (decider, permitted) in cases {
        for deny in [false, true] {
            let read = Fake::echo();
            let desk = Desk::of([(guarded("read"), read.clone())]);
            desk.call(&user("bo", false), "read", "{}").unwrap_err();
            let result = match deny {
                true => desk.deny(&decider),
                false => desk.approve(&decider).map(drop),
            };
            match result {
                Ok(()) => assert!(permitted, "{decider:?}"),
                Err(ApprovalError::NotPermitted { actor, .. }) => {
                    assert_eq!((actor, permitted), (decider.actor().to_string(), false));
                }
                Err(error) => panic!("{error:?}"),
            }
            assert_eq!(desk.waits(), !permitted, "{decider:?}");
            assert_eq!(read.invocations(), usize::from(permitted && !deny));
        }
    }
}

#[test]
fn only_a_person_who_may_use_a_tool_releases_a_write_of_it() {
    // Edge case 57.
    let person = |name: &str| Actor::User { name: name.parse().unwrap(), admin: false };
    let granted = Decider::new(person("cy")).with_grant();
    let robot = service(&["approve"]);
    let of = |mut parts: DefinitionParts, admins: bool| {
        parts.declarations.requires_admin = admins;
        parts
    };
    let cases = [
        (of(writer("t"), false), &robot, false),
        (of(guarded("t"), false), &robot, true),
        (of(guarded("t"), true), &robot, true),
        (of(writer("t"), false), &granted, true),
        (of(writer("t"), true), &granted, false),
        (of(guarded("t"), true), &granted, true),
        (of(writer("t"), true), &admin(), true),
    ];
    for (parts, decider, expected) in cases {
        let backend = Fake::echo();
        let desk = Desk::of([(parts, backend.clone())]);
        desk.call(&user("di", true), "t", "{}").unwrap_err();
        match desk.approve(decider) {
            Ok(_) => assert!(expected),
            Err(ApprovalError::MayNotRelease { tool, actor }) => {
                assert_eq!((tool.as_str(), actor), ("t", decider.actor().to_string()));
                assert!(!expected && desk.waits());
                assert_eq!(backend.invocations(), 0);
                // It was released: somebody else approves, and the same one denies.
                desk.approve(&admin()).unwrap();
                desk.call(&user("di", true), "t", "{}").unwrap();
                desk.call(&user("di", true), "t", "{}").unwrap_err();
                desk.deny(decider).unwrap();
            }
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!(backend.invocations(), 1);
    }
}

#[test]
fn one_who_may_not_release_one_write_of_a_turn_releases_none_of_it() {
    let backend = Fake::echo();
    let mut admins = writer("admins");
    admins.declarations.requires_admin = true;
    let desk = Desk::of([(writer("write"), backend.clone()), (admins, backend.clone())]);
    desk.turn(&user("di", true), &[("write", "{}"), ("admins", "{}")]);
    let granted =
        Decider::new(Actor::User { name: "cy".parse().unwrap(), admin: false }).with_grant();
    match desk.approve(&granted) {
        Err(ApprovalError::MayNotRelease { tool, .. }) => assert_eq!(tool.as_str(), "admins"),
        other => panic!("{other:?}"),
    }
    assert_eq!(backend.invocations(), 0);
}

#[test]
fn where_a_second_person_is_wanted_nobody_approves_what_they_have_started() {
    // Edge case 58.
    let person = |name: &str, admin| Actor::User { name: name.parse().unwrap(), admin };
    let robot = service(&["approve"]).actor().clone();
    let cases = [
        (true, person("bo", false), person("bo", false), false),
        (true, person("bo", true), person("bo", true), false),
        // Who has started it counts, not which rights they have since then.
        (true, person("bo", false), person("bo", true), false),
        (true, person("bo", false), person("ada", true), true),
        (true, robot.clone(), robot.clone(), true),
        (false, person("bo", false), person("bo", false), true),
    ];
    for (four_eyes, starts, approves, expected) in cases {
        let read = Fake::echo();
        let desk = Desk::of([(guarded("read"), read.clone())]);
        let again = |owner: &Owner| {
            let agent = owner.agent.as_ref()?;
            assert_eq!(agent.as_str(), "helper");
            Some(Caller::new(owner.actor.clone()).with_agent(helper(four_eyes)))
        };
        // What counts is what the agent wants when it is approved.
        let asked = Caller::new(starts.clone()).with_agent(helper(!four_eyes));
        desk.call(&asked, "read", "{}").unwrap_err();
        let (id, seen) = desk.seen();
        let decider = Decider::new(approves);
        match desk.pipeline.approve(&id, &seen, &decider, &again) {
            Ok(_) => assert!(expected, "{decider:?}"),
            Err(ApprovalError::SecondPerson { actor, .. }) => {
                assert_eq!((actor, expected), (decider.actor().to_string(), false));
                assert!(desk.waits());
                desk.pipeline.deny(&id, &seen, &decider).unwrap();
            }
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!(read.invocations(), usize::from(expected));
    }
}

#[test]
fn a_write_whose_decision_is_not_recorded_never_runs() {
    // Edge case 59.
    let cases: [(&[(&str, &str)], bool); 3] = [
        (&[("write", "{}")], false),
        (&[("guarded", "{}"), ("write", "{}")], false),
        (&[("guarded", "{}"), ("read", "{}")], true),
    ];
    for (turn, runs) in cases {
        let backend = Fake::echo();
        let tools = [writer("write"), guarded("guarded"), reader("read")];
        let desk = Desk::of(tools.map(|parts| (parts, backend.clone())));
        desk.turn(&user("bo", false), turn);
        desk.records.refuse_decisions(true);
        match desk.approve(&admin()) {
            Ok(decided) => assert_eq!((decided.results.len(), runs), (turn.len(), true)),
            Err(ApprovalError::NotAuditable { .. }) => assert!(!runs && desk.waits()),
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!(backend.invocations(), if runs { turn.len() } else { 0 });
        if !runs {
            desk.records.refuse_decisions(false);
            desk.approve(&admin()).unwrap();
            assert_eq!(backend.invocations(), turn.len());
        }
    }
    // What does not run may stay unrecorded.
    let desk = Desk::of([(writer("write"), Fake::echo())]);
    desk.call(&user("bo", false), "write", "{}").unwrap_err();
    desk.records.refuse_decisions(true);
    desk.deny(&admin()).unwrap();
    assert!(!desk.waits());
}

#[test]
fn a_decision_is_recorded_before_anything_runs() {
    let write = Fake::echo();
    let desk = Desk::of([(writer("write"), write.clone()), (guarded("read"), Fake::echo())]);
    desk.turn(&user("bo", false), &[("write", "{}"), ("read", "{}")]);
    desk.store.break_at(Step::Run);
    desk.approve(&owner()).unwrap_err();
    let approved = "user:bo approve write,read, r1 of user:bo";
    assert_eq!((desk.records.decisions(), write.invocations()), (vec![approved.to_owned()], 0));

    desk.store.break_at(None);
    desk.deny(&admin()).unwrap();
    let denied = "user:ada deny write,read, r1 of user:bo";
    assert_eq!(desk.records.decisions(), [approved, denied]);
}

#[test]
fn what_is_not_there_or_not_waiting_can_not_be_decided() {
    let desk = Desk::of([(writer("write"), Fake::echo())]);
    let id = "r1".parse().unwrap();
    let codes = |desk: &Desk, seen: &str| {
        [
            desk.pipeline.approve(&id, seen, &admin(), &as_asked).unwrap_err().code(),
            desk.pipeline.deny(&id, seen, &admin()).unwrap_err().code(),
            desk.pipeline.submit(&id, seen, &admin(), "{}", &as_asked).unwrap_err().code(),
        ]
    };
    assert_eq!(codes(&desk, ""), ["not_found"; 3]);
    desk.call(&user("bo", false), "write", "{}").unwrap_err();
    let (_, seen) = desk.seen();
    let error = desk.pipeline.submit(&id, &seen, &admin(), "{}", &as_asked).unwrap_err();
    assert!(matches!(error, ApprovalError::OtherNeed { .. }), "{error:?}");
    desk.approve(&admin()).unwrap();
    assert_eq!(codes(&desk, &seen), ["not_waiting"; 3]);
    assert!(matches!(
        desk.store.newest().state,
        RequestState::Settled { settled: Settled::Done { .. }, delivered: false, .. }
    ));

    let without = Bench::of(writer("write"), Fake::echo());
    let error = without.pipeline.deny(&id, "", &admin()).unwrap_err();
    assert!(matches!(error, ApprovalError::NoStore), "{error:?}");
}
