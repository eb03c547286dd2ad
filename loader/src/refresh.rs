//! From plugin directories to running providers: the stages in their order, each file on its own.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use toolbay_core::ProviderId;

use crate::{
    config::Config,
    discover::{self, Candidate, Discovery},
    inspect::{self, Inspection},
    instance::Instance,
    provider::{PluginProvider, Registered},
    rejection::{Reason, Rejection, Stage},
    store::Store,
    verify::{self, Verified},
};

/// What is in the plugin directories.
pub(crate) struct Found {
    pub(crate) running: Vec<Arc<PluginProvider>>,
    pub(crate) rejections: Vec<Rejection>,
    pub(crate) ignored: Vec<(PathBuf, &'static str)>,
}

pub(crate) fn find(config: &Config, store: &Store) -> Found {
    let Discovery { candidates, rejections } = discover::discover(&config.plugin_directories);
    let mut found = Found { running: Vec::new(), rejections, ignored: Vec::new() };
    let mut verified = Vec::new();
    for candidate in &candidates {
        verified.extend(found.check(candidate, store));
    }
    for plugin in found.one_of_each(verified) {
        match run(&plugin, config, store) {
            Ok((provider, left_out)) => {
                found.running.push(Arc::new(provider));
                found.rejections.extend(left_out);
            }
            Err(rejection) => found.rejections.push(rejection),
        }
    }
    found.rejections.sort();
    found
}

impl Found {
    fn check(&mut self, candidate: &Candidate, store: &Store) -> Option<Verified> {
        let inspected = match inspect::inspect(candidate) {
            Ok(Inspection::Plugin(inspected)) => *inspected,
            Ok(Inspection::NotAPlugin(what)) => {
                self.ignored.push((candidate.path().to_owned(), what));
                return None;
            }
            Err(rejection) => {
                self.rejections.push(rejection);
                return None;
            }
        };
        match verify::verify(inspected, store) {
            Ok((verified, left_out)) => {
                self.rejections.extend(left_out);
                Some(verified)
            }
            Err(rejections) => {
                self.rejections.extend(rejections);
                None
            }
        }
    }

    /// One plugin of each provider: of several, the highest version, and of several of one version the one with the lowest hash, so
    /// that names of files change nothing. A second copy of the same content is no conflict.
    fn one_of_each(&mut self, mut verified: Vec<Verified>) -> Vec<Verified> {
        verified.sort_by(|one, other| {
            let (this, that) = (one.source().path(), other.source().path());
            let by_content = one.hash().cmp(&other.hash()).then(this.cmp(that));
            other.version().cmp(one.version()).then(by_content)
        });
        let mut kept: BTreeMap<ProviderId, Verified> = BTreeMap::new();
        for plugin in verified {
            let Some(winner) = kept.get(plugin.provider()) else {
                kept.insert(plugin.provider().clone(), plugin);
                continue;
            };
            if winner.hash() != plugin.hash() {
                let reason = Reason::plugin(
                    Stage::Verify,
                    "duplicate_provider",
                    format!("one library of provider {}", plugin.provider()),
                    format!(
                        "version {} of it in {}",
                        winner.version(),
                        winner.source().path().display()
                    ),
                    "remove one of them; the highest version is used, and of equal versions the one with the lowest SHA-256",
                );
                let id = Some(plugin.provider().as_str());
                self.rejections.push(reason.by_environment().of(plugin.source().path(), id));
            }
        }
        kept.into_values().collect()
    }
}

/// Opens the library and lists its tools. This is where the plugin's code first runs.
fn run(
    plugin: &Verified,
    config: &Config,
    store: &Store,
) -> Result<(PluginProvider, Vec<Rejection>), Rejection> {
    let (path, id) = (plugin.source().path(), plugin.provider());
    let rejected = |reason: Reason| reason.of(path, Some(id.as_str()));
    let configuration = config.providers.get(id).cloned();
    let instance =
        Instance::create(plugin.copy(), id, configuration.as_deref()).map_err(rejected)?;
    let (tools, left_out) = instance.tools(plugin.tools()).map_err(rejected)?;
    let registered = Registered {
        id: id.clone(),
        version: plugin.version().clone(),
        hash: plugin.hash(),
        declared: plugin.tools().to_vec(),
        tools: tools.into_iter().map(Arc::new).collect(),
    };
    let provider = PluginProvider::new(registered, store.clone(), configuration).running(instance);
    Ok((provider, left_out.into_iter().map(rejected).collect()))
}
