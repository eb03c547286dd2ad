//! An installer that is killed at any moment leaves what was there, or what it was installing, and never anything between.
#![cfg(test)]

use std::{
    collections::BTreeSet,
    env, fs,
    hash::{BuildHasher, RandomState},
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;
use toolbay_loader::{Config, RefreshOptions, Toolbay};
use toolbay_tests::{
    bay::{Bay, greets, install, operator},
    bundle::{Draft, Key},
    child::{self, Child},
};

const KILLS: u32 = 60;
const FOLDER: &str = "TOOLBAY_TEST_KILLED_INSTALL_FOLDER";
const TEST: &str = "an_installer_that_is_killed_leaves_one_whole_version";
const VERSIONS: [&str; 2] = ["1.0.0", "2.0.0"];

fn install_without_an_end(folder: &Path) {
    for version in VERSIONS.iter().cycle() {
        let toolbay = Toolbay::open(Config::new(folder.join("home"))).unwrap();
        let replace = RefreshOptions::default().replace(true);
        let report = toolbay.install(&[folder.join(version)], &operator(), replace).unwrap();
        assert_eq!(report.rejections, []);
        child::say(version);
    }
}

/// Lets an installer work, and kills it somewhere within an installation.
fn kill(bay: &Bay) {
    let mut child = Child::of(TEST, &[(FOLDER, bay.path("").as_os_str())]);
    let random = RandomState::new().hash_one(Instant::now());
    let mut last = Duration::from_millis(50);
    for _ in 0..random % 3 {
        let since = Instant::now();
        child.line().expect("the installer goes on");
        last = since.elapsed();
    }
    let since = Instant::now();
    let moment = last.mul_f64((random >> 32) as f64 / f64::from(u32::MAX));
    while since.elapsed() < moment {
        std::hint::spin_loop();
    }
    child.kill();
}

/// The entries of the store that a file of the home names.
fn entries(bay: &Bay, name: &str) -> BTreeSet<String> {
    fn collect(value: &Value, entries: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                let entry = members.get("entry").and_then(Value::as_str);
                entries.extend(entry.map(str::to_owned));
                members.values().for_each(|value| collect(value, entries));
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, entries)),
            _ => {}
        }
    }
    let mut entries = BTreeSet::new();
    let text = fs::read_to_string(bay.home(name)).unwrap();
    collect(&serde_json::from_str(&text).unwrap(), &mut entries);
    entries
}

#[test]
fn an_installer_that_is_killed_leaves_one_whole_version() {
    if let Some(folder) = env::var_os(FOLDER) {
        return install_without_an_end(Path::new(&folder));
    }
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let draft = Draft::of("toolbay-plugin-greeting");
    for version in VERSIONS {
        let source = draft.clone().with_version(version).zip(&bay.path(version), Some(&key));
        assert_eq!(install(&bay.open(), source).rejections, []);
    }
    for number in 0..KILLS {
        kill(&bay);
        let toolbay = bay.open();
        assert!(toolbay.registry_problem().is_none(), "{number}");
        let [provider] = &toolbay.providers()[..] else { panic!("{number}: one provider") };
        assert!(VERSIONS.contains(&&*provider.version), "{number}: {}", provider.version);
        assert_eq!(greets(&toolbay), Ok(()), "{number}");

        let report = toolbay.refresh().unwrap();
        assert_eq!(report.rejections, [], "{number}");
        let installed = toolbay.installed().unwrap()["greeting"].version.clone();
        assert_eq!(report.providers[0].version, installed, "{number}");
        drop(toolbay);
        bay.open().collect_store(false).unwrap();
        let used: BTreeSet<_> = ["installed.json", "registry.json", "registry.previous.json"]
            .into_iter()
            .flat_map(|name| entries(&bay, name))
            .collect();
        assert_eq!(bay.store().into_iter().collect::<BTreeSet<_>>(), used, "{number}");
        assert_eq!(greets(&bay.open()), Ok(()), "{number}");
    }
}
