//! What a plugin may do with the functions that its host has given it, and when: late, while the host's own code panics, and from inside of one
//! another.
#![cfg(test)]

use std::{
    panic,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    time::Duration,
};

use log::{LevelFilter, Log, Metadata, Record};
use parking_lot::Mutex;
use serde_json::json;
use toolbay_loader::{
    CallRequest, Config, Isolation, Progress, ProgressSink, RefreshOptions, Toolbay,
};
use toolbay_tests::{
    Home, nobody,
    processes::{comes_true, has_gone},
    violent::{Moment, greets_still, order},
};

const PLACES: [Isolation; 2] = [Isolation::InProcess, Isolation::Worker];

/// The host's logger, which panics when a plugin says something that a test wants it to panic at.
struct Logger {
    lines: AtomicUsize,
    panics_at: Mutex<Option<&'static str>>,
    panicked: AtomicUsize,
}

static LOGGER: Logger = Logger {
    lines: AtomicUsize::new(0),
    panics_at: Mutex::new(None),
    panicked: AtomicUsize::new(0),
};

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("plugin::")
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        self.lines.fetch_add(1, Ordering::SeqCst);
        let message = record.args().to_string();
        let panics_at = *self.panics_at.lock();
        if panics_at.is_some_and(|words| message.contains(words)) {
            self.panicked.fetch_add(1, Ordering::SeqCst);
            panic!("the host's own logger");
        }
    }

    fn flush(&self) {}
}

fn logged() {
    if log::set_logger(&LOGGER).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}

/// Runs the tests of this file one after another: the logger is the process's.
fn alone() -> impl Drop {
    static TURN: Mutex<()> = Mutex::new(());
    logged();
    TURN.lock()
}

fn placed(home: &Home, place: Isolation) -> Config {
    let mut config = home.isolated();
    config.policy.isolation.default = place;
    config
}

fn refreshed(config: Config) -> Toolbay {
    let toolbay = Toolbay::open(config).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    toolbay
}

#[test]
fn a_provider_that_was_stopped_may_go_on_calling_its_host() {
    // F24. In the host its thread can't be ended; in a worker it ends with its process.
    let _alone = alone();
    for (place, goes_on) in [(Isolation::Worker, false), (Isolation::InProcess, true)] {
        let home = Home::violent(Moment::Create, "nothing");
        let toolbay = refreshed(placed(&home, place));
        assert_eq!(order(&toolbay, "log_on").unwrap().model_text(), "done");
        let lines = || LOGGER.lines.load(Ordering::SeqCst);
        let before = lines();
        assert!(comes_true(|| lines() > before), "{place:?}: it logs");
        let loaded = toolbay.loaded();
        let worker = loaded.iter().find(|one| one.provider == "violent").unwrap().worker;
        assert_eq!(worker.is_none(), goes_on);
        std::fs::remove_file(home.violent_library()).unwrap();
        let report = toolbay.refresh().unwrap();
        assert_eq!(report.rejections, []);
        assert_eq!(order(&toolbay, "nothing").unwrap_err().code(), "not_registered");
        if let Some(worker) = worker {
            assert!(has_gone(worker), "it ends with its process");
        }
        if goes_on {
            // The library stays where it is, and so do the host's functions.
            let after = lines();
            assert!(comes_true(|| lines() > after + 10), "{place:?}: it goes on");
        }
        assert!(greets_still(&toolbay), "{place:?}");
    }
}

/// Panics when it is told how far a call is.
struct Panics(Arc<AtomicUsize>);

impl ProgressSink for Panics {
    fn progress(&self, _: Progress) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("the host's own sink");
    }
}

#[test]
fn a_host_whose_own_code_panics_in_a_callback_goes_on_and_so_does_the_call() {
    // F25.
    let _alone = alone();
    panic::set_hook(Box::new(|_| {}));
    for place in PLACES {
        let home = Home::violent(Moment::Create, "nothing");
        let toolbay = refreshed(placed(&home, place));
        let (nobody, arguments) = (nobody(), json!({ "deed": "echo", "text": "me" }).to_string());
        let asked = Arc::new(AtomicUsize::new(0));
        let sink: Arc<dyn ProgressSink> = Arc::new(Panics(Arc::clone(&asked)));
        let request = CallRequest::new("do", &arguments, &nobody)
            .with_deadline(Duration::from_secs(30))
            .with_progress(&sink);
        let reply = toolbay.call(&request).map(|reply| reply.model_text().into_owned());
        assert_eq!(reply.as_deref().ok(), Some("violent 1.0.0: me"), "{place:?}: {reply:?}");
        assert!(asked.load(Ordering::SeqCst) > 0, "{place:?}: it has panicked");

        let panicked = || LOGGER.panicked.load(Ordering::SeqCst);
        let before = panicked();
        *LOGGER.panics_at.lock() = Some("it goes on");
        assert_eq!(order(&toolbay, "log_on").unwrap().model_text(), "done");
        assert!(comes_true(|| panicked() > before + 1), "{place:?}: again and again");
        assert_eq!(order(&toolbay, "nothing").unwrap().model_text(), "done", "{place:?}");
        *LOGGER.panics_at.lock() = None;
        assert!(greets_still(&toolbay), "{place:?}");
    }
    let _ = panic::take_hook();
}

/// Calls back into the host while it is told how far a call is.
struct CallsBack {
    /// Whether to call the same provider: in a worker, who tells the progress is who would read the answer.
    calls_itself: bool,
    toolbay: OnceLock<Arc<Toolbay>>,
    answers: Mutex<Sender<Vec<String>>>,
}

impl ProgressSink for CallsBack {
    fn progress(&self, _: Progress) {
        let toolbay = self.toolbay.get().unwrap();
        // Its own provider once more, another one, and what changes the registry that both are in.
        let own = self.calls_itself.then(|| order(toolbay, "nothing"));
        let other = greets_still(toolbay);
        let refreshed = toolbay.refresh_with(RefreshOptions::default());
        let answers = vec![
            own.map_or("not called".to_owned(), |own| match own {
                Ok(reply) => reply.model_text().into_owned(),
                Err(error) => error.code().to_owned(),
            }),
            other.to_string(),
            refreshed.map_or_else(|error| error.to_string(), |it| it.rejections.len().to_string()),
        ];
        let _ = self.answers.lock().send(answers);
    }
}

#[test]
fn a_callback_may_call_the_same_provider_and_the_host_once_more() {
    // F26. A call that calls another from inside of itself waits for nothing that waits for it.
    let _alone = alone();
    for place in PLACES {
        let home = Home::violent(Moment::Create, "nothing");
        let toolbay = Arc::new(refreshed(placed(&home, place)));
        let (answers, heard) = mpsc::channel();
        let calls_itself = place == Isolation::InProcess;
        let own = if calls_itself { "done" } else { "not called" };
        let (toolbay_of_sink, answers) = (OnceLock::new(), Mutex::new(answers));
        let sink = CallsBack { calls_itself, toolbay: toolbay_of_sink, answers };
        assert!(sink.toolbay.set(Arc::clone(&toolbay)).is_ok());
        let sink: Arc<dyn ProgressSink> = Arc::new(sink);
        let (nobody, arguments) = (nobody(), json!({ "deed": "nothing" }).to_string());
        let request = CallRequest::new("do", &arguments, &nobody)
            .with_deadline(Duration::from_secs(30))
            .with_progress(&sink);
        let reply = toolbay.call(&request);
        assert_eq!(
            heard.recv_timeout(Duration::from_secs(60)).unwrap(),
            [own, "true", "0"],
            "{place:?}"
        );
        assert_eq!(reply.unwrap().model_text(), "done", "{place:?}");
    }
}
