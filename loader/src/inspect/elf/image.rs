//! The file as the dynamic linker maps it: segments, and the bytes at an address.

use object::{
    ReadRef,
    elf::{self, ProgramHeader64},
    pod::{self, Pod},
};

use super::{LE, damaged};
use crate::rejection::Reason;

/// What the kernel maps separately; segments that share a page would overwrite each other.
const PAGE: u64 = 4096;

/// The segments of a library, over the bytes of its file.
pub(super) struct Image<'a, R> {
    data: R,
    loads: Vec<&'a ProgramHeader64<super::Endian>>,
    /// The segment of the dynamic entries.
    pub(super) dynamic: &'a ProgramHeader64<super::Endian>,
    /// The segment that each thread gets a copy of.
    pub(super) tls: Option<&'a ProgramHeader64<super::Endian>>,
    /// The one that says how the stack is.
    pub(super) stack: Option<&'a ProgramHeader64<super::Endian>>,
}

impl<'a, R: ReadRef<'a>> Image<'a, R> {
    /// Sorts the segments. What linkers would read in different ways is refused: segments out of order or one over the other, and
    /// several of a kind of which there is one.
    pub(super) fn new(
        segments: &'a [ProgramHeader64<super::Endian>],
        data: R,
    ) -> Result<Self, Reason> {
        let of = |kind| segments.iter().filter(move |segment| segment.p_type.get(LE) == kind);
        let loads: Vec<_> = of(elf::PT_LOAD).collect();
        let mut mapped = 0;
        for load in &loads {
            let start = load.p_vaddr.get(LE);
            let end = start.checked_add(load.p_memsz.get(LE));
            let end = end.and_then(|end| end.checked_next_multiple_of(PAGE));
            match end {
                Some(end)
                    if start / PAGE * PAGE >= mapped
                        && load.p_filesz.get(LE) <= load.p_memsz.get(LE) =>
                {
                    mapped = end;
                }
                _ => {
                    return Err(damaged(
                        "segments in order, none over another",
                        "segments that overlap",
                    ));
                }
            }
        }
        let only = |kind, name: &str| {
            let mut found = of(kind);
            match (found.next(), found.next()) {
                (first, None) => Ok(first),
                _ => Err(damaged(&format!("one {name} segment"), "several")),
            }
        };
        let dynamic = only(elf::PT_DYNAMIC, "dynamic")?
            .ok_or_else(|| damaged("a dynamic segment", "none"))?;
        let (tls, stack) = (only(elf::PT_TLS, "TLS")?, only(elf::PT_GNU_STACK, "stack")?);
        Ok(Self { data, loads, dynamic, tls, stack })
    }

    /// Whether a segment is writable and executable at once.
    pub(super) fn has_writable_code(&self) -> bool {
        self.loads.iter().any(|load| {
            let flags = load.p_flags.get(LE);
            flags.contains(elf::PF_W) && flags.contains(elf::PF_X)
        })
    }

    /// Whether memory from `address` on is a part of the library.
    pub(super) fn is_mapped(&self, address: u64, size: u64) -> bool {
        self.load_at(address).is_some_and(|load| {
            size <= load.p_memsz.get(LE).saturating_sub(address - load.p_vaddr.get(LE))
        })
    }

    /// Where in the file the `size` bytes at an address come from.
    pub(super) fn offset(&self, address: u64, size: u64) -> Option<u64> {
        let (offset, rest) = self.rest(address)?;
        (size <= rest).then_some(offset)
    }

    /// The `size` bytes at an address, which must come from the file. The caller bounds `size`.
    pub(super) fn bytes(&self, address: u64, size: u64, what: &str) -> Result<&'a [u8], Reason> {
        let offset = self.offset(address, size).ok_or_else(|| outside(what))?;
        self.data.read_bytes_at(offset, size).map_err(|()| outside(what))
    }

    /// The bytes from an address on to the end of its segment's part of the file, `limit` at most.
    pub(super) fn bytes_up_to(
        &self,
        address: u64,
        limit: u64,
        what: &str,
    ) -> Result<&'a [u8], Reason> {
        let (_, rest) = self.rest(address).ok_or_else(|| outside(what))?;
        self.bytes(address, rest.min(limit), what)
    }

    /// The value at an address.
    pub(super) fn value<T: Pod>(&self, address: u64, what: &str) -> Result<&'a T, Reason> {
        let bytes = self.bytes(address, size_of::<T>() as u64, what)?;
        pod::from_bytes(bytes).map(|(value, _)| value).map_err(|()| outside(what))
    }

    /// The `count` values at an address. The caller bounds `count`.
    pub(super) fn values<T: Pod>(
        &self,
        address: u64,
        count: u64,
        what: &str,
    ) -> Result<&'a [T], Reason> {
        let size = count.checked_mul(size_of::<T>() as u64).ok_or_else(|| outside(what))?;
        pod::slice_from_all_bytes(self.bytes(address, size, what)?).map_err(|()| outside(what))
    }

    /// The offset that an address comes from, and how many bytes of its segment follow in the file.
    fn rest(&self, address: u64) -> Option<(u64, u64)> {
        let load = self.load_at(address)?;
        let within = address - load.p_vaddr.get(LE);
        let rest = load.p_filesz.get(LE).checked_sub(within)?;
        Some((load.p_offset.get(LE).checked_add(within)?, rest))
    }

    fn load_at(&self, address: u64) -> Option<&'a ProgramHeader64<super::Endian>> {
        let last = self.loads.partition_point(|load| load.p_vaddr.get(LE) <= address);
        self.loads.get(last.checked_sub(1)?).copied()
    }
}

fn outside(what: &str) -> Reason {
    damaged(&format!("{what} within what is loaded of the file"), "one outside of it")
}
