//! The log bridge: the plugin's `log` macros arrive in the host's log.
//!
//! A cdylib has its own copy of `log`'s statics, so without a bridge its records go nowhere.

use std::sync::OnceLock;

use log::{Level, LevelFilter, Log, Metadata, Record};
use toolbay_abi::HostServices;

static HOST: OnceLock<HostServices> = OnceLock::new();

/// The host's functions, once it has handed them over.
pub(crate) fn host() -> Option<&'static HostServices> {
    HOST.get()
}

/// Keeps the host's functions and routes `log` to them. A library serves one host, so the first ones stay.
pub(crate) fn connect(services: HostServices) {
    if HOST.set(services).is_ok() && log::set_logger(&Bridge).is_ok() {
        // The host may change its level at any time, so the filter stands there and every record asks for it.
        log::set_max_level(LevelFilter::Trace);
    }
}

struct Bridge;

impl Log for Bridge {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        host().is_some_and(|host| number(metadata.level()) <= (host.log_level)(host.provider))
    }

    fn log(&self, record: &Record<'_>) {
        let Some(host) = host().filter(|_| self.enabled(record.metadata())) else { return };
        let (level, target) = (number(record.level()), record.target());
        match record.args().as_str() {
            Some(text) => (host.log)(host.provider, level, target.into(), text.into()),
            None => {
                let text = record.args().to_string();
                (host.log)(host.provider, level, target.into(), text.as_str().into());
            }
        }
    }

    fn flush(&self) {}
}

/// The number that crosses for a level: 1 error to 5 trace.
const fn number(level: Level) -> u32 {
    level as u32
}
