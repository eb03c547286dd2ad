//! What a refresh sees of changes: every other content, whatever the times say, and nothing to run again where the content is the same.
#![cfg(test)]

use std::{
    fs::{self, File, FileTimes},
    os::unix::fs::PermissionsExt,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::json;
use toolbay_loader::{Stage, Toolbay};
use toolbay_tests::{
    Home,
    bay::{Bay, codes},
    bundle::{Draft, Key, patch},
    call,
};

const GREETING: &str = "toolbay-plugin-greeting";

fn set_time(path: &Path, time: SystemTime) {
    let times = FileTimes::new().set_modified(time).set_accessed(time);
    File::options().write(true).open(path).unwrap().set_times(times).unwrap();
}

fn greeting(toolbay: &Toolbay) -> String {
    call(toolbay, "greet", &json!({})).unwrap().model_text().into_owned()
}

/// The library of the greeting, with another word.
fn with_word(word: &str) -> Vec<u8> {
    let mut content = fs::read(toolbay_tests::library(GREETING)).unwrap();
    patch(&mut content, b"Hello", word.as_bytes());
    content
}

#[test]
fn other_content_is_seen_whatever_the_times_say() {
    let now = SystemTime::now();
    let times = [
        ("as they are", None),
        ("of the past", Some(now - Duration::from_hours(24 * 30))),
        ("constant", Some(UNIX_EPOCH + Duration::from_secs(1))),
        ("of the future", Some(now + Duration::from_hours(24 * 30))),
    ];
    for (name, time) in times {
        let home = Home::with(&[GREETING]);
        let path = home.plugin(&format!("{GREETING}.so"));
        let time = time.unwrap_or_else(|| fs::metadata(&path).unwrap().modified().unwrap());
        set_time(&path, time);
        assert_eq!(greeting(&home.refreshed()), "Hello.", "{name}");
        let before = home.refreshed();
        assert!(before.loaded().is_empty(), "{name}: nothing has changed");

        let len = fs::metadata(&path).unwrap().len();
        fs::write(&path, with_word("Howdy")).unwrap();
        set_time(&path, time);
        assert_eq!(fs::metadata(&path).unwrap().len(), len, "{name}");
        let after = home.refreshed();
        assert_eq!(after.loaded().len(), 1, "{name}: it was run to learn its tools");
        assert_ne!(after.providers()[0].hash, before.providers()[0].hash, "{name}");
        assert_eq!(greeting(&after), "Howdy.", "{name}");
        // Whoever had it open goes on with what was registered then, until they look again.
        assert_eq!(greeting(&before), "Hello.", "{name}");
        assert!(before.reload().unwrap(), "{name}");
        assert_eq!(greeting(&before), "Howdy.", "{name}");
    }
}

#[test]
fn the_same_content_is_not_run_again_whatever_its_time_and_name() {
    let home = Home::with(&[GREETING]);
    let path = home.plugin(&format!("{GREETING}.so"));
    home.refreshed();
    type Change<'a> = (&'a str, &'a dyn Fn());
    let other = home.plugin("other.so");
    let changes: [Change<'_>; 4] = [
        ("nothing", &|| {}),
        ("time", &|| set_time(&path, UNIX_EPOCH + Duration::from_secs(1_000_000_000))),
        ("written anew", &|| fs::write(&path, fs::read(&path).unwrap()).unwrap()),
        ("renamed", &|| fs::rename(&path, &other).unwrap()),
    ];
    let generation = home.open().registry().generation();
    for (name, change) in changes {
        change();
        let toolbay = home.refreshed();
        assert!(toolbay.loaded().is_empty(), "{name}");
        assert_eq!(toolbay.registry().generation(), generation, "{name}");
    }
    let toolbay = home.open();
    assert_eq!(toolbay.registry().iter().count(), 1);
    assert!(toolbay.loaded().is_empty(), "listing opens nothing");
    assert_eq!(greeting(&toolbay), "Hello.");
    assert_eq!(toolbay.loaded().len(), 1);
}

#[test]
fn what_the_policy_warns_of_is_told_at_each_refresh() {
    let home = Home::with(&[GREETING]);
    let warnings = |constructors| {
        let mut config = home.config();
        config.policy.static_audit.constructors = constructors;
        codes(&Toolbay::open(config).unwrap().refresh().unwrap().warnings)
    };
    let unsigned = (Stage::Signature, "unsigned");
    for _ in 0..2 {
        assert_eq!(warnings(0), [(Stage::Audit, "many_constructors"), unsigned]);
    }
    for _ in 0..2 {
        assert_eq!(warnings(100), [unsigned], "the twin");
    }
}

#[test]
fn a_cache_that_cant_be_read_costs_a_look_at_everything_and_nothing_else() {
    let home = Home::with(&[GREETING]);
    home.refreshed();
    let cache = home.path().join("scan-cache.json");
    let good = fs::read(&cache).unwrap();
    let mut flipped = good.clone();
    let middle = good.len() / 2;
    flipped[middle] ^= 1;
    let newer =
        String::from_utf8(good.clone()).unwrap().replacen("\"format\": 2", "\"format\": 99", 1);
    assert_ne!(newer.as_bytes(), good);
    let registry = fs::read(home.path().join("registry.json")).unwrap();
    let cases: [(&str, &[u8]); 4] = [
        ("cut", &good[..middle]),
        ("flipped", &flipped),
        ("newer", newer.as_bytes()),
        ("empty", b""),
    ];
    for (name, content) in cases {
        fs::write(&cache, content).unwrap();
        let toolbay = home.refreshed();
        assert_eq!(toolbay.loaded().len(), 1, "{name}: it was looked at anew");
        assert_eq!(greeting(&toolbay), "Hello.", "{name}");
        assert!(home.refreshed().loaded().is_empty(), "{name}: and is known again");
    }
    assert_eq!(fs::read(home.path().join("registry.json")).unwrap(), registry);
}

#[test]
fn a_home_that_cant_be_written_to_still_lists_and_refuses_to_refresh() {
    let home = Home::with(&[GREETING]);
    home.refreshed();
    let mode = |mode| fs::set_permissions(home.path(), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    if fs::write(home.path().join("try"), "").is_ok() {
        eprintln!("left out: root may write to a folder of mode 500");
        return;
    }
    let listed = home.open().registry().iter().count();
    let refreshed = home.open().refresh().is_ok();
    mode(0o700);
    assert_eq!((listed, refreshed), (1, false));
}

#[test]
fn the_same_bundles_make_the_same_registry_whatever_their_names() {
    let key = Key::new();
    let folder = tempfile::tempdir().unwrap();
    let bundles = [GREETING, "toolbay-fixture-echo", "toolbay-fixture-own-allocator"]
        .map(|package| Draft::of(package).zip(&folder.path().join(package), Some(&key)));
    let registries = [["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]].map(|names| {
        let bay = Bay::trusting(&key);
        for (bundle, name) in bundles.iter().zip(names) {
            fs::copy(bundle, bay.path("plugins").join(name)).unwrap();
        }
        assert_eq!(bay.open().refresh().unwrap().rejections, []);
        fs::read_to_string(bay.home("registry.json")).unwrap()
    });
    assert_eq!(registries[0], registries[1]);
    assert_eq!(registries[0], registries[2]);
}

#[test]
fn a_library_that_is_overwritten_or_cut_while_it_is_loaded_harms_nobody() {
    let home = Home::with(&[GREETING]);
    let path = home.plugin(&format!("{GREETING}.so"));
    let toolbay = home.refreshed();
    let whole = fs::read(&path).unwrap();
    // In place: the same file, as `cp` does it.
    fs::write(&path, with_word("Howdy")).unwrap();
    assert_eq!(greeting(&toolbay), "Hello.");
    File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
    assert_eq!(greeting(&toolbay), "Hello.");
    let report = home.open().refresh().unwrap();
    assert_eq!(codes(&report.rejections), [(Stage::Inspect, "truncated")]);
    assert_eq!(greeting(&toolbay), "Hello.");
    fs::write(&path, whole).unwrap();
    assert_eq!(greeting(&home.refreshed()), "Hello.");
}
