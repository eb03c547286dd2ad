//! The functions that the host hands to plugins: log, cancellation, progress.
//!
//! A plugin can't catch a panic of the host, so each of them runs inside the host's own guard. They take numbers instead of
//! pointers: a plugin that calls back after its call is over, or with a number that it made up, gets a harmless answer.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use log::{Level, Log, Metadata, Record};
use parking_lot::{Mutex, RwLock};
use toolbay_abi::{
    Extension, HostServices,
    abi_stable::std_types::{ROption, RSlice, RStr},
    wire,
};
use toolbay_core::{CancelToken, Progress, ProgressSink, ProviderId};

use crate::plugin_text::one_line;

/// The longest log message that is taken from a plugin, in bytes; the rest is cut.
const MAX_MESSAGE: usize = 8 * 1024;

/// Providers by the number that their libraries were given, which is their place.
static PROVIDERS: RwLock<Vec<ProviderId>> = RwLock::new(Vec::new());

/// The calls that can be cancelled or that somebody listens to, by number.
static CALLS: LazyLock<Mutex<HashMap<u64, RunningCall>>> = LazyLock::new(Mutex::default);

struct RunningCall {
    cancel: Option<CancelToken>,
    progress: Option<Arc<dyn ProgressSink>>,
}

/// The services for a provider that is being loaded.
pub(crate) fn services_for(provider: &ProviderId) -> HostServices {
    let mut providers = PROVIDERS.write();
    let number = providers.iter().position(|there| there == provider).unwrap_or_else(|| {
        providers.push(provider.clone());
        providers.len() - 1
    });
    HostServices { provider: number as u64, log_level, log, cancelled, progress, extension }
}

/// Logs something that a provider in another process says.
pub(crate) fn log_for(provider: &ProviderId, level: Level, target: &str, message: &str) {
    let number = services_for(provider).provider;
    write_log(log::logger(), number, level as u32, target, message);
}

/// A progress as a plugin says it, where it is one.
pub(crate) fn checked(progress: wire::Progress) -> Option<Progress> {
    let wire::Progress { done, total, message } = progress;
    let is_finite = done.is_finite() && total.is_none_or(f64::is_finite);
    let message = message.map(|message| one_line(&message, MAX_MESSAGE));
    is_finite.then_some(Progress { done, total, message })
}

/// A call that the plugin can ask about while this value lives. Most calls need none: nobody cancels them and nobody listens.
#[derive(Debug)]
pub(crate) struct CallNumber(u64);

impl CallNumber {
    /// The number of a call that nobody cancels and nobody listens to.
    pub(crate) const NONE: u64 = 0;

    /// Numbers a call.
    pub(crate) fn new(
        cancel: Option<CancelToken>,
        progress: Option<Arc<dyn ProgressSink>>,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(CallNumber::NONE + 1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        CALLS.lock().insert(number, RunningCall { cancel, progress });
        Self(number)
    }

    /// The number.
    pub(crate) fn get(&self) -> u64 {
        self.0
    }
}

impl Drop for CallNumber {
    fn drop(&mut self) {
        CALLS.lock().remove(&self.0);
    }
}

/// The only `catch_unwind` of the host's side: what a callback answers where the host's own code panics.
pub(crate) fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

extern "C" fn log_level(_provider: u64) -> u32 {
    log::max_level() as u32
}

extern "C" fn log(provider: u64, level: u32, target: RStr<'_>, message: RStr<'_>) {
    guarded((), || write_log(log::logger(), provider, level, target.as_str(), message.as_str()));
}

extern "C" fn cancelled(call: u64) -> bool {
    guarded(true, || match CALLS.lock().get(&call) {
        Some(call) => call.cancel.as_ref().is_some_and(CancelToken::is_cancelled),
        None => true,
    })
}

extern "C" fn progress(call: u64, payload: RSlice<'_, u8>) {
    guarded((), || report_progress(call, payload.as_slice()));
}

/// This host has no extensions yet.
extern "C" fn extension(_id: RStr<'_>, _version: u32) -> ROption<Extension> {
    ROption::RNone
}

/// Logs a plugin's record with the provider's id in front of its target, so that a filter can name the provider. Control characters
/// are escaped: a plugin can't imitate a line of the host.
fn write_log(logger: &dyn Log, provider: u64, level: u32, target: &str, message: &str) {
    let level = match level {
        1 => Level::Error,
        2 => Level::Warn,
        3 => Level::Info,
        4 => Level::Debug,
        _ => Level::Trace,
    };
    let providers = PROVIDERS.read();
    let place = usize::try_from(provider).ok();
    let id = place.and_then(|place| providers.get(place)).map_or("unknown", ProviderId::as_str);
    let target = format!("plugin::{id}::{}", one_line(target, MAX_MESSAGE));
    drop(providers);
    if level > log::max_level()
        || !logger.enabled(&Metadata::builder().level(level).target(&target).build())
    {
        return;
    }
    let message = one_line(message, MAX_MESSAGE);
    let args = format_args!("{message}");
    logger.log(&Record::builder().level(level).target(&target).args(args).build());
}

fn report_progress(call: u64, payload: &[u8]) {
    let sink = CALLS.lock().get(&call).and_then(|call| call.progress.clone());
    // The sink is the host application's code, so it runs after the lock is gone.
    let Some(sink) = sink else { return };
    if let Some(progress) = serde_json::from_slice(payload).ok().and_then(checked) {
        sink.progress(progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Lines(Mutex<Vec<(Level, String, String)>>);

    impl Log for Lines {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.level() <= Level::Warn
        }

        fn log(&self, record: &Record<'_>) {
            let line = (record.level(), record.target().to_owned(), record.args().to_string());
            self.0.lock().push(line);
        }

        fn flush(&self) {}
    }

    #[test]
    fn a_record_arrives_under_the_providers_id_on_one_line() {
        log::set_max_level(log::LevelFilter::Trace);
        let sample: ProviderId = "sample".parse().unwrap();
        let number = services_for(&sample).provider;
        assert_eq!(services_for(&sample).provider, number, "one number for one provider");
        let lines = Lines::default();
        write_log(&lines, number, 2, "inner", "first\nERROR second\u{1b}[0m");
        write_log(&lines, number, 3, "inner", "below the logger's level");
        write_log(&lines, u64::MAX, 1, "inner", "from nobody");
        write_log(&lines, number, 1, "inner", &"ä".repeat(MAX_MESSAGE));

        let lines = lines.0.into_inner();
        let expected = "first\\nERROR second\\u{1b}[0m".to_owned();
        assert_eq!(lines[0], (Level::Warn, "plugin::sample::inner".to_owned(), expected));
        assert_eq!(lines[1].1, "plugin::unknown::inner");
        assert!(lines[2].2.len() < MAX_MESSAGE + 10 && lines[2].2.ends_with("ä [cut]"));
        assert_eq!(lines.len(), 3);
    }

    struct Sink(Mutex<Vec<Progress>>);

    impl ProgressSink for Sink {
        fn progress(&self, progress: Progress) {
            if progress.done < 0.0 {
                panic!("the host's own code");
            }
            self.0.lock().push(progress);
        }
    }

    #[test]
    fn a_number_answers_while_its_call_runs_and_harmlessly_afterwards() {
        let cancel = CancelToken::new();
        let sink = Arc::new(Sink(Mutex::default()));
        let call = CallNumber::new(Some(cancel.clone()), Some(sink.clone()));
        let number = call.get();
        assert!(!cancelled(number));
        cancel.cancel();
        assert!(cancelled(number));

        for payload in [r#"{"done":1}"#, r#"{"done":-1}"#, "not JSON", r#"{"done":2,"total":4}"#] {
            progress(number, payload.as_bytes().into());
        }
        drop(call);
        progress(number, br#"{"done":3}"#.as_slice().into());
        assert!(cancelled(number), "a call that is over counts as cancelled");
        let done: Vec<f64> = sink.0.lock().iter().map(|progress| progress.done).collect();
        assert_eq!(done, [1.0, 2.0]);
    }
}
