//! All that is looked at, before and after.

use super::{
    disturbance::{Change, Disturbance},
    held::{Descriptors, StandardStreams, Threads},
    process::{Dumpable, Environment, Locale, ResourceLimits, Umask, WorkingDirectory},
    signals::{BlockedSignals, FloatControl, SignalHandlers},
};

/// Something of a process, as it was at one moment.
pub(super) trait Aspect {
    /// Tells what is no longer as it was, and puts it back where that can be done.
    fn settle(&self, found: &mut Vec<Disturbance>);
}

/// What makes each aspect, in the order in which they are put back: limits and access to /proc first, which the others need.
const ASPECTS: &[fn() -> Box<dyn Aspect>] = &[
    || Box::new(ResourceLimits::now()),
    || Box::new(Dumpable::now()),
    || Box::new(StandardStreams::now()),
    || Box::new(SignalHandlers::now()),
    || Box::new(BlockedSignals::now()),
    || Box::new(FloatControl::now()),
    || Box::new(WorkingDirectory::now()),
    || Box::new(Umask::now()),
    || Box::new(Locale::now()),
    || Box::new(Environment::now()),
    // After those that hold descriptors of their own.
    || Box::new(Descriptors::now()),
    || Box::new(Threads::now()),
];

/// The process, and this thread of it, as they were at one moment.
pub(super) struct Surroundings(Vec<Box<dyn Aspect>>);

impl Surroundings {
    pub(super) fn now() -> Self {
        Self(ASPECTS.iter().map(|now| now()).collect())
    }

    /// Tells what is no longer as it was, and puts back what can be put back.
    pub(super) fn settle(&self) -> Vec<Disturbance> {
        let mut found = Vec::new();
        for aspect in &self.0 {
            aspect.settle(&mut found);
        }
        found
    }
}

impl Change {
    /// The change, where it was put back or was not.
    pub(super) fn found(self, restored: bool) -> Disturbance {
        Disturbance { change: self, restored }
    }
}
