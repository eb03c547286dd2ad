//! What administrators install and uninstall.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use thiserror::Error;
use toolbay_core::{Actor, AuditError, Collision, DecisionKind, Party, ProviderId};

use super::{ChangedTool, ProviderStatus, RefreshReport, Toolbay, commit::Committed};
use crate::{
    access_error::NotAdmin,
    departed_file::Departed,
    error::RefreshError,
    home_file::HomeFileError,
    installed_file::{Installed, InstalledBundle},
    load::{Loaded, load},
    provider::Registered,
    refresh::{self, RefreshOptions, displacement, duplicate},
    rejection::{Reason, Rejection, Stage},
    scan_cache::{Stats, encoded},
    store::ContentHash,
    trust::Signer,
    verify::{StoredPlugin, Taken},
    vetting::Rulebook,
};

/// What an installation did.
#[derive(Debug)]
#[non_exhaustive]
pub struct InstallReport {
    /// Which registry it is now.
    pub generation: u64,
    /// The providers that were installed, sorted by id.
    pub installed: Vec<ProviderStatus>,
    /// The files, and single tools, that were not taken.
    pub rejections: Vec<Rejection>,
    /// What the policy warns of in what was taken.
    pub warnings: Vec<Rejection>,
    /// The names that several providers wanted.
    pub collisions: Vec<Collision>,
    /// The tools that differ from what was reviewed.
    pub changed: Vec<ChangedTool>,
}

/// Why nothing was installed or uninstalled.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InstallError {
    /// Whoever wants it is no administrator.
    ///
    /// Resolution: ask one.
    #[error("{actor} may not do that: expected an administrator")]
    NotAdmin {
        /// Who wanted it.
        actor: String,
    },
    /// Nothing is installed under this name.
    ///
    /// Resolution: use a name that is; what lies in a plugin directory is removed there.
    #[error("provider {id:?} is not installed: expected {}; what lies in a plugin directory is removed there", expected(.installed))]
    NotInstalled {
        /// The name.
        id: String,
        /// The names that are installed.
        installed: Vec<String>,
    },
    /// The decision can't be recorded.
    ///
    /// Resolution: make the audit log writable.
    #[error("the decision can't be recorded, so nothing was done")]
    NotAuditable(#[from] AuditError),
    /// What is installed can't be read or kept.
    ///
    /// Resolution: as the source says.
    #[error("what is installed can't be read or kept")]
    File(#[from] HomeFileError),
    /// What was to be installed or uninstalled can't be registered, and so was not.
    ///
    /// Resolution: as the source says, then try again.
    #[error("what is installed can't be registered")]
    Registry(#[from] RefreshError),
}

fn expected(installed: &[String]) -> String {
    match installed {
        [] => "one that is, and nothing is".to_owned(),
        installed => format!("one of {}", installed.join(", ")),
    }
}

impl From<NotAdmin> for InstallError {
    fn from(NotAdmin { actor }: NotAdmin) -> Self {
        Self::NotAdmin { actor }
    }
}

impl InstallError {
    /// Who can do something about it.
    pub fn party(&self) -> Party {
        match self {
            Self::NotAdmin { .. } | Self::NotInstalled { .. } => Party::Caller,
            _ => Party::Environment,
        }
    }

    /// The word by which programs know the error. It never changes.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAdmin { .. } => NotAdmin::CODE,
            Self::NotInstalled { .. } => "not_installed",
            Self::NotAuditable(_) => "not_auditable",
            Self::File(_) | Self::Registry(_) => "file",
        }
    }
}

/// What was installed before a change, and after it.
struct Change {
    before: Installed,
    after: Installed,
}

/// A plugin that is ready to be installed: it was taken, and has listed its tools.
struct Ready {
    source: PathBuf,
    plugin: StoredPlugin,
    loaded: Loaded,
    /// Whether there was something to tell of it, which each refresh tells anew.
    is_remarkable: bool,
}

impl Ready {
    /// Whether it is the one of two of a provider that is used, as in a refresh.
    fn precedes(&self, other: &Self) -> bool {
        let by_version = self.plugin.version.cmp(&other.plugin.version).reverse();
        by_version.then(self.plugin.entry.cmp(&other.plugin.entry)).is_le()
    }
}

impl Toolbay {
    /// Installs bundles, or single libraries where unsigned plugins may run: each is verified, copied into the store, opened to learn its
    /// tools, and registered. What was installed or registered of the same provider makes room for it; where one can't be taken, what was
    /// there stays in use.
    ///
    /// # Errors
    ///
    /// [`InstallError`] where nothing was installed. What can't be taken is in the report, and stops no other.
    pub fn install(
        &self,
        sources: &[PathBuf],
        by: &Actor,
        options: RefreshOptions,
    ) -> Result<InstallReport, InstallError> {
        self.check_admin(by, DecisionKind::Install, "plugins", "")?;
        let replacing = self.replacing.lock();
        let rulebook = self.vetting.rulebook();
        let (mut rejections, mut warnings) = (Vec::new(), Vec::new());
        let mut ready: BTreeMap<ProviderId, Ready> = BTreeMap::new();
        // What the file has, and not this process alone.
        let (registered, departed) = (self.file.read().contents.providers, self.departed.read()?);
        for source in sources {
            let source = std::path::absolute(source).unwrap_or_else(|_| source.clone());
            match self.prepare(&source, &rulebook, (&registered, &departed, options), &mut warnings)
            {
                Ok(one) => {
                    let id = one.plugin.id.clone();
                    let (one, other) = match ready.remove(&id) {
                        None => (one, None),
                        Some(other) if other.precedes(&one) => (other, Some(one)),
                        Some(other) => (one, Some(other)),
                    };
                    if let Some(other) = other.filter(|it| it.plugin.entry != one.plugin.entry) {
                        let winner = one.source.display().to_string();
                        let reason = duplicate(&id, &one.plugin.version, &winner);
                        rejections.push(reason.of(&other.source, Some(id.as_str())));
                    }
                    ready.insert(id, one);
                }
                Err(refused) => rejections.extend(refused),
            }
        }
        for Ready { source, plugin, loaded, .. } in ready.values() {
            let of_source = |reason: &Reason| reason.clone().of(source, Some(plugin.id.as_str()));
            rejections.extend(loaded.left_out.iter().map(of_source));
        }
        rejections.sort();
        let decided: Vec<(ProviderId, String)> = ready
            .values()
            .map(|Ready { plugin: StoredPlugin { id, version, hash, signer, .. }, .. }| {
                (id.clone(), format!("version {version}, sha256 {hash}, signed by {signer}"))
            })
            .collect();
        let record = |refused: Option<&str>| {
            decided.iter().try_for_each(|(id, detail)| {
                self.record(by, DecisionKind::Install, id.as_str(), detail, refused)
            })
        };
        let committed = record(None).map_err(InstallError::from).and_then(|()| {
            let row = |one: &Ready| (one.plugin.id.to_string(), Some(self.row(one)));
            let changed = self.change_installed(ready.values().map(row))?;
            self.register(ready, &rulebook).inspect_err(|_| self.take_back(&changed))
        });
        let committed = committed.inspect_err(|error| {
            // The log has it as decided where only a file could not be written.
            let _ = record(Some(error.code()));
        })?;
        drop(replacing);
        let Committed { generation, providers, collisions, changed, old } = committed;
        drop(old);
        let ids: BTreeSet<&ProviderId> = decided.iter().map(|(id, _)| id).collect();
        let installed = providers.into_iter().filter(|one| ids.contains(&one.id)).collect();
        Ok(InstallReport { generation, installed, rejections, warnings, collisions, changed })
    }

    /// Registers what was installed in the place of what was there of the same providers.
    fn register(
        &self,
        ready: BTreeMap<ProviderId, Ready>,
        rulebook: &Rulebook,
    ) -> Result<Committed, InstallError> {
        let plain: BTreeSet<ContentHash> =
            ready.values().filter(|one| !one.is_remarkable).map(|one| one.plugin.entry).collect();
        let ids: Vec<ProviderId> = ready.keys().cloned().collect();
        let found: Vec<Arc<_>> = ready
            .into_values()
            .map(|Ready { plugin, loaded: Loaded { instance, tools, .. }, .. }| {
                let tools = tools.into_iter().map(Arc::new).collect();
                Arc::new(self.provider(Registered { plugin, tools }).running(instance))
            })
            .collect();
        let new: Vec<Registered> =
            found.iter().map(|provider| provider.registered().clone()).collect();
        let plain = new.iter().filter(|registered| plain.contains(&registered.plugin.entry));
        self.remember_seen(plain, rulebook);
        Ok(self.commit(
            found,
            |current| {
                let others = current.iter().filter(|there| !ids.contains(&there.plugin.id));
                Ok(others.cloned().chain(new).collect())
            },
            None,
        )?)
    }

    /// Uninstalls a provider. Calls of it that are running finish, and its entry of the store stays until it is collected; what
    /// administrators decided about its tools stays.
    ///
    /// # Errors
    ///
    /// [`InstallError`] where it was not uninstalled.
    pub fn uninstall(&self, id: &str, by: &Actor) -> Result<RefreshReport, InstallError> {
        self.check_admin(by, DecisionKind::Uninstall, id, "")?;
        let installed = self.installed.read()?;
        let Some(bundle) = installed.0.get(id) else {
            let (id, installed) = (id.to_owned(), installed.0.into_keys().collect());
            return Err(InstallError::NotInstalled { id, installed });
        };
        let detail = format!("version {}", bundle.version);
        let record = |refused| self.record(by, DecisionKind::Uninstall, id, &detail, refused);
        let forgotten = record(None).map_err(InstallError::from).and_then(|()| {
            let changed = self.change_installed([(id.to_owned(), None)])?;
            // What was installed is gone on purpose: the version in a plugin directory, where there is one, is no downgrade.
            Ok(self.forget(id).inspect_err(|_| self.take_back(&changed))?)
        });
        forgotten.inspect_err(|error| {
            let _ = record(Some(error.code()));
        })?;
        Ok(self.refresh()?)
    }

    /// What is installed, by the id of its provider.
    ///
    /// # Errors
    ///
    /// [`HomeFileError`] where that can't be read.
    pub fn installed(&self) -> Result<BTreeMap<String, InstalledBundle>, HomeFileError> {
        self.installed.read().map(|installed| installed.0)
    }

    /// Installs these bundles, or uninstalls those of which there is none, and tells what that changed.
    fn change_installed(
        &self,
        bundles: impl IntoIterator<Item = (String, Option<InstalledBundle>)>,
    ) -> Result<Change, HomeFileError> {
        self.installed.update(|installed| {
            let before = installed.clone();
            bundles.into_iter().for_each(|(id, bundle)| installed.set(&id, bundle));
            Ok(Change { before, after: installed.clone() })
        })
    }

    /// Takes back what can't be registered: the next refresh must do nothing that was told to have failed.
    fn take_back(&self, Change { before, after }: &Change) {
        let taken_back =
            self.installed.take_back(before, after).and_then(|is_done| match is_done {
                true => Ok(()),
                // What others have changed meanwhile stays.
                false => self.installed.update(|now| {
                    let ids = before.0.keys().chain(after.0.keys());
                    for id in ids
                        .filter(|id| now.0.get(*id) == after.0.get(*id))
                        .cloned()
                        .collect::<Vec<_>>()
                    {
                        now.set(&id, before.0.get(&id).cloned());
                    }
                    Ok(())
                }),
            });
        if let Err(error) = taken_back {
            log::error!("what could not be registered is registered by the next refresh: {error}");
        }
    }

    /// Takes one source into the store and learns its tools.
    fn prepare(
        &self,
        source: &Path,
        rulebook: &Rulebook,
        (registered, departed, options): (&[Registered], &Departed, RefreshOptions),
        warnings: &mut Vec<Rejection>,
    ) -> Result<Ready, Vec<Rejection>> {
        let one = |reason: Reason, id: Option<&str>| vec![reason.of(source, id)];
        let read = match fs::symlink_metadata(source) {
            Err(error) => Err(no_source(&error)),
            Ok(_) => refresh::read(source),
        };
        let mut read = read.map_err(|reason| one(reason, None))?;
        let id = read.id();
        let of_source = |reason: Reason| reason.of(source, id.as_deref());
        let Taken { plugin, left_out, warnings: found } = read
            .take(rulebook, &self.vetting)
            .map_err(|reasons| reasons.into_iter().map(of_source).collect::<Vec<_>>())?;
        let before = registered.iter().find(|before| before.plugin.id == plugin.id);
        let refused = match before {
            _ if options.replace => None,
            Some(before) => displacement(before, &plugin),
            None => departed.refuses(&plugin),
        };
        if let Some(reason) = refused {
            return Err(one(reason, id.as_deref()));
        }
        let configuration = self.config.providers.get(&plugin.id);
        let mut loaded = load(&self.vetting, rulebook, &plugin, configuration.map(|raw| &**raw))
            .map_err(|reason| one(reason, id.as_deref()))?;
        let is_remarkable =
            !loaded.left_out.is_empty() || !left_out.is_empty() || !found.is_empty();
        loaded.left_out.splice(0..0, left_out);
        warnings.extend(found.into_iter().map(of_source));
        if plugin.signer == Signer::Nobody {
            warnings.push(of_source(refresh::unsigned()));
        }
        Ok(Ready { source: source.to_owned(), plugin, loaded, is_remarkable })
    }

    /// Takes a provider out of what is registered.
    fn forget(&self, id: &str) -> Result<(), RefreshError> {
        let replacing = self.replacing.lock();
        let committed = self.commit(
            Vec::new(),
            |current| {
                let others = current.iter().filter(|there| there.plugin.id.as_str() != id);
                Ok(others.cloned().collect())
            },
            Some(id),
        )?;
        drop(replacing);
        drop(committed.old);
        Ok(())
    }

    fn row(&self, ready: &Ready) -> InstalledBundle {
        let plugin = &ready.plugin;
        InstalledBundle {
            version: plugin.version.to_string(),
            entry: plugin.entry.to_string(),
            library: (!plugin.bundled).then(|| plugin.library.clone()),
            from: encoded(&ready.source),
            at: self.now().as_secs(),
        }
    }

    /// Spares the next refresh reading and running what was installed just now.
    fn remember_seen<'p>(
        &self,
        registered: impl Iterator<Item = &'p Registered>,
        rulebook: &Rulebook,
    ) {
        let circumstances = self.vetting.circumstances(rulebook);
        let now = self.now();
        let kept = self.cache.update(|cache| {
            *cache = std::mem::take(cache).under(&circumstances);
            for registered in registered {
                let plugin = &registered.plugin;
                if self.config.providers.contains_key(&plugin.id) {
                    continue;
                }
                let entry = self.vetting.store.entry(plugin.entry);
                let path = if plugin.bundled { entry } else { entry.join(&plugin.library) };
                cache.remember(&path, Stats::of(&path), registered, &self.vetting.store, now);
            }
            Ok::<_, HomeFileError>(())
        });
        if let Err(error) = kept {
            log::warn!("the next refresh reads everything anew: {error}");
        }
    }
}

fn no_source(error: &io::Error) -> Reason {
    Reason::plugin(
        Stage::Discover,
        "no_such_file",
        "a bundle, a folder with toolbay.json, or a library",
        error.to_string(),
        "name one that is there",
    )
    .by_environment()
}
