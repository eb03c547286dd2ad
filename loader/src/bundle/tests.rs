//! Both forms of a bundle: what is equal in them, and what is refused in both.

mod folder;
mod zip;

use std::{
    collections::BTreeMap,
    fs,
    io::{Cursor, Write},
    os::unix::fs::MetadataExt,
    path::Path,
};

use minisign::KeyPair;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// Files of a bundle, by path.
type Files = BTreeMap<&'static str, Vec<u8>>;

const PLUGIN: &str = "x86_64-linux-gnu/libnotes.so";
const PRIVATE: &str = "x86_64-linux-gnu/private/libstore.so.2";
const GUIDE: &str = "docs/guide.md";

/// The files that the bundle of these tests has.
pub(super) fn files() -> Files {
    BTreeMap::from([
        (PLUGIN, b"\x7fELF, the plugin".repeat(1000)),
        (PRIVATE, b"\x7fELF, its private library".to_vec()),
        (GUIDE, b"# Notes\n".to_vec()),
        ("icon.svg", Vec::new()),
    ])
}

/// A manifest that lists these files.
pub(super) fn manifest(files: &Files) -> Value {
    let listed = |path: &str| {
        let content = &files[path];
        json!({"path": path, "size": content.len(), "sha256": ContentHash::of(content).to_string()})
    };
    json!({
        "toolbay_bundle": 1,
        "id": "notes",
        "version": "1.2.3",
        "vendor": "Example Ltd.",
        "license": "MIT OR Apache-2.0",
        "description": "Keeps notes.",
        "homepage": "https://example.org/notes",
        "minimum_host": "0.1.0",
        "egress": "own_site",
        "documentation": GUIDE,
        "icon": "icon.svg",
        "targets": {"x86_64-linux-gnu": {
            "epoch": 1,
            "digest": "00000000deadbeef",
            "libraries": [listed(PLUGIN), listed(PRIVATE)],
        }},
        "files": [listed(GUIDE), listed("icon.svg")],
        "tools": [
            {
                "name": "note_add", "aliases": ["add_note"], "label": "Add", "summary": "Adds a note.",
                "effect": "non_idempotent_write", "data_class": "editor_content", "group": "content",
                "egress": "none", "kind": "write", "requires_admin": false,
                "enabled_by_default": true, "requires_approval": true, "loop_budget": 3,
                "description": "Adds a note.",
                "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}},
                "output_schema": {"type": "object", "properties": {}},
            },
            {
                "name": "note_find", "aliases": [], "label": "Find", "summary": "",
                "effect": "read_only", "data_class": "secret_adjacent", "group": null,
                "egress": "own_site", "kind": "search", "requires_admin": true,
                "enabled_by_default": false, "requires_approval": false,
                "input": {"type": "object", "properties": {"pin": {}}},
                "configured": true,
            },
        ],
    })
}

/// The bytes of a manifest in its canonical form.
fn canonical_bytes(manifest: &Value) -> Vec<u8> {
    (toolbay_core::canonical(manifest) + "\n").into_bytes()
}

/// A whole bundle: the manifest and the files.
fn bundle() -> Files {
    let mut files = files();
    let manifest = canonical_bytes(&manifest(&files));
    files.insert(MANIFEST, manifest);
    files
}

/// Writes files below a new folder.
fn folder(files: &Files) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// Packs a bundle as a packer would.
fn pack(bundle: &Files, signature: Option<&[u8]>) -> Vec<u8> {
    let content = |(path, content): (&&str, &Vec<u8>)| {
        (path.parse().unwrap(), FileContent::Bytes(content.clone()))
    };
    let mut files: BTreeMap<BundlePath, FileContent> = bundle.iter().map(content).collect();
    files.remove(MANIFEST);
    let mut out = Cursor::new(Vec::new());
    write_zip(&files, &bundle[MANIFEST], signature, &mut out).unwrap();
    out.into_inner()
}

fn open_zip(bytes: Vec<u8>) -> Result<Bundle, Reason> {
    Bundle::from_zip(Cursor::new(bytes))
}

/// Everything of a bundle that can be copied out.
fn contents(bundle: &mut Bundle) -> Result<BTreeMap<String, Vec<u8>>, Reason> {
    let listed: Vec<_> = bundle.manifest().parts().listed().map(|file| file.path.clone()).collect();
    let copied = listed.into_iter().map(|path| {
        let mut content = Vec::new();
        bundle.copy_file(&path, &mut content)?;
        Ok((path.to_string(), content))
    });
    copied.collect()
}

/// The code with which a bundle is refused, as it is opened or as its files are copied.
fn code(opened: Result<Bundle, Reason>) -> &'static str {
    match opened.and_then(|mut bundle| contents(&mut bundle)) {
        Ok(_) => "taken",
        Err(reason) => {
            assert_eq!(reason.stage, Stage::Bundle, "{reason}");
            assert!(!reason.to_string().contains(char::is_control), "{reason}");
            reason.code
        }
    }
}

#[test]
fn a_folder_and_a_zip_file_are_the_same_bundle() {
    let bundle = bundle();
    let folder = folder(&bundle);
    fs::create_dir(folder.path().join("empty")).unwrap();
    let file = folder.path().with_extension("toolbay");
    fs::write(&file, pack(&bundle, None)).unwrap();
    let mut opened = [Bundle::open(folder.path()).unwrap(), Bundle::open(&file).unwrap()];
    fs::remove_file(file).unwrap();
    for opened in &mut opened {
        assert_eq!(opened.manifest().bytes(), bundle[MANIFEST]);
        assert_eq!(opened.signature(), None);
        let contents = contents(opened).unwrap();
        let expected = files().into_iter().map(|(path, content)| (path.to_owned(), content));
        assert_eq!(contents, expected.collect());
        let reason = opened.copy_file(&"other".parse().unwrap(), &mut Vec::new()).unwrap_err();
        assert_eq!(reason.code, "unlisted_file");
    }
}

#[test]
fn each_difference_between_list_and_files_has_its_code_in_both_forms() {
    let whole = bundle();
    let mut cases = vec![("taken", whole.clone())];
    let mut case = |code: &'static str, change: &dyn Fn(&mut Files)| {
        let mut bundle = whole.clone();
        change(&mut bundle);
        cases.push((code, bundle));
    };
    case("unlisted_file", &|bundle| drop(bundle.insert("docs/more.md", b"x".to_vec())));
    case("missing_file", &|bundle| drop(bundle.remove(PRIVATE)));
    case("other_size", &|bundle| bundle.get_mut(GUIDE).unwrap().push(b'x'));
    case("other_hash", &|bundle| bundle.get_mut(GUIDE).unwrap()[0] = b'x');
    case("manifest_not_json", &|bundle| bundle.get_mut(MANIFEST).unwrap().clear());
    for (expected, bundle) in cases {
        assert_eq!(code(open_zip(pack(&bundle, None))), expected, "zip");
        let folder = folder(&bundle);
        assert_eq!(code(Bundle::open(folder.path())), expected, "folder");
    }
    let folder = folder(&files());
    assert_eq!(code(Bundle::open(folder.path())), "no_manifest");
    assert_eq!(code(Bundle::open(&folder.path().join("none"))), "unreadable_bundle");
}

#[test]
fn a_signed_manifest_has_one_spelling() {
    let keys = KeyPair::generate_unencrypted_keypair().unwrap();
    let signed = |manifest: &[u8]| {
        let signature =
            minisign::sign(Some(&keys.pk), &keys.sk, Cursor::new(manifest), Some("1.2.3"), None);
        signature.unwrap().to_string().into_bytes()
    };
    let key: crate::PublicKey = keys.pk.to_base64().parse().unwrap();
    let mut bundle = bundle();
    let signature = signed(&bundle[MANIFEST]);
    let opened = open_zip(pack(&bundle, Some(&signature))).unwrap();
    assert_eq!(opened.signature(), Some(&signature[..]));
    let read = crate::SignatureText::parse(&signature).unwrap();
    assert_eq!(read.verify(opened.manifest().bytes(), &key).unwrap().as_str(), "1.2.3");

    let pretty = serde_json::to_vec_pretty(&manifest(&files())).unwrap();
    let without_end = bundle[MANIFEST][..bundle[MANIFEST].len() - 1].to_vec();
    for other in [pretty, without_end] {
        bundle.insert(MANIFEST, other);
        let signature = signed(&bundle[MANIFEST]);
        assert_eq!(code(open_zip(pack(&bundle, None))), "taken", "unsigned");
        let signed = open_zip(pack(&bundle, Some(&signature)));
        assert_eq!(code(signed), "manifest_not_canonical");
    }
    bundle = self::bundle();
    let large = [b'x'; MAX_SIGNATURE_LEN + 1];
    assert_eq!(code(open_zip(pack(&bundle, Some(&large[1..])))), "taken");
    assert_eq!(code(open_zip(pack(&bundle, Some(&large)))), "signature_too_large");
}

#[test]
fn packing_twice_gives_the_same_bytes_and_files_count_as_their_bytes() {
    let bundle = bundle();
    let packed = pack(&bundle, Some(b"signature"));
    assert_eq!(pack(&bundle, Some(b"signature")), packed);
    let folder = folder(&bundle);
    let content =
        |path: &&str| (path.parse().unwrap(), FileContent::File(folder.path().join(path)));
    let files = files().keys().map(content).collect();
    let mut out = Cursor::new(Vec::new());
    write_zip(&files, &bundle[MANIFEST], Some(b"signature"), &mut out).unwrap();
    assert_eq!(out.into_inner(), packed);
    let missing = FileContent::File(folder.path().join("none"));
    let files = BTreeMap::from([("a".parse().unwrap(), missing)]);
    let error = write_zip(&files, b"", None, Cursor::new(Vec::new())).unwrap_err();
    assert!(matches!(error, WriteZipError::Read { .. }), "{error}");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn what_was_packed_unpacks_to_the_same() {
    let bundle = bundle();
    let packed = pack(&bundle, Some(b"signature"));
    let target = tempfile::tempdir().unwrap();
    let mut opened = open_zip(packed).unwrap();
    opened.unpack(target.path(), |_| true).unwrap();
    for (path, content) in &bundle {
        assert_eq!(&fs::read(target.path().join(path)).unwrap(), content, "{path}");
        let is_library = path.starts_with("x86");
        let expected = if is_library { 0o500 } else { 0o400 };
        assert_eq!(mode(&target.path().join(path)), expected, "{path}");
    }
    assert_eq!(mode(&target.path().join("x86_64-linux-gnu/private")), 0o700);
    let mut again = Bundle::open(target.path()).unwrap();
    assert_eq!(again.manifest(), opened.manifest());
    assert_eq!(again.signature(), Some(&b"signature"[..]));
    assert_eq!(contents(&mut again), contents(&mut opened));

    let reason = opened.unpack(target.path(), |_| true).unwrap_err();
    assert_eq!((reason.stage, reason.code), (Stage::Store, "not_empty"));
    let some = tempfile::tempdir().unwrap();
    opened.unpack(some.path(), |path| path.as_str() == PLUGIN).unwrap();
    assert!(some.path().join(PLUGIN).exists() && !some.path().join("docs").exists());
}

#[test]
fn what_is_not_as_listed_does_not_unpack() {
    let mut bundle = bundle();
    bundle.get_mut(GUIDE).unwrap()[0] = b'x';
    let mut opened = open_zip(pack(&bundle, None)).unwrap();
    let unpack = |opened: &mut Bundle, which: fn(&BundlePath) -> bool| {
        let target = tempfile::tempdir().unwrap();
        opened.unpack(target.path(), which).map_err(|reason| reason.code)
    };
    assert_eq!(unpack(&mut opened, |_| true), Err("other_hash"));
    assert_eq!(unpack(&mut opened, |path| path.as_str() != GUIDE), Ok(()));
}
