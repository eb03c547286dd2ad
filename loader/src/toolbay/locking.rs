//! The lock file, made of what is registered.

use super::Toolbay;
use crate::{
    plugins_lock::{PluginsLock, PluginsLockError},
    vetting::locked,
};

impl Toolbay {
    /// Writes the lock file of what is registered now. What it says of other systems stays.
    ///
    /// # Errors
    ///
    /// [`PluginsLockError`]; the file is then as it was.
    pub fn lock_plugins(&self) -> Result<PluginsLock, PluginsLockError> {
        let providers = self.state.lock().providers.clone();
        let plugins = providers.iter().map(|provider| locked(&provider.registered().plugin));
        PluginsLock::write(&self.config.home, plugins.collect())
    }
}
