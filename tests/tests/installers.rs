//! Several installers and a reader at once: nobody ever meets an error, or half of what is registered.
#![cfg(test)]

use std::{
    env,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use serde_json::json;
use toolbay_loader::{Config, RefreshOptions, Toolbay};
use toolbay_tests::{
    bay::{Bay, greets, install, operator},
    bundle::{Draft, Key},
    call,
    child::{self, Child},
};

const FOLDER: &str = "TOOLBAY_TEST_INSTALLERS_FOLDER";
const ROUNDS: usize = 6;

/// Installs what lies under these names in turn, each time as a process that has just started.
fn install_in_turn(folder: &Path, names: &[&str]) {
    let sources: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    for source in sources.iter().cycle().take(ROUNDS) {
        let toolbay = Toolbay::open(Config::new(folder.join("home"))).unwrap();
        let replace = RefreshOptions::default().replace(true);
        let report = toolbay.install(std::slice::from_ref(source), &operator(), replace).unwrap();
        assert_eq!(report.rejections, [], "{}", source.display());
    }
}

#[test]
fn installers_at_once_and_a_reader_never_meet_an_error() {
    const TEST: &str = "installers_at_once_and_a_reader_never_meet_an_error";
    if let Some(folder) = env::var_os(FOLDER) {
        install_in_turn(Path::new(&folder), &["two", "one", "echo"]);
        child::say("done");
        return;
    }
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let greeting = Draft::of("toolbay-plugin-greeting");
    greeting.clone().with_version("1.0.0").zip(&bay.path("one"), Some(&key));
    greeting.with_version("2.0.0").zip(&bay.path("two"), Some(&key));
    Draft::of("toolbay-fixture-echo").zip(&bay.path("echo"), Some(&key));
    Draft::of("toolbay-fixture-own-allocator").zip(&bay.path("more"), Some(&key));
    for name in ["one", "echo"] {
        assert_eq!(install(&bay.open(), bay.path(name)).rejections, []);
    }
    let folder = bay.path("");
    let finished = AtomicBool::new(false);
    let read = || {
        let toolbay = bay.open();
        let mut rounds = 0;
        while !finished.load(Ordering::Relaxed) || rounds == 0 {
            toolbay.reload().unwrap();
            assert!(toolbay.registry_problem().is_none());
            let ids: Vec<_> = toolbay.providers().iter().map(|one| one.id.to_string()).collect();
            assert!(ids.iter().any(|id| id == "greeting") && ids.iter().any(|id| id == "echo"));
            // Through a value of long standing, and as a process that has just started.
            for toolbay in [&toolbay, &bay.open()] {
                assert_eq!(greets(toolbay), Ok(()));
                let reply = call(toolbay, "echo", &json!({ "text": "me" })).unwrap();
                assert_eq!(reply.model_text(), "me");
            }
            rounds += 1;
        }
    };
    thread::scope(|scope| {
        let reader = scope.spawn(read);
        let variables = [(FOLDER, folder.as_os_str())];
        let mut children = [Child::of(TEST, &variables), Child::of(TEST, &variables)];
        let same = scope.spawn(|| install_in_turn(&folder, &["one", "two"]));
        let others = scope.spawn(|| install_in_turn(&folder, &["more", "echo"]));
        let ended: Vec<_> = children.iter_mut().map(Child::line).collect();
        let joined = [same.join(), others.join()];
        finished.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        assert_eq!(ended, [Some("done".to_owned()), Some("done".to_owned())]);
        assert!(joined.iter().all(Result::is_ok));
    });
    let toolbay = bay.open();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    let ids: Vec<_> = toolbay.providers().iter().map(|one| one.id.to_string()).collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
    let installed = &toolbay.installed().unwrap()["greeting"].version;
    let registered = toolbay.providers().into_iter().find(|one| one.id.as_str() == "greeting");
    assert_eq!(&registered.unwrap().version, installed);
    toolbay.collect_store(false).unwrap();
    assert_eq!(greets(&bay.open()), Ok(()));
}
