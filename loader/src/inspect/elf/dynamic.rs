//! The entries of the dynamic segment.

use std::collections::BTreeMap;

use object::{
    ReadRef,
    elf::{self, Dyn64, DynamicTag},
};

use super::{LE, damaged, image::Image, too_large};
use crate::rejection::Reason;

/// The most entries that are read; an ordinary library has about 30.
const MAX_ENTRIES: u64 = 4096;
/// The most bytes of names.
const MAX_STRINGS: u64 = 16 * 1024 * 1024;
/// The longest single name, in bytes. Mangled names of Rust reach some hundreds.
const MAX_STRING: usize = 4096;

/// The entries up to the one that ends them, and the names that they point to.
pub(super) struct Dynamic<'a> {
    single: BTreeMap<i64, u64>,
    repeated: Vec<(DynamicTag, u64)>,
    strings: &'a [u8],
}

impl<'a> Dynamic<'a> {
    /// Reads the entries from where the linker finds them. An entry twice, of which linkers would take the one or the other, is
    /// refused.
    pub(super) fn read<R: ReadRef<'a>>(image: &Image<'a, R>) -> Result<Self, Reason> {
        let what = "a dynamic segment";
        let count = image.dynamic.p_filesz.get(LE) / size_of::<Dyn64<super::Endian>>() as u64;
        if count > MAX_ENTRIES {
            return Err(too_large("dynamic entries", MAX_ENTRIES, count));
        }
        let entries: &[Dyn64<super::Endian>] =
            image.values(image.dynamic.p_vaddr.get(LE), count, what)?;
        let (mut single, mut repeated) = (BTreeMap::new(), Vec::new());
        let mut ended = false;
        for entry in entries {
            let (tag, value) = (entry.d_tag.get(LE), entry.d_val.get(LE));
            match tag {
                elf::DT_NULL => {
                    ended = true;
                    break;
                }
                elf::DT_NEEDED
                | elf::DT_RPATH
                | elf::DT_RUNPATH
                | elf::DT_AUDIT
                | elf::DT_DEPAUDIT
                | elf::DT_FILTER
                | elf::DT_AUXILIARY => repeated.push((tag, value)),
                _ => {
                    if single.insert(tag.0, value).is_some() {
                        return Err(damaged("each dynamic entry once", "one of them twice"));
                    }
                }
            }
        }
        if !ended {
            return Err(damaged("dynamic entries with an end", "entries without one"));
        }
        let mut read = Self { single, repeated, strings: &[] };
        if let Some(strings) = read.get(elf::DT_STRTAB) {
            let size = read.get(elf::DT_STRSZ).unwrap_or(0);
            if size > MAX_STRINGS {
                return Err(too_large("bytes of names", MAX_STRINGS, size));
            }
            read.strings = image.bytes(strings, size, "a table of names")?;
        }
        Ok(read)
    }

    /// The value of an entry of which there is one at most.
    pub(super) fn get(&self, tag: DynamicTag) -> Option<u64> {
        self.single.get(&tag.0).copied()
    }

    /// The names in all entries of a kind, in their order.
    pub(super) fn names(&self, tag: DynamicTag) -> Result<Vec<String>, Reason> {
        let values = self.repeated.iter().filter(|(found, _)| *found == tag);
        values.map(|(_, value)| self.name(*value)).collect()
    }

    /// The name at an offset of the table of names.
    pub(super) fn name(&self, offset: u64) -> Result<String, Reason> {
        self.name_bytes(offset).map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// The bytes of the name at an offset.
    pub(super) fn name_bytes(&self, offset: u64) -> Result<&'a [u8], Reason> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.strings.get(offset..));
        let name = rest.and_then(|rest| {
            let end = rest.iter().take(MAX_STRING).position(|&byte| byte == 0)?;
            rest.get(..end)
        });
        name.ok_or_else(|| {
            damaged(
                &format!("names of at most {MAX_STRING} bytes in their table"),
                "one outside of it",
            )
        })
    }
}
