//! The signed plugins that were registered and are gone: an older version of one is no newcomer.

use std::collections::BTreeMap;

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::{
    home_file::Document, provider::Registered, refresh::downgrade, rejection::Reason,
    trust::Signer, verify::StoredPlugin,
};

/// A plugin as it was when it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct DepartedPlugin {
    version: String,
    publisher: String,
}

/// Those that are gone, by the id of their provider. Those that are registered are in the registry file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Departed(BTreeMap<String, DepartedPlugin>);

impl Document for Departed {
    const NAME: &'static str = "departed";
    const FORMAT: u32 = 1;
    const FOUND_ANEW: bool = false;
}

impl Departed {
    /// Those that are gone once `now` is registered in the place of `before`, but for the one that an administrator wants forgotten.
    pub(crate) fn after(
        &self,
        before: &[Registered],
        now: &[Registered],
        forgotten: Option<&str>,
    ) -> Self {
        let mut gone = self.0.clone();
        for Registered { plugin, .. } in before {
            if let Signer::Publisher { name, .. } = &plugin.signer {
                let (version, publisher) = (plugin.version.to_string(), name.clone());
                gone.insert(plugin.id.to_string(), DepartedPlugin { version, publisher });
            }
        }
        let there = now.iter().map(|registered| registered.plugin.id.as_str());
        for id in there.chain(forgotten) {
            gone.remove(id);
        }
        Self(gone)
    }

    /// Why a plugin may not take the place of the one that is gone: it is an older version of the same publisher's.
    pub(crate) fn refuses(&self, plugin: &StoredPlugin) -> Option<Reason> {
        let DepartedPlugin { version, publisher } = self.0.get(plugin.id.as_str())?;
        let is_theirs =
            matches!(&plugin.signer, Signer::Publisher { name, .. } if name == publisher);
        let version: Version = version.parse().ok().filter(|_| is_theirs)?;
        let remedy = "the later one was registered here before; where you want the older, ask for it with --replace";
        downgrade(&version, plugin, remedy)
    }
}
