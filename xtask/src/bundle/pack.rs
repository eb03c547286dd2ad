//! From a plugin to a bundle, step by step. Nothing has the bundle's name before a host has taken it.

use std::{
    collections::BTreeSet,
    fs::{self, File, Permissions},
    io::{self, BufWriter, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;
use toolbay_loader::{Bundle, BundledDefinition, ContentHash, WriteZipError, write_zip};

use super::{
    BundleError, Packed, ProviderSettings, SigningKey, TrialError,
    compile::{self, Compiled, compile},
    draft::{Draft, Listed},
    library::Library,
    plugin::Plugin,
    trial::{Job, Tried, Trusted, configured},
};
use crate::{checkout::Checkout, steps::Steps};

/// Packs plugins of one workspace.
#[derive(Debug)]
#[non_exhaustive]
pub struct Packer<'a> {
    checkout: &'a Checkout,
    steps: Steps,
    /// The key that signs; without one the bundles are unsigned.
    pub key: Option<SigningKey>,
    /// The configuration under which providers are tried as well.
    pub settings: ProviderSettings,
    /// Where the bundles go; `bundle` in the target folder.
    pub output: PathBuf,
}

impl<'a> Packer<'a> {
    /// A packer for so many plugins, whose libraries are built, or are there already. Without a key and a configuration, into the
    /// folder `bundle` in the target folder.
    #[must_use]
    pub fn new(checkout: &'a Checkout, plugins: usize, builds: bool) -> Self {
        let steps = Steps::new(plugins * (4 + usize::from(builds)));
        let output = compile::target(checkout).into_std_path_buf();
        Self { checkout, steps, key: None, settings: ProviderSettings::default(), output }
    }

    /// Packs a plugin, with this library, or with one that is built from its source.
    ///
    /// # Errors
    ///
    /// [`BundleError`] where there is no bundle that a host takes. One that was there before stays as it is.
    pub fn pack(&mut self, plugin: &Plugin, library: Option<&Path>) -> Result<Packed, BundleError> {
        let scratch = compile::target(self.checkout).into_std_path_buf();
        for folder in [&scratch, &self.output] {
            fs::create_dir_all(folder).map_err(not_written(folder))?;
        }
        let built = match library {
            Some(_) => None,
            None => Some(compile(self.checkout, plugin, &mut self.steps)?),
        };
        let source = match (&built, library) {
            (Some(Compiled { library, .. }), _) => library.as_std_path(),
            (None, Some(library)) => library,
            (None, None) => return Err(BundleError::OneLibrary { found: 0 }),
        };
        let package = &plugin.package;
        let companions = companions(plugin);
        let library = self.steps.work(&format!("examining {package}"), || {
            Library::read(source, &plugin.version, &companions)
        })?;
        library.warnings.iter().for_each(warn);
        if let Some(Compiled { folders, .. }) = &built {
            for folder in folders.named_in(&library.content) {
                warn(&format!("the library names {folder}, so that it is another elsewhere"));
            }
        }
        let mut draft = Draft::new(plugin, &library)?;
        let (settings, title) = (&self.settings, format!("asking {package} for its tools"));
        let trials = self.steps.work(&title, || trials(&draft, settings, &scratch))?;
        draft.promise(package, &plugin.settings, &trials)?;
        let key = self.key.as_ref();
        let name = format!("{}-{}.toolbay", library.id, library.version);
        let path = self.output.join(&name);
        let there = Bundle::open(&path).ok();
        let file = self.steps.work(&format!("packing {package}"), || {
            let manifest = draft.manifest()?;
            let comment = format!("toolbay bundle {} {}", draft.parts.id, draft.parts.version);
            let there = there.as_ref().and_then(Bundle::signature);
            let sign = |key: &SigningKey| key.sign_again(there, manifest.bytes(), &comment);
            let signature = key.map(sign).transpose()?;
            write(&draft, manifest.bytes(), signature.as_deref(), &self.output)
        })?;
        let trusted = key.map(|key| {
            let (key, publisher) = (key.public(), plugin.settings.vendor.clone());
            Trusted { key, publisher }
        });
        let tried = self.steps.work(&format!("installing {package} in a fresh home"), || {
            let configuration = configured(&library.id, settings.of(&library.id));
            let job = Job { source: file.path().to_owned(), trusted, configuration };
            same_tools(job.run(&scratch)?, trials.last())
        })?;
        tried.warnings.iter().for_each(warn);
        let (len, sha256) = publish(file, &path)?;
        if key.is_none() {
            warn(&format!(
                "{name} is UNSIGNED: no host takes it but one that lets unsigned plugins run; sign with --key FILE"
            ));
        }
        let is_fixed =
            |definition: &BundledDefinition| *definition != BundledDefinition::Configured;
        let tools = &draft.parts.tools;
        Ok(Packed {
            path,
            len,
            sha256,
            signer: tried.signer,
            key: key.map(SigningKey::public),
            tools: tools
                .iter()
                .map(|tool| (tool.declared.name.clone(), is_fixed(&tool.definition)))
                .collect(),
            glibc: library.facts.glibc_floor(),
            rustc: library.facts.rustc.into_iter().collect(),
        })
    }
}

fn warn(warning: &impl std::fmt::Display) {
    eprintln!("warning: {warning}");
}

fn companions(plugin: &Plugin) -> BTreeSet<String> {
    let paths = plugin.settings.companions.iter();
    paths.filter_map(|path| path.file_name()).map(str::to_owned).collect()
}

/// What the plugin lists without a configuration, and with the one that is given; without it the plugin may refuse to be made.
fn trials(
    draft: &Draft,
    settings: &ProviderSettings,
    scratch: &Path,
) -> Result<Vec<Listed>, BundleError> {
    let unsigned = write(draft, draft.manifest()?.bytes(), None, scratch)?;
    let source = || unsigned.path().to_owned();
    let id = &draft.parts.id;
    let bare = Job { source: source(), trusted: None, configuration: None }.run(scratch);
    let Some(configuration) = configured(id, settings.of(id)) else {
        return Ok(vec![bare?.listed]);
    };
    let configuration = Some(configuration);
    let with = Job { source: source(), trusted: None, configuration }.run(scratch)?.listed;
    match bare {
        Ok(bare) => Ok(vec![bare.listed, with]),
        Err(TrialError::Refused { unconfigured: true, .. }) => Ok(vec![with]),
        Err(error) => Err(error.into()),
    }
}

/// Holds what was installed against what was listed before.
fn same_tools(tried: Tried, before: Option<&Listed>) -> Result<Tried, BundleError> {
    let names = |listed: &Listed| {
        let names: Vec<&str> = listed.keys().map(|name| name.as_str()).collect();
        if names.is_empty() { "no tools".to_owned() } else { names.join(", ") }
    };
    match before {
        Some(before) if *before != tried.listed => {
            let (expected, found) = (names(before), names(&tried.listed));
            Err(TrialError::OtherTools { expected, found }.into())
        }
        _ => Ok(tried),
    }
}

/// Writes a bundle into a folder, under a name that nobody looks for.
fn write(
    draft: &Draft,
    manifest: &[u8],
    signature: Option<&[u8]>,
    folder: &Path,
) -> Result<NamedTempFile, BundleError> {
    let failed = not_written(folder);
    let mut file = tempfile::Builder::new()
        .prefix(".bundle-")
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)
        .map_err(&failed)?;
    let mut out = BufWriter::new(file.as_file_mut());
    write_zip(&draft.files, manifest, signature, &mut out).map_err(|error| match error {
        WriteZipError::Write { source } => failed(source),
        error @ WriteZipError::Read { .. } => failed(io::Error::other(error)),
    })?;
    out.flush().map_err(&failed)?;
    drop(out);
    file.as_file().sync_all().map_err(&failed)?;
    Ok(file)
}

/// Gives a bundle its name, in whose place there may be another.
fn publish(file: NamedTempFile, path: &Path) -> Result<(u64, ContentHash), BundleError> {
    let failed = not_written(path);
    let content = fs::read(file.path()).map_err(&failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    if let Some(folder) = path.parent() {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(&failed)?;
    }
    Ok((content.len() as u64, ContentHash::of(&content)))
}

fn not_written(path: &Path) -> impl Fn(io::Error) -> BundleError {
    move |cause| BundleError::Write { path: path.to_owned(), cause }
}
