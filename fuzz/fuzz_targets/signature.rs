//! Keys and signatures in the form that minisign writes. No invented signature is good.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toolbay_loader::{PublicKey, SignatureText};

const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = str::from_utf8(bytes)
        && let Ok(key) = text.parse::<PublicKey>()
    {
        assert_eq!(key.to_string().parse(), Ok(key));
    }
    if let Ok(signature) = SignatureText::parse(bytes) {
        let key: PublicKey = KEY.parse().expect("a key");
        assert!(signature.verify(b"what nobody has signed", &key).is_err());
    }
});
