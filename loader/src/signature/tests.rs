//! Signatures by minisign, and what is none or another.

use std::io::Cursor;

use minisign::KeyPair;

use super::*;

const MANIFEST: &[u8] = b"{\"toolbay_bundle\":1}\n";

/// What minisign's authors publish for the content `test`: a key, and signatures by both algorithms.
const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
const PREHASHED: &str = "untrusted comment: signature from minisign secret key
RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
trusted comment: timestamp:1633700835\tfile:test\tprehashed
wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==
";
const LEGACY: &str = "untrusted comment: signature from minisign secret key
RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=
trusted comment: timestamp:1555779966\tfile:test
QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==
";

fn verify(content: &[u8], signature: &str, key: &PublicKey) -> Result<String, &'static str> {
    let verified =
        SignatureText::parse(signature.as_bytes()).and_then(|read| read.verify(content, key));
    verified.map(|comment| comment.to_string()).map_err(|reason| {
        assert_eq!(reason.stage, Stage::Signature);
        reason.code
    })
}

fn sign(keys: &KeyPair, comment: &str) -> String {
    let content = Cursor::new(MANIFEST);
    minisign::sign(Some(&keys.pk), &keys.sk, content, Some(comment), None).unwrap().to_string()
}

#[test]
fn a_signature_is_good_for_its_manifest_and_key_alone() {
    let [keys, others] = [(); 2].map(|()| KeyPair::generate_unencrypted_keypair().unwrap());
    let key: PublicKey = keys.pk.to_base64().parse().unwrap();
    let other: PublicKey = others.pk.to_base64().parse().unwrap();
    let signature = sign(&keys, "notes 1.2.3");
    assert_eq!(verify(MANIFEST, &signature, &key), Ok("notes 1.2.3".to_owned()));
    assert_eq!(verify(MANIFEST, &signature, &other), Err("other_key"));
    assert_eq!(verify(&MANIFEST[1..], &signature, &key), Err("bad_signature"));
    assert_eq!(verify(b"", &signature, &key), Err("bad_signature"));
    let comment = signature.replace("1.2.3", "1.2.4");
    assert_eq!(verify(MANIFEST, &comment, &key), Err("bad_signature"));
    let untrusted = signature.replacen("comment: ", "comment: anything, ", 1);
    assert_eq!(verify(MANIFEST, &untrusted, &key), Ok("notes 1.2.3".to_owned()));
    // The other key with the number of the first.
    let forged = others.pk.to_bytes();
    let forged = [&forged[..2], &keys.pk.to_bytes()[2..10], &forged[10..]].concat();
    let forged: PublicKey = STANDARD.encode(forged).parse().unwrap();
    assert_eq!(forged.id(), key.id());
    assert_eq!(verify(MANIFEST, &signature, &forged), Err("bad_signature"));
}

#[test]
fn no_flipped_byte_is_taken_but_in_the_untrusted_comment() {
    let keys = KeyPair::generate_unencrypted_keypair().unwrap();
    let key: PublicKey = keys.pk.to_base64().parse().unwrap();
    let signature = sign(&keys, "c");
    let signed = signature.find('\n').unwrap();
    for at in signed..signature.trim_end().len() {
        for bit in [1, 2, 0x20] {
            let mut bytes = signature.clone().into_bytes();
            bytes[at] ^= bit;
            let verified =
                SignatureText::parse(&bytes).and_then(|read| read.verify(MANIFEST, &key));
            assert!(verified.is_err(), "byte {at}, bit {bit}");
        }
    }
    for len in 0..signature.trim_end().len() {
        assert!(verify(MANIFEST, &signature[..len], &key).is_err(), "{len} bytes");
    }
}

#[test]
fn the_old_algorithm_is_refused_also_where_the_signature_is_right() {
    let key: PublicKey = KEY.parse().unwrap();
    let comment = "timestamp:1633700835\tfile:test\tprehashed".to_owned();
    assert_eq!(verify(b"test", PREHASHED, &key), Ok(comment));
    let read = SignatureText::parse(LEGACY.as_bytes()).unwrap();
    assert!(key.key.verify(b"test", &read.signature, true).is_ok(), "it is right");
    assert!(read.is_legacy());
    assert_eq!(read.key().to_string(), "E7620F1842B4E81F");
    assert_eq!(verify(b"test", LEGACY, &key), Err("signature_algorithm"));
    let renamed = PREHASHED.replace("RUQf6", "RWQf6");
    assert_eq!(verify(b"test", &renamed, &key), Err("signature_algorithm"));
    let unknown = PREHASHED.replace("RUQf6", "RXQf6");
    assert_eq!(verify(b"test", &unknown, &key), Err("signature_algorithm"));
}

#[test]
fn what_is_no_signature_file_is_told() {
    let lines: Vec<_> = PREHASHED.lines().collect();
    let key: PublicKey = KEY.parse().unwrap();
    let code = |text: &str| verify(b"test", text, &key).map_or_else(|code| code, |_| "taken");
    let short = PREHASHED.replace("KLzZwo=", "KLz");
    let cases = [
        ("taken", PREHASHED.to_owned()),
        ("taken", PREHASHED.replace('\n', "\r\n")),
        ("bad_signature_file", String::new()),
        ("bad_signature_file", lines[..3].join("\n")),
        ("bad_signature_file", lines[..2].join("\n")),
        ("bad_signature_file", format!("{PREHASHED}more\n")),
        ("bad_signature_file", format!("{PREHASHED}\n")),
        ("bad_signature_file", PREHASHED.replacen("untrusted", "trusted", 1)),
        ("bad_signature_file", PREHASHED.replace("\ntrusted", "\nother")),
        ("bad_signature_file", PREHASHED.replace("RUQ", "R!Q")),
        ("bad_signature_file", short),
    ];
    for (expected, text) in cases {
        assert_eq!(code(&text), expected, "{text:?}");
    }
    assert_eq!(SignatureText::parse(b"\xff").unwrap_err().code, "bad_signature_file");
}

#[test]
fn a_comment_is_shown_on_one_line() {
    let keys = KeyPair::generate_unencrypted_keypair().unwrap();
    let key: PublicKey = keys.pk.to_base64().parse().unwrap();
    let signature = sign(&keys, &format!("a\u{1b}[2J{}", "b".repeat(2000)));
    let comment = verify(MANIFEST, &signature, &key).unwrap();
    assert!(comment.starts_with("a\\u{1b}[2Jbb") && comment.len() < 1100, "{comment}");
}

#[test]
fn a_key_is_read_from_its_file_or_its_line() {
    let file = format!("untrusted comment: minisign public key E7620F1842B4E81F\n{KEY}\n");
    for text in [KEY, &file, &file.replace('\n', "\r\n"), &format!("  {KEY}\n\n")] {
        let key: PublicKey = text.parse().unwrap();
        assert_eq!(
            (key.to_string(), key.id().to_string()),
            (KEY.to_owned(), "E7620F1842B4E81F".to_owned())
        );
        assert_eq!(key, key.to_string().parse().unwrap());
    }
    let bad = [
        "",
        "untrusted comment: nothing else",
        &KEY[1..],
        &KEY[..KEY.len() - 4],
        &KEY.replace("RWQ", "AAA"),
        &format!("{KEY}\n{KEY}"),
        &format!("{file}more"),
        "é",
    ];
    for text in bad {
        assert!(text.parse::<PublicKey>().is_err(), "{text:?}");
    }
    let id = KEY.parse::<PublicKey>().unwrap().id();
    assert_eq!(("E7620F1842B4E81F".parse(), "e7620f1842b4e81f".parse()), (Ok(id), Ok(id)));
    for text in ["", "E7620F1842B4E81", "+7620F1842B4E81F", "E7620F1842B4E81F0", "éééééééé"]
    {
        assert!(text.parse::<KeyId>().is_err(), "{text:?}");
    }
}
