//! A thousand plugins: installed in one call, listed without a look at any, and all called in one process, within a budget.
#![cfg(test)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::json;
use toolbay_corpus::Patch;
use toolbay_loader::{Config, RefreshOptions, Toolbay};
use toolbay_tests::{
    bay::{Bay, operator},
    bundle::{Draft, Key},
    call,
    child::{self, Child},
};

const PLUGINS: usize = 1_000;

/// What a process may need for all of them beyond what it has anyway.
const MAX_DESCRIPTORS: usize = 64;
/// Bytes that the system can't take back: what is read from the libraries as it is, it keeps as long as it has room.
const MAX_RESIDENT: u64 = 512 * 1024 * 1024;
/// What each of installing, listing and calling may compute, in a debug build: most of it is hashing. How long that takes depends on who
/// else uses the machine.
const MAX_PHASE: Duration = Duration::from_secs(120);

const HOME: &str = "TOOLBAY_TEST_THOUSAND_HOME";
const TEST: &str = "a_thousand_plugins_are_installed_listed_and_called_within_the_budget";

/// What a process has in use.
struct Usage {
    descriptors: usize,
    resident: u64,
}

impl Usage {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        let kilobytes: u64 = resident.trim().trim_end_matches(" kB").parse().unwrap();
        Self {
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
            resident: kilobytes * 1024,
        }
    }

    /// Checks that no more is in use than the budget has beyond this.
    fn check(&self, phase: &str, begun: (Instant, Duration)) {
        let now = Self::now();
        let resident = now.resident.saturating_sub(self.resident);
        let descriptors = now.descriptors.saturating_sub(self.descriptors);
        let (time, computed) = (begun.0.elapsed(), computed().saturating_sub(begun.1));
        eprintln!(
            "{phase}: {time:.1?}, {computed:.1?} computed, {} MiB, {descriptors} descriptors",
            resident >> 20
        );
        assert!(descriptors <= MAX_DESCRIPTORS, "{phase}: {descriptors}");
        assert!(resident <= MAX_RESIDENT, "{phase}: {resident}");
        assert!(computed <= MAX_PHASE, "{phase}: {computed:?}");
    }
}

/// How long the process has computed, in the kernel's hundredths of a second.
fn computed() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    // The program's name stands in parentheses, and may have anything in it.
    let (_, numbers) = stat.rsplit_once(')').unwrap();
    let numbers = numbers.split_whitespace().skip(11).take(2);
    Duration::from_millis(numbers.map(|ticks| ticks.parse::<u64>().unwrap() * 10).sum())
}

fn begun() -> (Instant, Duration) {
    (Instant::now(), computed())
}

/// The plugin of a number, made of the first one, whose number stands at these places.
fn numbered(first: &Draft, places: &[usize], number: usize) -> Draft {
    let mut draft = first.clone();
    let digits = format!("{number:05}");
    draft.change_library(|content| {
        for &at in places {
            content[at..at + digits.len()].copy_from_slice(digits.as_bytes());
        }
    });
    draft.parts.id = format!("numbered-{digits}").parse().unwrap();
    draft.parts.tools[0].declared.name = tool(number).parse().unwrap();
    draft
}

fn tool(number: usize) -> String {
    format!("numbered_{number:05}")
}

fn list_and_call(home: &Path) {
    let before = Usage::now();
    // What is not there can't be looked at.
    let (store, aside) = (home.join("store"), home.join("aside"));
    fs::rename(&store, &aside).unwrap();
    let since = begun();
    let toolbay = Toolbay::open(Config::new(home)).unwrap();
    assert_eq!((toolbay.registry().iter().count(), toolbay.providers().len()), (PLUGINS, PLUGINS));
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains("store") && toolbay.loaded().is_empty(), "listing opens nothing");
    before.check("list", since);
    fs::rename(&aside, &store).unwrap();

    let since = begun();
    for number in 0..PLUGINS {
        let reply = call(&toolbay, &tool(number), &json!({})).unwrap();
        assert_eq!(reply.model_text(), format!("number {number:05}"));
    }
    assert_eq!(toolbay.loaded().len(), PLUGINS);
    before.check("call", since);
}

#[test]
fn a_thousand_plugins_are_installed_listed_and_called_within_the_budget() {
    if let Some(home) = env::var_os(HOME) {
        list_and_call(Path::new(&home));
        child::say("done");
        return;
    }
    let key = Key::new();
    let bay = Bay::trusting(&key);
    // Without the names of functions, which nobody needs here: a thousand copies fill a disk.
    let stripped = bay.path("numbered.so");
    let library = toolbay_tests::library("toolbay-fixture-numbered");
    let made = Command::new("strip").arg("-o").arg(&stripped).arg(library).status();
    assert!(made.unwrap().success());
    let first = Draft::of_library(&stripped);
    let signs = ["numbered-00000", "numbered_00000", "number 00000"];
    let behind = |sign: &str| Patch::places(first.library(), sign.as_bytes());
    let places: Vec<_> = signs
        .iter()
        .flat_map(|sign| behind(sign).into_iter().map(|at| at + sign.len() - 5))
        .collect();
    let sources: Vec<PathBuf> = (0..PLUGINS)
        .map(|number| {
            let plugin = numbered(&first, &places, number);
            plugin.folder(&bay.path(&tool(number)), Some(&key))
        })
        .collect();

    let toolbay = bay.open();
    let (before, since) = (Usage::now(), begun());
    let report = toolbay.install(&sources, &operator(), RefreshOptions::default()).unwrap();
    assert_eq!((report.rejections.len(), report.installed.len()), (0, PLUGINS));
    before.check("install", since);

    let mut child = Child::of(TEST, &[(HOME, bay.path("home").as_os_str())]);
    assert_eq!(child.line().as_deref(), Some("done"));
}
