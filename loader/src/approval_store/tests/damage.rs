//! Files that are not what was written.

use super::*;

fn path_of(store: &ApprovalFiles, id: &ApprovalId) -> PathBuf {
    let locked = store.folder.lock().unwrap().unwrap();
    let name = locked.names().unwrap().into_iter().find(|name| name.id == *id).unwrap();
    locked.file(&name).path()
}

/// Changes what a request's file says, and seals it again.
fn forge(store: &ApprovalFiles, id: &ApprovalId, from: &str, to: &str) {
    let locked = store.folder.lock().unwrap().unwrap();
    let name = locked.names().unwrap().into_iter().find(|name| name.id == *id).unwrap();
    let file = locked.file(&name);
    let text = file.read(|text| Ok::<_, StoreError>(text.get().to_owned())).unwrap().unwrap();
    let forged = text.replacen(from, to, 1);
    assert_ne!(forged, text, "{from}");
    file.write(&RawValue::from_string(forged).unwrap(), crate::sealed_file::Keep::Nothing).unwrap();
}

#[test]
fn a_damaged_file_stops_its_own_request_alone_and_stays_as_it_is() {
    // Edge case 62.
    type Damage = fn(&ApprovalFiles, &ApprovalId, &Path);
    let damages: [(&str, Damage, &str); 8] = [
        ("empty", |_, _, file| fs::write(file, "").unwrap(), "EOF"),
        (
            "cut",
            |_, _, file| {
                let whole = fs::read(file).unwrap();
                fs::write(file, &whole[..whole.len() / 2]).unwrap();
            },
            "EOF",
        ),
        (
            "flipped",
            |_, _, file| {
                let whole = fs::read_to_string(file).unwrap();
                fs::write(file, whole.replace("non_idempotent", "mon_idempotent")).unwrap();
            },
            "checksum",
        ),
        (
            "of a later release",
            |_, _, file| fs::write(file, r#"{"format": 2, "request": {}}"#).unwrap(),
            "format 2, expected 1",
        ),
        ("not in the form", |store, id, _| forge(store, id, "\"owner\"", "\"owned\""), "owned"),
        (
            "silent about its agent",
            |store, id, _| forge(store, id, "\"agent\": null,", ""),
            "agent",
        ),
        ("without a call", |store, id, _| forge(store, id, "\"a\"", "\"a b\""), "no call"),
        (
            "another request's",
            |store, id, _| forge(store, id, &format!("\"{id}\""), "\"7k3f\""),
            "request 7k3f",
        ),
    ];
    for (what, damage, expected) in damages {
        let (home, store) = store();
        let other = suspended(&store, request("b"));
        let id = suspended(&store, request("a"));
        let file = path_of(&store, &id);
        damage(&store, &id, &file);
        let damaged = fs::read(&file).unwrap();
        let check = |error: StoreError| match error {
            StoreError::Damaged { path, found } => {
                assert_eq!(path, file.display().to_string(), "{what}");
                assert!(found.contains(expected), "{what}: {found}");
            }
            other => panic!("{what}: {other:?}"),
        };
        let store = again(&home);
        check(store.get(&id, NOW).unwrap_err());
        check(match store.claim(&id, NOW) {
            Err(ClaimError::Store(error)) => error,
            other => panic!("{what}: {:?}", other.map(drop)),
        });
        // Nobody knows whether the same call has run.
        check(store.answer(&request("a").key(), NOW).unwrap_err());
        check(store.suspend(request("a"), NOW).unwrap_err());
        for (requests, mut problems) in [store.list(NOW + DAY / 2), store.waiting(NOW)] {
            assert_eq!(requests.iter().map(|stored| &stored.id).collect::<Vec<_>>(), [&other]);
            assert_eq!(problems.len(), 1);
            check(problems.remove(0));
        }
        let answered = store.answer(&request("b").key(), NOW).unwrap();
        assert!(matches!(answered, Some(Suspension::Waiting { .. })), "{what}");
        suspended(&store, request("c"));
        assert_eq!(fs::read(&file).unwrap(), damaged, "{what}");
    }
}

#[test]
fn a_folder_that_can_not_be_read_is_an_error_and_not_an_empty_list() {
    // Edge case 84.
    let (home, store) = store();
    fs::write(home.path().join("approvals"), "no folder").unwrap();
    let (requests, problems) = store.list(NOW);
    assert!(requests.is_empty());
    assert!(matches!(&problems[..], [StoreError::Io { .. }]), "{problems:?}");
    assert!(matches!(store.suspend(request("a"), NOW), Err(StoreError::Io { .. })));
    assert!(matches!(store.get(&"7k3f".parse().unwrap(), NOW), Err(StoreError::Io { .. })));
}

/// Three calls of which the middle one is damaged.
fn with_a_damaged_call(store: &ApprovalFiles) -> (ApprovalId, Digest) {
    let calls = [("a", Effect::ReadOnly), ("broken", Effect::ReadOnly), ("c", Effect::ReadOnly)];
    let calls = calls.map(|(tool, effect)| call(tool, effect)).to_vec();
    let request = PendingRequest { calls, ..request("a") };
    let key = request.key();
    let id = suspended(store, request);
    forge(store, &id, "\"broken\"", "\"broken tool\"");
    (id, key)
}

#[test]
fn a_damaged_call_is_left_out_and_each_other_keeps_its_preview_and_its_result() {
    // Edge case 63.
    let (home, store) = store();
    let (id, key) = with_a_damaged_call(&store);
    let stored = store.get(&id, NOW).unwrap().unwrap();
    let calls: Vec<_> =
        stored.request.calls.iter().map(|call| (call.tool.as_str(), &call.preview)).collect();
    let lines = |text: &str| Preview::Lines(vec![text.to_owned()]);
    assert_eq!(calls, [("a", &lines("what a does")), ("c", &lines("what c does"))]);
    let answered = again(&home).answer(&key, NOW).unwrap();
    assert!(matches!(answered, Some(Suspension::Waiting { .. })), "the same call finds it");

    // The second of the two that are left is the third of all.
    let mut fresh = stored.request;
    fresh.calls[1].preview = lines("something else");
    store.claim(&id, NOW).unwrap().restate(fresh, vec![1]).unwrap();
    assert!(
        fs::read_to_string(path_of(&store, &id)).unwrap().contains("\"stale\": [\n        2\n")
    );
    let RequestState::Waiting { stale } = state(&store, &id) else { panic!("it waits") };
    assert_eq!(stale, [1]);

    let mut claim = store.claim(&id, NOW).unwrap();
    claim.run("user:bo", NOW).unwrap();
    let result =
        |code: &str| CallResult::Refused { code: code.to_owned(), model_text: String::new() };
    let results = vec![result("of a"), result("of c")];
    claim.settle("user:bo", NOW, Settled::Done { results }).unwrap();
    let codes = |settled: Settled| match settled {
        Settled::Done { results } => results
            .into_iter()
            .map(|result| match result {
                CallResult::Refused { code, .. } => code,
                CallResult::Reply(reply) => panic!("{reply:?}"),
            })
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let RequestState::Settled { settled, .. } = state(&store, &id) else { panic!("it is over") };
    assert_eq!(codes(settled), ["of a", "of c"], "as many as there are calls");
    let Some(Suspension::Settled { settled, .. }) = again(&home).answer(&key, NOW).unwrap() else {
        panic!("an outcome")
    };
    assert_eq!(codes(settled), ["of a", "damaged", "of c"], "one for each call that was made");
    let text = fs::read_to_string(path_of(&store, &id)).unwrap();
    assert!(text.contains("broken tool"), "it is still there to be looked at");
}

#[test]
fn an_input_stays_with_its_call_and_is_lost_with_it() {
    let schema = || Schema::parse(r#"{"type":"object","properties":{"pin":{}}}"#).unwrap();
    for (broken, place, expected) in [("a", 2, Some(1)), ("c", 0, Some(0)), ("c", 2, None)] {
        let (_home, store) = store();
        let calls = ["a", "b", "c"].map(|tool| call(tool, Effect::ReadOnly)).to_vec();
        let need = Need::Input { call: place, schema: schema() };
        let id = suspended(&store, PendingRequest { calls, need, ..request("a") });
        forge(&store, &id, &format!("\"{broken}\""), "\"a b\"");
        match (store.get(&id, NOW), expected) {
            (Ok(Some(stored)), Some(call)) => {
                assert_eq!(stored.request.need, Need::Input { call, schema: schema() });
            }
            (Err(StoreError::Damaged { found, .. }), None) => {
                assert!(found.contains("an input for call 2"), "{found}");
            }
            (other, _) => panic!("{broken} {place}: {other:?}"),
        }
    }
}

#[test]
fn a_request_that_ran_with_a_call_that_can_not_be_read_is_not_run_again() {
    let (_home, store) = store();
    let (id, _) = with_a_damaged_call(&store);
    let mut claim = store.claim(&id, NOW).unwrap();
    claim.run("user:bo", NOW).unwrap();
    drop(claim);
    let settled = state(&store, &id);
    assert!(matches!(settled, RequestState::Settled { settled: Settled::Interrupted, .. }));
}

#[test]
fn a_history_that_can_not_be_read_is_incomplete() {
    let (_home, store) = store();
    let past = PastCall { tool: "d".parse().unwrap(), outcome: Outcome::Ok, target: None };
    let with_history = PendingRequest { history: Some(vec![past]), ..request("a") };
    let id = suspended(&store, with_history.clone());
    assert_eq!(store.get(&id, NOW).unwrap().unwrap().request, with_history);
    forge(&store, &id, "\"ok\"", "\"splendid\"");
    assert_eq!(store.get(&id, NOW).unwrap().unwrap().request.history, None);
}
