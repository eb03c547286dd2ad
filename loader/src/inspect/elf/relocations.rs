//! What a library's relocations use: symbols, static TLS, resolvers.

use object::{
    ReadRef,
    elf::{self, Machine, Rela64, RelocationType},
};

use super::{LE, dynamic::Dynamic, image::Image, too_large};
use crate::rejection::Reason;

/// The most bytes of relocations, in each of two tables: what about a million pointers in initialized data take.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// What all relocations together use.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// The highest number of a symbol.
    pub(super) last_symbol: u32,
    /// Whether any wants its place in the static TLS block.
    pub(super) static_tls: bool,
    /// How many are the result of a function that runs while the library is opened.
    pub(super) resolvers: u64,
}

/// Walks the relocations that the linker applies when it opens the library.
pub(super) fn read<'a, R: ReadRef<'a>>(
    image: &Image<'a, R>,
    dynamic: &Dynamic<'a>,
    machine: Machine,
) -> Result<Uses, Reason> {
    let mut uses = Uses::default();
    for (table, size) in [(elf::DT_RELA, elf::DT_RELASZ), (elf::DT_JMPREL, elf::DT_PLTRELSZ)] {
        let Some(address) = dynamic.get(table) else { continue };
        let size = dynamic.get(size).unwrap_or(0);
        if size > MAX_BYTES {
            return Err(too_large("bytes of relocations", MAX_BYTES, size));
        }
        let count = size / size_of::<Rela64<super::Endian>>() as u64;
        let relocations: &[Rela64<super::Endian>] =
            image.values(address, count, "a table of relocations")?;
        for relocation in relocations {
            let kind = relocation.r_type(LE, false);
            uses.last_symbol = uses.last_symbol.max(relocation.r_sym(LE, false));
            uses.static_tls |= wants_static_tls(machine, kind);
            uses.resolvers += u64::from(runs_a_resolver(machine, kind));
        }
    }
    Ok(uses)
}

fn wants_static_tls(machine: Machine, kind: RelocationType) -> bool {
    match machine {
        elf::EM_X86_64 => kind == elf::R_X86_64_TPOFF64 || kind == elf::R_X86_64_TPOFF32,
        elf::EM_AARCH64 => kind == elf::R_AARCH64_TLS_TPREL,
        _ => false,
    }
}

fn runs_a_resolver(machine: Machine, kind: RelocationType) -> bool {
    match machine {
        elf::EM_X86_64 => kind == elf::R_X86_64_IRELATIVE,
        elf::EM_AARCH64 => kind == elf::R_AARCH64_IRELATIVE,
        _ => false,
    }
}
