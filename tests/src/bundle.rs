//! Bundles for tests, made of the libraries that cargo has built, and keys to sign them with.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Cursor,
    path::{Path, PathBuf},
};

use minisign::KeyPair;
use toolbay_abi::note::TARGET;
use toolbay_corpus::Patch;
use toolbay_loader::{
    BundlePath, BundledDefinition, BundledTool, Config, Content, ContentHash, Egress, FileContent,
    ListedFile, Manifest, ManifestParts, ProviderId, Target, ToolName, Toolbay, Unsigned,
    declared_tools, read_content, write_zip,
};

use crate::bay::install;

/// The publisher of every test's bundles.
pub const VENDOR: &str = "Example Ltd";

/// A pair of keys of a publisher.
#[derive(Debug)]
pub struct Key(KeyPair);

#[expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    clippy::new_without_default,
    reason = "a test without its key has failed"
)]
impl Key {
    /// A new one.
    pub fn new() -> Self {
        Self(KeyPair::generate_unencrypted_keypair().unwrap())
    }

    /// The public key in one line.
    pub fn public(&self) -> String {
        self.0.pk.to_base64()
    }

    /// The signature of these bytes.
    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        let comment = Some("a bundle of the tests");
        let signature = minisign::sign(None, &self.0.sk, Cursor::new(bytes), comment, None);
        signature.unwrap().into_string().into_bytes()
    }
}

/// What becomes a bundle: its parts can be changed before it is written.
#[derive(Debug, Clone)]
pub struct Draft {
    /// What the manifest will say.
    pub parts: ManifestParts,
    /// The files by their paths in the bundle.
    pub files: BTreeMap<BundlePath, Vec<u8>>,
}

#[expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test whose bundle can't be made has failed"
)]
impl Draft {
    /// The bundle of a package's library, with all that its provider lists without a configuration.
    pub fn of(package: &str) -> Self {
        Self::of_library(&crate::library(package))
    }

    /// The bundle of a library, without what it has for debuggers.
    pub fn of_library(library: &Path) -> Self {
        let home = tempfile::tempdir().unwrap();
        let library = &crate::stripped(library, home.path());
        let mut config = Config::new(home.path());
        config.policy.unsigned = Unsigned::Allow;
        let toolbay = Toolbay::open(config).unwrap();
        let report = install(&toolbay, library);
        let [provider] = &report.installed[..] else { panic!("{report:?}") };
        let registry = toolbay.registry();
        let definition = |name: &ToolName| match registry.get(name.as_str()) {
            Some(entry) => BundledDefinition::Fixed {
                description: entry.definition().description().to_owned(),
                input_schema: entry.definition().schema().clone(),
                output_schema: entry.definition().output_schema().cloned(),
            },
            None => BundledDefinition::Configured,
        };
        let tools = provider.declared.iter().map(|declared| BundledTool {
            definition: definition(&declared.name),
            declared: declared.clone(),
        });
        Self::new(library, provider.id.clone(), &provider.version, tools.collect())
    }

    /// The bundle of a library that can't be opened alone, without what it has for debuggers: its note says which tools there are, and
    /// nobody in which words.
    pub fn of_unopened(library: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let library = &crate::stripped(library, folder.path());
        let Ok(Content::Plugin { note, .. }) = read_content(&fs::read(library).unwrap()) else {
            panic!("{} is no plugin", library.display())
        };
        let tools = declared_tools(&note)
            .0
            .into_iter()
            .map(|declared| BundledTool { definition: BundledDefinition::Configured, declared });
        Self::new(library, note.id.parse().unwrap(), &note.version, tools.collect())
    }

    fn new(library: &Path, id: ProviderId, version: &str, tools: Vec<BundledTool>) -> Self {
        let content = fs::read(library).unwrap();
        let path: BundlePath =
            format!("{TARGET}/{}", library.file_name().unwrap().to_str().unwrap()).parse().unwrap();
        let target = Target {
            epoch: toolbay_abi::shape::EPOCH,
            digest: toolbay_abi::shape::DIGEST,
            libraries: vec![listed(&path, &content)],
        };
        let parts = ManifestParts {
            id,
            version: version.parse().unwrap(),
            vendor: VENDOR.to_owned(),
            license: "MIT".to_owned(),
            description: None,
            homepage: None,
            minimum_host: semver::Version::new(0, 1, 0),
            egress: Egress::ConfiguredEndpoint,
            documentation: None,
            icon: None,
            targets: [(TARGET.to_owned(), target)].into(),
            files: Vec::new(),
            tools,
        };
        Self { parts, files: [(path, content)].into() }
    }

    /// Replaces bytes wherever they are in the plugin's library, by as many others.
    #[must_use]
    pub fn with_patched_library(mut self, from: &str, to: &str) -> Self {
        assert_eq!(from.len(), to.len());
        self.change_library(|content| patch(content, from.as_bytes(), to.as_bytes()));
        self
    }

    /// The content of the plugin's library.
    pub fn library(&self) -> &[u8] {
        &self.files[&self.parts.targets[TARGET].libraries[0].path]
    }

    /// Changes the plugin's library, and what the manifest says of its content.
    pub fn change_library(&mut self, change: impl FnOnce(&mut [u8])) {
        let library = self.parts.targets[TARGET].libraries[0].path.clone();
        let content = self.files.get_mut(&library).unwrap();
        change(content);
        let listed = listed(&library, content);
        self.parts.targets.get_mut(TARGET).unwrap().libraries[0] = listed;
    }

    /// The same plugin with another version, in the library's note and in the manifest.
    #[must_use]
    pub fn with_version(self, version: &str) -> Self {
        let before = format!("\"version\":\"{}\"", self.parts.version);
        let mut draft = self.with_patched_library(&before, &format!("\"version\":\"{version}\""));
        draft.parts.version = version.parse().unwrap();
        draft
    }

    /// Adds a file that is no library.
    pub fn add(&mut self, path: &str, content: &[u8]) {
        let path: BundlePath = path.parse().unwrap();
        self.parts.files.push(listed(&path, content));
        self.files.insert(path, content.to_vec());
    }

    /// Adds a library that travels with the plugin.
    pub fn add_library(&mut self, name: &str, content: &[u8]) {
        let path: BundlePath = format!("{TARGET}/{name}").parse().unwrap();
        let libraries = &mut self.parts.targets.get_mut(TARGET).unwrap().libraries;
        libraries.push(listed(&path, content));
        self.files.insert(path, content.to_vec());
    }

    /// The manifest.
    pub fn manifest(&self) -> Manifest {
        self.parts.to_manifest().unwrap()
    }

    /// Writes the bundle as a zip, signed where a key is given.
    pub fn zip(&self, to: &Path, key: Option<&Key>) -> PathBuf {
        let manifest = self.manifest();
        let signature = key.map(|key| key.sign(manifest.bytes()));
        self.zip_with(to, manifest.bytes(), signature.as_deref())
    }

    /// Writes the bundle as a zip with a manifest and a signature of the test's own making.
    pub fn zip_with(&self, to: &Path, manifest: &[u8], signature: Option<&[u8]>) -> PathBuf {
        let files = self
            .files
            .iter()
            .map(|(path, content)| (path.clone(), FileContent::Bytes(content.clone())));
        let out = File::create(to).unwrap();
        write_zip(&files.collect(), manifest, signature, out).unwrap();
        to.to_owned()
    }

    /// Writes the bundle as a folder, signed where a key is given.
    pub fn folder(&self, to: &Path, key: Option<&Key>) -> PathBuf {
        fs::create_dir_all(to).unwrap();
        for (path, content) in &self.files {
            let path = to.join(path.as_str());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let manifest = self.manifest();
        fs::write(to.join("toolbay.json"), manifest.bytes()).unwrap();
        if let Some(key) = key {
            fs::write(to.join("toolbay.json.minisig"), key.sign(manifest.bytes())).unwrap();
        }
        to.to_owned()
    }
}

/// Replaces bytes wherever they are.
///
/// # Panics
///
/// Where they are nowhere.
#[expect(clippy::unwrap_used, reason = "a test whose library can't be made has failed")]
pub fn patch(content: &mut [u8], from: &[u8], to: &[u8]) {
    Patch(content).replace(from, to).unwrap();
}

fn listed(path: &BundlePath, content: &[u8]) -> ListedFile {
    let size = content.len() as u64;
    ListedFile { path: path.clone(), size, sha256: ContentHash::of(content) }
}
