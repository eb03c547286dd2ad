//! Reads the tables of an ELF library: is it whole, what does it export, where is its note.

use std::{fs::File, mem};

use object::{
    LittleEndian, ReadCache, ReadRef,
    elf::{self, FileHeader64, SectionHeader64},
    read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable, Sym},
};
use toolbay_abi::{
    ROOT_SYMBOL,
    abi_stable::library::LibHeader,
    note::{MAX_LEN, SECTION},
};

use crate::rejection::{Reason, Stage};

const LE: LittleEndian = LittleEndian;

type Header = FileHeader64<LittleEndian>;
type Cache<'a> = &'a ReadCache<&'a File>;

/// What a library's tables say about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryFacts {
    /// The processor, such as `x86_64`.
    pub machine: &'static str,
    /// Whether it can unwind: a library that is built with `panic = "abort"` does not import what unwinding needs.
    pub unwinds: bool,
    /// Its root symbol.
    pub root: RootSymbol,
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
    Malformed,
    /// Not defined here, so a lookup would find it in a library that this one needs, or nowhere.
    Missing,
}

/// What a file turned out to be.
pub(super) enum Found {
    Library(Tables),
    Other(&'static str),
}

pub(super) struct Tables {
    pub(super) note: Vec<u8>,
    pub(super) facts: LibraryFacts,
}

pub(super) fn read(file: &File) -> Result<Found, Reason> {
    let cache = ReadCache::new(file);
    let data = &cache;
    let len =
        ReadRef::len(data).map_err(|()| damaged("a file that can be read", "an input error"))?;
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
    check_segments(header, data, len)?;
    let sections = header.sections(LE, data).map_err(|_| truncated(len, header.e_shoff(LE)))?;
    for section in sections.iter() {
        if let Some((offset, size)) = section.file_range(LE) {
            let end = offset.saturating_add(size);
            if end > len {
                return Err(truncated(len, end));
            }
        }
    }
    let Some((_, note)) = sections.section_by_name(LE, SECTION.as_bytes()) else {
        return Ok(Found::Other("an ELF file without a Toolbay note"));
    };
    if header.e_type(LE) != elf::ET_DYN {
        return Ok(Found::Other("an ELF file that is no shared library"));
    }
    let note = note_bytes(note, data)?;
    let facts = facts(header, &sections, data)?;
    Ok(Found::Library(Tables { note, facts }))
}

/// Mapping a file that is shorter than its segments ends the host with SIGBUS, not with an error.
fn check_segments(header: &Header, data: Cache<'_>, len: u64) -> Result<(), Reason> {
    let segments =
        header.program_headers(LE, data).map_err(|_| truncated(len, header.e_phoff(LE)))?;
    for segment in segments {
        let end = segment.p_offset(LE).saturating_add(segment.p_filesz(LE));
        if end > len {
            return Err(truncated(len, end));
        }
    }
    Ok(())
}

fn note_bytes(section: &SectionHeader64<LittleEndian>, data: Cache<'_>) -> Result<Vec<u8>, Reason> {
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

fn facts<'a>(
    header: &Header,
    sections: &SectionTable<'a, Header, Cache<'a>>,
    data: Cache<'a>,
) -> Result<LibraryFacts, Reason> {
    let unreadable = |_| damaged("a table of dynamic symbols", "one that can't be read");
    let symbols = sections.symbols(LE, data, elf::SHT_DYNSYM).map_err(unreadable)?;
    let mut root = RootSymbol::Missing;
    let mut unwinds = false;
    for symbol in symbols.iter() {
        let name = symbol.name(LE, symbols.strings()).map_err(unreadable)?;
        let defined = symbol.st_shndx(LE) != elf::SHN_UNDEF;
        if name == ROOT_SYMBOL.as_bytes() && defined {
            let size = symbol.st_size(LE);
            let global_data =
                symbol.st_type() == elf::STT_OBJECT && symbol.st_bind() == elf::STB_GLOBAL;
            root = if global_data && size >= mem::size_of::<LibHeader>() as u64 {
                RootSymbol::Defined { size }
            } else {
                RootSymbol::Malformed
            };
        }
        unwinds |= name == b"_Unwind_RaiseException" && !defined;
    }
    Ok(LibraryFacts { machine: machine(header.e_machine(LE)), unwinds, root })
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
