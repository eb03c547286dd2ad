//! The one file that opens libraries, and the loader's only unsafe code.
//!
//! Opening a library runs its constructors, so whoever calls this trusts the file. It is opened with `NOW`, so that a missing
//! symbol is an error here and not at a call; `LOCAL`, so that plugins do not see each other's symbols; and `NODELETE`, so that it
//! stays mapped also when a check fails afterwards: its constructors may have started threads.
#![expect(unsafe_code, reason = "dlopen, dlsym, dladdr and gnu_get_libc_version have no safe form")]

use std::{
    ffi::{CStr, OsStr},
    fs,
    mem::{ManuallyDrop, MaybeUninit},
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use toolbay_abi::{
    PluginRootRef, ROOT_SYMBOL,
    abi_stable::library::{AbiHeaderRef, LibraryError},
};

/// Why a library did not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum OpenError {
    /// The dynamic linker refused it.
    ///
    /// Resolution: its text says what is missing.
    #[error("the dynamic linker refused the library")]
    Linker(#[source] libloading::Error),
    /// It has no root symbol.
    ///
    /// Resolution: build the plugin with `export_provider!`.
    #[error("the library has no root symbol")]
    NoRootSymbol(#[source] libloading::Error),
    /// The root symbol that a lookup finds is another library's.
    ///
    /// Resolution: build the plugin with `export_provider!`, and link no other plugin into it.
    #[error("the root symbol is defined in another file, {}", .found.display())]
    ForeignRootSymbol {
        /// The file that defines it.
        found: PathBuf,
    },
    /// The root module is not the one that this host knows.
    ///
    /// Resolution: build the plugin with this host's plugin API.
    #[error("the root module does not fit this host: {problem}")]
    Layout {
        /// What abi_stable says, without its repetitions.
        problem: String,
    },
}

/// Opens a library and takes its root module. Opening the same path again gives the same module.
pub(crate) fn open_library(path: &Path) -> Result<PluginRootRef, OpenError> {
    // SAFETY: running the constructors of a library is sound as far as the library is; the caller has verified the file, and its
    // copy in the store can't be exchanged under this path by anybody but the host's own user.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NODELETE) };
    // Never closed: with NODELETE closing would only make the handle invalid, and the root module lives as long as the process.
    let library = ManuallyDrop::new(library.map_err(OpenError::Linker)?);

    // SAFETY: the symbol's address is what an `AbiHeaderRef` is, a reference to the header at that place. That it is data of at least
    // a header's size was read from the file's symbol table, and `upgrade` below checks its magic before it reads further.
    let symbol = unsafe { library.get::<AbiHeaderRef>(ROOT_SYMBOL) };
    let symbol = symbol.map_err(OpenError::NoRootSymbol)?;
    let header = *symbol;
    let definer = file_of(symbol.into_raw()).unwrap_or_default();
    if !same_file(&definer, path) {
        return Err(OpenError::ForeignRootSymbol { found: definer });
    }
    header
        .upgrade()
        .and_then(|header| header.init_root_module())
        .map_err(|error| OpenError::Layout { problem: summary(&error) })
}

/// The file whose mapping holds an address.
fn file_of(address: *mut libc::c_void) -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr takes any address, and writes to `info` alone.
    let found = unsafe { libc::dladdr(address, info.as_mut_ptr()) };
    // SAFETY: all zeroes are a valid Dl_info (null pointers), so it is initialised whether or not dladdr wrote to it.
    let info = unsafe { info.assume_init() };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr returned a path that ends with a NUL, and that lives as long as the library, which is never unloaded.
    let path = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(path.to_bytes())))
}

/// The release of the glibc that this process runs with, such as `2.36`.
#[cfg(target_env = "gnu")]
pub(crate) fn glibc_release() -> Option<String> {
    // SAFETY: it takes nothing, and returns a constant text of the C library that ends with a NUL.
    let release = unsafe { libc::gnu_get_libc_version() };
    if release.is_null() {
        return None;
    }
    // SAFETY: as above; the text is never freed.
    let release = unsafe { CStr::from_ptr(release) };
    release.to_str().ok().map(str::to_owned)
}

/// None, as this process runs with another C library.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn glibc_release() -> Option<String> {
    None
}

fn same_file(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    id(one).is_some_and(|one| Some(one) == id(other))
}

/// The useful part of an abi_stable error: for a layout that differs it prints hundreds of lines, of which those after `Error:` say
/// what differs.
fn summary(error: &LibraryError) -> String {
    const MAX_LINES: usize = 12;
    let text = match error {
        LibraryError::RootModule { err, .. } => format!("its constructor failed: {err}"),
        LibraryError::InvalidAbiHeader(_) => "it was built with another abi_stable".to_owned(),
        other => other.to_string(),
    };
    let from_error =
        |text: &str| text.find("Error:").map_or(text.to_owned(), |at| text[at..].to_owned());
    let lines: Vec<String> = from_error(&text)
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(MAX_LINES)
        .map(str::to_owned)
        .collect();
    lines.join("; ")
}
