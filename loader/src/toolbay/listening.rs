//! Keeps a listener of the host application from harming a call.

use std::sync::Arc;

use toolbay_core::{WriteListener, Written};

use crate::services::guarded;

/// A listener inside the host's own guard.
pub(super) struct Guarded(Arc<dyn WriteListener>);

impl Guarded {
    pub(super) fn around(listener: &Arc<dyn WriteListener>) -> Arc<dyn WriteListener> {
        Arc::new(Self(Arc::clone(listener)))
    }
}

impl WriteListener for Guarded {
    fn written(&self, written: &Written<'_>) {
        let heard = guarded(false, || {
            self.0.written(written);
            true
        });
        if !heard {
            log::error!("a listener panicked over a write of {}, which stands", written.tool);
        }
    }
}
