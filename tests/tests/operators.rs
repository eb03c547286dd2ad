//! What operators say about plugins as a whole: what is locked, what failed before, which policy is in force, and what nobody uses any more.
#![cfg(test)]

use std::{collections::BTreeSet, env, fs, path::Path};

use serde_json::json;
use toolbay_loader::{
    Actor, Check, Config, Isolation, LOCK_FILE_NAME, Level, RefreshOptions, Stage, Toolbay,
    Unsigned, WorkerProgram,
};
use toolbay_tests::{
    Home,
    bay::{Bay, codes, greets, install, operator},
    bundle::{Draft, Key},
    call,
    child::{self, Child},
    host_binary,
    violent::Guise,
};

const GREETING: &str = "toolbay-plugin-greeting";

#[test]
fn with_a_lock_file_only_what_it_names_runs() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    install(&bay.open(), Draft::of(GREETING).zip(&bay.path("a"), Some(&key)));
    let lock = bay.home(LOCK_FILE_NAME);
    let locked = || {
        let mut config = bay.config();
        config.policy.locked = true;
        Toolbay::open(config).unwrap()
    };
    let refused = |code| Err((Stage::Policy, code));
    // Each time in two processes: one that calls what is registered, and one that refreshes first.
    assert_eq!(greets(&locked()), refused("no_lock_file"));
    let missing = locked().refresh().unwrap().rejections;
    assert_eq!(codes(&missing), [(Stage::Policy, "no_lock_file")]);
    assert!(missing[0].reason.found.contains(&lock.display().to_string()), "{}", missing[0]);

    assert_eq!(bay.open().refresh().unwrap().rejections, []);
    bay.open().lock_plugins().unwrap();
    let good = fs::read_to_string(&lock).unwrap();
    let plugin = &bay.open().providers()[0];
    let changes = [
        ("version", good.replace("version = \"0.1.0\"", "version = \"0.1.1\"")),
        ("hash", good.replace(&plugin.hash.to_string(), &"ab".repeat(32))),
        ("signer", good.replace(&plugin.signer.to_string(), "nobody")),
        ("id", good.replace("id = \"greeting\"", "id = \"another\"")),
        ("target", good.replace(toolbay_abi::note::TARGET, "another-system")),
    ];
    for (field, other) in changes {
        assert_ne!(other, good, "{field}");
        fs::write(&lock, &good).unwrap();
        assert_eq!(locked().refresh().unwrap().rejections, [], "{field}: the twin");
        assert_eq!(greets(&locked()), Ok(()), "{field}: the twin");
        fs::write(&lock, other).unwrap();
        assert_eq!(greets(&locked()), refused("not_locked"), "{field}");
        // Also where nothing has changed but the lock file since the last refresh.
        let report = locked().refresh().unwrap();
        assert_eq!(codes(&report.rejections), [(Stage::Policy, "not_locked")], "{field}");
        assert!(report.providers.is_empty(), "{field}");
    }
    fs::write(&lock, "version = 1\nunknown = 2\n").unwrap();
    assert_eq!(codes(&locked().refresh().unwrap().rejections), [(Stage::Policy, "no_lock_file")]);
    assert_eq!(bay.open().refresh().unwrap().rejections, []);
    assert_eq!(greets(&bay.open()), Ok(()), "without --locked nobody asks");
}

#[test]
fn what_can_never_work_here_is_opened_again_only_where_somebody_asks_or_content_changes() {
    let home = Home::with(&[GREETING]);
    let bad = home.plugin("a.so");
    fs::copy(toolbay_tests::library("toolbay-fixture-other-root"), &bad).unwrap();
    let refreshed = |options| {
        let toolbay = home.open();
        let report = toolbay.refresh_with(options).unwrap();
        assert_eq!(greets(&toolbay), Ok(()), "the other is not affected");
        codes(&report.rejections)
    };
    let (plain, retry) = (RefreshOptions::default(), RefreshOptions::default().retry(true));
    let (opened, remembered) = ((Stage::Load, "other_abi"), (Stage::Policy, "failed_before"));
    for (options, expected) in
        [(plain, opened), (plain, remembered), (plain, remembered), (retry, opened)]
    {
        assert_eq!(refreshed(options), [expected]);
    }
    assert_eq!(refreshed(plain), [remembered]);
    let content = fs::read(&bad).unwrap();
    fs::write(&bad, [&content[..], b"more"].concat()).unwrap();
    assert_eq!(refreshed(plain), [opened]);
}

#[test]
fn a_policy_only_tightens_and_holds_for_what_is_loaded_from_then_on() {
    let home = Home::with(&[GREETING]);
    home.refreshed();
    let mut config = home.config();
    config.policy.locked = true;
    let toolbay = Toolbay::open(config).unwrap();
    let refused = |change: fn(&mut toolbay_loader::Policy)| {
        let mut policy = toolbay.policy();
        change(&mut policy);
        toolbay.tighten(policy).unwrap_err().setting
    };
    assert_eq!(refused(|policy| policy.locked = false), "plugins.locked");
    let audit = refused(|policy| {
        policy.static_audit.levels.insert(Check::Exports, Level::Allow);
    });
    assert!(audit.starts_with("static_audit."), "{audit}");

    let toolbay = home.open();
    let mut strict = toolbay.policy();
    strict.unsigned = Unsigned::Refuse;
    toolbay.tighten(strict.clone()).unwrap();
    assert_eq!(greets(&toolbay), Err((Stage::Signature, "unsigned")));
    let loose = home.open();
    assert_eq!(greets(&loose), Ok(()), "the twin");
    strict.unsigned = Unsigned::Allow;
    assert_eq!(toolbay.tighten(strict).unwrap_err().setting, "trust.unsigned");
    assert_eq!(toolbay.policy().unsigned, Unsigned::Refuse);
}

const HOME: &str = "TOOLBAY_TEST_OPERATORS_HOME";

#[test]
fn what_nobody_uses_is_collected_and_nothing_else() {
    const TEST: &str = "what_nobody_uses_is_collected_and_nothing_else";
    if let Some(home) = env::var_os(HOME) {
        let toolbay = Toolbay::open(Config::new(Path::new(&home))).unwrap();
        child::say(&format!("{:?}", greets(&toolbay)));
        child::wait();
        return;
    }
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let draft = Draft::of(GREETING);
    // What is opened in this process itself stays in use until it ends.
    let elsewhere = || {
        let mut config = bay.config();
        config.policy.isolation.default = Isolation::Worker;
        config.worker = Some(WorkerProgram::at(host_binary()));
        Toolbay::open(config).unwrap()
    };
    let version = |version: &str| {
        let source = draft.clone().with_version(version).zip(&bay.path(version), Some(&key));
        assert_eq!(install(&elsewhere(), source).rejections, []);
        bay.entry("greeting").file_name().unwrap().to_str().unwrap().to_owned()
    };
    let loaded = version("1.0.0");
    let mut child = Child::of(TEST, &[(HOME, bay.path("home").as_os_str())]);
    assert_eq!(child.line().as_deref(), Some("Ok(())"));
    let [forgotten, before, installed] = ["2.0.0", "3.0.0", "4.0.0"].map(version);
    // What a process leaves behind that is killed as it writes or removes.
    let left_behind = [".incoming-abc".to_owned(), format!(".removed-{forgotten}")];
    for name in &left_behind {
        fs::create_dir(bay.home("store").join(name)).unwrap();
        fs::write(bay.home("store").join(name).join("part"), "x").unwrap();
    }
    let there: BTreeSet<_> = bay.store().into_iter().collect();

    let toolbay = bay.open();
    let dry = toolbay.collect_store(true).unwrap();
    assert_eq!((dry.bytes, dry.kept), (0, 3));
    assert_eq!(bay.store().into_iter().collect::<BTreeSet<_>>(), there, "nothing was removed");
    let collected = toolbay.collect_store(false).unwrap();
    assert_eq!(collected.entries, dry.entries);
    assert!(collected.bytes > 2);
    let kept: BTreeSet<_> = [&loaded, &before, &installed].into_iter().cloned().collect();
    assert_eq!(bay.store().into_iter().collect::<BTreeSet<_>>(), kept);

    child.kill();
    toolbay.collect_store(false).unwrap();
    let kept: BTreeSet<_> = [before, installed].into_iter().collect();
    assert_eq!(bay.store().into_iter().collect::<BTreeSet<_>>(), kept);
    assert_eq!(greets(&bay.open()), Ok(()));
    toolbay.uninstall("greeting", &operator()).unwrap();
    toolbay.uninstall("greeting", &Actor::Anonymous).unwrap_err();
}

#[test]
fn what_is_mapped_in_this_process_stays_in_the_store_after_the_home_was_closed() {
    let home = Home::new();
    let guise = Guise::new("mapped", "mapped");
    let mut config = home.config();
    let levels = &mut config.policy.static_audit.levels;
    levels.insert(Check::DeniedImports, Level::Allow);
    let policy = config.policy;
    let open = || {
        let mut config = home.config();
        config.policy = policy.clone();
        Toolbay::open(config).unwrap()
    };
    let says = |version: &str| {
        let library = home.path().join(format!("{version}.so"));
        guise.write(&library, version, |_| {});
        let toolbay = open();
        assert_eq!(install(&toolbay, library).rejections, [], "{version}");
        let reply = call(&toolbay, "mapped", &json!({ "deed": "echo", "text": "me" })).unwrap();
        assert_eq!(reply.model_text(), format!("mapped {version}: me"));
    };
    for version in ["1.0.0", "2.0.0", "3.0.0"] {
        says(version);
    }
    // The first one is neither installed nor the version before.
    let collected = open().collect_store(false).unwrap();
    assert_eq!((collected.entries, collected.kept), (Vec::new(), 3));
    // Made anew, its file would be another one than what is mapped under its name.
    says("1.0.0");
}
