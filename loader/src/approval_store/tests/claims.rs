//! Who may decide about a request, and what is left where they don't come to an end.

use super::*;

fn held_by(store: &ApprovalFiles, id: &ApprovalId) -> Result<(), ClaimError> {
    store.claim(id, NOW).map(drop)
}

#[test]
fn one_claim_excludes_all_others_until_it_is_given_up() {
    // Edge case 55.
    let (home, store) = store();
    let id = suspended(&store, request("a"));
    let other = suspended(&store, request("b"));
    let claim = store.claim(&id, NOW).unwrap();
    assert_eq!(claim.request().id, id);
    assert!(matches!(held_by(&store, &id), Err(ClaimError::Taken)));
    assert!(matches!(held_by(&again(&home), &id), Err(ClaimError::Taken)));
    held_by(&store, &other).unwrap();
    // Nothing on disk says that somebody is deciding.
    assert!(matches!(state(&store, &id), RequestState::Waiting { .. }));
    let answered = store.answer(&request("a").key(), NOW).unwrap();
    assert!(matches!(answered, Some(Suspension::Waiting { new: false, .. })));
    drop(claim);
    held_by(&again(&home), &id).unwrap();
}

#[test]
fn of_threads_that_claim_at_once_one_gets_it() {
    // Edge case 55.
    let (home, store) = store();
    for round in 0..10 {
        let id = suspended(&store, request(&format!("t{round}")));
        let barrier = Barrier::new(8);
        let count = |ended: &Barrier| {
            let store = again(&home);
            barrier.wait();
            let claim = store.claim(&id, NOW);
            ended.wait();
            match claim {
                Ok(_) => 1,
                Err(ClaimError::Taken) => 0,
                Err(other) => panic!("{other:?}"),
            }
        };
        let ended = Barrier::new(8);
        let claimed: u32 = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| count(&ended))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(claimed, 1);
    }
}

#[test]
fn a_request_that_somebody_holds_does_not_expire_under_their_hands() {
    let (_home, store) = store();
    let id = suspended(&store, request("a"));
    let mut claim = store.claim(&id, NOW).unwrap();
    let late = NOW + DAY;
    assert!(!store.get(&id, late).unwrap().unwrap().is_waiting(late));
    assert!(store.waiting(late).0.is_empty());
    claim.run("user:bo", late).unwrap();
    claim.settle("user:bo", late, done("written")).unwrap();
    assert!(matches!(
        state(&store, &id),
        RequestState::Settled { settled: Settled::Done { .. }, .. }
    ));
}

#[test]
fn a_claim_that_ran_and_never_settled_is_repeated_only_where_that_does_no_harm() {
    // Edge case 75.
    use Effect::{IdempotentWrite, NonIdempotentWrite, ReadOnly};
    let cases: [(&[Effect], Duration, bool); 6] = [
        (&[NonIdempotentWrite], NOW, false),
        (&[ReadOnly], NOW, true),
        (&[IdempotentWrite], NOW, true),
        (&[ReadOnly, NonIdempotentWrite], NOW, false),
        (&[ReadOnly, IdempotentWrite], NOW, true),
        // It may have written, and its time to do so again is over.
        (&[IdempotentWrite], NOW + DAY, false),
    ];
    type Find = fn(&ApprovalFiles, &ApprovalId, Duration);
    let finds: [Find; 4] = [
        |store, id, now| drop(store.get(id, now).unwrap()),
        |store, _, now| drop(store.list(now)),
        |store, _, now| drop(store.waiting(now)),
        |store, id, now| drop(store.claim(id, now)),
    ];
    for (effects, now, waits) in cases {
        for find in finds {
            let (home, store) = store();
            let calls = effects.iter().map(|effect| call("a", *effect)).collect();
            let id = suspended(&store, PendingRequest { calls, ..request("a") });
            let mut claim = store.claim(&id, NOW).unwrap();
            claim.run("user:bo", NOW).unwrap();
            assert!(matches!(state(&store, &id), RequestState::Claimed { .. }));
            assert!(matches!(held_by(&again(&home), &id), Err(ClaimError::Taken)));
            drop(claim);
            find(&again(&home), &id, now);
            match store.get(&id, now).unwrap().unwrap().state {
                RequestState::Waiting { stale } => assert!(waits && stale.is_empty()),
                RequestState::Settled { by, settled: Settled::Interrupted, .. } => {
                    assert_eq!((waits, &*by), (false, "user:bo"));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn whoever_asked_hears_of_an_interruption_once() {
    let (home, store) = store();
    let id = suspended(&store, request("a"));
    let key = request("a").key();
    let mut claim = store.claim(&id, NOW).unwrap();
    claim.run("user:bo", NOW).unwrap();
    drop(claim);
    match again(&home).answer(&key, NOW).unwrap() {
        Some(Suspension::Settled { settled: Settled::Interrupted, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert!(store.answer(&key, NOW).unwrap().is_none());
}

#[test]
fn a_request_with_new_previews_waits_again_and_the_same_call_finds_it() {
    // Edge case 65.
    let (home, store) = store();
    let id = suspended(&store, request("a"));
    let mut fresh = request("a");
    fresh.calls[0].content = "0b".repeat(32);
    fresh.calls[0].preview = Preview::Lines(vec!["something else".to_owned()]);
    store.claim(&id, NOW).unwrap().restate(fresh.clone(), vec![0]).unwrap();

    let stored = again(&home).get(&id, NOW).unwrap().unwrap();
    assert_eq!(stored.request, fresh);
    assert!(matches!(&stored.state, RequestState::Waiting { stale } if stale == &[0]));
    match store.suspend(fresh, NOW).unwrap() {
        Suspension::Waiting { id: found, new: false } => assert_eq!(found, id),
        other => panic!("{other:?}"),
    }
    assert!(store.answer(&request("a").key(), NOW).unwrap().is_none(), "the old code is gone");
    held_by(&store, &id).unwrap();
}

#[test]
fn previews_that_were_cut_short_as_they_were_renewed_make_no_second_request() {
    let (_home, store) = store();
    let id = suspended(&store, request("a"));
    let mut fresh = request("a");
    fresh.calls[0].content = "0b".repeat(32);
    // Where a process is killed between the two steps of a restatement.
    let locked = store.folder.lock().unwrap().unwrap();
    let name = locked.names().unwrap().remove(0);
    let renamed = FileName { key: FileName::key_of(&fresh), ..name.clone() };
    locked.rename_to(&name, &renamed).unwrap();
    drop(locked);

    match store.suspend(fresh.clone(), NOW).unwrap() {
        Suspension::Waiting { id: found, new: false } => assert_eq!(found, id),
        other => panic!("{other:?}"),
    }
    let claim = store.claim(&id, NOW).unwrap();
    assert_eq!(claim.request().request, request("a"), "it is what it was");
    claim.restate(fresh.clone(), vec![0]).unwrap();
    assert_eq!(store.get(&id, NOW).unwrap().unwrap().request, fresh);
}

#[test]
fn a_name_that_a_killed_process_left_behind_is_put_right() {
    let (home, store) = store();
    let id = suspended(&store, request("a"));
    let open = files(&home).pop().unwrap();
    store.claim(&id, NOW).unwrap().settle("user:bo", NOW, done("written")).unwrap();
    let settled = files(&home).pop().unwrap();
    assert_eq!(settled, open.replace("open-", "settled-20000-"));
    let folder = home.path().join("approvals");
    fs::rename(folder.join(&settled), folder.join(&open)).unwrap();

    assert!(matches!(held_by(&store, &id), Err(ClaimError::NotWaiting)));
    assert!(store.waiting(NOW).0.is_empty());
    assert_eq!(files(&home).pop().unwrap(), settled);
    fs::rename(folder.join(&settled), folder.join(&open)).unwrap();
    let answered = store.answer(&request("a").key(), NOW).unwrap();
    assert!(matches!(answered, Some(Suspension::Settled { .. })));
    assert_eq!(files(&home).pop().unwrap(), open.replace("open-", "delivered-20000-"));
    assert!(store.answer(&request("a").key(), NOW).unwrap().is_none());
}

#[test]
fn a_claim_writes_over_nothing_that_it_did_not_claim() {
    // Edge case 74.
    type Lay = fn(&Path, &ApprovalFiles, &ApprovalId);
    let hands: [(&str, Lay); 4] = [
        ("removed", |file, _, _| fs::remove_file(file).unwrap()),
        ("damaged", |file, _, _| fs::write(file, "{").unwrap()),
        // Whoever removes the lock of somebody who lives lets another one in.
        ("settled by another", |file, store, id| {
            fs::remove_file(file.with_file_name(format!("{id}.lock"))).unwrap();
            let denied = Settled::Denied { by: DecidedBy::Other };
            store.claim(id, NOW).unwrap().settle("user:cy", NOW, denied).unwrap();
        }),
        ("given other previews by another", |file, store, id| {
            fs::remove_file(file.with_file_name(format!("{id}.lock"))).unwrap();
            let mut fresh = request("a");
            fresh.calls[0].preview = Preview::Absent;
            store.claim(id, NOW).unwrap().restate(fresh, vec![0]).unwrap();
        }),
    ];
    for (what, lay) in hands {
        for runs in [true, false] {
            let (home, store) = store();
            let id = suspended(&store, request("a"));
            let file = home.path().join("approvals").join(files(&home).pop().unwrap());
            let mut claim = store.claim(&id, NOW).unwrap();
            lay(&file, &store, &id);
            let before = files(&home);
            let refused = match runs {
                true => claim.run("user:bo", NOW),
                false => claim.settle("user:bo", NOW, done("written")),
            };
            assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{what}: {refused:?}");
            let requests = |files: Vec<String>| {
                files.into_iter().filter(|name| name.ends_with(".json")).collect::<Vec<_>>()
            };
            assert_eq!(requests(files(&home)), requests(before), "{what}");
        }
    }
}

#[test]
fn nothing_is_left_of_claims_that_came_to_an_end() {
    let (home, store) = store();
    let id = suspended(&store, request("a"));
    held_by(&store, &id).unwrap();
    let mut claim = store.claim(&id, NOW).unwrap();
    assert!(files(&home).contains(&format!("{id}.lock")));
    claim.run("user:bo", NOW).unwrap();
    claim.settle("user:bo", NOW, done("written")).unwrap();
    assert!(matches!(held_by(&store, &id), Err(ClaimError::NotWaiting)));
    assert_eq!(files(&home).len(), 2, "{:?}", files(&home));
}
