//! The process of a worker: what it has of its host, what it may ask of the kernel, and how it ends.
#![cfg(test)]

use std::{
    fs::{self, File},
    net::TcpListener,
    os::fd::AsRawFd,
    path::Path,
};

use serde_json::json;
use toolbay_loader::{
    BackendError, CallError, Check, Config, Health, Isolation, Level, Stage, Toolbay, WorkerLimits,
    WorkerProgram,
};
use toolbay_tests::{
    Home,
    bay::{codes, verdict},
    bundle::patch,
    child::{Child, say, wait},
    processes::{group, has_gone},
    violent::{Moment, greets_still, order},
};

fn well() -> Home {
    Home::violent(Moment::Create, "nothing")
}

fn refreshed(config: Config) -> Toolbay {
    let toolbay = Toolbay::open(config).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    toolbay
}

fn said(toolbay: &Toolbay, deed: &str) -> String {
    order(toolbay, deed).unwrap().model_text().into_owned()
}

/// Whether the library of the violent plugin is mapped in this process.
fn is_here() -> bool {
    fs::read_to_string("/proc/self/maps").unwrap().contains("/violent-")
}

fn worker(toolbay: &Toolbay) -> u32 {
    let loaded = toolbay.loaded();
    loaded.iter().rev().find(|one| one.provider == "violent").unwrap().worker.unwrap()
}

#[test]
fn a_worker_has_only_what_it_needs_of_its_host() {
    // F45.
    let home = well();
    let leaked = home.path().join("leaked");
    let file = File::create(&leaked).unwrap();
    // A descriptor that programs inherit, as some libraries open them.
    let other = rustix::io::dup(&file).unwrap();
    assert!(other.as_raw_fd() > 2);
    let open = said(&refreshed(home.isolated()), "descriptors");
    assert!(!open.contains("leaked"), "{open}");
    let targets: Vec<_> = open.lines().map(|line| line.split(':').next().unwrap()).collect();
    assert!(targets.contains(&"/dev/null") && targets.contains(&"pipe"), "{open}");
    let mut config = home.isolated();
    config.policy.isolation.default = Isolation::InProcess;
    let (here, there) = (refreshed(config), refreshed(home.isolated()));
    assert!(said(&here, "descriptors").contains("leaked"), "the twin");
    // What the test runner tells tests is nothing for plugins.
    assert!(said(&here, "environment").contains("CARGO_"), "the twin");
    let environment = said(&there, "environment");
    assert!(environment.contains("PATH") && !environment.contains("CARGO_"), "{environment}");
}

#[test]
fn a_worker_can_do_no_more_than_its_tools_declare_and_the_policy_allows() {
    let home = well();
    let mut here = home.isolated();
    here.policy.isolation.default = Isolation::InProcess;
    let mut strict = home.isolated();
    // Of what starts processes, the plugin imports everything but this.
    strict.policy.static_audit.levels.insert(Check::DeniedImports, Level::Deny);
    strict.policy.static_audit.denied_imports = ["vfork".to_owned()].into();
    let [here, loose, strict] = [here, home.isolated(), strict].map(refreshed);
    // Nobody listens there, so that what is allowed fails.
    assert_eq!(
        [&here, &loose, &strict].map(|one| said(one, "connect")),
        ["failed", "denied", "denied"]
    );
    assert_eq!(
        [&here, &loose, &strict].map(|one| said(one, "start")),
        ["allowed", "allowed", "denied"]
    );
    for toolbay in [&loose, &strict] {
        assert_eq!(said(toolbay, "kill_parent"), "done", "and this process is still there");
    }
}

/// Whether the kernel holds workers to files and ports: an old one does not, and `doctor` says so.
fn holds_files(toolbay: &Toolbay) -> bool {
    let diagnoses = toolbay.diagnose();
    let reach = diagnoses.iter().find(|one| one.check == "sandbox files").unwrap();
    reach.health == Health::Fine
}

#[test]
fn a_worker_reaches_the_files_that_it_is_configured_with_and_no_others() {
    let home = well();
    let folders = ["read", "written", "other"].map(|name| home.path().join(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("file"), "x").unwrap();
    }
    let [read, written, other] = &folders;
    let home = home.configured("violent", json!({ "reads": [read], "writes": [written] }));
    let mut here = home.isolated();
    here.policy.isolation.default = Isolation::InProcess;
    let [here, there] = [here, home.isolated()].map(refreshed);
    if !holds_files(&there) {
        assert_eq!(said(&there, &format!("read {}/file", other.display())), "allowed");
        return;
    }
    let cases = [
        ("read", read.join("file"), "allowed"),
        ("list", read.clone(), "allowed"),
        ("write", read.join("file"), "denied"),
        ("write", read.join("new"), "denied"),
        ("read", written.join("file"), "allowed"),
        ("write", written.join("file"), "allowed"),
        ("write", written.join("new"), "allowed"),
        ("read", other.join("file"), "denied"),
        ("list", other.clone(), "denied"),
        ("write", other.join("file"), "denied"),
        ("list", home.path().to_owned(), "denied"),
        ("read", home.path().join("registry.json"), "denied"),
        ("read", "/etc/hosts".into(), "allowed"),
        ("list", "/usr".into(), "allowed"),
        ("list", "/etc".into(), "denied"),
        ("list", "/".into(), "denied"),
        ("read", format!("/proc/{}/environ", std::process::id()).into(), "denied"),
        ("write", "/dev/null".into(), "allowed"),
    ];
    for (deed, path, expected) in cases {
        let order = format!("{deed} {}", path.display());
        assert_eq!(said(&there, &order), expected, "{order}");
        assert_eq!(said(&here, &order), "allowed", "the twin: {order}");
    }
    assert!(said(&there, "list /proc/self") == "allowed", "its own process");
}

#[test]
fn a_worker_reaches_the_port_that_it_is_configured_with_and_no_other() {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [one, other] = listeners.each_ref().map(|there| there.local_addr().unwrap());
    let home = Home::violent(Moment::Create, "nothing");
    let path = home.violent_library();
    let mut library = fs::read(&path).unwrap();
    let egress = format!("{:52}", r#""egress":"configured_endpoint""#);
    let before = br#""data_class":"public_content","requires_admin":false"#;
    patch(&mut library, before, egress.as_bytes());
    fs::write(&path, library).unwrap();
    let connected = |toolbay: &Toolbay| {
        [one, other].map(|address| said(toolbay, &format!("connect {address}")))
    };
    let endpoint = format!("http://{one}/path");
    let home = home.configured("violent", json!({ "endpoint": endpoint }));
    let toolbay = refreshed(home.isolated());
    if holds_files(&toolbay) {
        assert_eq!(connected(&toolbay), ["allowed", "denied"]);
    }
    // One that names no endpoint may connect to any.
    let unnamed = Home::violent(Moment::Create, "nothing");
    let path = unnamed.violent_library();
    let mut library = fs::read(&path).unwrap();
    patch(&mut library, before, egress.as_bytes());
    patch(&mut library, br#","endpoints":["endpoint"]"#, br#"                         "#);
    fs::write(&path, library).unwrap();
    assert_eq!(connected(&refreshed(unnamed.isolated())), ["allowed", "allowed"]);
}

#[test]
fn a_worker_can_use_no_more_than_the_policy_allows() {
    let home = well();
    let mut config = home.isolated();
    config.policy.worker_limits = WorkerLimits { memory_bytes: 1 << 30, open_files: 40 };
    let toolbay = refreshed(config);
    let error = order(&toolbay, "hunger").unwrap_err();
    let CallError::Backend { source: BackendError::Crashed { how }, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(how.contains("SIGABRT"), "{how}");
    assert_eq!(said(&toolbay, "files"), "40", "the standard streams and the connection included");
    assert!(greets_still(&toolbay));
}

#[test]
fn without_a_worker_a_plugin_does_not_run_instead_in_the_host() {
    // F44 and F75.
    let home = well();
    let text = home.path().join("text");
    fs::write(&text, "no program").unwrap();
    let programs: [(&str, Option<&Path>, (Stage, &str)); 5] = [
        ("none", None, (Stage::Policy, "no_worker")),
        ("missing", Some(Path::new("/nowhere/toolbay")), (Stage::Load, "worker_not_started")),
        ("not executable", Some(&text), (Stage::Load, "worker_not_started")),
        ("another program", Some(Path::new("/bin/true")), (Stage::Load, "worker_not_started")),
        // It copies what the host says, which is no answer.
        ("a talking one", Some(Path::new("/bin/cat")), (Stage::Load, "worker_not_started")),
    ];
    for (name, program, expected) in programs {
        let mut config = home.isolated();
        config.worker = program.map(WorkerProgram::at);
        let toolbay = Toolbay::open(config).unwrap();
        let rejections = toolbay.refresh().unwrap().rejections;
        assert_eq!(codes(&rejections), [expected; 2], "{name}: both plugins");
        assert!(!is_here(), "{name}");
    }
    assert!(greets_still(&refreshed(home.isolated())), "the twin");
    assert!(!is_here());
}

#[test]
fn a_plugin_that_does_not_end_is_ended() {
    // F16.
    for (moment, deed) in
        [(Moment::Stop, "nothing"), (Moment::Stop, "hang"), (Moment::Stop, "segfault")]
    {
        let home = Home::violent(moment, deed);
        let toolbay = refreshed(home.isolated());
        let pid = worker(&toolbay);
        assert_eq!(group(pid), [pid]);
        drop(toolbay);
        assert!(group(pid).is_empty(), "{deed}");
    }
    for deed in ["crash_at_exit", "hang_at_exit", "print_unflushed"] {
        let toolbay = refreshed(well().isolated());
        assert_eq!(said(&toolbay, deed), "done");
        let pid = worker(&toolbay);
        drop(toolbay);
        assert!(group(pid).is_empty(), "{deed}");
    }
}

#[test]
fn what_a_plugin_starts_ends_with_it() {
    // F40 and F42.
    for deed in ["child", "daemon"] {
        let toolbay = refreshed(well().isolated());
        assert_eq!(said(&toolbay, deed), "done");
        let pid = worker(&toolbay);
        assert_eq!(group(pid).len(), 2, "{deed}: the worker and its child");
        drop(toolbay);
        assert!(has_gone(pid), "{deed}");
    }
}

#[test]
fn a_host_that_is_killed_leaves_nobody_behind() {
    // F40.
    const HOME: &str = "TOOLBAY_TEST_HOME";
    if std::env::var_os(HOME).is_some() {
        let toolbay = refreshed(well().isolated());
        for deed in ["child", "daemon"] {
            assert_eq!(said(&toolbay, deed), "done");
        }
        say(&worker(&toolbay).to_string());
        wait();
        return;
    }
    let test = "a_host_that_is_killed_leaves_nobody_behind";
    let mut host = Child::of(test, &[(HOME, "here".as_ref())]);
    let pid = host.line().unwrap().parse().unwrap();
    assert_eq!(group(pid).len(), 3, "the worker and two that it has started");
    host.kill();
    assert!(has_gone(pid), "{:?}", group(pid));
}

#[test]
fn a_plugin_whose_processes_end_again_and_again_is_started_less_often_and_then_not_at_all() {
    // F71.
    let home = well();
    let toolbay = refreshed(home.isolated());
    let mut crashes = 0;
    loop {
        let error = order(&toolbay, "segfault").unwrap_err();
        match error.code() {
            "crashed" => crashes += 1,
            "unavailable" if verdict(&error).1 == "failed_before" => break,
            // How long it is told to wait is tested where the clock is.
            "unavailable" => assert_eq!(verdict(&error), (Stage::Load, "restarting")),
            code => panic!("{code}: {error:?}"),
        }
        std::thread::yield_now();
    }
    assert_eq!(crashes, 5);
    assert!(greets_still(&toolbay));
    // Another process of the host knows it as well, and one that is told to try again does.
    let later = Toolbay::open(home.isolated()).unwrap();
    assert_eq!(verdict(&order(&later, "nothing").unwrap_err()).1, "failed_before");
    later.refresh_with(toolbay_loader::RefreshOptions::default().retry(true)).unwrap();
    assert_eq!(said(&later, "nothing"), "done");
}
