//! What people see of a call that waits, and that nothing else runs than what they saw.

use std::sync::{Arc, Mutex};

use toolbay_core::{
    Access, Actor, ApprovalError, BackendError, Caller, Decider, Offer, OfferedTool, Preview,
    RawReply, ReplyStatus, RequestState, ToolBackend, ToolDefinition, ValidCall,
};

use crate::{
    desk::{Desk, admin, owner, service, writer},
    fixture::{Fake, offer, reader, user},
};

fn lines(lines: &[&str]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

/// A tool whose preview the test changes, and what is said now.
fn shown(first: Shown) -> (Arc<Fake>, Arc<Mutex<Shown>>) {
    let now = Arc::new(Mutex::new(first));
    let said = now.clone();
    let backend = Fake::with_preview(
        |_| Ok(RawReply::text(ReplyStatus::Ok, "done")),
        move |_| match *said.lock().unwrap() {
            Shown::Nothing => Ok(None),
            Shown::Lines(said) => Ok(Some(lines(said))),
            Shown::Failure => {
                Err(BackendError::Fault { message: "hunter2".to_owned(), location: None })
            }
        },
    );
    (backend, now)
}

#[derive(Debug, Clone, Copy)]
enum Shown {
    Nothing,
    Lines(&'static [&'static str]),
    Failure,
}

#[test]
fn a_preview_has_twenty_lines_of_five_hundred_characters_and_no_control_characters() {
    let long = "é".repeat(501);
    let cut = "é".repeat(499) + "…";
    let cases = [
        (vec!["  one \t two\r\nthree  "], vec!["one two three"]),
        (vec!["a\u{1b}[2Jb\u{0}c\u{9b}d"], vec!["a[2Jbcd"]),
        (vec!["a\u{2028}b\u{a0}c\u{85}d"], vec!["a b c d"]),
        (vec!["", "x"], vec!["", "x"]),
        (vec![&long[2..]], vec![&long[2..]]),
    ];
    for (said, kept) in cases {
        assert_eq!(Preview::of_lines(&lines(&said)), Preview::Lines(lines(&kept)), "{said:?}");
    }
    assert_eq!(Preview::of_lines(&[]), Preview::Absent);

    let bounded = |said: &[String]| match Preview::of_lines(said) {
        Preview::Lines(lines) => lines,
        other => panic!("{other:?}"),
    };
    let many = |count: usize| (0..count).map(|at| format!("l{at}")).collect::<Vec<_>>();
    assert_eq!(bounded(&many(20)), many(20));
    let left_out = [
        (many(21), 21, "[cut: 1 more lines; SHA-256 of all: "),
        (many(1_000), 21, "[cut: 980 more lines; SHA-256 of all: "),
        (lines(&[&long]), 2, "[cut: 0 more lines; SHA-256 of all: "),
    ];
    for (said, kept, last) in left_out {
        let shown = bounded(&said);
        assert_eq!(shown.len(), kept, "{shown:?}");
        assert!(shown[kept - 1].starts_with(last), "{shown:?}");
        // What is not shown can't change unseen.
        let mut other = said.clone();
        other.last_mut().unwrap().push('x');
        assert_ne!(bounded(&other), shown);
    }
    assert_eq!(bounded(&lines(&[&long]))[0], cut);
}

#[test]
fn white_space_around_a_control_character_is_collapsed_with_it() {
    let said = lines(&["a \u{7} b", "\u{1b} c\u{0} \n\u{0}d"]);
    assert_eq!(Preview::of_lines(&said), Preview::Lines(lines(&["a b", "c d"])));
}

#[test]
fn a_preview_that_fails_shows_how_and_not_why_and_the_decision_is_possible() {
    // Edge case 64.
    for (fails, approve) in [(true, true), (true, false), (false, true)] {
        let first = if fails { Shown::Failure } else { Shown::Lines(&["It writes."]) };
        let (backend, _) = shown(first);
        let desk = Desk::of([(writer("write"), backend.clone())]);
        desk.call(&user("bo", false), "write", "{}").unwrap_err();
        let expected = match fails {
            true => Preview::Failed("fault".to_owned()),
            false => Preview::Lines(lines(&["It writes."])),
        };
        assert_eq!(desk.store.newest().request.calls[0].preview, expected);
        match approve {
            true => assert!(desk.approve(&admin()).is_ok()),
            false => assert!(desk.deny(&admin()).is_ok()),
        }
        assert_eq!(backend.invocations(), usize::from(approve));
    }
}

#[test]
fn a_preview_that_has_changed_is_shown_again_before_anything_runs() {
    // Edge case 65. What showed nothing when the call was made does not bind.
    use Shown::{Failure, Lines, Nothing};
    let cases = [
        (Lines(&["a"]), Lines(&["a"]), false),
        (Lines(&["a"]), Lines(&[" a "]), false),
        (Lines(&["a"]), Lines(&["b"]), true),
        (Lines(&["a"]), Lines(&["a", "b"]), true),
        (Lines(&["a"]), Nothing, true),
        (Lines(&["a"]), Failure, true),
        (Nothing, Lines(&["a"]), false),
        (Failure, Lines(&["a"]), false),
    ];
    for (before, after, stale) in cases {
        let (backend, now) = shown(before);
        let (other, _) = shown(Lines(&["same"]));
        let desk = Desk::of([(writer("other"), other.clone()), (writer("write"), backend.clone())]);
        desk.turn(&user("bo", false), &[("other", "{}"), ("write", "{}")]);
        let shown_first = desk.store.newest().request;
        *now.lock().unwrap() = after;
        match desk.approve(&admin()) {
            Ok(_) => assert!(!stale, "{before:?} {after:?}"),
            Err(ApprovalError::PreviewChanged { tools, .. }) => {
                assert_eq!((tools.len(), tools[0].as_str(), stale), (1, "write", true));
                assert_eq!((other.invocations(), backend.invocations()), (0, 0));
                let newest = desk.store.newest();
                assert!(matches!(newest.state, RequestState::Waiting { stale } if stale == [1]));
                assert_eq!(newest.request.key(), shown_first.key());
                assert_eq!(newest.request.expires, shown_first.expires);
                assert_ne!(newest.request.digest(), shown_first.digest());
                assert_eq!(newest.request.calls[0], shown_first.calls[0]);
                assert_ne!(newest.request.calls[1].preview, shown_first.calls[1].preview);
                desk.approve(&admin()).unwrap();
            }
            Err(error) => panic!("{error:?}"),
        }
        assert_eq!((other.invocations(), backend.invocations()), (1, 1));
    }
}

#[test]
fn what_was_shown_counts_for_its_own_call_also_where_another_one_is_gone() {
    // Edge case 63, as far as it is about calls: `gone` is switched off, and keeps its old preview.
    let (gone, gone_now) = shown(Shown::Lines(&["gone"]));
    let (write, write_now) = shown(Shown::Lines(&["before"]));
    let desk = Desk::of([(writer("gone"), gone.clone()), (writer("write"), write.clone())]);
    desk.turn(&user("bo", false), &[("gone", "{}"), ("write", "{}")]);
    *gone_now.lock().unwrap() = Shown::Lines(&["other"]);
    *write_now.lock().unwrap() = Shown::Lines(&["after"]);
    let mut access = Access::default();
    access.tools.insert("gone".parse().unwrap(), false);
    desk.switch(&access);
    match desk.approve(&admin()) {
        Err(ApprovalError::PreviewChanged { tools, .. }) => {
            assert_eq!(tools.iter().map(|tool| tool.as_str()).collect::<Vec<_>>(), ["write"]);
        }
        other => panic!("{other:?}"),
    }
    let calls = desk.store.newest().request.calls;
    let previews: Vec<_> = calls.into_iter().map(|call| call.preview).collect();
    assert_eq!(previews, [Preview::Lines(lines(&["gone"])), Preview::Lines(lines(&["after"]))]);
    desk.approve(&admin()).unwrap();
    assert_eq!((gone.invocations(), write.invocations()), (0, 1));
}

#[test]
fn a_digest_covers_all_that_is_decided_about() {
    let digest = |tool: &str, arguments: &str, shown_lines: Shown, seconds: u64| {
        let (backend, _) = shown(shown_lines);
        let desk = Desk::of([(writer("one"), backend.clone()), (writer("two"), backend)]);
        desk.clock.advance(seconds);
        desk.call(&user("bo", false), tool, arguments).unwrap_err();
        let request = desk.store.newest().request;
        (request.key(), request.digest())
    };
    let base = digest("one", "{}", Shown::Lines(&["a"]), 0);
    assert_eq!(base, digest("one", "", Shown::Lines(&["a"]), 0));
    // Whether it is the same request, beside being another decision.
    let cases = [
        (digest("two", "{}", Shown::Lines(&["a"]), 0), false),
        (digest("one", r#"{"a":1}"#, Shown::Lines(&["a"]), 0), false),
        (digest("one", "{}", Shown::Lines(&["b"]), 0), true),
        (digest("one", "{}", Shown::Lines(&["a", ""]), 0), true),
        (digest("one", "{}", Shown::Nothing, 0), true),
        (digest("one", "{}", Shown::Failure, 0), true),
        (digest("one", "{}", Shown::Lines(&["a"]), 1), true),
    ];
    for (at, ((key, digest), same_key)) in cases.into_iter().enumerate() {
        assert_ne!(digest, base.1, "{at}");
        assert_eq!(key == base.0, same_key, "{at}");
    }
}

#[test]
fn every_call_of_a_turn_is_shown() {
    let (read, _) = shown(Shown::Lines(&["It reads."]));
    let (write, _) = shown(Shown::Lines(&["It writes."]));
    let desk = Desk::of([(reader("read"), read), (writer("write"), write)]);
    desk.turn(&user("bo", false), &[("read", "{}"), ("write", "{}")]);
    let calls = desk.store.newest().request.calls;
    let previews: Vec<_> = calls.into_iter().map(|call| call.preview).collect();
    assert_eq!(previews, [&["It reads."], &["It writes."]].map(|said| Preview::Lines(lines(said))));
}

#[test]
fn previews_are_made_in_the_name_of_whoever_asked() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = seen.clone();
    let backend = Fake::with_preview(
        |_| Ok(RawReply::text(ReplyStatus::Ok, "done")),
        move |call| {
            sees.lock().unwrap().push(call.caller().label().to_owned());
            Ok(None)
        },
    );
    let desk = Desk::of([(writer("write"), backend)]);
    desk.call(&user("bo", false), "write", "{}").unwrap_err();
    desk.approve(&admin()).unwrap();
    assert_eq!(*seen.lock().unwrap(), ["user:bo", "user:bo"]);
}

#[test]
fn whoever_may_not_read_what_a_call_is_about_does_not_see_its_preview() {
    // Edge case 64.
    let of = |name: &str, admin| {
        Decider::new(Actor::User { name: name.parse().unwrap(), admin }).with_grant()
    };
    let robot = service(&["approve"]);
    // What the tool says of others; who looks; what they may read of that call, and of one whose tool does not say.
    let cases = [
        (Says::Yes, of("cy", false), [true, false]),
        (Says::No, of("cy", false), [false, false]),
        (Says::Breaks, of("cy", false), [false, false]),
        (Says::Nothing, of("cy", false), [false, false]),
        (Says::Yes, robot.clone(), [true, false]),
        (Says::Nothing, robot, [false, false]),
        (Says::Nothing, of("ada", true), [true, true]),
        (Says::No, of("ada", true), [false, true]),
        (Says::Breaks, of("ada", true), [false, true]),
        // Whoever asked has seen it already.
        (Says::No, owner(), [true, true]),
    ];
    for (says, viewer, expected) in cases {
        let tools = [(writer("says"), Arc::new(Viewed(says)) as Arc<dyn ToolBackend>)];
        let tools = tools.into_iter().chain([(writer("silent"), Fake::echo() as Arc<_>)]);
        let tools = tools.map(|(parts, backend)| OfferedTool {
            definition: Arc::new(ToolDefinition::new(parts).unwrap()),
            backend,
        });
        let desk =
            Desk::with_rules(vec![Offer { tools: tools.collect(), ..offer("acme", []) }], vec![]);
        let bo = user("bo", false);
        desk.turn(&bo, &[("says", "{}"), ("silent", "{}")]);
        let request = desk.store.newest().request;
        assert_eq!(desk.pipeline.may_read(&request, &viewer, Some(&bo)), expected, "{viewer:?}");

        // A tool that can't be asked does not say: it is off, or its agent is no more.
        let silent =
            if viewer.is(&request.owner) { [true; 2] } else { [viewer.actor().is_admin(); 2] };
        assert_eq!(desk.pipeline.may_read(&request, &viewer, None), silent);
        let mut access = Access::default();
        access.providers.insert("acme".parse().unwrap(), false);
        desk.switch(&access);
        assert_eq!(desk.pipeline.may_read(&request, &viewer, Some(&bo)), silent);
        assert_eq!(desk.records.calls().len(), 2, "whoever looks leaves no record of a call");
    }
}

/// What a tool says of whether others may read its previews.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Says {
    Yes,
    No,
    Nothing,
    Breaks,
}

struct Viewed(Says);

impl ToolBackend for Viewed {
    fn invoke(&self, _: &ValidCall<'_>) -> Result<RawReply, BackendError> {
        Ok(RawReply::text(ReplyStatus::Ok, "done"))
    }

    fn may_viewer_read(
        &self,
        call: &ValidCall<'_>,
        viewer: &Caller,
    ) -> Result<Option<bool>, BackendError> {
        assert_eq!(call.caller().label(), "user:bo", "it is asked about the call as it would run");
        assert_ne!(viewer.label(), "user:bo");
        match self.0 {
            Says::Yes => Ok(Some(true)),
            Says::No => Ok(Some(false)),
            Says::Nothing => Ok(None),
            Says::Breaks => Err(BackendError::DeadlineExceeded),
        }
    }
}
