//! The configured folders, and the way from a model's path to a place below one of them.

use std::{
    ffi::OsString,
    fs, io,
    path::{Component, Path, PathBuf},
};

use toolbay_plugin_api::{ConfigError, Failure};

use crate::{
    config::RootConfig,
    folder::{Folder, Kind},
    text::plain,
    walk::{FileEntry, Place},
};

/// Why a model's path leads nowhere. The words name no path of the host, and don't tell what stands outside the roots.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PathError {
    #[error("expected a path below a root, such as src/main.rs, without `..`; found {path:?}")]
    NotBelow { path: String },
    #[error("expected a path that begins with one of the roots {roots}; found {path:?}")]
    UnknownRoot { path: String, roots: String },
    #[error(
        "there is nothing to read at {path:?}; hidden and ignored files, and links that lead out of the root, count as absent; \
         find paths with code_search"
    )]
    NotFound { path: String },
    #[error("the root {root:?} can't be opened now; try again later, or tell the operator")]
    Unavailable {
        root: String,
        #[source]
        source: io::Error,
    },
}

impl From<PathError> for Failure {
    fn from(error: PathError) -> Self {
        match &error {
            PathError::Unavailable { source, .. } => Self::with_cause(error.to_string(), source),
            _ => Self::new(error.to_string()),
        }
    }
}

/// One configured folder.
#[derive(Debug)]
pub(crate) struct Root {
    name: String,
    path: PathBuf,
}

/// The configured folders, each with a name of its own.
#[derive(Debug)]
pub(crate) struct Roots(Vec<Root>);

/// A path below a root, which may or may not exist.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    root: &'a Root,
    below: PathBuf,
    asked: String,
}

impl Roots {
    /// Checks the configured folders.
    pub(crate) fn new(configured: Vec<RootConfig>) -> Result<Self, ConfigError> {
        let mut roots = Vec::<Root>::with_capacity(configured.len());
        for (at, config) in configured.into_iter().enumerate() {
            let at = format!("roots[{at}]");
            let root = Root::new(config, &at)?;
            if roots.iter().any(|other| other.name == root.name) {
                let name = root.name;
                return Err(ConfigError::at(
                    at,
                    format!(
                        "expected a name of its own, found {name:?} twice; write {{ name = \"...\", path = \"...\" }}"
                    ),
                ));
            }
            roots.push(root);
        }
        Ok(Self(roots))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names, where paths begin with one.
    pub(crate) fn prefixes(&self) -> Option<String> {
        match self.0.as_slice() {
            [] | [_] => None,
            roots => {
                Some(roots.iter().map(|root| root.name.as_str()).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// What a path of the model means: all roots where it is empty, else one place below one root.
    pub(crate) fn targets(&self, path: &str) -> Result<Vec<Target<'_>>, PathError> {
        let below = parts_of(path)?;
        let asked = path.to_owned();
        let mut parts = below.components();
        let Some(first) = parts.next() else {
            let whole = |root| Target { root, below: PathBuf::new(), asked: asked.clone() };
            return Ok(self.0.iter().map(whole).collect());
        };
        if let [root] = self.0.as_slice() {
            return Ok(vec![Target { root, below, asked }]);
        }
        match self.0.iter().find(|root| first.as_os_str() == root.name.as_str()) {
            Some(root) => Ok(vec![Target { root, below: parts.as_path().to_owned(), asked }]),
            None => Err(PathError::UnknownRoot {
                path: asked,
                roots: self.prefixes().unwrap_or_default(),
            }),
        }
    }

    /// The path as the model sees it.
    pub(crate) fn shown(&self, target: &Target<'_>, below: &Path) -> String {
        let prefix = if self.0.len() > 1 { target.root.name.as_str() } else { "" };
        plain(&Path::new(prefix).join(below).to_string_lossy())
    }
}

impl Target<'_> {
    /// Opens the folders on the way, and finds what is there. A link is good where what it leads to is visible below the same root.
    pub(crate) fn place(&self) -> Result<Place, PathError> {
        let unavailable = |source| PathError::Unavailable { root: self.root.name.clone(), source };
        let mut folder = Folder::root(&self.root.path).map_err(unavailable)?;
        if self.below.as_os_str().is_empty() {
            return Ok(Place::Folder(folder));
        }
        let not_found = || PathError::NotFound { path: self.asked.clone() };
        let root = fs::canonicalize(&self.root.path).map_err(unavailable)?;
        let real = fs::canonicalize(root.join(&self.below)).map_err(|_| not_found())?;
        let names = real.strip_prefix(&root).map_err(|_| not_found())?;
        for name in names {
            match folder.look_up(name).ok_or_else(not_found)? {
                Kind::Folder => folder = folder.enter(name).map_err(|_| not_found())?,
                // A file is the last: the path below a file would not have been resolved.
                Kind::File => return Ok(Place::File(FileEntry::new(folder, name.to_owned()))),
            }
        }
        Ok(Place::Folder(folder))
    }
}

impl Root {
    fn new(config: RootConfig, at: &str) -> Result<Self, ConfigError> {
        let (name, path) = match config {
            RootConfig::Named { name, path } => (name, path),
            RootConfig::Path(path) => {
                let name = path.file_name().map(OsString::from).unwrap_or_default();
                (name.to_string_lossy().into_owned(), path)
            }
        };
        if !path.is_absolute() {
            let problem = format!("expected an absolute path, found {}", path.display());
            return Err(ConfigError::at(at, problem));
        }
        let found = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => None,
            Ok(_) => Some("something else".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(found) = found {
            let problem = format!("expected a folder at {}, found {found}", path.display());
            return Err(ConfigError::at(at, problem));
        }
        let one_part = Path::new(&name).components().eq([Component::Normal(name.as_ref())]);
        if !one_part || name.len() > 64 || name.contains(char::is_control) {
            return Err(ConfigError::at(
                at,
                format!(
                    "expected a name of 1 to 64 bytes that could be a folder's, found {name:?}; write {{ name = \"...\", path = \"...\" }}"
                ),
            ));
        }
        Ok(Self { name, path })
    }
}

/// The path without `.` parts, refused where it could lead out of a root by its words alone.
fn parts_of(path: &str) -> Result<PathBuf, PathError> {
    let mut parts = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(PathError::NotBelow { path: path.to_owned() });
            }
        }
    }
    Ok(parts)
}
