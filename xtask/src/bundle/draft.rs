//! What becomes a bundle: the files with their content, and the manifest that lists them.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
};

use cargo_metadata::camino::{Utf8Path, Utf8PathBuf};
use toolbay_loader::{
    BundlePath, BundledDefinition, BundledTool, ContentHash, Egress, FileContent, ListedFile,
    MAX_FILE_LEN, Manifest, ManifestParts, PathError, RejectionReason, Target, ToolName,
};

use super::{library::Library, plugin::Plugin, settings::Settings};

/// Why the manifest can't be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// A file that the settings name can't be read.
    ///
    /// Resolution: make it, or correct the path, which is relative to the package.
    #[error("{key}: {path} can't be read")]
    Read {
        /// The setting.
        key: &'static str,
        /// The file.
        path: Utf8PathBuf,
        /// What the system says.
        #[source]
        cause: io::Error,
    },
    /// It is too large for a bundle.
    ///
    /// Resolution: leave it out.
    #[error("{key}: {path}: expected at most {MAX_FILE_LEN} bytes, found more")]
    TooLarge {
        /// The setting.
        key: &'static str,
        /// The file.
        path: Utf8PathBuf,
    },
    /// Its name can't stand in a bundle.
    ///
    /// Resolution: rename it, or name it without leaving the package.
    #[error("{key}")]
    Path {
        /// The setting.
        key: &'static str,
        /// What is wrong with the path.
        #[source]
        cause: PathError,
    },
    /// A tool that depends on the configuration is none of the library's.
    ///
    /// Resolution: correct the name.
    #[error("configured: expected tools that the library's note declares, found {tool}")]
    UnknownTool {
        /// The tool.
        tool: ToolName,
    },
    /// Tools were not listed, and nobody says why.
    ///
    /// Resolution: as the text says.
    #[error(
        "{}: expected every declared tool to be listed, found {} left out; write configured = [{}] under [package.metadata.toolbay] where the configuration decides, or try the provider with --configuration FILE",
        .package, listed(.tools, ""), listed(.tools, "\"")
    )]
    Unlisted {
        /// The package.
        package: String,
        /// The tools.
        tools: Vec<ToolName>,
    },
    /// The configuration changes what models read of a tool.
    ///
    /// Resolution: as the text says.
    #[error(
        "tool {tool}: expected the same definition under each configuration, found others; add it to configured = [...] under [package.metadata.toolbay]"
    )]
    Differs {
        /// The tool.
        tool: ToolName,
    },
    /// A host refuses the manifest, in these words.
    ///
    /// Resolution: as the reason says.
    #[error("a host refuses the manifest:\n  {0}")]
    Manifest(RejectionReason),
}

fn listed(tools: &[ToolName], quote: &str) -> String {
    let names: Vec<_> = tools.iter().map(|tool| format!("{quote}{tool}{quote}")).collect();
    names.join(", ")
}

/// What models read of the tools that were listed.
pub(super) type Listed = BTreeMap<ToolName, BundledDefinition>;

/// What becomes a bundle.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) parts: ManifestParts,
    pub(super) files: BTreeMap<BundlePath, FileContent>,
}

impl Draft {
    /// The bundle of a library, with no promise about what its tools say.
    pub(super) fn new(plugin: &Plugin, library: &Library) -> Result<Self, DraftError> {
        let declared = &library.declared;
        let settings = &plugin.settings;
        let is_declared = |name: &&ToolName| declared.iter().any(|tool| tool.name == **name);
        if let Some(tool) = settings.configured.iter().find(|name| !is_declared(name)) {
            return Err(DraftError::UnknownTool { tool: tool.clone() });
        }
        let widest = declared.iter().map(|tool| tool.declarations.egress).max();
        let mut files = Files { folder: &plugin.folder, content: BTreeMap::new() };
        let system = library.note.target.as_str();
        let own = files.add("library", format!("{system}/{}", library.name), &library.content)?;
        let beside = |path: &Utf8Path| format!("{system}/{}", path.file_name().unwrap_or_default());
        let mut libraries = vec![own];
        for path in &settings.companions {
            libraries.push(files.read("companions", path, beside(path))?);
        }
        let mut listed = Vec::new();
        let documentation =
            files.one("documentation", settings.documentation.as_deref(), "docs")?;
        let icon = files.one("icon", settings.icon.as_deref(), "icons")?;
        let path_of = |file: &Option<ListedFile>| file.as_ref().map(|file| file.path.clone());
        let (documentation_path, icon_path) = (path_of(&documentation), path_of(&icon));
        listed.extend(documentation.into_iter().chain(icon));
        for path in &settings.files {
            listed.push(files.read("files", path, path.as_str().to_owned())?);
        }
        // A digest that is none was refused before.
        let digest = u64::from_str_radix(&library.note.digest, 16).unwrap_or_default();
        let target = Target { epoch: library.note.epoch, digest, libraries };
        let tools = declared.iter().map(|declared| BundledTool {
            declared: declared.clone(),
            definition: BundledDefinition::Configured,
        });
        let parts = ManifestParts {
            id: library.id.clone(),
            version: library.version.clone(),
            vendor: settings.vendor.clone(),
            license: plugin.license.clone(),
            description: plugin.description.clone(),
            homepage: plugin.homepage.clone(),
            minimum_host: settings.minimum_host.clone(),
            egress: widest.unwrap_or(Egress::None),
            documentation: documentation_path,
            icon: icon_path,
            targets: [(system.to_owned(), target)].into(),
            files: listed,
            tools: tools.collect(),
        };
        Ok(Self { parts, files: files.content })
    }

    /// Has the manifest promise what the tools say that no configuration changes. The trials are what was listed without a configuration
    /// and with one, as far as there were such.
    pub(super) fn promise(
        &mut self,
        package: &str,
        settings: &Settings,
        trials: &[Listed],
    ) -> Result<(), DraftError> {
        let mut unlisted = Vec::new();
        for tool in &mut self.parts.tools {
            let name = &tool.declared.name;
            if settings.configured.contains(name) {
                continue;
            }
            let mut found = trials.iter().filter_map(|listed| listed.get(name));
            match found.next() {
                None => unlisted.push(name.clone()),
                Some(first) if found.all(|other| other == first) => {
                    tool.definition = first.clone();
                }
                Some(_) => return Err(DraftError::Differs { tool: name.clone() }),
            }
        }
        if unlisted.is_empty() {
            return Ok(());
        }
        Err(DraftError::Unlisted { package: package.to_owned(), tools: unlisted })
    }

    /// The manifest as it is now.
    pub(super) fn manifest(&self) -> Result<Manifest, DraftError> {
        self.parts.to_manifest().map_err(DraftError::Manifest)
    }
}

/// The files of a bundle as they are gathered.
struct Files<'a> {
    folder: &'a Utf8Path,
    content: BTreeMap<BundlePath, FileContent>,
}

impl Files<'_> {
    fn add(
        &mut self,
        key: &'static str,
        place: String,
        content: &[u8],
    ) -> Result<ListedFile, DraftError> {
        let path: BundlePath = place.parse().map_err(|cause| DraftError::Path { key, cause })?;
        let (size, sha256) = (content.len() as u64, ContentHash::of(content));
        self.content.insert(path.clone(), FileContent::Bytes(content.to_vec()));
        Ok(ListedFile { path, size, sha256 })
    }

    fn read(
        &mut self,
        key: &'static str,
        path: &Utf8Path,
        place: String,
    ) -> Result<ListedFile, DraftError> {
        let file = self.folder.join(path);
        let unreadable = |cause| DraftError::Read { key, path: file.clone(), cause };
        // A pipe would never end, and says nothing about its size.
        if !fs::metadata(&file).map_err(unreadable)?.is_file() {
            return Err(unreadable(io::Error::other("no regular file")));
        }
        let mut content = Vec::new();
        let opened = File::open(&file).map_err(unreadable)?;
        opened.take(MAX_FILE_LEN + 1).read_to_end(&mut content).map_err(unreadable)?;
        if content.len() as u64 > MAX_FILE_LEN {
            return Err(DraftError::TooLarge { key, path: file });
        }
        self.add(key, place, &content)
    }

    fn one(
        &mut self,
        key: &'static str,
        path: Option<&Utf8Path>,
        folder: &str,
    ) -> Result<Option<ListedFile>, DraftError> {
        let Some(path) = path else { return Ok(None) };
        let place = format!("{folder}/{}", path.file_name().unwrap_or_default());
        self.read(key, path, place).map(Some)
    }
}
