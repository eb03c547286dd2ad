//! What becomes of requests, by whoever and however often they are asked for.

mod claims;
mod damage;

use std::{fs, os::unix::fs::PermissionsExt, path::Path, sync::Barrier, thread};

use serde_json::value::RawValue;
use tempfile::TempDir;
use toolbay_core::{
    Actor, Attachment, CallResult, DecidedBy, Effect, Need, Outcome, Owner, PastCall, PendingCall,
    Preview, ReplyStatus, RequestState, Schema, Settled, StoredReply, WriteTarget,
};

use super::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const NOW: Duration = Duration::from_secs(20_000 * 24 * 60 * 60);

fn store() -> (TempDir, ApprovalFiles) {
    let home = tempfile::tempdir().unwrap();
    let store = ApprovalFiles::new(home.path().join("approvals"));
    (home, store)
}

/// The same folder, as another process has it.
fn again(home: &TempDir) -> ApprovalFiles {
    ApprovalFiles::new(home.path().join("approvals"))
}

fn call(tool: &str, effect: Effect) -> PendingCall {
    PendingCall {
        tool: tool.parse().unwrap(),
        provider: "notes".parse().unwrap(),
        content: "0a".repeat(32),
        effect,
        arguments: r#"{"text":"a \"b\" ä"}"#.to_owned(),
        preview: Preview::Lines(vec![format!("what {tool} does")]),
    }
}

fn request(tool: &str) -> PendingRequest {
    PendingRequest {
        owner: Owner {
            actor: Actor::User { name: "ada".parse().unwrap(), admin: false },
            agent: None,
            run: None,
            attachments: Vec::new(),
        },
        calls: vec![call(tool, Effect::NonIdempotentWrite)],
        need: Need::Approval,
        history: None,
        requested: NOW,
        expires: NOW + DAY,
    }
}

fn done(text: &str) -> Settled {
    let rest = RawValue::from_string(r#"{"structured": {"n":  1}}"#.to_owned()).unwrap();
    let reply = StoredReply { status: ReplyStatus::Ok, text: text.to_owned(), rest: Some(rest) };
    let refused =
        CallResult::Refused { code: "cancelled".to_owned(), model_text: "No.".to_owned() };
    Settled::Done { results: vec![CallResult::Reply(reply), refused] }
}

fn suspended(store: &ApprovalFiles, request: PendingRequest) -> ApprovalId {
    match store.suspend(request, NOW).unwrap() {
        Suspension::Waiting { id, new: true } => id,
        other => panic!("{other:?}"),
    }
}

fn state(store: &ApprovalFiles, id: &ApprovalId) -> RequestState {
    store.get(id, NOW).unwrap().unwrap().state
}

fn files(home: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(home.path().join("approvals")).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_request_reads_back_as_it_was_kept() {
    let full = PendingRequest {
        owner: Owner {
            actor: Actor::ServiceAccount {
                name: "indexer".parse().unwrap(),
                scopes: vec!["approve".to_owned()],
            },
            agent: Some("helper".parse().unwrap()),
            run: Some("run-7".parse().unwrap()),
            attachments: vec![Attachment {
                name: "a.png".to_owned(),
                media_type: "image/png".to_owned(),
                uri: "file:///a.png".to_owned(),
            }],
        },
        calls: vec![
            PendingCall { preview: Preview::Absent, ..call("a", Effect::ReadOnly) },
            PendingCall {
                preview: Preview::Failed("fault".to_owned()),
                ..call("b", Effect::IdempotentWrite)
            },
            call("c", Effect::NonIdempotentWrite),
        ],
        need: Need::Input {
            call: 2,
            schema: Schema::parse(r#"{"type": "object",  "properties": {"pin": {}}}"#).unwrap(),
        },
        history: Some(vec![
            PastCall { tool: "d".parse().unwrap(), outcome: Outcome::TimedOut, target: None },
            PastCall {
                tool: "e".parse().unwrap(),
                outcome: Outcome::Ok,
                target: Some(WriteTarget::new("note", "7").unwrap()),
            },
        ]),
        requested: Duration::from_millis(7),
        // What an expiry that saturates comes to.
        expires: Duration::from_millis(u64::MAX),
    };
    let nobody = PendingRequest {
        owner: Owner { actor: Actor::Anonymous, ..request("a").owner },
        history: Some(Vec::new()),
        ..request("a")
    };
    let (home, store) = store();
    for request in [full, nobody, request("a")] {
        let id = suspended(&store, request.clone());
        let stored = again(&home).get(&id, NOW).unwrap().unwrap();
        assert_eq!((&stored.id, &stored.request), (&id, &request));
        assert!(matches!(&stored.state, RequestState::Waiting { stale } if stale.is_empty()));
        assert_eq!(stored.request.digest(), request.digest());
    }
    let forever = PendingRequest { expires: Duration::MAX, ..request("z") };
    let id = suspended(&store, forever.clone());
    let stored = store.get(&id, NOW).unwrap().unwrap();
    assert_eq!(stored.request.digest(), forever.digest(), "a person decides about the same");
}

#[test]
fn every_outcome_reads_back_and_is_handed_out_once() {
    let outcomes = [
        done("written"),
        Settled::Done { results: Vec::new() },
        Settled::Denied { by: DecidedBy::Owner },
        Settled::Denied { by: DecidedBy::Other },
        Settled::Denied { by: DecidedBy::Nobody },
        Settled::Interrupted,
    ];
    let (home, store) = store();
    for outcome in outcomes {
        let key = request("a").key();
        let id = suspended(&store, request("a"));
        let mut claim = store.claim(&id, NOW).unwrap();
        claim.run("user:bo", NOW).unwrap();
        assert!(matches!(again(&home).answer(&key, NOW), Ok(Some(Suspension::Running { .. }))));
        claim.settle("user:bo", NOW, outcome.clone()).unwrap();

        let expected = format!("{outcome:?}");
        match state(&store, &id) {
            RequestState::Settled { by, at, settled, delivered: false } => {
                assert_eq!((&*by, at, format!("{settled:?}")), ("user:bo", NOW, expected.clone()));
            }
            other => panic!("{other:?}"),
        }
        match again(&home).answer(&key, NOW).unwrap().unwrap() {
            Suspension::Settled { id: answered, settled } => {
                assert_eq!((answered, format!("{settled:?}")), (id.clone(), expected));
            }
            other => panic!("{other:?}"),
        }
        assert!(store.answer(&key, NOW).unwrap().is_none(), "it was handed out");
        assert!(matches!(state(&store, &id), RequestState::Settled { delivered: true, .. }));
    }
    // Each time, the same call was a new request afterwards.
    assert_eq!(store.list(NOW).0.len(), 6);
    assert!(store.waiting(NOW).0.is_empty());
}

#[test]
fn the_same_call_made_by_many_at_once_is_one_request() {
    let (home, _) = store();
    let barrier = Barrier::new(8);
    let results: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let store = again(&home);
                    barrier.wait();
                    store.suspend(request("a"), NOW).unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let made = |result: &&Suspension| matches!(result, Suspension::Waiting { new: true, .. });
    assert_eq!(results.iter().filter(made).count(), 1);
    assert_eq!(again(&home).list(NOW).0.len(), 1);
    suspended(&again(&home), request("b"));
    assert_eq!(again(&home).list(NOW).0.len(), 2, "another call is another request");
}

#[test]
fn requests_are_listed_in_the_order_in_which_they_were_asked_for() {
    let (home, store) = store();
    for (tool, second) in [("b", 2), ("a", 1), ("c", 3)] {
        let requested = NOW + Duration::from_secs(second);
        suspended(&store, PendingRequest { requested, ..request(tool) });
    }
    let id = store.waiting(NOW).0[2].id.clone();
    let denied = Settled::Denied { by: DecidedBy::Other };
    store.claim(&id, NOW).unwrap().settle("user:bo", NOW, denied).unwrap();
    let tools = |requests: Vec<StoredRequest>| {
        requests.iter().map(|stored| stored.request.calls[0].tool.to_string()).collect::<String>()
    };
    let store = again(&home);
    assert_eq!(tools(store.list(NOW).0), "abc");
    assert_eq!(tools(store.waiting(NOW).0), "ab");
}

#[test]
fn a_request_whose_time_is_over_is_denied_by_nobody_for_good() {
    type Ask = fn(&ApprovalFiles, &ApprovalId, Duration);
    let asks: [(&str, Ask); 4] = [
        ("get", |store, id, now| drop(store.get(id, now).unwrap())),
        ("list", |store, _, now| drop(store.list(now))),
        ("waiting", |store, _, now| assert!(store.waiting(now).0.is_empty())),
        ("claim", |store, id, now| {
            assert!(matches!(store.claim(id, now), Err(ClaimError::NotWaiting)));
        }),
    ];
    for (what, ask) in asks {
        let (home, store) = store();
        let id = suspended(&store, request("a"));
        let last = NOW + DAY - Duration::from_millis(1);
        drop(store.claim(&id, last).unwrap());
        assert!(store.get(&id, last).unwrap().unwrap().is_waiting(last), "{what}");
        ask(&store, &id, NOW + DAY);
        // Also for whoever has a clock that is behind.
        let settled = state(&again(&home), &id);
        assert!(
            matches!(settled, RequestState::Settled { at, settled: Settled::Denied { by: DecidedBy::Nobody }, .. } if at == NOW + DAY),
            "{what}"
        );
        let answered = store.answer(&request("a").key(), NOW).unwrap();
        assert!(matches!(answered, Some(Suspension::Settled { .. })), "{what}");
    }
}

#[test]
fn who_asks_too_much_leaves_room_for_others() {
    let (_home, store) = store();
    let store = ApprovalFiles { max_waiting_of_one: 2, ..store };
    for tool in ["a", "b"] {
        suspended(&store, request(tool));
    }
    let too_much = store.suspend(request("c"), NOW);
    assert!(matches!(too_much, Err(StoreError::OwnerFull { limit: 2, .. })), "{too_much:?}");
    let owner = Owner { actor: Actor::Anonymous, ..request("c").owner };
    suspended(&store, PendingRequest { owner, ..request("c") });
    let later = store.suspend(request("c"), NOW + DAY);
    assert!(matches!(later, Ok(Suspension::Waiting { new: true, .. })), "{later:?}");
}

#[test]
fn no_more_wait_than_may_and_what_is_over_makes_room() {
    let (_home, store) = store();
    let store = ApprovalFiles { max_waiting: 3, ..store };
    for tool in ["a", "b", "c"] {
        let expires = NOW + if tool == "a" { DAY / 2 } else { DAY };
        suspended(&store, PendingRequest { expires, ..request(tool) });
    }
    let full = store.suspend(request("d"), NOW);
    assert!(matches!(full, Err(StoreError::Full { limit: 3 })), "{full:?}");
    let same = store.suspend(request("b"), NOW);
    assert!(matches!(same, Ok(Suspension::Waiting { new: false, .. })), "it waits already");
    // One is over; one is damaged, and will never be decided about.
    assert!(matches!(store.suspend(request("d"), NOW + DAY / 2), Ok(Suspension::Waiting { .. })));
    let full = store.suspend(request("e"), NOW + DAY / 2);
    assert!(matches!(full, Err(StoreError::Full { .. })), "{full:?}");
    let name = store.folder.lock().unwrap().unwrap().names().unwrap().remove(0);
    fs::write(store.folder.lock().unwrap().unwrap().file(&name).path(), "damaged").unwrap();
    assert!(store.suspend(request("e"), NOW + DAY / 2).is_ok());
}

#[test]
fn what_was_over_long_ago_is_removed_a_little_at_a_time() {
    let (home, store) = store();
    for number in 0..MAX_REMOVED + 2 {
        let id = suspended(&store, request(&format!("t{number}")));
        let denied = Settled::Denied { by: DecidedBy::Other };
        store.claim(&id, NOW).unwrap().settle("user:bo", NOW, denied).unwrap();
        // One that nobody has asked about stays as long as the others.
        if number > 0 {
            let key = request(&format!("t{number}")).key();
            store.answer(&key, NOW).unwrap().unwrap();
        }
    }
    let waiting = suspended(&store, PendingRequest { expires: NOW + 99 * DAY, ..request("a") });
    let count = |home: &TempDir| {
        files(home)
            .iter()
            .filter(|name| !name.starts_with("open") && name.ends_with(".json"))
            .count()
    };
    let suspend = |tool: &str, now: Duration| {
        let request = PendingRequest { requested: now, expires: now + 99 * DAY, ..request(tool) };
        store.suspend(request, now).unwrap();
    };
    suspend("b", NOW + 30 * DAY);
    assert_eq!(count(&home), MAX_REMOVED + 2);
    suspend("c", NOW + 31 * DAY);
    assert_eq!(count(&home), 2);
    suspend("d", NOW + 31 * DAY);
    assert_eq!(count(&home), 0);
    assert!(store.get(&waiting, NOW + 31 * DAY).unwrap().is_some(), "what waits is never old");
}

#[test]
fn nothing_is_made_before_there_is_a_request_and_then_nobody_else_may_read_it() {
    let (home, store) = store();
    assert!(store.answer(&request("a").key(), NOW).unwrap().is_none());
    assert!(store.get(&"7k3f".parse().unwrap(), NOW).unwrap().is_none());
    let claim = store.claim(&"7k3f".parse().unwrap(), NOW);
    assert!(matches!(claim, Err(ClaimError::NotWaiting)));
    assert!(store.list(NOW).0.is_empty() && store.list(NOW).1.is_empty());
    assert!(!home.path().join("approvals").exists());

    let id = suspended(&store, request("a"));
    drop(store.claim(&id, NOW).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = home.path().join("approvals");
    assert_eq!(mode(&folder), 0o700);
    let names = files(&home);
    assert_eq!(
        names,
        [".lock".to_owned(), format!("open-{}-{id}.json", FileName::key_of(&request("a")))]
    );
    for name in names {
        assert_eq!(mode(&folder.join(&name)), 0o600, "{name}");
    }
}

#[test]
fn ids_are_twelve_letters_and_digits_and_all_differ() {
    let ids: std::collections::BTreeSet<_> = (0..500).map(|_| id::random().unwrap()).collect();
    assert_eq!(ids.len(), 500);
    let text: String = ids.iter().map(|id| id.as_str()).collect();
    assert_eq!(text.len(), 500 * 12);
    // Each of the 36 is missing among 6,000 with a probability of 10^-73.
    assert!(('a'..='z').chain('0'..='9').all(|letter| text.contains(letter)));
}
