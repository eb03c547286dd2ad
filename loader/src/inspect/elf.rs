//! Reads the tables of an ELF library: is it whole, what would the dynamic linker do with it, where is its note.
//!
//! What the linker goes by are the segments, not the sections: a file may have sections that say something else, or none. Sections are
//! asked only for what no linker loads, and for the note, which must be in a segment.

mod dynamic;
mod facts;
mod image;
mod left_behind;
mod relocations;
mod symbols;
mod versions;

use std::{fs::File, mem};

use object::{
    LittleEndian, ReadCache, ReadRef,
    elf::{self, FileHeader64, ProgramHeader64, SectionHeader64},
    read::elf::{FileHeader, SectionHeader, SectionTable},
};
use toolbay_abi::note::{MAX_LEN, SECTION};

pub use facts::{
    Dependencies, Dependency, LibraryFacts, RootFault, RootSymbol, Stack, VersionNeed,
};

use self::{dynamic::Dynamic, image::Image};
use crate::rejection::{Reason, Stage};

const LE: LittleEndian = LittleEndian;

type Endian = LittleEndian;
type Header = FileHeader64<Endian>;
type Sections<'a, R> = SectionTable<'a, Header, R>;

/// The most sections; an ordinary library has about 40.
const MAX_SECTIONS: u64 = 1024;

/// What a file turned out to be.
pub(super) enum Found {
    Library(Box<Tables>),
    Other(&'static str),
}

pub(super) struct Tables {
    pub(super) note: Vec<u8>,
    pub(super) facts: LibraryFacts,
}

/// Reads a file, only where its tables are.
pub(super) fn read_file(file: &File) -> Result<Found, Reason> {
    read(&ReadCache::new(file))
}

/// Reads a file's whole content, or a cache over the file.
pub(super) fn read<'a, R: ReadRef<'a>>(data: R) -> Result<Found, Reason> {
    let len = data.len().map_err(|()| damaged("a file that can be read", "an input error"))?;
    let ident_len = mem::size_of::<elf::Ident>() as u64;
    let Ok(ident) = data.read_bytes_at(0, ident_len.min(len)) else {
        return Err(damaged("a file that can be read", "an input error"));
    };
    if !ident.starts_with(&elf::ELFMAG) {
        return Ok(Found::Other("no ELF file"));
    }
    let class_and_order = ident.get(elf::ELFMAG.len()..elf::ELFMAG.len() + 2);
    if class_and_order.is_some_and(|found| found != [elf::ELFCLASS64.0, elf::ELFDATA2LSB.0]) {
        return Ok(Found::Other("an ELF file of another word size or byte order than this host's"));
    }
    let header = Header::parse(data).map_err(|_| truncated(len, ident_len))?;
    let segments = segments(header, data, len)?;
    let sections = sections(header, data, len)?;
    let Some((_, note)) = sections.section_by_name(LE, SECTION.as_bytes()) else {
        return Ok(Found::Other("an ELF file without a Toolbay note"));
    };
    if header.e_type(LE) != elf::ET_DYN {
        return Ok(Found::Other("an ELF file that is no shared library"));
    }
    let bytes = note_bytes(note, data)?;
    let image = Image::new(segments, data)?;
    check_loaded(note, &image)?;
    let facts = facts(header, &image, &sections, data)?;
    Ok(Found::Library(Box::new(Tables { note: bytes, facts })))
}

/// The program headers. Mapping a file that is shorter than its segments ends the host with SIGBUS, not with an error.
fn segments<'a, R: ReadRef<'a>>(
    header: &Header,
    data: R,
    len: u64,
) -> Result<&'a [ProgramHeader64<Endian>], Reason> {
    // The number in another place, for files with more segments than any linker makes, which linkers do not read.
    if header.e_phnum.get(LE) == elf::PN_XNUM {
        return Err(too_large("segments", u64::from(elf::PN_XNUM) - 1, elf::PN_XNUM.into()));
    }
    let segments =
        header.program_headers(LE, data).map_err(|_| truncated(len, header.e_phoff(LE)))?;
    for segment in segments {
        check_end(segment.p_offset.get(LE), segment.p_filesz.get(LE), len)?;
    }
    Ok(segments)
}

fn sections<'a, R: ReadRef<'a>>(
    header: &Header,
    data: R,
    len: u64,
) -> Result<Sections<'a, R>, Reason> {
    let unreadable = |_| truncated(len, header.e_shoff(LE));
    let count = header.shnum(LE, data).map_err(unreadable)?;
    if u64::from(count) > MAX_SECTIONS {
        return Err(too_large("sections", MAX_SECTIONS, count.into()));
    }
    let sections = header.sections(LE, data).map_err(unreadable)?;
    for section in sections.iter() {
        if let Some((offset, size)) = section.file_range(LE) {
            check_end(offset, size, len)?;
        }
    }
    Ok(sections)
}

fn check_end(offset: u64, size: u64, len: u64) -> Result<(), Reason> {
    let end = offset.saturating_add(size);
    if end > len { Err(truncated(len, end)) } else { Ok(()) }
}

fn note_bytes<'a, R: ReadRef<'a>>(
    section: &SectionHeader64<Endian>,
    data: R,
) -> Result<Vec<u8>, Reason> {
    let size = section.sh_size(LE);
    if size > MAX_LEN as u64 {
        return Err(Reason::plugin(
            Stage::Inspect,
            "note_too_large",
            format!("a note of at most {MAX_LEN} bytes"),
            format!("{size} bytes"),
            "shorten labels and summaries, or split the provider",
        ));
    }
    let bytes = section
        .data(LE, data)
        .map_err(|_| damaged("a note within the file", "one that reaches beyond it"))?;
    Ok(bytes.to_vec())
}

/// The note must be what is loaded at its address: else `strip` would take it away, and others would read another note.
fn check_loaded<'a, R: ReadRef<'a>>(
    note: &SectionHeader64<Endian>,
    image: &Image<'a, R>,
) -> Result<(), Reason> {
    let allocated = note.sh_flags(LE).contains(elf::SHF_ALLOC);
    let loaded_from = image.offset(note.sh_addr(LE), note.sh_size(LE));
    if allocated && loaded_from == Some(note.sh_offset(LE)) {
        return Ok(());
    }
    Err(Reason::plugin(
        Stage::Inspect,
        "note_not_loaded",
        format!("a section {SECTION} that is loaded with the library"),
        if allocated { "one in another place than its address" } else { "one that is not loaded" },
        "build the plugin with export_provider!, and add no section of that name to it",
    ))
}

fn facts<'a, R: ReadRef<'a>>(
    header: &Header,
    image: &Image<'a, R>,
    sections: &Sections<'a, R>,
    data: R,
) -> Result<LibraryFacts, Reason> {
    let dynamic = Dynamic::read(image)?;
    let uses = relocations::read(image, &dynamic, header.e_machine(LE))?;
    let symbols = symbols::read(image, &dynamic, uses.last_symbol)?;
    let flags = dynamic.get(elf::DT_FLAGS).unwrap_or(0);
    let has_flag = |flag: u64| flags & flag != 0;
    let left_behind = |name: &str| section_bytes(sections, data, name);
    let dependencies = match left_behind(left_behind::DEPENDENCIES)? {
        Some(list) => left_behind::dependencies(list),
        None => Dependencies::Unlisted,
    };
    let comment = left_behind(left_behind::COMMENT)?;
    Ok(LibraryFacts {
        machine: machine(header.e_machine(LE)),
        unwinds: symbols.imports.contains("_Unwind_RaiseException"),
        root: symbols.root,
        os_abi: header.e_ident.os_abi.0,
        soname: dynamic.get(elf::DT_SONAME).map(|name| dynamic.name(name)).transpose()?,
        needed: dynamic.names(elf::DT_NEEDED)?,
        run_paths: run_paths(&dynamic)?,
        linker_hooks: linker_hooks(&dynamic)?,
        version_needs: versions::read(image, &dynamic)?,
        tls_bytes: image.tls.map_or(0, |tls| tls.p_memsz.get(LE)),
        static_tls: uses.static_tls || has_flag(elf::DF_STATIC_TLS.0),
        stack: stack(image),
        text_relocations: dynamic.get(elf::DT_TEXTREL).is_some() || has_flag(elf::DF_TEXTREL.0),
        writable_code: image.has_writable_code(),
        constructors: constructors(&dynamic)
            .saturating_add(uses.resolvers)
            .saturating_add(symbols.resolvers),
        rustc: comment.map(left_behind::rustc).unwrap_or_default(),
        dependencies,
        imports: symbols.imports,
        exports: symbols.exports,
    })
}

fn section_bytes<'a, R: ReadRef<'a>>(
    sections: &Sections<'a, R>,
    data: R,
    name: &str,
) -> Result<Option<&'a [u8]>, Reason> {
    let Some((_, section)) = sections.section_by_name(LE, name.as_bytes()) else { return Ok(None) };
    if section.sh_size(LE) > left_behind::MAX_SECTION {
        let what = format!("bytes in section {name}");
        return Err(too_large(&what, left_behind::MAX_SECTION, section.sh_size(LE)));
    }
    let bytes = section.data(LE, data);
    bytes.map(Some).map_err(|_| damaged("sections within the file", "one that reaches beyond it"))
}

/// The folders of both kinds of entries; an entry holds several, with colons between them.
fn run_paths(dynamic: &Dynamic<'_>) -> Result<Vec<String>, Reason> {
    let mut paths = dynamic.names(elf::DT_RPATH)?;
    paths.extend(dynamic.names(elf::DT_RUNPATH)?);
    Ok(paths.iter().flat_map(|paths| paths.split(':')).map(str::to_owned).collect())
}

fn linker_hooks(dynamic: &Dynamic<'_>) -> Result<Vec<String>, Reason> {
    let mut hooks = Vec::new();
    for (tag, name) in [
        (elf::DT_AUDIT, "DT_AUDIT"),
        (elf::DT_DEPAUDIT, "DT_DEPAUDIT"),
        (elf::DT_FILTER, "DT_FILTER"),
        (elf::DT_AUXILIARY, "DT_AUXILIARY"),
    ] {
        hooks.extend(dynamic.names(tag)?.iter().map(|value| format!("{name} {value}")));
    }
    let flags = dynamic.get(elf::DT_FLAGS_1).unwrap_or(0);
    for (flag, name) in [
        (elf::DF_1_GLOBAL, "DF_1_GLOBAL"),
        (elf::DF_1_INITFIRST, "DF_1_INITFIRST"),
        (elf::DF_1_INTERPOSE, "DF_1_INTERPOSE"),
    ] {
        if flags & flag.0 != 0 {
            hooks.push(name.to_owned());
        }
    }
    Ok(hooks)
}

fn stack<'a, R: ReadRef<'a>>(image: &Image<'a, R>) -> Stack {
    match image.stack {
        None => Stack::Undeclared,
        Some(stack) if stack.p_flags.get(LE).contains(elf::PF_X) => Stack::Executable,
        Some(_) => Stack::DataOnly,
    }
}

/// The functions that the linker calls when it has linked the library.
fn constructors(dynamic: &Dynamic<'_>) -> u64 {
    let entries = |size| dynamic.get(size).unwrap_or(0).div_ceil(size_of::<u64>() as u64);
    entries(elf::DT_INIT_ARRAYSZ)
        .saturating_add(entries(elf::DT_PREINIT_ARRAYSZ))
        .saturating_add(u64::from(dynamic.get(elf::DT_INIT).is_some()))
}

fn machine(machine: elf::Machine) -> &'static str {
    match machine {
        elf::EM_X86_64 => "x86_64",
        elf::EM_AARCH64 => "aarch64",
        elf::EM_RISCV => "riscv64",
        _ => "another processor",
    }
}

fn truncated(len: u64, needed: u64) -> Reason {
    Reason::plugin(
        Stage::Inspect,
        "truncated",
        format!("a whole file, at least {needed} bytes"),
        format!("{len} bytes"),
        "copy the library again: under a temporary name, then rename it",
    )
}

fn damaged(expected: &str, found: &str) -> Reason {
    let remedy = "build or copy the library again";
    Reason::plugin(Stage::Inspect, "damaged_library", expected, found, remedy)
}

/// A table that is larger than what is read of it.
fn too_large(what: &str, limit: u64, found: u64) -> Reason {
    Reason::plugin(
        Stage::Inspect,
        "table_too_large",
        format!("at most {limit} {what}"),
        found.to_string(),
        "build the plugin in release mode and strip it; split it where it is that large",
    )
}
