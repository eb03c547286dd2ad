//! Folders that somebody prepared, or changes while they are read.

use std::{
    ffi::OsStr,
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::*;

/// The code with which a folder is refused, after a change to it; the same folder without the change is taken.
#[track_caller]
fn assert_refused(expected: &str, change: impl FnOnce(&Path)) {
    let folder = folder(&bundle());
    assert_eq!(code(Bundle::open(folder.path())), "taken");
    change(folder.path());
    assert_eq!(code(Bundle::open(folder.path())), expected);
}

#[test]
fn no_link_is_followed() {
    assert_refused("symbolic_link", |folder| {
        fs::rename(folder.join(GUIDE), folder.join("docs/other.md")).unwrap();
        symlink("other.md", folder.join(GUIDE)).unwrap();
    });
    let outside = tempfile::tempdir().unwrap();
    assert_refused("symbolic_link", |folder| {
        fs::rename(folder.join("docs"), outside.path().join("docs")).unwrap();
        symlink(outside.path().join("docs"), folder.join("docs")).unwrap();
    });
    assert_refused("symbolic_link", |folder| {
        symlink("loop", folder.join("loop")).unwrap();
    });
    assert_refused("symbolic_link", |folder| {
        fs::rename(folder.join(MANIFEST), folder.join("other.json")).unwrap();
        symlink("other.json", folder.join(MANIFEST)).unwrap();
    });
    let folder = folder(&bundle());
    let link = outside.path().join("link");
    symlink(folder.path(), &link).unwrap();
    assert_eq!(code(Bundle::open(&link)), "symbolic_link");
}

#[test]
fn a_link_that_comes_after_the_opening_leads_nowhere() {
    let folder = folder(&bundle());
    let mut opened = Bundle::open(folder.path()).unwrap();
    let copy = |bundle: &mut Bundle| {
        let copied = bundle.copy_file(&GUIDE.parse().unwrap(), &mut Vec::new());
        copied.map_err(|reason| reason.code)
    };
    assert_eq!(copy(&mut opened), Ok(()));
    let outside = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::rename(&docs, outside.path().join("docs")).unwrap();
    symlink(outside.path().join("docs"), &docs).unwrap();
    assert_eq!(copy(&mut opened), Err("symbolic_link"));
    fs::remove_file(&docs).unwrap();
    assert_eq!(copy(&mut opened), Err("missing_file"));
    fs::rename(outside.path().join("docs"), &docs).unwrap();
    assert_eq!(copy(&mut opened), Ok(()));
    // The folder itself may go elsewhere: it is open.
    fs::rename(folder.path(), outside.path().join("moved")).unwrap();
    assert_eq!(copy(&mut opened), Ok(()));
    let guide = outside.path().join("moved").join(GUIDE);
    fs::write(&guide, b"# Notes, and more than was listed\n").unwrap();
    assert_eq!(copy(&mut opened), Err("other_size"));
    fs::write(&guide, b"#").unwrap();
    assert_eq!(copy(&mut opened), Err("other_size"));
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).unwrap();
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    assert_refused("not_a_regular_file", |folder| pipe(&folder.join("pipe")));
    assert_refused("not_a_regular_file", |folder| {
        fs::remove_file(folder.join(MANIFEST)).unwrap();
        pipe(&folder.join(MANIFEST));
    });
    assert_refused("not_a_regular_file", |folder| {
        drop(UnixListener::bind(folder.join("socket")).unwrap());
    });
    assert_refused("no_manifest", |folder| {
        fs::remove_file(folder.join(MANIFEST)).unwrap();
        fs::create_dir(folder.join(MANIFEST)).unwrap();
    });
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("pipe");
    pipe(&at);
    assert_eq!(code(Bundle::open(&at)), "not_a_regular_file");
    assert_eq!(code(Bundle::open(Path::new("/dev/null"))), "not_a_regular_file");
    // One that takes the file's place after the opening.
    let folder = super::folder(&bundle());
    let mut opened = Bundle::open(folder.path()).unwrap();
    fs::remove_file(folder.path().join(GUIDE)).unwrap();
    pipe(&folder.path().join(GUIDE));
    let reason = opened.copy_file(&GUIDE.parse().unwrap(), &mut Vec::new()).unwrap_err();
    assert_eq!(reason.code, "not_a_regular_file");
}

#[test]
fn names_that_are_no_paths_are_refused_and_told_on_one_line() {
    let names: [(&[u8], &str); 5] = [
        (b"\xff\xfe", "bad_path"),
        (b"a\nb", "bad_path"),
        (b"a\\b", "bad_path"),
        (b"a.", "bad_path"),
        (b"plain", "unlisted_file"),
    ];
    for (name, expected) in names {
        assert_refused(expected, |folder| {
            fs::write(folder.join(OsStr::from_bytes(name)), "").unwrap();
        });
    }
    assert_refused("colliding_paths", |folder| {
        fs::write(folder.join("docs/GUIDE.md"), "# Notes\n").unwrap();
    });
}

#[test]
fn a_folder_is_walked_so_deep_and_no_deeper() {
    let deep = |levels: usize| vec!["d"; levels].join("/");
    assert_refused("taken", |folder| fs::create_dir_all(folder.join(deep(8))).unwrap());
    assert_refused("bad_path", |folder| fs::create_dir_all(folder.join(deep(9))).unwrap());
    assert_refused("unlisted_file", |folder| {
        fs::create_dir_all(folder.join(deep(7))).unwrap();
        fs::write(folder.join(deep(7)).join("file"), "").unwrap();
    });
}

#[test]
fn no_more_is_read_than_a_bundle_may_hold() {
    assert_refused("too_many_files", |folder| {
        let many = folder.join("many");
        fs::create_dir(&many).unwrap();
        for number in 0..=MAX_BUNDLE_ENTRIES {
            fs::hard_link(folder.join("icon.svg"), many.join(number.to_string())).unwrap();
        }
    });
    assert_refused("bundle_too_large", |folder| {
        let sparse = fs::File::create(folder.join("sparse")).unwrap();
        sparse.set_len(crate::MAX_FILE_LEN + 1).unwrap();
    });
    for (length, expected) in [(0, "manifest_not_json"), (1, "manifest_too_large")] {
        assert_refused(expected, |folder| {
            let sparse = fs::File::create(folder.join(MANIFEST)).unwrap();
            sparse.set_len(Manifest::MAX_BYTES as u64 + length).unwrap();
        });
    }
}
