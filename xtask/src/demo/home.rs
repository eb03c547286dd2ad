//! The home that the demonstration runs in: configuration, a publisher's key and bundles, fresh each time.

use std::{collections::BTreeMap, env::consts, fs, fs::File, io};

use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};
use toolbay_loader::{Bundle, BundlePath, FileContent, write_zip};

use super::DemoError;
use crate::{
    bundle::{Packer, Plugin, SigningKey, make_key},
    checkout::Checkout,
};

/// The bundle that is also shown in a wrong form.
const SHOWN: &str = concat!("greeting-", env!("CARGO_PKG_VERSION"), ".toolbay");

/// A folder that `toolbay --home` takes.
#[derive(Debug)]
pub(super) struct Home {
    path: Utf8PathBuf,
}

impl Home {
    /// Lays out a fresh home in the target folder, with bundles of these packages' release libraries. The publisher's secret key lies
    /// elsewhere.
    pub(super) fn create(checkout: &Checkout, packages: &[&str]) -> Result<Self, DemoError> {
        let home = Self { path: checkout.target().join("demo") };
        let keys = checkout.target().join("demo-keys");
        for folder in [&home.path, &keys] {
            if folder.exists() {
                at(folder, fs::remove_dir_all(folder))?;
            }
            at(folder, fs::create_dir_all(folder))?;
        }
        let notes = home.path.join("notes");
        at(&notes, fs::create_dir(&notes))?;
        let file = home.path.join("toolbay.toml");
        at(&file, fs::write(&file, configuration(checkout.root(), &notes)))?;
        home.pack(checkout, packages, &keys.join("vendor.key"))?;
        let bundle = home.path.join("bundles").join(SHOWN);
        at(&bundle, home.copies(&bundle))?;
        Ok(home)
    }

    /// Packs and signs the bundles of these packages, as their publisher does.
    fn pack(
        &self,
        checkout: &Checkout,
        packages: &[&str],
        key: &Utf8Path,
    ) -> Result<(), DemoError> {
        let packages: Vec<_> = packages.iter().map(|&name| name.to_owned()).collect();
        let plugins = Plugin::choose(checkout, &packages)?;
        let made = make_key(key.as_std_path(), true).map_err(crate::bundle::BundleError::from)?;
        let public = self.path.join("vendor.pub");
        at(&public, fs::copy(&made.public, &public))?;
        let mut packer = Packer::new(checkout, plugins.len(), false);
        let read = SigningKey::read(key.as_std_path());
        packer.key = Some(read.map_err(crate::bundle::BundleError::from)?);
        packer.output = self.path.join("bundles").into_std_path_buf();
        for plugin in &plugins {
            let library = checkout.target().join("release").join(library_of(&plugin.package));
            packer.pack(plugin, Some(library.as_std_path()))?;
        }
        Ok(())
    }

    /// Copies a bundle without its signature, and with another byte in its library.
    fn copies(&self, bundle: &Utf8Path) -> io::Result<()> {
        let mut bundle = Bundle::open(bundle.as_std_path()).map_err(io::Error::other)?;
        let manifest = bundle.manifest().clone();
        let mut files = BTreeMap::new();
        for listed in manifest.parts().listed() {
            let mut content = Vec::new();
            bundle.copy_file(&listed.path, &mut content).map_err(io::Error::other)?;
            files.insert(listed.path.clone(), content);
        }
        let write = |name: &str,
                     files: &BTreeMap<BundlePath, Vec<u8>>,
                     signature: Option<&[u8]>| {
            let files = files.iter();
            let files =
                files.map(|(path, bytes)| (path.clone(), FileContent::Bytes(bytes.clone())));
            let out = File::create(self.path.join("bundles").join(name))?;
            write_zip(&files.collect(), manifest.bytes(), signature, out).map_err(io::Error::other)
        };
        write("unsigned.toolbay", &files, None)?;
        for library in manifest.parts().libraries() {
            let last = files.get_mut(&library.path).and_then(|content| content.last_mut());
            last.into_iter().for_each(|byte| *byte ^= 1);
        }
        write("tampered.toolbay", &files, bundle.signature())
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
    let mut configuration = toml::Table::new();
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
