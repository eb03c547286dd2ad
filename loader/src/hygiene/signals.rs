//! What happens at signals, which of them this thread gets, and how it computes.

use super::{
    disturbance::{Change, Disturbance, Handler},
    native::{self, LAST_SIGNAL},
    surroundings::Aspect,
};

/// What happens at each signal of the process.
pub(super) struct SignalHandlers(Vec<(i32, libc::sigaction)>);

impl SignalHandlers {
    pub(super) fn now() -> Self {
        let signals = 1..=LAST_SIGNAL;
        Self(signals.filter_map(|signal| Some((signal, native::action(signal)?))).collect())
    }
}

impl Aspect for SignalHandlers {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        for (signal, before) in &self.0 {
            let Some(after) = native::action(*signal) else { continue };
            if is_same(before, &after) {
                continue;
            }
            let (signal, was, is) = (*signal, handler(before), handler(&after));
            let change = Change::SignalHandler { signal, before: was, after: is };
            found.push(change.found(native::set_action(signal, before)));
        }
    }
}

fn is_same(one: &libc::sigaction, other: &libc::sigaction) -> bool {
    one.sa_sigaction == other.sa_sigaction
        && one.sa_flags == other.sa_flags
        && members(&one.sa_mask) == members(&other.sa_mask)
}

fn handler(action: &libc::sigaction) -> Handler {
    match action.sa_sigaction {
        libc::SIG_DFL => Handler::Default,
        libc::SIG_IGN => Handler::Ignored,
        address => Handler::Function(address as u64),
    }
}

fn members(set: &libc::sigset_t) -> Vec<i32> {
    (1..=LAST_SIGNAL).filter(|signal| native::contains(set, *signal)).collect()
}

/// The signals that are kept from this thread.
pub(super) struct BlockedSignals(Option<libc::sigset_t>);

impl BlockedSignals {
    pub(super) fn now() -> Self {
        Self(native::blocked())
    }
}

impl Aspect for BlockedSignals {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        let (Some(before), Some(after)) = (&self.0, native::blocked()) else { return };
        let (was, is) = (members(before), members(&after));
        if was == is {
            return;
        }
        let beyond = |these: &[i32], those: &[i32]| {
            these.iter().copied().filter(|signal| !those.contains(signal)).collect()
        };
        let change =
            Change::BlockedSignals { blocked: beyond(&is, &was), unblocked: beyond(&was, &is) };
        found.push(change.found(native::block(before)));
    }
}

/// The floating-point control of this thread.
pub(super) struct FloatControl(u64);

impl FloatControl {
    pub(super) fn now() -> Self {
        Self(native::float_control())
    }
}

impl Aspect for FloatControl {
    fn settle(&self, found: &mut Vec<Disturbance>) {
        let (before, after) = (self.0, native::float_control());
        if before != after {
            native::set_float_control(before);
            let restored = native::float_control() == before;
            found.push(Change::FloatingPoint { before, after }.found(restored));
        }
    }
}
