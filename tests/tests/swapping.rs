//! Another version of a provider takes its place while calls run: new calls go to the new one at once, those that run finish where they began,
//! and a version that can't be used changes nothing.
#![cfg(test)]

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::{Pid, Signal, kill_process},
};
use serde_json::{Value, json};
use toolbay_loader::{
    CallError, CallRequest, Isolation, Progress, ProgressSink, RefreshOptions, Rejection, Reply,
    Stage, Toolbay,
};
use toolbay_tests::{
    Home,
    bay::{codes, operator},
    call, nobody,
    processes::{children, comes_true, group, has_gone},
    violent::{Guise, Moment, change_note, patch_deed},
};

/// How long a test waits for what must come, before it has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// How many calls run while the version changes.
const CALLS: usize = 3;

const PLACES: [Isolation; 2] = [Isolation::InProcess, Isolation::Worker];

/// How a version takes the place of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Installed,
    /// Its file replaces the other one's in the plugin directory.
    Found,
}

/// A home with versions of one provider.
struct Swapping {
    home: Home,
    guise: Guise,
    way: Way,
    gate: PathBuf,
    toolbay: Arc<Toolbay>,
}

impl Swapping {
    fn new(place: Isolation, way: Way) -> Self {
        let home = Home::new();
        let gate = home.path().join("gate");
        mknodat(CWD, &gate, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        // In a worker it reads nothing else.
        let home = home.configured("swapped", json!({ "reads": [gate] }));
        let mut config = home.isolated();
        config.policy.isolation.default = place;
        // What hangs while it is dropped is not waited for in a test.
        config.deadlines.stop = Duration::from_hours(1);
        let toolbay = Arc::new(Toolbay::open(config).unwrap());
        Self { home, guise: Guise::new("swapped", "swapped"), way, gate, toolbay }
    }

    /// Puts a version in the place of what is there, and tells what was refused of it.
    fn put(&self, version: &str, change: impl FnOnce(&mut [u8])) -> Vec<Rejection> {
        let file = self.home.path().join(format!("swapped-{version}.so"));
        self.guise.write(&file, version, change);
        match self.way {
            Way::Installed => {
                let options = RefreshOptions::default();
                self.toolbay.install(&[file], &operator(), options).unwrap().rejections
            }
            Way::Found => {
                fs::rename(file, self.home.plugin("swapped.so")).unwrap();
                self.toolbay.refresh().unwrap().rejections
            }
        }
    }

    fn put_well(&self, version: &str) {
        assert_eq!(self.put(version, |_| {}), [], "{version}");
    }

    fn says(&self, text: &str) -> String {
        let reply = call(&self.toolbay, "swapped", &json!({ "deed": "echo", "text": text }));
        reply.unwrap().model_text().into_owned()
    }

    /// The process that the version in use runs in, where that is another one.
    fn worker(&self) -> Option<u32> {
        self.toolbay.loaded().last().unwrap().worker
    }
}

/// Says that a call runs.
struct Begun(Sender<()>);

impl ProgressSink for Begun {
    fn progress(&self, _: Progress) {
        let _ = self.0.send(());
    }
}

type Answer = (usize, Result<Reply, CallError>);

/// Calls that run until the gate is open: a pipe, of which each reads a byte.
struct Calls {
    gate: File,
    answers: Receiver<Answer>,
}

impl Calls {
    fn begin(swapping: &Swapping) -> Self {
        // Whoever can read it as well does not wait for somebody who does.
        let gate = OpenOptions::new().read(true).write(true).open(&swapping.gate).unwrap();
        let (begun, runs) = mpsc::channel();
        let (answer, answers) = mpsc::channel();
        for number in 0..CALLS {
            let toolbay = Arc::clone(&swapping.toolbay);
            let order =
                json!({ "deed": "echo", "text": number.to_string(), "gate": swapping.gate });
            let (begun, answer) = (begun.clone(), answer.clone());
            thread::spawn(move || {
                let (order, nobody) = (order.to_string(), nobody());
                let begun: Arc<dyn ProgressSink> = Arc::new(Begun(begun));
                let request = CallRequest::new("swapped", &order, &nobody).with_progress(&begun);
                let reply = toolbay.call(&request);
                drop(toolbay);
                let _ = answer.send((number, reply));
            });
        }
        for _ in 0..CALLS {
            runs.recv_timeout(PATIENCE).unwrap();
        }
        Self { gate, answers }
    }

    /// Opens the gate: each call is answered once, by this version.
    fn finish(mut self, version: &str) {
        assert!(self.answers.try_recv().is_err(), "nobody was answered before");
        self.gate.write_all(&[0; CALLS]).unwrap();
        let mut numbers = Vec::new();
        for _ in 0..CALLS {
            let (number, reply) = self.answers.recv_timeout(PATIENCE).unwrap();
            assert_eq!(reply.unwrap().model_text(), format!("swapped {version}: {number}"));
            numbers.push(number);
        }
        numbers.sort_unstable();
        assert_eq!(numbers, (0..CALLS).collect::<Vec<_>>());
        assert!(self.answers.recv().is_err(), "nobody answers twice");
    }
}

/// Waits until a version of the provider that is used no longer has left no process; in the host's own there was none.
fn assert_gone(before: Option<u32>, now: Option<u32>) {
    if let Some(before) = before {
        assert_ne!(Some(before), now);
        assert!(has_gone(before), "{:?}", group(before));
    }
    assert!(comes_true(|| children() == Vec::from_iter(now)), "{:?}", children());
}

fn records(home: &Home) -> usize {
    home.audit().iter().filter(|record| record["tool"] == "swapped").count()
}

#[test]
fn new_calls_go_to_the_new_version_at_once_and_running_ones_finish_on_the_old_one() {
    for place in PLACES {
        for way in [Way::Installed, Way::Found] {
            let swapping = Swapping::new(place, way);
            swapping.put_well("1.0.0");
            assert_eq!(swapping.says("before"), "swapped 1.0.0: before");
            let old = swapping.worker();
            assert_eq!(old.is_some(), place == Isolation::Worker);

            let calls = Calls::begin(&swapping);
            swapping.put_well("2.0.0");
            assert_eq!(swapping.says("at once"), "swapped 2.0.0: at once", "{place:?} {way:?}");
            let new = swapping.worker();
            if let Some(old) = old {
                assert_eq!(group(old), [old], "it has calls to answer");
            }
            calls.finish("1.0.0");
            assert_eq!(swapping.says("after"), "swapped 2.0.0: after");
            assert_gone(old, new);

            let Swapping { home, toolbay, .. } = swapping;
            drop(toolbay);
            assert_gone(new, None);
            assert_eq!(records(&home), CALLS + 3, "one record for each call");
        }
    }
}

#[test]
fn the_last_call_of_an_old_version_does_not_wait_for_its_end() {
    for place in PLACES {
        let swapping = Swapping::new(place, Way::Installed);
        assert_eq!(swapping.put("1.0.0", |it| patch_deed(it, Moment::Stop, "hang")), []);
        let old = swapping.worker();
        let calls = Calls::begin(&swapping);
        swapping.put_well("2.0.0");
        // The version that they run in does not end by itself.
        calls.finish("1.0.0");
        assert_eq!(swapping.says("after"), "swapped 2.0.0: after", "{place:?}");
        if let Some(old) = old {
            assert_eq!(group(old), [old], "it is there still");
            let number = Pid::from_raw(old.try_into().unwrap()).unwrap();
            kill_process(number, Signal::KILL).unwrap();
        }
        assert_gone(old, swapping.worker());
    }
}

type Spoil = fn(&mut [u8]);

/// A version that can't be used: its name, what is done to it, the verdict, and where it is.
type Spoiled<'a> = (&'a str, Spoil, (Stage, &'a str), &'a [Isolation]);

#[test]
fn a_version_that_fails_leaves_the_old_one_serving() {
    let other_interface: Spoil = |it| {
        change_note(it, |note| note["digest"] = Value::from("0000000000000000"));
    };
    let spoiled: [Spoiled<'_>; 4] = [
        ("refused", other_interface, (Stage::Verify, "other_abi"), &PLACES),
        (
            "panics",
            |it| patch_deed(it, Moment::Create, "panic"),
            (Stage::Create, "panicked"),
            &PLACES,
        ),
        (
            "crashes",
            |it| patch_deed(it, Moment::Create, "abort"),
            (Stage::Create, "crashed"),
            &[Isolation::Worker],
        ),
        ("hangs", |it| patch_deed(it, Moment::Create, "hang"), (Stage::Create, "hung"), &PLACES),
    ];
    for (name, spoil, verdict, places) in spoiled {
        // Of a file that is refused as it lies there, nobody knows that it is a version of this provider.
        let ways = match verdict.0 {
            Stage::Verify => &[Way::Installed][..],
            _ => &[Way::Installed, Way::Found],
        };
        for (&place, &way) in
            places.iter().flat_map(|place| ways.iter().map(move |way| (place, way)))
        {
            let swapping = Swapping::new(place, way);
            swapping.put_well("1.0.0");
            let worker = swapping.worker();
            let calls = Calls::begin(&swapping);
            let rejections = swapping.put("2.0.0", spoil);
            assert_eq!(codes(&rejections), [verdict], "{name}: {rejections:?}");
            assert_eq!(swapping.says("still"), "swapped 1.0.0: still", "{name}");
            calls.finish("1.0.0");
            assert_gone(None, worker);
            // The benign twin.
            swapping.put_well("3.0.0");
            assert_eq!(swapping.says("corrected"), "swapped 3.0.0: corrected", "{name}");
            assert_gone(worker, swapping.worker());
        }
    }
}
