//! The symbol versions that a library needs of others.

use object::{
    ReadRef,
    elf::{self, Vernaux, Verneed},
};

use super::{LE, VersionNeed, damaged, dynamic::Dynamic, image::Image, too_large};
use crate::rejection::Reason;

/// The most versions that are read, of all libraries; an ordinary library needs about 20.
const MAX_VERSIONS: usize = 4096;

/// Reads what each needed library must have.
pub(super) fn read<'a, R: ReadRef<'a>>(
    image: &Image<'a, R>,
    dynamic: &Dynamic<'a>,
) -> Result<Vec<VersionNeed>, Reason> {
    let what = "a table of version needs";
    let beyond = || damaged(what, "one whose parts are outside of it");
    let mut needs = Vec::new();
    let mut next = dynamic.get(elf::DT_VERNEED);
    let mut libraries = 0;
    while let Some(at) = next {
        libraries += 1;
        check_count(needs.len() + libraries)?;
        let need: &Verneed<super::Endian> = image.value(at, what)?;
        let library = dynamic.name(need.vn_file.get(LE).into())?;
        let mut next_version = step(at, need.vn_aux.get(LE), beyond)?;
        while let Some(at) = next_version {
            check_count(needs.len() + libraries)?;
            let version: &Vernaux<super::Endian> = image.value(at, what)?;
            needs.push(VersionNeed {
                library: library.clone(),
                version: dynamic.name(version.vna_name.get(LE).into())?,
                weak: version.vna_flags.get(LE).contains(elf::VER_FLG_WEAK),
            });
            next_version = step(at, version.vna_next.get(LE), beyond)?;
        }
        next = step(at, need.vn_next.get(LE), beyond)?;
    }
    Ok(needs)
}

fn check_count(count: usize) -> Result<(), Reason> {
    if count > MAX_VERSIONS {
        return Err(too_large("version needs", MAX_VERSIONS as u64, count as u64));
    }
    Ok(())
}

/// The address of the next part, which lies behind this one; 0 ends the list, as it does for the linker, which trusts no counts.
fn step(at: u64, distance: u32, beyond: impl Fn() -> Reason) -> Result<Option<u64>, Reason> {
    match distance {
        0 => Ok(None),
        _ => at.checked_add(distance.into()).map(Some).ok_or_else(beyond),
    }
}
