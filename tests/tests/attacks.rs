//! What somebody tries who can write to plugin directories, to bundles or to the store: each attempt beside what is allowed.
#![cfg(test)]

use std::{
    env, fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use toolbay_loader::{Actor, Config, RefreshOptions, Stage, Toolbay, TrustError, Unsigned};
use toolbay_tests::{
    bay::{Bay, codes, greets, install, operator},
    bundle::{Draft, Key, VENDOR},
    child::{self, Child},
};

const GREETING: &str = "toolbay-plugin-greeting";

const FOLDER: &str = "TOOLBAY_TEST_ATTACKS_FOLDER";
const TEST: &str = "what_was_changed_in_the_store_is_not_opened_and_can_be_healed";

type Verdict = (Stage, &'static str);

/// Changes a byte of a file and leaves its size.
fn change(path: &Path) {
    let mut content = fs::read(path).unwrap();
    *content.last_mut().unwrap() ^= 1;
    fs::remove_file(path).unwrap();
    fs::write(path, content).unwrap();
}

fn move_behind_a_link(path: &Path, to: &Path) {
    fs::rename(path, to).unwrap();
    symlink(to, path).unwrap();
}

fn others_may_write(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o770)).unwrap();
}

#[test]
fn what_was_changed_in_the_store_is_not_opened_and_can_be_healed() {
    if let Some(folder) = env::var_os(FOLDER) {
        return install_or_refresh(Path::new(&folder));
    }
    let key = Key::new();
    let draft = Draft::of(GREETING);
    type Change = fn(&Bay);
    let cases: [(&str, Change, Verdict); 8] = [
        ("the library", |bay| change(&bay.library("greeting")), (Stage::Store, "changed_in_store")),
        (
            "the library, for one of another size",
            |bay| fs::write(bay.library("greeting"), "x").unwrap_or_default(),
            (Stage::Bundle, "other_size"),
        ),
        (
            "a file that nobody listed",
            |bay| fs::write(bay.entry("greeting").join("more.so"), "x").unwrap(),
            (Stage::Bundle, "unlisted_file"),
        ),
        (
            "the signature",
            |bay| fs::remove_file(bay.entry("greeting").join("toolbay.json.minisig")).unwrap(),
            (Stage::Signature, "unsigned"),
        ),
        (
            "the entry, for a link",
            |bay| move_behind_a_link(&bay.entry("greeting"), &bay.path("elsewhere")),
            (Stage::Store, "changed_in_store"),
        ),
        (
            "a folder of the entry, for a link",
            |bay| {
                let library = bay.library("greeting");
                move_behind_a_link(library.parent().unwrap(), &bay.path("elsewhere"));
            },
            (Stage::Bundle, "symbolic_link"),
        ),
        (
            "the entry's rights",
            |bay| others_may_write(&bay.entry("greeting")),
            (Stage::Store, "store_not_private"),
        ),
        (
            "everything",
            |bay| fs::remove_dir_all(bay.entry("greeting")).unwrap(),
            (Stage::Store, "store_failed"),
        ),
    ];
    let installed = || {
        let bay = Bay::trusting(&key);
        draft.zip(&bay.path("a.toolbay"), Some(&key));
        // In another process: the linker of this one would go on with a file that it has open.
        let mut child = Child::of(TEST, &[(FOLDER, bay.path("").as_os_str())]);
        assert_eq!(child.line().as_deref(), Some("done"));
        bay
    };
    for (name, change, verdict) in cases {
        let bay = installed();
        change(&bay);
        assert_eq!(greets(&bay.open()), Err(verdict), "{name}");
        assert_eq!(install(&bay.open(), bay.path("a.toolbay")).rejections, [], "{name}");
        assert_eq!(greets(&bay.open()), Ok(()), "{name}: healed");
        if bay.path("elsewhere").exists() {
            bay.open().collect_store(false).unwrap();
            let left = fs::read_dir(bay.path("elsewhere")).unwrap().count();
            assert_ne!(left, 0, "{name}: what lies behind the link is not the store's to remove");
        }
    }
    assert_eq!(greets(&installed().open()), Ok(()), "the twin");

    // From a plugin directory, a refresh heals it as well.
    let bay = installed();
    fs::rename(bay.path("a.toolbay"), bay.path("plugins/a")).unwrap();
    let mut child = Child::of(TEST, &[(FOLDER, bay.path("").as_os_str())]);
    assert_eq!(child.line().as_deref(), Some("done"));
    let library = bay.library("greeting");
    change(&library);
    assert_eq!(greets(&bay.open()), Err((Stage::Store, "changed_in_store")));
    assert_eq!(bay.open().refresh().unwrap().rejections, []);
    assert_eq!((bay.library("greeting"), greets(&bay.open())), (library, Ok(())));
}

/// What the child does: installs the bundle, or takes it from the plugin directory where it is there.
fn install_or_refresh(folder: &Path) {
    let mut config = Config::new(folder.join("home"));
    config.plugin_directories.push(folder.join("plugins"));
    let toolbay = Toolbay::open(config).unwrap();
    if folder.join("a.toolbay").exists() {
        assert_eq!(install(&toolbay, folder.join("a.toolbay")).rejections, []);
    } else {
        toolbay.uninstall("greeting", &operator()).unwrap();
    }
    assert_eq!(greets(&toolbay), Ok(()));
    child::say("done");
}

#[test]
fn a_store_that_others_may_write_to_is_neither_loaded_from_nor_written_to() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let draft = Draft::of(GREETING);
    install(&bay.open(), draft.zip(&bay.path("a"), Some(&key)));
    others_may_write(&bay.home("store"));
    let refused = (Stage::Store, "store_not_private");
    assert_eq!(greets(&bay.open()), Err(refused));
    let newer = draft.with_version("0.2.0").zip(&bay.path("b"), Some(&key));
    assert_eq!(codes(&install(&bay.open(), &newer).rejections), [refused]);
    fs::set_permissions(bay.home("store"), fs::Permissions::from_mode(0o750)).unwrap();
    assert_eq!(greets(&bay.open()), Ok(()), "reading is no harm");
    assert_eq!(install(&bay.open(), &newer).rejections, []);
}

#[test]
fn a_store_of_another_user_is_not_loaded_from() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    install(&bay.open(), Draft::of(GREETING).zip(&bay.path("a"), Some(&key)));
    if std::os::unix::fs::chown(bay.home("store"), Some(65_534), None).is_err() {
        eprintln!("left out: only root can give the store away");
        return;
    }
    assert_eq!(greets(&bay.open()), Err((Stage::Store, "store_not_private")));
    std::os::unix::fs::chown(bay.home("store"), Some(0), None).unwrap();
    assert_eq!(greets(&bay.open()), Ok(()));
}

#[test]
fn a_manifest_counts_only_with_its_own_signature_by_the_key_of_its_publisher() {
    let (key, other) = (Key::new(), Key::new());
    let bay = Bay::trusting(&key);
    bay.open().trust_key(&other.public(), "Somebody Else", &operator()).unwrap();
    let toolbay = bay.open();
    let draft = Draft::of(GREETING);
    let manifest = draft.manifest().bytes().to_vec();
    let of_another = {
        let mut another = draft.clone();
        another.parts.license = "none".to_owned();
        key.sign(another.manifest().bytes())
    };
    let edited = {
        let text = String::from_utf8(manifest.clone()).unwrap();
        text.replace("\"license\":\"MIT\"", "\"license\":\"BSD\"").into_bytes()
    };
    let spelled = [&manifest[..], b" "].concat();
    let legacy = legacy(&key.sign(&manifest));
    type Case<'a> = (&'a str, &'a [u8], Option<Vec<u8>>, Verdict);
    let signature = Stage::Signature;
    let cases: [Case<'_>; 8] = [
        ("edited", &edited, Some(key.sign(&manifest)), (signature, "bad_signature")),
        ("reused", &manifest, Some(of_another), (signature, "bad_signature")),
        ("spelled", &spelled, Some(key.sign(&spelled)), (Stage::Bundle, "manifest_not_canonical")),
        ("unknown key", &manifest, Some(Key::new().sign(&manifest)), (signature, "unknown_key")),
        (
            "key of another publisher",
            &manifest,
            Some(other.sign(&manifest)),
            (signature, "key_of_another_publisher"),
        ),
        ("old algorithm", &manifest, Some(legacy), (signature, "signature_algorithm")),
        ("no signature", &manifest, None, (signature, "unsigned")),
        ("empty signature", &manifest, Some(Vec::new()), (signature, "bad_signature_file")),
    ];
    for (name, manifest, signature, verdict) in cases {
        let source = draft.zip_with(&bay.path("a.toolbay"), manifest, signature.as_deref());
        let report = install(&toolbay, &source);
        assert_eq!(
            (codes(&report.rejections), report.installed.len()),
            (vec![verdict], 0),
            "{name}"
        );
    }
    assert_eq!(bay.store(), [] as [&str; 0], "nothing of it is kept");
    let signed = key.sign(&manifest);
    let source = draft.zip_with(&bay.path("a.toolbay"), &manifest, Some(&signed));
    assert_eq!(install(&toolbay, source).rejections, []);
    assert_eq!(greets(&toolbay), Ok(()));
}

/// A signature that says it is made with minisign's old algorithm.
fn legacy(signature: &[u8]) -> Vec<u8> {
    let text = str::from_utf8(signature).unwrap();
    let line = text.lines().nth(1).unwrap();
    // "ED" and "Ed" in base64, with the six bits of the next byte that share the last letter.
    assert!(line.starts_with("RU"), "{line}");
    text.replace(line, &format!("RW{}", &line[2..])).into_bytes()
}

#[test]
fn a_revoked_key_ends_what_it_signed_in_every_process_and_for_good() {
    let (key, next) = (Key::new(), Key::new());
    let bay = Bay::trusting(&key);
    let draft = Draft::of(GREETING);
    let source = draft.zip(&bay.path("a"), Some(&key));
    let open = bay.open();
    install(&open, &source);
    assert_eq!(greets(&open), Ok(()));

    let id = bay.open().trusted_keys().unwrap()[0].0.clone();
    bay.open().revoke_key(&id, "it leaked", &operator()).unwrap();
    // Somebody who reads the registry anew offers nothing of it, and somebody who had it open does so from the next look on.
    let names = |toolbay: &Toolbay| toolbay.registry().iter().count();
    assert_eq!(names(&bay.open()), 0);
    assert!(open.reload().unwrap());
    assert_eq!((names(&open), open.providers().len()), (0, 0));
    assert_eq!(codes(&install(&open, &source).rejections), [(Stage::Signature, "revoked_key")]);

    // What is installed beside it brings nothing of it back.
    bay.open().trust_key(&next.public(), VENDOR, &operator()).unwrap();
    let beside = Draft::of("toolbay-fixture-echo").zip(&bay.path("b"), Some(&next));
    assert_eq!(install(&open, beside).rejections, []);
    let providers = |toolbay: &Toolbay| -> Vec<String> {
        toolbay.providers().iter().map(|one| one.id.to_string()).collect()
    };
    assert_eq!(
        (providers(&open), providers(&bay.open())),
        (vec!["echo".into()], vec!["echo".into()])
    );

    let again = open.trust_key(&key.public(), VENDOR, &operator()).unwrap_err();
    assert!(matches!(again, TrustError::Revoked { .. }), "{again}");
    let refreshed = open.refresh().unwrap();
    assert_eq!(codes(&refreshed.rejections), [(Stage::Signature, "revoked_key")]);
    // The publisher's new key signs the same bundle, and all is well.
    let renewed = draft.zip(&bay.path("c"), Some(&next));
    assert_eq!(install(&open, renewed).rejections, []);
    assert_eq!(greets(&open), Ok(()));
}

#[test]
fn a_loaded_registry_of_a_revoked_key_is_refused_at_its_next_load() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    install(&bay.open(), Draft::of(GREETING).zip(&bay.path("a"), Some(&key)));
    // This process has the registry, and has not looked at the keys since.
    let late = bay.open();
    let id = late.trusted_keys().unwrap()[0].0.clone();
    bay.open().revoke_key(&id, "it leaked", &operator()).unwrap();
    assert_eq!(greets(&late), Err((Stage::Signature, "revoked_key")));
}

#[test]
fn keys_that_cant_be_read_trust_nobody_and_lose_nothing() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    install(&bay.open(), Draft::of(GREETING).zip(&bay.path("a"), Some(&key)));
    let trust = bay.home("trust.json");
    let good = fs::read(&trust).unwrap();
    let unsigned = developing(&bay);
    for damaged in [&good[..good.len() / 2], b"", b"{}"] {
        fs::write(&trust, damaged).unwrap();
        let toolbay = bay.open();
        assert_eq!(toolbay.registry().iter().count(), 0, "nobody stands for it");
        let refreshed = toolbay.refresh().unwrap();
        assert_eq!(codes(&refreshed.rejections), [(Stage::Signature, "trust_unreadable")]);
        assert!(toolbay.trust_key(&Key::new().public(), VENDOR, &operator()).is_err());
        assert_eq!(fs::read(&trust).unwrap(), damaged, "it is not written over");
        assert_eq!(toolbay.installed().unwrap().len(), 1);
        // What needs no key goes on.
        let report = unsigned.refresh().unwrap();
        assert_eq!(codes(&report.rejections), [(Stage::Signature, "trust_unreadable")]);
        assert_eq!(unsigned.registry().get("echo").map(|_| ()), Some(()));
    }
    fs::write(&trust, &good).unwrap();
    assert_eq!(bay.open().refresh().unwrap().rejections, []);
    assert_eq!(greets(&bay.open()), Ok(()));
}

/// The same home for somebody who develops plugins, and has one.
fn developing(bay: &Bay) -> Toolbay {
    let mut config = bay.config();
    config.policy.unsigned = Unsigned::Allow;
    let plugins = bay.path("more");
    fs::create_dir(&plugins).unwrap();
    fs::copy(toolbay_tests::library("toolbay-fixture-echo"), plugins.join("echo.so")).unwrap();
    config.plugin_directories.push(plugins);
    Toolbay::open(config).unwrap()
}

#[test]
fn a_manifest_that_contradicts_its_librarys_note_is_refused_by_the_field() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let toolbay = bay.open();
    let draft = Draft::of(GREETING);
    let target = toolbay_abi::note::TARGET;
    type Change = fn(&mut Draft, &str);
    let cases: [(&str, Change); 4] = [
        ("id", |draft, _| draft.parts.id = "welcome".parse().unwrap()),
        ("version", |draft, _| draft.parts.version = semver::Version::new(7, 0, 0)),
        ("epoch", |draft, target| draft.parts.targets.get_mut(target).unwrap().epoch = 2),
        ("digest", |draft, target| draft.parts.targets.get_mut(target).unwrap().digest ^= 1),
    ];
    for (field, change) in cases {
        let mut draft = draft.clone();
        change(&mut draft, target);
        let report = install(&toolbay, draft.zip(&bay.path("a"), Some(&key)));
        assert_eq!(codes(&report.rejections), [(Stage::Verify, "drift")], "{field}");
        assert!(report.rejections[0].reason.expected.starts_with(field), "{field}");
    }
    assert_eq!(install(&toolbay, draft.zip(&bay.path("a"), Some(&key))).rejections, []);
}

#[test]
fn a_bundle_with_other_content_than_its_manifest_lists_is_refused() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let toolbay = bay.open();
    let source = Draft::of(GREETING).folder(&bay.path("a"), Some(&key));
    let library = source.join(toolbay_abi::note::TARGET);
    let library = fs::read_dir(library).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&library).unwrap();
    type Change<'a> = (&'a str, &'a dyn Fn(), Verdict);
    let more = source.join("more");
    let cases: [Change<'_>; 5] = [
        ("changed", &|| change(&library), (Stage::Bundle, "other_hash")),
        (
            "longer",
            &|| fs::write(&library, [&whole[..], b"x"].concat()).unwrap(),
            (Stage::Bundle, "other_size"),
        ),
        ("missing", &|| fs::remove_file(&library).unwrap(), (Stage::Bundle, "missing_file")),
        (
            "a link",
            &|| move_behind_a_link(&library, &bay.path("out")),
            (Stage::Bundle, "symbolic_link"),
        ),
        ("unlisted", &|| fs::write(&more, "").unwrap(), (Stage::Bundle, "unlisted_file")),
    ];
    for (name, change, verdict) in cases {
        change();
        assert_eq!(codes(&install(&toolbay, &source).rejections), [verdict], "{name}");
        let _ = fs::remove_file(&library);
        let _ = fs::remove_file(&more);
        fs::write(&library, &whole).unwrap();
    }
    assert_eq!(install(&toolbay, &source).rejections, []);
}

#[test]
fn only_administrators_install_trust_and_revoke() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let toolbay = bay.open();
    let source = Draft::of(GREETING).zip(&bay.path("a"), Some(&key));
    let user = Actor::User { name: "user".parse().unwrap(), admin: false };
    let id = toolbay.trusted_keys().unwrap()[0].0.clone();
    let sources = [source];
    assert!(toolbay.install(&sources, &user, RefreshOptions::default()).is_err());
    assert!(toolbay.trust_key(&Key::new().public(), VENDOR, &user).is_err());
    assert!(toolbay.revoke_key(&id, "", &user).is_err());
    assert!(toolbay.installed().unwrap().is_empty());
    assert!(toolbay.install(&sources, &operator(), RefreshOptions::default()).is_ok());
    assert!(toolbay.uninstall("greeting", &user).is_err());
    assert_eq!(greets(&toolbay), Ok(()));
}
