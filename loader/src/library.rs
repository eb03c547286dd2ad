//! The one file that opens libraries, and the loader's only unsafe code.
//!
//! Opening a library runs its constructors, so whoever calls this trusts the file. It is opened with `NOW`, so that a missing
//! symbol is an error here and not at a call; `LOCAL`, so that plugins do not see each other's symbols; and `NODELETE`, so that it
//! stays mapped also when a check fails afterwards: its constructors may have started threads.
#![expect(
    unsafe_code,
    reason = "dlopen, dlsym, dladdr, mmap and gnu_get_libc_version have no safe form"
)]

use std::{
    ffi::{CStr, OsStr},
    fs::{self, File},
    io,
    mem::{ManuallyDrop, MaybeUninit},
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    ptr,
};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use toolbay_abi::{
    PluginRootRef, ROOT_SYMBOL,
    abi_stable::library::{AbiHeaderRef, LibraryError},
};

use crate::{
    deadlines::LoadPhase,
    inspect,
    mappings::{self, Mapping},
    store::hash_of,
};

/// A library that is open, and stays so.
pub(crate) struct Opened {
    /// Its root module.
    pub(crate) root: PluginRootRef,
    /// The file that is mapped.
    pub(crate) mapped: Mapping,
}

/// A file whose content was verified, held open since.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VerifiedFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) file: &'a File,
}

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
    /// What is mapped is not the file that was verified.
    ///
    /// Resolution: find out who exchanged it.
    #[error("the file that was mapped, {}, is not the one that was verified", .found.display())]
    OtherFileMapped {
        /// The file that is mapped.
        found: PathBuf,
    },
    /// A library that travels with the plugin has the name of one of other content that is loaded already, which the linker would take in
    /// its place.
    ///
    /// Resolution: load one of the two plugins in another process, or give the libraries names of their own.
    #[error("its library {} has the name of one that is loaded already, {}", .wanted.display(), .found.display())]
    Namesake {
        /// The library that travels with the plugin.
        wanted: PathBuf,
        /// The one that is loaded.
        found: PathBuf,
    },
    /// The system does not tell which files are mapped.
    ///
    /// Resolution: mount /proc.
    #[error("what is mapped can't be told")]
    Mappings(#[source] io::Error),
    /// The root module is not the one that this host knows.
    ///
    /// Resolution: build the plugin with this host's plugin API.
    #[error("the root module does not fit this host: {problem}")]
    Layout {
        /// What abi_stable says, without its repetitions.
        problem: String,
    },
}

/// Opens a verified library and takes its root module, once what is mapped is known to be what was verified: the library itself, and
/// those of `companions` that it has brought with it. Opening the same path again gives the same module. `enter` is told of each phase before
/// it begins.
pub(crate) fn open_library(
    library: VerifiedFile<'_>,
    companions: &[VerifiedFile<'_>],
    enter: &dyn Fn(LoadPhase),
) -> Result<Opened, OpenError> {
    let path = library.path;
    check_names(companions)?;
    enter(LoadPhase::Constructors);
    // SAFETY: running the constructors of a library is sound as far as the library is; the caller has verified the file, and its
    // copy in the store can't be exchanged under this path by anybody but the host's own user.
    let opened = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NODELETE) };
    // Never closed: with NODELETE closing would only make the handle invalid, and the root module lives as long as the process.
    let opened = ManuallyDrop::new(opened.map_err(OpenError::Linker)?);

    // SAFETY: the symbol's address is what an `AbiHeaderRef` is, a reference to the header at that place. That it is data of at least
    // a header's size was read from the file's symbol table, and `upgrade` below checks its magic before it reads further.
    let symbol = unsafe { opened.get::<AbiHeaderRef>(ROOT_SYMBOL) };
    let symbol = symbol.map_err(OpenError::NoRootSymbol)?;
    let header = *symbol;
    let address = symbol.into_raw();
    let definer = file_of(address).unwrap_or_default();
    if !same_file(&definer, path) {
        return Err(OpenError::ForeignRootSymbol { found: definer });
    }
    let mapped = attest(address as usize, library.file, companions)?;
    enter(LoadPhase::Root);
    let root = header
        .upgrade()
        .and_then(|header| header.init_root_module())
        .map_err(|error| OpenError::Layout { problem: summary(&error) })?;
    Ok(Opened { root, mapped })
}

/// Ends the process, and lets nobody say a last word: neither destructors nor functions for the end of the process run.
pub(crate) fn end_process(code: u8) -> ! {
    // SAFETY: it takes a number, and does not return.
    unsafe { libc::_exit(code.into()) }
}

/// Checks that the linker takes no other library for one of these: where one of the name is loaded already, it must have the same content,
/// as where a bundle is updated and its private libraries are not.
fn check_names(companions: &[VerifiedFile<'_>]) -> Result<(), OpenError> {
    if companions.is_empty() {
        return Ok(());
    }
    let mapped = mappings::all().map_err(OpenError::Mappings)?;
    for companion in companions {
        let namesakes = mappings::namesakes(&mapped, companion.path);
        if let Some(other) =
            namesakes.iter().find(|namesake| !has_content(namesake, companion.file))
        {
            let (wanted, found) = (companion.path.to_owned(), other.path.clone());
            return Err(OpenError::Namesake { wanted, found });
        }
    }
    Ok(())
}

/// Whether the file that is mapped is still there, and has the content of another.
fn has_content(mapping: &Mapping, file: &File) -> bool {
    let same = || {
        let (there, _) = inspect::open(&mapping.path).ok()?;
        let is_it = with_mapping(&there).ok()?.0.is_same_file(mapping);
        Some(is_it && hash_of(&there).ok()? == hash_of(file).ok()?)
    };
    same().unwrap_or(false)
}

/// Holds what is mapped against the files that were verified, and returns the mapping at the address.
fn attest(
    address: usize,
    verified: &File,
    companions: &[VerifiedFile<'_>],
) -> Result<Mapping, OpenError> {
    let (own, mappings) = with_mapping(verified).map_err(OpenError::Mappings)?;
    let found = mappings::at(&mappings, address).cloned();
    let mapped = found.ok_or(OpenError::OtherFileMapped { found: PathBuf::new() })?;
    if !own.is_same_file(&mapped) {
        return Err(OpenError::OtherFileMapped { found: mapped.path });
    }
    for companion in companions {
        let (own, mappings) = with_mapping(companion.file).map_err(OpenError::Mappings)?;
        // Wherever they are: the linker looks in LD_LIBRARY_PATH before it looks beside the plugin. Of the same content, one is as good as another.
        let is_other = |mapping: &&&Mapping| {
            !own.is_same_file(mapping) && !has_content(mapping, companion.file)
        };
        let namesakes = mappings::namesakes(&mappings, companion.path);
        if let Some(other) = namesakes.iter().find(is_other) {
            return Err(OpenError::OtherFileMapped { found: other.path.clone() });
        }
    }
    Ok(mapped)
}

/// What the kernel says of a file where it is mapped, and of all that is mapped at that moment: the same words that it has for the mappings
/// of the dynamic linker, whatever the file system. Reading them is what loading one of a thousand plugins spends its time in.
fn with_mapping(file: &File) -> io::Result<(Mapping, Vec<Mapping>)> {
    const LEN: usize = 1;
    // SAFETY: with a null address and without MAP_FIXED the kernel chooses a free place, so no other mapping is touched. Nothing reads the
    // pages, so that a shorter file harms nothing.
    let address =
        unsafe { mmap(ptr::null_mut(), LEN, ProtFlags::READ, MapFlags::PRIVATE, file, 0) }?;
    let mappings = mappings::all();
    // SAFETY: the page was mapped above, and nobody has a reference into it.
    unsafe { munmap(address, LEN) }?;
    let mappings = mappings?;
    let found = mappings::at(&mappings, address as usize).cloned();
    let none = || io::Error::other("a file that was just mapped is not among the mappings");
    Ok((found.ok_or_else(none)?, mappings))
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

#[cfg(test)]
mod tests;
