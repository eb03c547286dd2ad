//! The dynamic symbols: what a library imports, what it exports, and its root symbol.

use std::{collections::BTreeSet, mem};

use object::{
    ReadRef,
    elf::{self, FileHeader64, Sym64},
    read::elf::GnuHashTable,
};
use toolbay_abi::{ROOT_SYMBOL, abi_stable::library::LibHeader};

use super::{LE, RootFault, RootSymbol, damaged, dynamic::Dynamic, image::Image, too_large};
use crate::rejection::Reason;

/// The most symbols; an ordinary plugin has about 100.
const MAX_SYMBOLS: u64 = 256 * 1024;
/// The most bytes of names, of all symbols.
const MAX_NAMES: usize = 8 * 1024 * 1024;
/// How much of a hash table is read at first, and then at most. It does not say how long it is.
const HASH_TABLE: [u64; 2] = [64 * 1024, 8 * 1024 * 1024];

/// The symbols that take part in linking.
pub(super) struct Symbols {
    pub(super) imports: BTreeSet<String>,
    pub(super) exports: BTreeSet<String>,
    pub(super) root: RootSymbol,
    /// Exported functions that the linker runs to learn another function's address.
    pub(super) resolvers: u64,
}

/// Reads all symbols that a lookup can find or a relocation can name, whichever are more: the hash table alone would let a file hide
/// what it imports. `last_used` is the highest number in a relocation.
pub(super) fn read<'a, R: ReadRef<'a>>(
    image: &Image<'a, R>,
    dynamic: &Dynamic<'a>,
    last_used: u32,
) -> Result<Symbols, Reason> {
    let hashed = hashed_symbols(image, dynamic)?;
    let count = hashed.max(u64::from(last_used) + 1);
    if count > MAX_SYMBOLS {
        return Err(too_large("dynamic symbols", MAX_SYMBOLS, count));
    }
    let mut symbols = Symbols {
        imports: BTreeSet::new(),
        exports: BTreeSet::new(),
        root: RootSymbol::Missing,
        resolvers: 0,
    };
    let Some(table) = dynamic.get(elf::DT_SYMTAB) else { return Ok(symbols) };
    let table: &[Sym64<super::Endian>] =
        image.values(table, count, "a table of dynamic symbols")?;
    let mut names = 0;
    // The first is no symbol.
    for symbol in table.iter().skip(1) {
        let name = dynamic.name_bytes(symbol.st_name.get(LE).into())?;
        names += name.len();
        if names > MAX_NAMES {
            return Err(too_large("bytes of symbol names", MAX_NAMES as u64, names as u64));
        }
        let bind = symbol.st_bind();
        let defined = symbol.st_shndx.get(LE) != elf::SHN_UNDEF;
        if defined && name == ROOT_SYMBOL.as_bytes() {
            symbols.root = match symbols.root {
                RootSymbol::Missing => root(symbol, image),
                _ => RootSymbol::Malformed(RootFault::Repeated),
            };
        }
        if bind == elf::STB_LOCAL {
            continue;
        }
        let name = String::from_utf8_lossy(name).into_owned();
        if defined {
            symbols.exports.insert(name);
            symbols.resolvers += u64::from(symbol.st_type() == elf::STT_GNU_IFUNC);
        } else {
            symbols.imports.insert(name);
        }
    }
    Ok(symbols)
}

/// How many symbols the hash tables cover. A table without any says nothing.
fn hashed_symbols<'a, R: ReadRef<'a>>(
    image: &Image<'a, R>,
    dynamic: &Dynamic<'a>,
) -> Result<u64, Reason> {
    let what = "a hash table of symbols";
    let unreadable = |_| damaged(what, "one that can't be read");
    let mut count = 0;
    if let Some(address) = dynamic.get(elf::DT_HASH) {
        let words: &[object::U32<super::Endian>; 2] = image.value(address, what)?;
        count = u64::from(words[1].get(LE));
    }
    if let Some(address) = dynamic.get(elf::DT_GNU_HASH) {
        for limit in HASH_TABLE {
            let bytes = image.bytes_up_to(address, limit, what)?;
            let whole = (bytes.len() as u64) < limit || limit == HASH_TABLE[1];
            match GnuHashTable::<FileHeader64<super::Endian>>::parse(LE, bytes) {
                Ok(table) => {
                    if let Some(found) = table.symbol_table_length(LE) {
                        return Ok(count.max(found.into()));
                    }
                }
                Err(error) if whole => return Err(unreadable(error)),
                Err(_) => {}
            }
            if whole {
                break;
            }
        }
    }
    Ok(count)
}

/// Judges the root symbol by what a host does with it: read a header of that size at that place.
fn root<'a, R: ReadRef<'a>>(symbol: &Sym64<super::Endian>, image: &Image<'a, R>) -> RootSymbol {
    let size = symbol.st_size.get(LE);
    // Reserved numbers stand for symbols that are at no place in the file.
    let placed = symbol.st_shndx.get(LE).index().is_some();
    let fault = if symbol.st_bind() != elf::STB_GLOBAL {
        RootFault::NotGlobal
    } else if symbol.st_type() != elf::STT_OBJECT {
        RootFault::NotData
    } else if size < mem::size_of::<LibHeader>() as u64 {
        RootFault::TooSmall { size }
    } else if !placed || !image.is_mapped(symbol.st_value.get(LE), size) {
        RootFault::NotLoaded
    } else {
        return RootSymbol::Defined { size };
    };
    RootSymbol::Malformed(fault)
}
