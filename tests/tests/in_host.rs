//! Whoever waits for a plugin in the host's own process is answered in time, and what hangs is named, fenced and remembered.
#![cfg(test)]

use std::{
    env, fs,
    io::{Read, Write},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use toolbay_loader::{
    CallError, CallRequest, CancelToken, Config, FailureClass, Isolation, Progress, ProgressSink,
    ReplyStatus, Retry, Stage, Toolbay, WorkerProgram,
};
use toolbay_tests::{
    Home,
    bay::{Bay, codes, install, operator, verdict},
    bundle::{Draft, Key, patch},
    child::{Child, say, wait},
    host_binary, nobody,
    violent::{Moment, greets_still, order, short},
};

/// The home, in the process in which nothing more can be opened.
const HOME: &str = "TOOLBAY_TEST_HOME";

fn in_host(home: &Home) -> Config {
    let mut config = home.isolated();
    config.policy.isolation.default = Isolation::InProcess;
    config.deadlines.grace = Duration::from_millis(1);
    config
}

/// Lets the plugin do something, in a call that has hardly any time.
fn hurried(toolbay: &Toolbay, deed: &str) -> Result<(), CallError> {
    let (nobody, arguments) = (nobody(), json!({ "deed": deed }).to_string());
    let request = CallRequest::new("do", &arguments, &nobody);
    toolbay.call(&request.with_deadline(Duration::from_millis(50))).map(drop)
}

/// Calls until it comes out in this way: when a grace is over, another thread decides.
fn until<T>(mut attempt: impl FnMut() -> Option<T>) -> T {
    let patience = Instant::now() + Duration::from_secs(60);
    while Instant::now() < patience {
        if let Some(outcome) = attempt() {
            return outcome;
        }
        std::thread::yield_now();
    }
    panic!("it never came out so")
}

fn fenced(toolbay: &Toolbay) -> Option<()> {
    let error = order(toolbay, "nothing").err()?;
    assert_eq!(verdict(&error), (Stage::Load, "fenced"));
    Some(())
}

#[test]
fn a_call_that_hangs_is_answered_at_its_deadline_and_fences_its_provider_alone() {
    for deed in ["hang", "spin"] {
        let home = Home::violent(Moment::Create, "nothing");
        let toolbay = Toolbay::open(in_host(&home)).unwrap();
        assert_eq!(toolbay.refresh().unwrap().rejections, []);
        hurried(&toolbay, "nothing").unwrap();
        assert_eq!(hurried(&toolbay, deed).unwrap_err().code(), "deadline_exceeded");
        until(|| fenced(&toolbay));
        assert!(greets_still(&toolbay), "{deed}");
        let record = until(|| toolbay.quarantine().unwrap().pop()).failure;
        assert_eq!(
            (record.class, record.strikes, record.in_process),
            (FailureClass::Hang, 1, true)
        );
        assert_eq!((record.stage.as_str(), record.code.as_str()), ("call", "hung"));
    }
}

#[test]
fn a_call_that_comes_back_late_ends_the_fence() {
    let home = Home::violent(Moment::Create, "nothing");
    let toolbay = Toolbay::open(in_host(&home)).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    let pipe = home.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reading = format!("read {}", pipe.display());
    assert_eq!(hurried(&toolbay, &reading).unwrap_err().code(), "deadline_exceeded");
    until(|| fenced(&toolbay));
    fs::OpenOptions::new().write(true).open(&pipe).unwrap().write_all(b"go on").unwrap();
    until(|| order(&toolbay, "nothing").ok());
    assert!(greets_still(&toolbay));
}

/// Cancels a call as soon as it has begun.
struct Cancels(CancelToken);

impl ProgressSink for Cancels {
    fn progress(&self, _progress: Progress) {
        self.0.cancel();
    }
}

#[test]
fn a_call_that_is_cancelled_is_answered_whether_it_stops_or_not() {
    for (deed, fences) in [("wait", false), ("hang", true)] {
        let home = Home::violent(Moment::Create, "nothing");
        let toolbay = Toolbay::open(in_host(&home)).unwrap();
        assert_eq!(toolbay.refresh().unwrap().rejections, []);
        let (nobody, arguments) = (nobody(), json!({ "deed": deed }).to_string());
        let cancel = CancelToken::new();
        let begun: Arc<dyn ProgressSink> = Arc::new(Cancels(cancel.clone()));
        let request =
            CallRequest::new("do", &arguments, &nobody).with_cancel(&cancel).with_progress(&begun);
        let reply = toolbay.call(&request);
        let is_cancelled = match &reply {
            Ok(reply) => reply.status() == ReplyStatus::Cancelled,
            Err(error) => error.code() == "cancelled",
        };
        assert!(is_cancelled, "{deed}: {reply:?}");
        match fences {
            true => until(|| fenced(&toolbay)),
            false => drop(order(&toolbay, "nothing").unwrap()),
        }
    }
}

#[test]
fn a_phase_of_loading_that_hangs_is_named_and_the_others_are_loaded() {
    // F70.
    for (moment, phase, stage) in [
        (Moment::Root, "root", Stage::Load),
        (Moment::Create, "create", Stage::Create),
        (Moment::Tools, "tools", Stage::Adapt),
    ] {
        let home = Home::violent(moment, "hang");
        let toolbay = Toolbay::open(in_host(&home)).unwrap();
        let report = toolbay.refresh().unwrap();
        assert_eq!(codes(&report.rejections), [(stage, "hung")], "{moment:?}");
        let expected = format!("in the phase {phase}: nothing within 1 s; it goes on in the host");
        assert_eq!(report.rejections[0].reason.found, expected);
        assert!(greets_still(&toolbay), "{moment:?}");
        // The guilty content waits, as one does that hangs in a worker.
        assert_eq!(
            codes(&toolbay.refresh().unwrap().rejections),
            [(Stage::Policy, "failed_before")]
        );
    }
}

#[test]
fn a_plugin_that_hangs_while_it_is_dropped_keeps_nobody() {
    let home = Home::violent(Moment::Stop, "hang");
    let toolbay = Toolbay::open(in_host(&home)).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    order(&toolbay, "nothing").unwrap();
    drop(toolbay);
}

#[test]
fn constructors_that_hang_are_named_and_what_is_loaded_already_goes_on() {
    // F70.
    let test = "constructors_that_hang_are_named_and_what_is_loaded_already_goes_on";
    if let Some(home) = env::var_os(HOME) {
        // Nothing more can be opened in this process: it is not the test's.
        let mut config = Config::new(&home);
        config.policy = in_host(&Home::new()).policy;
        config.deadlines = short();
        let toolbay = Toolbay::open(config).unwrap();
        let source = |name: &str| std::path::Path::new(&home).join("plugins").join(name);
        install(&toolbay, source("toolbay-plugin-greeting.so"));
        assert!(greets_still(&toolbay));
        for (name, provider, found) in [
            ("toolbay-fixture-violent.so", "hung", "in the phase constructors: nothing within 1 s"),
            ("toolbay-fixture-echo.so", "linker_held", "provider violent"),
        ] {
            let sources = [source(name)];
            let report = toolbay.install(&sources, &operator(), Default::default()).unwrap();
            let [rejection] = &report.rejections[..] else { panic!("{report:?}") };
            assert_eq!(rejection.reason.code, provider, "{rejection}");
            assert!(rejection.reason.found.contains(found), "{rejection}");
            assert!(greets_still(&toolbay));
        }
        say("all as expected");
        wait();
        return;
    }
    let home = Home::violent(Moment::Constructor, "hang");
    fs::copy(
        toolbay_tests::library("toolbay-fixture-echo"),
        home.plugin("toolbay-fixture-echo.so"),
    )
    .unwrap();
    let mut host = Child::of(test, &[(HOME, home.path().as_os_str())]);
    assert_eq!(host.line().as_deref(), Some("all as expected"));
}

#[test]
fn the_program_ends_also_where_constructors_do_not_come_back() {
    let home = Home::violent(Moment::Constructor, "hang");
    home.configuration(
        "[plugins]\nisolation = \"in-process\"\n[static_audit]\ndenied_imports = \"allow\"\n\
         [deadlines]\nconstructors_ms = 200\nstop_ms = 200\n",
    );
    let mut program = home.start(&["refresh"]);
    let ended = until(|| program.try_wait().unwrap());
    let mut said = String::new();
    program.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(ended.code(), Some(3), "{said}");
    assert!(said.contains("hung (load)"), "{said}");
}

/// A home in which signed plugins run in the host, once they have run in a worker.
fn automatic(bay: &Bay) -> Config {
    let mut config = bay.config();
    config.policy = Home::new().isolated().policy;
    config.policy.isolation.default = Isolation::Auto;
    config.worker = Some(WorkerProgram::at(host_binary()));
    config.deadlines = short();
    config
}

/// What was measured of the loading of the one plugin that is loaded, and whether it is in a worker.
fn loaded(toolbay: &Toolbay) -> (Vec<String>, bool) {
    let loaded = toolbay.loaded();
    let [library] = &loaded[..] else { panic!("{loaded:?}") };
    (library.phases.iter().map(|phase| phase.name.clone()).collect(), library.worker.is_some())
}

#[test]
fn what_a_trusted_key_has_signed_is_probed_in_a_worker_before_it_runs_in_the_host() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let bundle = bay.path("greeting.zip");
    Draft::of("toolbay-plugin-greeting").zip(&bundle, Some(&key));
    let toolbay = Toolbay::open(automatic(&bay)).unwrap();
    install(&toolbay, &bundle);
    assert!(greets_still(&toolbay));
    let probed = ["verify", "probe", "open", "create", "list"].map(str::to_owned);
    assert_eq!(loaded(&toolbay), (probed.to_vec(), false));
    drop(toolbay);
    // The next process knows that content.
    let toolbay = Toolbay::open(automatic(&bay)).unwrap();
    assert!(greets_still(&toolbay));
    let known = ["verify", "open", "create", "list"].map(str::to_owned);
    assert_eq!(loaded(&toolbay), (known.to_vec(), false));
}

#[test]
fn what_hangs_in_the_host_runs_in_a_worker_from_then_on_and_in_none_after_a_release() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let bundle = bay.path("violent.zip");
    Draft::of_unopened(&toolbay_tests::library("toolbay-fixture-violent")).zip(&bundle, Some(&key));
    let mut config = automatic(&bay);
    config.deadlines.grace = Duration::from_millis(1);
    let toolbay = Toolbay::open(config).unwrap();
    install(&toolbay, &bundle);
    let worker = || toolbay.loaded().last().unwrap().worker;
    order(&toolbay, "nothing").unwrap();
    assert_eq!(worker(), None, "signed, and harmless when it was probed");
    assert_eq!(hurried(&toolbay, "hang").unwrap_err().code(), "deadline_exceeded");
    until(|| {
        // Fenced, until it is known that the call has hung.
        let _ = order(&toolbay, "nothing");
        worker()
    });
    assert!(order(&toolbay, "nothing").is_ok(), "without waiting for a back-off");
    let [one] = &toolbay.release("violent", &operator()).unwrap()[..] else { panic!("one") };
    assert_eq!((one.retry, one.failure.class), (Retry::Now, FailureClass::Hang));
    assert_eq!(toolbay.quarantine().unwrap(), []);
    let error = toolbay.release("violent", &operator()).unwrap_err();
    assert_eq!(error.code(), "unknown");
    drop(toolbay);
    let toolbay = Toolbay::open(automatic(&bay)).unwrap();
    order(&toolbay, "nothing").unwrap();
    assert_eq!(toolbay.loaded()[0].worker, None, "it was forgiven");
}

#[test]
fn content_that_harms_its_process_when_it_is_probed_never_comes_into_the_host() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let bundle = bay.path("violent.zip");
    let mut draft = Draft::of_unopened(&toolbay_tests::library("toolbay-fixture-violent"));
    let place = "toolbay-violent constructor: ";
    draft = draft.with_patched_library(&format!("{place}nothing"), &format!("{place}abort  "));
    draft.zip(&bundle, Some(&key));
    let toolbay = Toolbay::open(automatic(&bay)).unwrap();
    let report = toolbay.install(&[bundle], &operator(), Default::default()).unwrap();
    assert_eq!(codes(&report.rejections), [(Stage::Load, "crashed")]);
    let [one] = &toolbay.quarantine().unwrap()[..] else { panic!("it is remembered") };
    assert!(!one.failure.in_process, "{one:?}");
}

#[test]
fn a_library_that_can_not_unwind_runs_in_a_worker_or_not_at_all() {
    // F11.
    let home = Home::violent(Moment::Create, "nothing");
    let path = home.violent_library();
    let mut library = fs::read(&path).unwrap();
    patch(&mut library, br#""panic":"unwind""#, br#""panic": "abort""#);
    fs::write(&path, library).unwrap();
    for (isolation, runs) in
        [(Isolation::InProcess, false), (Isolation::Auto, true), (Isolation::Worker, true)]
    {
        let mut config = home.isolated();
        config.policy.isolation.default = isolation;
        let toolbay = Toolbay::open(config).unwrap();
        let report = toolbay.refresh().unwrap();
        match runs {
            true => {
                assert!(codes(&report.warnings).contains(&(Stage::Verify, "panic_abort")));
                assert_eq!(order(&toolbay, "abort").unwrap_err().code(), "crashed");
                order(&toolbay, "nothing").unwrap();
            }
            false => assert_eq!(codes(&report.rejections), [(Stage::Verify, "panic_abort")]),
        }
    }
}
