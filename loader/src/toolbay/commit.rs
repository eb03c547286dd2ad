//! Puts what was found in force, in the registry file and in this process at once.

use std::sync::Arc;

use toolbay_core::Collision;

use super::{
    ChangedTool, ProviderStatus, Toolbay, same_or,
    state::{Pinned, State},
    statuses,
};
use crate::{
    error::RefreshError,
    installed_file::Installed,
    provider::{PluginProvider, Registered},
    registry_file::Written,
};

/// What is in force after a commit.
pub(super) struct Committed {
    pub(super) generation: u64,
    pub(super) providers: Vec<ProviderStatus>,
    pub(super) collisions: Vec<Collision>,
    pub(super) changed: Vec<ChangedTool>,
    /// What was in force before, for the caller to drop once no lock is held.
    pub(super) old: Box<dyn Send>,
}

impl Toolbay {
    /// Replaces what is registered by what `merge` makes of it, while nobody else can. Those of `found` that are among it go on with what they
    /// have in memory. One that goes is kept in mind, unless it is the `forgotten` one. The caller holds the lock of whoever replaces the
    /// state.
    pub(super) fn commit(
        &self,
        found: Vec<Arc<PluginProvider>>,
        merge: impl FnOnce(&[Registered]) -> Result<Vec<Registered>, RefreshError>,
        forgotten: Option<&str>,
    ) -> Result<Committed, RefreshError> {
        let writing = self.file.begin()?;
        let registered = merge(writing.registered())?;
        // Before the registry: what stands in both counts as registered.
        let gone = self.departed.read()?;
        let gone_now = gone.after(writing.registered(), &registered, forgotten);
        if gone_now != gone {
            self.departed.update(|departed| {
                *departed = departed.after(writing.registered(), &registered, forgotten);
                Ok::<_, RefreshError>(())
            })?;
        }
        let there = self.state.lock().providers.clone();
        let mut providers: Vec<Arc<PluginProvider>> = registered
            .iter()
            .map(|registered| {
                let provider = found.iter().find(|found| found.registered() == registered);
                let provider = provider
                    .cloned()
                    .unwrap_or_else(|| Arc::new(self.provider(registered.clone())));
                same_or(provider, &there)
            })
            .collect();
        // By id, so that the order of files changes nothing.
        providers
            .sort_by(|one, other| one.registered().plugin.id.cmp(&other.registered().plugin.id));
        let registered = providers.iter().map(|provider| provider.registered().clone()).collect();
        let trust = self.vetting.trust.identity();
        self.retain_trusted(&mut providers);
        let (plan, collisions) = self.plan(&providers)?;
        // Before the registry: a pin without its tool does nothing, but a tool without its pin could change unseen.
        let Pinned { registry, contents, identity: access, changed } =
            self.pin(plan, &providers)?;
        let Written { generation, identity } = writing.replace(registered)?;
        let registry = registry.with_access(&contents.access).of_generation(generation);
        let status = statuses(&providers);
        let state = State {
            registry: Some(identity),
            access: Some(access),
            trust: Some(trust),
            registry_problem: None,
            access_problem: None,
            contents,
            providers,
        };
        let old = self.replace(registry, state);
        for collision in &collisions {
            log::warn!("{collision}");
        }
        let old = Box::new((old, there, found));
        Ok(Committed { generation, providers: status, collisions, changed, old })
    }

    /// Leaves out whoever nobody stands for any more: what they offer is verified before it is opened, and they may be running.
    pub(super) fn retain_trusted(&self, providers: &mut Vec<Arc<PluginProvider>>) {
        let rulebook = self.vetting.rulebook();
        providers.retain(|provider| {
            let plugin = &provider.registered().plugin;
            let still = rulebook.trust().still(&plugin.signer);
            still.inspect_err(|reason| log::warn!("provider {}: {reason}", plugin.id)).is_ok()
        });
    }

    /// A provider that runs once it is called.
    pub(super) fn provider(&self, registered: Registered) -> PluginProvider {
        PluginProvider::new(registered, &self.vetting, &self.config)
    }
}

/// What is registered after a scan, with what other processes have installed and uninstalled since it began.
pub(super) fn merge(
    mut found: Vec<Registered>,
    current: &[Registered],
    before: &Installed,
    now: &Installed,
) -> Vec<Registered> {
    let ids = before.0.keys().chain(now.0.keys());
    for id in ids.filter(|id| before.0.get(*id) != now.0.get(*id)) {
        found.retain(|registered| registered.plugin.id.as_str() != id);
        let theirs = current.iter().find(|registered| registered.plugin.id.as_str() == id);
        // A key that is in both is seen twice, and added once.
        found.extend(theirs.cloned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        installed_file::InstalledBundle, store::ContentHash, trust::Signer, verify::StoredPlugin,
    };

    fn registered(id: &str, version: u64) -> Registered {
        let hash = ContentHash::of(format!("{id} {version}").as_bytes());
        let plugin = StoredPlugin {
            id: id.parse().unwrap(),
            version: semver::Version::new(version, 0, 0),
            hash,
            entry: hash,
            library: "a.so".to_owned(),
            bundled: true,
            signer: Signer::Nobody,
            declared: Vec::new(),
        };
        Registered { plugin, tools: Vec::new() }
    }

    fn installed(rows: &[(&str, u64)]) -> Installed {
        let bundle = |&(id, version): &(&str, u64)| {
            let bundle = InstalledBundle {
                version: format!("{version}.0.0"),
                entry: registered(id, version).plugin.entry.to_string(),
                library: None,
                from: String::new(),
                at: 0,
            };
            (id.to_owned(), bundle)
        };
        Installed(rows.iter().map(bundle).collect())
    }

    #[test]
    fn what_others_install_during_a_scan_stands() {
        let found = || vec![registered("kept", 1), registered("old", 1), registered("updated", 1)];
        let before = installed(&[("kept", 1), ("old", 1), ("updated", 1)]);
        let unchanged = merge(found(), &[], &before, &before);
        assert_eq!(unchanged, found(), "nobody was there");

        let now = installed(&[("kept", 1), ("new", 1), ("updated", 2)]);
        let current = [registered("kept", 1), registered("new", 1), registered("updated", 2)];
        let mut merged = merge(found(), &current, &before, &now);
        merged.sort_by(|one, other| one.plugin.id.cmp(&other.plugin.id));
        assert_eq!(merged, current);
    }
}
