//! Which files are mapped into this process, as the kernel tells it.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// A file that is mapped. Two mappings with the same device and inode are of the same file; what `stat` says of it may differ, on file systems
/// that are made of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mapping {
    first: usize,
    end: usize,
    /// The device, as `major:minor` in hexadecimal digits.
    pub(crate) device: String,
    /// The inode.
    pub(crate) inode: u64,
    /// The file's path when it was mapped. The file may be gone since.
    pub(crate) path: PathBuf,
}

impl Mapping {
    /// Whether both are of one file.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (&self.device, self.inode) == (&other.device, other.inode)
    }
}

/// Every mapping of a file in this process.
pub(crate) fn all() -> io::Result<Vec<Mapping>> {
    let maps = fs::read("/proc/self/maps")?;
    Ok(maps.split(|&byte| byte == b'\n').filter_map(parse).collect())
}

/// The mapping that an address lies in.
pub(crate) fn at(mappings: &[Mapping], address: usize) -> Option<&Mapping> {
    mappings.iter().find(|mapping| (mapping.first..mapping.end).contains(&address))
}

/// One mapping of each file of this name: the dynamic linker takes one of them where a library of the name is wanted.
pub(crate) fn namesakes<'m>(mappings: &'m [Mapping], path: &Path) -> Vec<&'m Mapping> {
    let of_the_name = |mapping: &&Mapping| mapping.path.file_name() == path.file_name();
    let mut namesakes: Vec<_> = mappings.iter().filter(of_the_name).collect();
    namesakes.dedup_by(|one, other| one.is_same_file(other));
    namesakes
}

/// A line of `/proc/self/maps`: addresses, rights, offset, device, inode and, of a file, its path.
fn parse(line: &[u8]) -> Option<Mapping> {
    let mut rest = line;
    let mut next = || {
        let start = rest.iter().position(|&byte| byte != b' ')?;
        let after = rest.get(start..)?;
        let len = after.iter().position(|&byte| byte == b' ').unwrap_or(after.len());
        let (word, after) = after.split_at(len);
        rest = after;
        str::from_utf8(word).ok()
    };
    let (addresses, _rights, _offset, device, inode) =
        (next()?, next()?, next()?, next()?, next()?);
    let (first, end) = addresses.split_once('-')?;
    let path = rest.trim_ascii_start();
    // The linker goes on by the name that the file had.
    let path = path.strip_suffix(b" (deleted)").unwrap_or(path);
    if path.first() != Some(&b'/') {
        return None;
    }
    Some(Mapping {
        first: usize::from_str_radix(first, 16).ok()?,
        end: usize::from_str_radix(end, 16).ok()?,
        device: device.to_owned(),
        inode: inode.parse().ok()?,
        path: PathBuf::from(OsStr::from_bytes(path)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_files_are_read_and_others_are_left_out() {
        let line = b"7f0000001000-7f0000002000 r-xp 00001000 fe:01 1234      /a b/c.so (deleted)";
        let mapping = parse(line).unwrap();
        assert_eq!((mapping.first, mapping.end), (0x7f00_0000_1000, 0x7f00_0000_2000));
        assert_eq!((mapping.device.as_str(), mapping.inode), ("fe:01", 1234));
        assert_eq!(mapping.path, Path::new("/a b/c.so"));
        let others: [&[u8]; 4] = [
            b"",
            b"7f00-7f01 rw-p 0 00:00 0",
            b"7f00-7f01 rw-p 0 00:00 0   [heap]",
            b"x-y r--p 0 fe:01 1 /a",
        ];
        for other in others {
            assert_eq!(parse(other), None);
        }
    }

    #[test]
    fn this_program_is_mapped_at_its_own_functions() {
        let mappings = all().unwrap();
        let here = at(&mappings, parse as *const () as usize).unwrap();
        assert_eq!(here.path, std::env::current_exe().unwrap());
        assert_eq!(at(&mappings, 0), None);
        let elsewhere = Path::new("/elsewhere").join(here.path.file_name().unwrap());
        let namesakes = namesakes(&mappings, &elsewhere);
        assert!(matches!(namesakes[..], [namesake] if namesake.is_same_file(here)));
    }
}
