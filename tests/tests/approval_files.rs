//! Requests for approval that several processes share, also where they are killed.
#![cfg(test)]

use std::{
    collections::BTreeMap,
    env,
    ffi::OsStr,
    fs::{self, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::Write,
    path::Path,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use toolbay_loader::{
    Actor, ApprovalFiles, ApprovalId, ApprovalStore, CallResult, ClaimError, Effect, Need, Owner,
    PendingCall, PendingRequest, Preview, RequestState, Settled, Suspension,
};
use toolbay_tests::child::{self, Child};

const NOW: Duration = Duration::from_secs(1_800_000_000);

const FOLDER: &str = "TOOLBAY_TEST_FOLDER";
const FIRST: &str = "TOOLBAY_TEST_FIRST";

/// Request number so and so: an odd one writes, and must not be repeated.
fn request(number: u64) -> PendingRequest {
    PendingRequest {
        owner: Owner { actor: Actor::Anonymous, agent: None, run: None, attachments: Vec::new() },
        calls: vec![PendingCall {
            tool: format!("t{number}").parse().unwrap(),
            provider: "notes".parse().unwrap(),
            content: "0a".repeat(32),
            effect: if number % 2 == 1 { Effect::NonIdempotentWrite } else { Effect::ReadOnly },
            arguments: "{}".to_owned(),
            preview: Preview::Absent,
        }],
        need: Need::Approval,
        history: None,
        requested: NOW,
        expires: NOW + Duration::from_secs(60),
    }
}

fn store(folder: &Path) -> ApprovalFiles {
    ApprovalFiles::new(folder.join("approvals"))
}

#[test]
fn of_processes_and_threads_that_claim_at_once_one_gets_it() {
    // Edge case 55.
    const THREADS: usize = 8;
    const PROCESSES: usize = 4;
    if let Some(folder) = env::var_os(FOLDER) {
        let store = store(Path::new(&folder));
        let id = store.waiting(NOW).0[0].id.clone();
        child::say("ready");
        child::wait();
        let begin = Barrier::new(THREADS);
        let end = Barrier::new(THREADS);
        let claim = || {
            begin.wait();
            let claim = store.claim(&id, NOW);
            let got = match &claim {
                Ok(_) => 1,
                Err(ClaimError::Taken) => 0,
                Err(other) => panic!("{other:?}"),
            };
            if end.wait().is_leader() {
                child::say("tried");
                child::wait();
            }
            end.wait();
            drop(claim);
            got
        };
        let got: usize = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(claim)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        child::say(&got.to_string());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let Suspension::Waiting { id, new: true } = store.suspend(request(1), NOW).unwrap() else {
        panic!("a new request")
    };
    let test = "of_processes_and_threads_that_claim_at_once_one_gets_it";
    let variables = [(FOLDER, folder.path().as_os_str())];
    let mut children: Vec<_> = (0..PROCESSES).map(|_| Child::of(test, &variables)).collect();
    for expected in ["ready", "tried"] {
        for child in &mut children {
            assert_eq!(child.line().as_deref(), Some(expected));
        }
        if expected == "tried" {
            assert!(matches!(store.claim(&id, NOW), Err(ClaimError::Taken)));
        }
        children.iter_mut().for_each(Child::go_on);
    }
    let got = children.iter_mut().map(|child| child.line().unwrap().parse::<usize>().unwrap());
    assert_eq!(got.sum::<usize>(), 1);
    assert!(store.claim(&id, NOW).is_ok(), "it was given up, and waits again");
}

#[test]
fn a_request_that_a_killed_process_was_running_waits_again_or_is_interrupted() {
    // Edge case 75.
    const TEST: &str = "a_request_that_a_killed_process_was_running_waits_again_or_is_interrupted";
    if let Some(folder) = env::var_os(FOLDER) {
        let store = store(Path::new(&folder));
        let id = store.waiting(NOW).0[0].id.clone();
        let mut claim = store.claim(&id, NOW).unwrap();
        claim.run("user:bo", NOW).unwrap();
        child::say("runs");
        child::wait();
        return;
    }
    for (number, waits) in [(1, false), (2, true)] {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        store.suspend(request(number), NOW).unwrap();
        let mut child = Child::of(TEST, &[(FOLDER, folder.path().as_os_str())]);
        assert_eq!(child.line().as_deref(), Some("runs"));
        let stored = store.list(NOW).0.remove(0);
        assert!(matches!(stored.state, RequestState::Claimed { .. }), "its process lives");
        assert!(matches!(store.claim(&stored.id, NOW), Err(ClaimError::Taken)));
        child.kill();
        match store.get(&stored.id, NOW).unwrap().unwrap().state {
            RequestState::Waiting { .. } => assert!(waits, "{number}"),
            RequestState::Settled { settled: Settled::Interrupted, .. } => {
                assert!(!waits, "{number}")
            }
            other => panic!("{number}: {other:?}"),
        }
        assert_eq!(store.claim(&stored.id, NOW).is_ok(), waits, "{number}");
    }
}

/// What is known of a request from what processes have said before they were killed.
#[derive(Debug, Default)]
struct Said {
    settled: bool,
    delivered: u32,
}

#[test]
fn what_killed_processes_acknowledged_is_kept_run_once_and_handed_out_once() {
    // Edge case 75.
    const HOMES: u32 = 8;
    const ROUNDS: u64 = 12;
    const TEST: &str = "what_killed_processes_acknowledged_is_kept_run_once_and_handed_out_once";
    if let (Some(folder), Ok(first)) = (env::var_os(FOLDER), env::var(FIRST)) {
        work_until_killed(Path::new(&folder), first.parse().unwrap());
    }
    for _ in 0..HOMES {
        let folder = tempfile::tempdir().unwrap();
        let mut said: BTreeMap<u64, Said> = BTreeMap::new();
        for round in 0..ROUNDS {
            // Two at a time, each with requests of its own; each runs whatever waits.
            let children: Vec<_> = [2 * round, 2 * round + 1]
                .map(|child| {
                    let first = (child * 1_000_000).to_string();
                    let folder = folder.path().as_os_str();
                    Child::of(TEST, &[(FOLDER, folder), (FIRST, OsStr::new(&first))])
                })
                .into();
            let lines: Vec<_> = children.into_iter().flat_map(killed_at_random).collect();
            for line in lines {
                note(&mut said, &line);
            }
            check(folder.path(), &said);
        }
        let store = store(folder.path());
        for (number, said) in &mut said {
            while let Some(Suspension::Settled { .. }) =
                store.answer(&request(*number).key(), NOW).unwrap()
            {
                said.delivered += 1;
            }
            assert!(said.delivered <= 1, "request {number}: {said:?}");
        }
    }
}

fn killed_at_random(mut child: Child) -> Vec<String> {
    let random = RandomState::new().hash_one(0);
    let mut lines = Vec::new();
    let mut since = Instant::now();
    let mut step = Duration::ZERO;
    for _ in 0..1 + random % 12 {
        lines.push(child.line().expect("the child goes on"));
        step = since.elapsed();
        since = Instant::now();
    }
    // Somewhere within the next step, as far as that can be told from the last one.
    let moment = step.mul_f64((random >> 32) as f64 / f64::from(u32::MAX));
    while since.elapsed() < moment {
        std::hint::spin_loop();
    }
    lines.extend(child.kill());
    lines
}

fn note(said: &mut BTreeMap<u64, Said>, line: &str) {
    let (what, number) = line.split_once(' ').unwrap();
    let said = said.entry(number.parse().unwrap()).or_default();
    match what {
        "waits" => {}
        "settled" => said.settled = true,
        "delivered" => said.delivered += 1,
        other => panic!("{other}"),
    }
}

/// Looks at what is left when every process has been killed.
fn check(folder: &Path, said: &BTreeMap<u64, Said>) {
    let (requests, problems) = store(folder).list(NOW);
    assert!(problems.is_empty(), "{problems:?}");
    let runs = fs::read_to_string(folder.join("runs")).unwrap_or_default();
    let number = |tool: &str| tool.strip_prefix('t').and_then(|digits| digits.parse::<u64>().ok());
    let found: BTreeMap<u64, &RequestState> = requests
        .iter()
        .map(|stored| (number(stored.request.calls[0].tool.as_str()).unwrap(), &stored.state))
        .collect();
    assert_eq!(found.len(), requests.len(), "each call is one request");
    for (number, said) in said {
        assert!(said.delivered <= 1, "request {number} was handed out {} times", said.delivered);
        match found.get(number) {
            None => panic!("request {number} is lost: {said:?}"),
            Some(RequestState::Settled { delivered, settled, .. }) => {
                assert!(*delivered || said.delivered == 0, "request {number}: {said:?}");
                if said.settled {
                    assert!(matches!(settled, Settled::Done { .. }), "request {number}");
                }
            }
            Some(other) => {
                assert!(!said.settled && said.delivered == 0, "request {number}: {other:?}");
            }
        }
    }
    for (number, state) in &found {
        let writes = number % 2 == 1;
        let ran = runs.lines().filter(|line| *line == number.to_string()).count();
        match state {
            RequestState::Waiting { .. } => {
                assert!(!writes || ran == 0, "request {number} could be run again");
            }
            RequestState::Settled { settled: Settled::Interrupted, .. } => {
                assert!(writes, "request {number} could have been run again");
            }
            RequestState::Settled { .. } => assert!(ran > 0, "request {number} never ran"),
            RequestState::Claimed { .. } => panic!("request {number} is held by nobody"),
        }
        assert!(!writes || ran <= 1, "request {number} ran {ran} times");
    }
}

fn work_until_killed(folder: &Path, first: u64) -> ! {
    let store = store(folder);
    for number in first.. {
        // What another process was killed over comes first.
        let waiting = store.waiting(NOW).0;
        for stored in waiting {
            run(&store, folder, &stored.id);
        }
        if let Suspension::Waiting { new: true, .. } = store.suspend(request(number), NOW).unwrap()
        {
            child::say(&format!("waits {number}"));
        }
    }
    unreachable!("there are more numbers than time")
}

/// Approves a request, unless another process does, and hands out what came of it.
fn run(store: &ApprovalFiles, folder: &Path, id: &ApprovalId) {
    let mut claim = match store.claim(id, NOW) {
        Ok(claim) => claim,
        Err(ClaimError::Taken | ClaimError::NotWaiting) => return,
        Err(other) => panic!("{other:?}"),
    };
    let request = claim.request().request.clone();
    let number = request.calls[0].tool.as_str()[1..].to_owned();
    claim.run("user:bo", NOW).unwrap();
    let mut runs = OpenOptions::new().append(true).create(true).open(folder.join("runs")).unwrap();
    runs.write_all(format!("{number}\n").as_bytes()).unwrap();
    runs.sync_all().unwrap();
    let result = CallResult::Refused { code: number.clone(), model_text: String::new() };
    claim.settle("user:bo", NOW, Settled::Done { results: vec![result] }).unwrap();
    child::say(&format!("settled {number}"));
    if let Some(Suspension::Settled { .. }) = store.answer(&request.key(), NOW).unwrap() {
        child::say(&format!("delivered {number}"));
    }
}
