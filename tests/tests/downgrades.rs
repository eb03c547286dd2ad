//! Which version of a plugin takes the place of another: what is signed is followed by what is later, and of the same publisher.
#![cfg(test)]

use std::fs;

use toolbay_loader::{
    HomeFileError, InstallError, RefreshError, RefreshOptions, Stage, Toolbay, Unsigned,
};
use toolbay_tests::{
    bay::{Bay, codes, greets, install, operator},
    bundle::{Draft, Key, VENDOR},
};

const GREETING: &str = "toolbay-plugin-greeting";

type Verdict = (Stage, &'static str);

#[test]
fn only_a_later_version_of_the_same_publisher_takes_the_place_of_a_signed_one() {
    let (key, other) = (Key::new(), Key::new());
    let draft = Draft::of(GREETING);
    let of_another = {
        let mut draft = draft.clone().with_version("9.0.0");
        draft.parts.vendor = "Somebody Else".to_owned();
        draft
    };
    let version = |version: &str| draft.clone().with_version(version);
    let policy = Stage::Policy;
    type Case<'a> = (&'a str, Draft, Option<&'a Key>, Option<Verdict>);
    let cases: [Case<'_>; 5] = [
        ("later", version("2.1.0"), Some(&key), None),
        ("the same", version("2.0.0"), Some(&key), None),
        ("earlier", version("1.9.9"), Some(&key), Some((policy, "downgrade"))),
        ("another publisher's", of_another, Some(&other), Some((policy, "other_publisher"))),
        ("unsigned", version("9.0.0"), None, Some((policy, "other_publisher"))),
    ];
    for (name, new, signer, refused) in cases {
        for way in ["install", "refresh"] {
            let bay = Bay::trusting(&key);
            bay.open().trust_key(&other.public(), "Somebody Else", &operator()).unwrap();
            let mut config = bay.config();
            config.policy.unsigned = Unsigned::Allow;
            let toolbay = Toolbay::open(config).unwrap();
            let place = bay.path("plugins/greeting");
            version("2.0.0").folder(&place, Some(&key));
            assert_eq!(toolbay.refresh().unwrap().rejections, []);
            let version = || toolbay.providers()[0].version.clone();
            assert_eq!(version(), "2.0.0");
            fs::remove_dir_all(&place).unwrap();

            let put = |options: RefreshOptions| match way {
                "install" => {
                    let source = new.zip(&bay.path("new"), signer);
                    codes(&toolbay.install(&[source], &operator(), options).unwrap().rejections)
                }
                _ => {
                    new.folder(&place, signer);
                    codes(&toolbay.refresh_with(options).unwrap().rejections)
                }
            };
            let found = put(RefreshOptions::default());
            assert_eq!(found, refused.into_iter().collect::<Vec<_>>(), "{name}, {way}");
            let there = new.parts.version.to_string();
            let expected = if refused.is_some() { "2.0.0" } else { &there };
            assert_eq!(version(), expected, "{name}, {way}");
            assert_eq!(greets(&toolbay), Ok(()), "{name}, {way}");
            assert_eq!(put(RefreshOptions::default().replace(true)), [], "{name}, {way}");
            assert_eq!((version(), greets(&toolbay)), (there, Ok(())), "{name}, {way}");
        }
    }
}

#[test]
fn what_may_not_take_the_place_keeps_no_other_from_it() {
    let (key, other) = (Key::new(), Key::new());
    let bay = Bay::trusting(&key);
    let toolbay = bay.open();
    toolbay.trust_key(&other.public(), "Somebody Else", &operator()).unwrap();
    let draft = Draft::of(GREETING);
    draft.clone().with_version("1.0.0").folder(&bay.path("plugins/a"), Some(&key));
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    let mut highest = draft.clone().with_version("9.0.0");
    highest.parts.vendor = "Somebody Else".to_owned();
    highest.folder(&bay.path("plugins/b"), Some(&other));
    draft.with_version("1.1.0").folder(&bay.path("plugins/c"), Some(&key));
    let report = toolbay.refresh().unwrap();
    let found = codes(&report.rejections);
    assert_eq!(found, [(Stage::Verify, "duplicate_provider"), (Stage::Policy, "other_publisher")]);
    assert_eq!(report.providers[0].version, "1.1.0");
}

#[test]
fn of_one_provider_twice_in_an_installation_the_higher_version_is_used() {
    let key = Key::new();
    for order in [["1.0.0", "2.0.0"], ["2.0.0", "1.0.0"]] {
        let bay = Bay::trusting(&key);
        let sources = order.map(|version| {
            Draft::of(GREETING).with_version(version).zip(&bay.path(version), Some(&key))
        });
        let toolbay = bay.open();
        let report = toolbay.install(&sources, &operator(), RefreshOptions::default()).unwrap();
        assert_eq!(codes(&report.rejections), [(Stage::Verify, "duplicate_provider")]);
        assert_eq!(report.rejections[0].path, bay.path("1.0.0"));
        assert_eq!(toolbay.providers()[0].version, "2.0.0");
        assert_eq!(toolbay.installed().unwrap()["greeting"].version, "2.0.0");
    }
}

#[test]
fn an_older_version_is_no_newcomer_once_the_later_one_is_gone() {
    let (key, other) = (Key::new(), Key::new());
    let refused = Some((Stage::Policy, "downgrade"));
    // Which version is put there once the one that was has gone, and how it went.
    let cases = [
        ("1.9.9", "its file was removed", refused),
        ("2.0.0", "its file was removed", None),
        ("2.1.0", "its file was removed", None),
        ("1.9.9", "its key was revoked", refused),
        ("2.0.0", "its key was revoked", None),
        ("1.9.9", "it was uninstalled", None),
    ];
    for (version, how, expected) in cases {
        for way in ["install", "refresh"] {
            let case = format!("{version} by {way}: {how}");
            let bay = Bay::trusting(&key);
            let toolbay = bay.open();
            let draft = |version: &str| Draft::of(GREETING).with_version(version);
            let place = bay.path("plugins/greeting");
            let mut signer = &key;
            match how {
                "it was uninstalled" => {
                    let later = draft("2.0.0").zip(&bay.path("later"), Some(&key));
                    assert_eq!(install(&toolbay, later).rejections, []);
                    toolbay.uninstall("greeting", &operator()).unwrap();
                }
                _ => {
                    draft("2.0.0").folder(&place, Some(&key));
                    assert_eq!(toolbay.refresh().unwrap().rejections, []);
                    if how == "its key was revoked" {
                        let id = toolbay.trusted_keys().unwrap()[0].0.clone();
                        toolbay.revoke_key(&id, "it leaked", &operator()).unwrap();
                        signer = &other;
                        toolbay.trust_key(&signer.public(), VENDOR, &operator()).unwrap();
                    }
                    fs::remove_dir_all(&place).unwrap();
                    assert_eq!(toolbay.refresh().unwrap().rejections, []);
                }
            }
            assert_eq!(toolbay.providers().len(), 0, "{case}");
            // Whoever has just started knows it as well.
            let toolbay = bay.open();
            let put = |options: RefreshOptions| match way {
                "install" => {
                    let source = draft(version).zip(&bay.path("new"), Some(signer));
                    codes(&toolbay.install(&[source], &operator(), options).unwrap().rejections)
                }
                _ => {
                    draft(version).folder(&place, Some(signer));
                    codes(&toolbay.refresh_with(options).unwrap().rejections)
                }
            };
            for _ in 0..2 {
                assert_eq!(put(RefreshOptions::default()), Vec::from_iter(expected), "{case}");
                let there = usize::from(expected.is_none());
                assert_eq!(toolbay.providers().len(), there, "{case}");
            }
            assert_eq!(put(RefreshOptions::default().replace(true)), [], "{case}");
            assert_eq!(greets(&toolbay), Ok(()), "{case}");
            assert_eq!(toolbay.providers()[0].version, version, "{case}");
            // What an administrator has chosen is what counts from now on.
            assert_eq!(put(RefreshOptions::default()), [], "{case}");
        }
    }
}

#[test]
fn what_is_gone_and_cant_be_read_lets_nothing_in() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let toolbay = bay.open();
    let place = bay.path("plugins/greeting");
    Draft::of(GREETING).with_version("2.0.0").folder(&place, Some(&key));
    toolbay.refresh().unwrap();
    fs::remove_dir_all(&place).unwrap();
    toolbay.refresh().unwrap();
    let departed = bay.home("departed.json");
    let good = fs::read(&departed).unwrap();
    Draft::of(GREETING).with_version("1.0.0").folder(&place, Some(&key));
    fs::write(&departed, &good[..good.len() / 2]).unwrap();
    assert!(matches!(
        toolbay.refresh(),
        Err(RefreshError::HomeFile(HomeFileError::Damaged { .. }))
    ));
    let install = toolbay.install(&[place], &operator(), RefreshOptions::default());
    assert!(matches!(install, Err(InstallError::File(HomeFileError::Damaged { .. }))));
    assert_eq!(toolbay.providers().len(), 0);
    fs::write(&departed, good).unwrap();
    let report = toolbay.refresh().unwrap();
    assert_eq!(codes(&report.rejections), [(Stage::Policy, "downgrade")]);
}
