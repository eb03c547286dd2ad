//! The home that the demonstration runs in: plugins and configuration, fresh each time.

use std::{env::consts, fs};

use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};

use super::DemoError;
use crate::checkout::Checkout;

/// A folder that `toolbay --home` takes.
#[derive(Debug)]
pub(super) struct Home {
    path: Utf8PathBuf,
}

impl Home {
    /// Lays out a fresh home in the target folder, with the release libraries of these packages.
    pub(super) fn create(checkout: &Checkout, packages: &[&str]) -> Result<Self, DemoError> {
        let home = Self { path: checkout.target().join("demo") };
        let plugins = home.path.join("plugins");
        if home.path.exists() {
            at(&home.path, fs::remove_dir_all(&home.path))?;
        }
        at(&plugins, fs::create_dir_all(&plugins))?;
        for package in packages {
            let library = library_of(package);
            let built = checkout.target().join("release").join(&library);
            at(&built, fs::copy(&built, plugins.join(&library)))?;
        }
        let notes = home.path.join("notes");
        at(&notes, fs::create_dir(&notes))?;
        let file = home.path.join("toolbay.toml");
        at(&file, fs::write(&file, configuration(checkout.root(), &notes)))?;
        Ok(home)
    }

    pub(super) fn path(&self) -> &Utf8Path {
        &self.path
    }
}

/// The file name of a package's cdylib.
fn library_of(package: &str) -> String {
    format!("{}{}{}", consts::DLL_PREFIX, package.replace('-', "_"), consts::DLL_SUFFIX)
}

/// The host's configuration: the code plugin searches the repository itself, the catalogue plugin has its sample, and notes an empty
/// folder.
fn configuration(root: &Utf8Path, notes: &Utf8Path) -> String {
    let configuration = toml::toml! {
        [plugins]
        directories = ["plugins"]
    };
    let mut configuration = configuration;
    let providers = [
        ("code", "roots", toml::Value::from(vec![root.as_str()])),
        ("catalogue", "file", root.join("plugins/catalogue/sample/courses.csv").as_str().into()),
        ("notes", "folder", notes.as_str().into()),
    ];
    let providers = providers.map(|(provider, key, value)| {
        (provider.to_owned(), toml::Table::from_iter([(key.to_owned(), value)]).into())
    });
    configuration.insert("providers".to_owned(), toml::Table::from_iter(providers).into());
    configuration.to_string()
}

fn at<T>(path: &Utf8Path, outcome: std::io::Result<T>) -> Result<T, DemoError> {
    outcome.map_err(|cause| DemoError::Home { path: path.to_owned(), cause })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_root_can_stand_in_the_configuration() {
        let root = "/a \"quoted\" \\ root";
        let table: toml::Table = configuration(root.into(), "/notes".into()).parse().unwrap();
        assert_eq!(table["plugins"]["directories"][0].as_str(), Some("plugins"));
        assert_eq!(table["providers"]["code"]["roots"][0].as_str(), Some(root));
        let file = table["providers"]["catalogue"]["file"].as_str().unwrap();
        assert!(file.starts_with(root) && file.ends_with("courses.csv"), "{file}");
        assert_eq!(table["providers"]["notes"]["folder"].as_str(), Some("/notes"));
    }

    #[test]
    fn a_package_has_its_library() {
        assert_eq!(
            library_of("toolbay-plugin-code"),
            format!("{}toolbay_plugin_code{}", consts::DLL_PREFIX, consts::DLL_SUFFIX)
        );
    }
}
