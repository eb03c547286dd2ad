//! What of a provider's configuration leads out of its process: folders and files, and endpoints.

/// A value of the configuration that is a folder or a file, or a list of them.
///
/// A host that runs the provider in a process of its own lets it reach these, its own libraries and the system's, and nothing else.
///
/// ```
/// use toolbay_plugin_api::ConfiguredPath;
///
/// // For `{ "roots": ["/srv/a", "/srv/b"], "cache": { "folder": "/var/cache/sample" } }`
/// const PATHS: &[ConfiguredPath] =
///     &[ConfiguredPath::read("roots"), ConfiguredPath::write("cache.folder")];
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfiguredPath {
    pub(crate) key: &'static str,
    pub(crate) write: bool,
}

impl ConfiguredPath {
    /// One that is read: the names of the members that lead to it, with dots between them. Lists on the way count as each of their items.
    pub const fn read(key: &'static str) -> Self {
        Self { key, write: false }
    }

    /// One that is read and written to. A folder must be there before the provider is made: nobody can be given what is not there yet.
    pub const fn write(key: &'static str) -> Self {
        Self { key, write: true }
    }
}
