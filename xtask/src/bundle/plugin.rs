//! The packages of a workspace that can be packed.

use cargo_metadata::{CrateType, Package, camino::Utf8PathBuf, semver::Version};
use toolbay_loader::similar;

use super::settings::{Settings, SettingsError};
use crate::checkout::Checkout;

/// A package that is a plugin, with all that its manifest says about its bundle.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plugin {
    /// The package's name.
    pub package: String,
    /// Its version.
    pub version: Version,
    /// Its folder.
    pub folder: Utf8PathBuf,
    /// Its license, an SPDX expression.
    pub license: String,
    /// What it does, on one line.
    pub description: Option<String>,
    /// Where to read more.
    pub homepage: Option<String>,
    /// What its manifest says about its bundle.
    pub settings: Settings,
    /// The file name of its library.
    pub library: String,
}

/// Why it can't be said what is to be packed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// No member of the workspace is a plugin.
    ///
    /// Resolution: write the table into the plugin's manifest.
    #[error(
        "expected a member of the workspace with [package.metadata.toolbay] in its Cargo.toml, found none"
    )]
    None,
    /// The workspace has no such package.
    ///
    /// Resolution: name one of its members.
    #[error("package {name:?}: expected {expected}, found no such member of the workspace")]
    Unknown {
        /// The name.
        name: String,
        /// The similar one, or all of them.
        expected: String,
    },
    /// Its settings can't be read.
    #[error("package {package}: {cause}")]
    Settings {
        /// The package.
        package: String,
        /// What is wrong with them.
        cause: SettingsError,
    },
    /// It is no library that a host could open.
    ///
    /// Resolution: write the crate type.
    #[error("package {package}: expected crate-type = [\"cdylib\"] under [lib], found none")]
    NoLibrary {
        /// The package.
        package: String,
    },
    /// It has no license.
    ///
    /// Resolution: write one.
    #[error(
        "package {package}: expected license = \"...\" under [package], an SPDX expression, with LicenseRef-NAME for one of your own; found none"
    )]
    NoLicense {
        /// The package.
        package: String,
    },
}

impl Plugin {
    /// The packages of these names; without any, every member of the workspace that has settings for its bundle.
    ///
    /// # Errors
    ///
    /// [`PluginError`] for the first package that can't be packed, or where there is none.
    pub fn choose(checkout: &Checkout, names: &[String]) -> Result<Vec<Self>, PluginError> {
        Self::among(&checkout.members(), names)
    }

    fn among(members: &[&Package], names: &[String]) -> Result<Vec<Self>, PluginError> {
        if names.is_empty() {
            let has_settings = |package: &&&Package| package.metadata.get("toolbay").is_some();
            let chosen: Vec<_> = members.iter().filter(has_settings).collect();
            return match chosen.is_empty() {
                true => Err(PluginError::None),
                false => chosen.into_iter().map(|package| Self::of(package)).collect(),
            };
        }
        let named = |name: &String| {
            let found = members.iter().find(|package| *package.name == **name);
            Self::of(found.ok_or_else(|| unknown(name, members))?)
        };
        names.iter().map(named).collect()
    }

    fn of(package: &Package) -> Result<Self, PluginError> {
        let name = || package.name.to_string();
        let settings = Settings::of(&package.metadata)
            .map_err(|cause| PluginError::Settings { package: name(), cause })?;
        let target = package
            .targets
            .iter()
            .find(|target| target.is_lib() || target.crate_types.contains(&CrateType::CDyLib));
        let library = target.filter(|target| target.crate_types.contains(&CrateType::CDyLib));
        let library = library.ok_or_else(|| PluginError::NoLibrary { package: name() })?;
        let license = package.license.clone();
        let folder = package.manifest_path.parent().map(ToOwned::to_owned);
        let description = package.description.as_deref();
        Ok(Self {
            package: name(),
            version: package.version.clone(),
            folder: folder.unwrap_or_default(),
            license: license.ok_or_else(|| PluginError::NoLicense { package: name() })?,
            description: description
                .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
                .filter(|text| !text.is_empty()),
            homepage: package.homepage.clone(),
            settings,
            library: format!("lib{}.so", library.name.replace('-', "_")),
        })
    }
}

fn unknown(name: &str, members: &[&Package]) -> PluginError {
    let known = || members.iter().map(|package| package.name.as_str());
    let expected = match similar(name, known(), 1).pop() {
        Some(nearest) => format!("{nearest:?}"),
        None => format!("one of {}", known().collect::<Vec<_>>().join(", ")),
    };
    PluginError::Unknown { name: name.to_owned(), expected }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn package(name: &str, change: impl FnOnce(&mut Value)) -> Package {
        let mut package = json!({
            "name": name, "version": "1.2.3", "id": name, "manifest_path": format!("/w/{name}/Cargo.toml"),
            "license": "MIT", "description": "Does\n  much. ", "homepage": null, "dependencies": [], "features": {},
            "source": null, "edition": "2024", "metadata": { "toolbay": { "vendor": "A" } },
            "targets": [{ "name": name, "kind": ["cdylib"], "crate_types": ["cdylib"], "src_path": "/w/lib.rs", "edition": "2024" }],
        });
        change(&mut package);
        serde_json::from_value(package).unwrap()
    }

    #[test]
    fn a_plugin_is_what_its_manifest_says() {
        let (one, other) =
            (package("my-plugin", |_| {}), package("other", |p| p["metadata"] = Value::Null));
        let members = [&one, &other];
        let chosen = Plugin::among(&members, &[]).unwrap();
        let [plugin] = &chosen[..] else { panic!("{chosen:?}") };
        assert_eq!(
            (plugin.package.as_str(), plugin.folder.as_str()),
            ("my-plugin", "/w/my-plugin")
        );
        assert_eq!((plugin.library.as_str(), plugin.license.as_str()), ("libmy_plugin.so", "MIT"));
        assert_eq!(plugin.description.as_deref(), Some("Does much."));
        assert_eq!(Plugin::among(&members, &["my-plugin".to_owned()]).unwrap().len(), 1);
    }

    type Change = fn(&mut Value);

    #[test]
    fn what_can_not_be_packed_is_told() {
        let cases: [(Change, &str); 4] = [
            (
                |p| p["metadata"] = json!({ "toolbay": {} }),
                "package a: [package.metadata.toolbay]: expected vendor = \"NAME\", found none",
            ),
            (
                |p| p["metadata"] = Value::Null,
                "package a: expected [package.metadata.toolbay] with vendor = \"NAME\", found no such table",
            ),
            (
                |p| p["targets"][0]["crate_types"] = json!(["lib"]),
                "package a: expected crate-type = [\"cdylib\"] under [lib], found none",
            ),
            (
                |p| p["license"] = Value::Null,
                "package a: expected license = \"...\" under [package], an SPDX expression, with LicenseRef-NAME for one of your own; found none",
            ),
        ];
        for (change, expected) in cases {
            let package = package("a", change);
            let error = Plugin::among(&[&package], &["a".to_owned()]).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let plugin = package("my-plugin", |_| {});
        let error = Plugin::among(&[&plugin], &["my-plugn".to_owned()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "package \"my-plugn\": expected \"my-plugin\", found no such member of the workspace"
        );
        let plain = package("a", |p| p["metadata"] = Value::Null);
        assert_eq!(Plugin::among(&[&plain], &[]).unwrap_err(), PluginError::None);
    }
}
