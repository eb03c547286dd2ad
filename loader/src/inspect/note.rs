//! Takes a note apart: records with magic and length, JSON inside.

use toolbay_abi::note::{HEADER_LEN, MAGIC, Note};

use crate::rejection::{Reason, Stage};

/// Parses the content of the note's section.
pub(super) fn parse(section: &[u8]) -> Result<Note, Reason> {
    let json = only_record(section)?;
    serde_json::from_slice(json)
        .map_err(|error| damaged("JSON in the form of toolbay-abi's Note", format!("{error}")))
}

/// The JSON text of the one record. Zero bytes between and after records are a linker's padding.
fn only_record(section: &[u8]) -> Result<&[u8], Reason> {
    let mut rest = section;
    let mut json = None;
    while let Some(start) = rest.iter().position(|&byte| byte != 0) {
        rest = &rest[start..];
        let Some(after_magic) = rest.strip_prefix(&MAGIC) else {
            return Err(damaged("a record that starts with its magic", "other bytes".to_owned()));
        };
        let Some((len, body)) = after_magic.split_first_chunk::<4>() else {
            return Err(damaged("a length after the magic", "the section's end".to_owned()));
        };
        let len = u32::from_le_bytes(*len) as usize;
        let Some(body) = body.get(..len) else {
            let there = body.len();
            return Err(damaged(&format!("{len} bytes of JSON"), format!("{there} bytes")));
        };
        if json.replace(body).is_some() {
            return Err(Reason::plugin(
                Stage::Inspect,
                "several_notes",
                "one provider in a library",
                "the notes of several",
                "call export_provider! in the cdylib crate alone, and link no other plugin into it",
            ));
        }
        rest = &rest[HEADER_LEN + len..];
    }
    json.ok_or_else(|| damaged("a record", "an empty section".to_owned()))
}

fn damaged(expected: &str, found: String) -> Reason {
    let remedy = "build the plugin again with its toolbay-plugin-api";
    Reason::plugin(Stage::Inspect, "damaged_note", expected, found, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"epoch":1,"digest":"d","id":"a","version":"1.0.0","panic":"unwind","target":"t","tools":[]}"#;

    fn record(json: &[u8]) -> Vec<u8> {
        let len = u32::try_from(json.len()).unwrap().to_le_bytes();
        [&MAGIC[..], &len, json].concat()
    }

    #[test]
    fn one_record_is_read_with_or_without_padding() {
        for padding in [0, 1, 7] {
            let section = [record(JSON.as_bytes()), vec![0; padding]].concat();
            assert_eq!(parse(&section).unwrap().id, "a");
        }
    }

    #[test]
    fn damage_is_named() {
        let good = record(JSON.as_bytes());
        let mut too_long = good.clone();
        too_long[MAGIC.len()] += 1;
        let cases: [(&str, Vec<u8>, &str); 7] = [
            ("empty", vec![], "damaged_note"),
            ("padding only", vec![0; 9], "damaged_note"),
            ("other magic", [b"NOTTOOLS".to_vec(), good.clone()].concat(), "damaged_note"),
            ("cut in the length", good[..HEADER_LEN - 1].to_vec(), "damaged_note"),
            ("longer than the section", too_long, "damaged_note"),
            ("not JSON", record(b"{"), "damaged_note"),
            ("two records", [good.clone(), good].concat(), "several_notes"),
        ];
        for (name, section, code) in cases {
            assert_eq!(parse(&section).unwrap_err().code, code, "{name}");
        }
    }
}
