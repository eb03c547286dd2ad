//! What the tables of a library say, as values that a policy can judge.

use std::{collections::BTreeSet, fmt};

/// What a library's tables say about it: what the dynamic linker would do with the file, and what compiler and packager left in it.
///
/// All of it is the file's own word. Texts are as the file has them, but for bytes that are no UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryFacts {
    /// The processor, such as `x86_64`.
    pub machine: &'static str,
    /// Whether it can unwind: a library that is built with `panic = "abort"` does not import what unwinding needs.
    pub unwinds: bool,
    /// Its root symbol.
    pub root: RootSymbol,
    /// The number of the system in the ELF header: 0 for any, 3 for Linux.
    pub os_abi: u8,
    /// The name by which other libraries need it.
    pub soname: Option<String>,
    /// The libraries that it needs, in the linker's order.
    pub needed: Vec<String>,
    /// The folders that it lets the linker search, of `DT_RPATH` and `DT_RUNPATH`, each one by itself.
    pub run_paths: Vec<String>,
    /// Entries by which it takes part in linking other libraries, such as `DT_AUDIT x.so` or `DF_1_INTERPOSE`.
    pub linker_hooks: Vec<String>,
    /// The symbol versions that the libraries which it needs must have.
    pub version_needs: Vec<VersionNeed>,
    /// The symbols that other libraries must define, or may where they are weak.
    pub imports: BTreeSet<String>,
    /// The symbols that a lookup in it finds.
    pub exports: BTreeSet<String>,
    /// The bytes of each thread's own data.
    pub tls_bytes: u64,
    /// Whether that data must lie in the block that is sized when the process starts.
    pub static_tls: bool,
    /// What it says about running code on the stack.
    pub stack: Stack,
    /// Whether the linker must write to its code before it runs.
    pub text_relocations: bool,
    /// Whether a part of it stays both writable and executable.
    pub writable_code: bool,
    /// How many functions of it run while it is opened: initializers, and resolvers of indirect functions.
    pub constructors: u64,
    /// The versions of the Rust compilers that made it, such as `1.95.0`.
    pub rustc: BTreeSet<String>,
    /// The crates that it is made of, as `cargo auditable` lists them.
    pub dependencies: Dependencies,
}

impl LibraryFacts {
    /// The oldest release of glibc that has all that the library must have of it; `None` where it needs nothing of glibc.
    pub fn glibc_floor(&self) -> Option<(u32, u32)> {
        let needs = self.version_needs.iter().filter(|need| !need.weak);
        needs.filter_map(VersionNeed::glibc).max()
    }
}

/// The symbol that a host takes the root module from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootSymbol {
    /// Defined in this very file, as data of this many bytes.
    Defined {
        /// Bytes.
        size: u64,
    },
    /// Defined in this file, as something other than global data of a sensible size.
    Malformed(RootFault),
    /// Not defined here, so a lookup would find it in a library that this one needs, or nowhere.
    Missing,
}

/// What is wrong with a root symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootFault {
    /// It is weak or local, so that another may take its place.
    NotGlobal,
    /// It is a function, or something else that is no data.
    NotData,
    /// It has fewer bytes than a header.
    TooSmall {
        /// Bytes.
        size: u64,
    },
    /// It does not lie in what is loaded of the file.
    NotLoaded,
    /// There are several.
    Repeated,
}

impl fmt::Display for RootFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotGlobal => f.write_str("a symbol that is not global"),
            Self::NotData => f.write_str("a symbol that is no data"),
            Self::TooSmall { size } => {
                write!(f, "data of {size} bytes, which are too few for a header")
            }
            Self::NotLoaded => f.write_str("a symbol outside of what is loaded of the file"),
            Self::Repeated => f.write_str("several symbols of that name"),
        }
    }
}

/// A symbol version that a library must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionNeed {
    /// The library, such as `libc.so.6`.
    pub library: String,
    /// The version, such as `GLIBC_2.34`.
    pub version: String,
    /// Whether the linker goes on without it.
    pub weak: bool,
}

impl VersionNeed {
    /// The release of glibc that it stands for, where it stands for one.
    pub fn glibc(&self) -> Option<(u32, u32)> {
        let release = self.version.strip_prefix("GLIBC_")?;
        // A marker, which the first release with that relocation format defines.
        if release == "ABI_DT_RELR" {
            return Some((2, 36));
        }
        let mut numbers = release.split('.');
        let major = numbers.next()?.parse().ok()?;
        let minor = numbers.next()?.parse().ok()?;
        Some((major, minor))
    }
}

/// What a library says about running code on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// It never does.
    DataOnly,
    /// It does, so that the stacks of the whole process become executable.
    Executable,
    /// It says nothing, which linkers read as [`Stack::Executable`].
    Undeclared,
}

/// The crates that a library is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dependencies {
    /// There is no list.
    Unlisted,
    /// There is one, in order of name and version.
    Listed(BTreeSet<Dependency>),
    /// There is one that can't be read; the text says why.
    Unreadable(String),
}

/// A crate in a library.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// The crate's name.
    pub name: String,
    /// Its version.
    pub version: semver::Version,
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}
