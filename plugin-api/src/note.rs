//! Writes the note at compile time: JSON text that the export macro puts into the library as bytes.

use toolbay_abi::{note, shape, wire::Fault};

use crate::{configured::ConfiguredPath, spec::ToolSpec};

/// What the note says, as the export macro collects it.
#[derive(Debug, Clone, Copy)]
pub struct Declared {
    /// The provider's id.
    pub id: &'static str,
    /// The provider's version.
    pub version: &'static str,
    /// Every tool that it may ever offer.
    pub tools: &'static [ToolSpec],
    /// Which values of its configuration are folders or files.
    pub paths: &'static [ConfiguredPath],
    /// Which values of its configuration are endpoints.
    pub endpoints: &'static [&'static str],
}

/// The bytes after which a summary that is taken from the description ends.
const SUMMARY_LEN: usize = 256;

/// The length of the record in bytes.
pub const fn record_len(declared: &Declared) -> usize {
    let mut out = Out { bytes: &mut [], len: 0 };
    out.record(declared, 0);
    out.len
}

/// The record: magic, length, JSON text. `LEN` is what [`record_len`] says.
pub const fn record<const LEN: usize>(declared: &Declared) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    let mut out = Out { bytes: &mut bytes, len: 0 };
    out.record(declared, LEN - note::HEADER_LEN);
    bytes
}

/// What a reader of the note gets of one tool.
pub(crate) fn tool_of(spec: &ToolSpec) -> Result<note::NoteTool, Fault> {
    let mut measure = Out { bytes: &mut [], len: 0 };
    measure.tool(spec);
    let mut bytes = vec![0; measure.len];
    Out { bytes: &mut bytes, len: 0 }.tool(spec);
    serde_json::from_slice(&bytes)
        .map_err(|error| Fault::Contract { problem: format!("the note can't be read: {error}") })
}

/// Counts what is written, and stores it where there is room: the same code measures and writes.
struct Out<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl Out<'_> {
    const fn byte(&mut self, byte: u8) {
        if self.len < self.bytes.len() {
            self.bytes[self.len] = byte;
        }
        self.len += 1;
    }

    const fn raw(&mut self, text: &[u8]) {
        let mut at = 0;
        while at < text.len() {
            self.byte(text[at]);
            at += 1;
        }
    }

    const fn record(&mut self, declared: &Declared, json_len: usize) {
        self.raw(&note::MAGIC);
        self.raw(&(json_len as u32).to_le_bytes());
        self.raw(b"{\"epoch\":");
        self.number(shape::EPOCH);
        self.raw(b",\"digest\":\"");
        self.hex(shape::DIGEST);
        self.raw(b"\",\"shape\":");
        self.strings(shape::SHAPE);
        self.raw(b",\"id\":");
        self.string(declared.id);
        self.raw(b",\"version\":");
        self.string(declared.version);
        self.raw(b",\"panic\":");
        self.string(note::PANIC);
        self.raw(b",\"target\":");
        self.string(note::TARGET);
        self.raw(b",\"tools\":[");
        let mut at = 0;
        while at < declared.tools.len() {
            if at > 0 {
                self.byte(b',');
            }
            self.tool(&declared.tools[at]);
            at += 1;
        }
        self.byte(b']');
        if !declared.paths.is_empty() {
            self.raw(b",\"paths\":");
            self.paths(declared.paths);
        }
        if !declared.endpoints.is_empty() {
            self.raw(b",\"endpoints\":");
            self.strings(declared.endpoints);
        }
        self.byte(b'}');
    }

    const fn paths(&mut self, paths: &[ConfiguredPath]) {
        let mut at = 0;
        while at < paths.len() {
            self.raw(if at == 0 { b"[{\"key\":" } else { b",{\"key\":" });
            self.string(paths[at].key);
            self.raw(b",\"write\":");
            self.boolean(paths[at].write);
            self.byte(b'}');
            at += 1;
        }
        self.byte(b']');
    }

    const fn tool(&mut self, spec: &ToolSpec) {
        self.raw(b"{\"name\":");
        self.string(spec.name);
        if !spec.aliases.is_empty() {
            self.raw(b",\"aliases\":");
            self.strings(spec.aliases);
        }
        self.raw(b",\"label\":");
        self.string(if spec.label.is_empty() { spec.name } else { spec.label });
        self.raw(b",\"summary\":");
        if spec.summary.is_empty() {
            self.first_paragraph(spec.description);
        } else {
            self.string(spec.summary);
        }
        if let Some(effect) = spec.effect {
            self.raw(b",\"effect\":");
            self.string(effect.word());
        }
        if let Some(class) = spec.data_class {
            self.raw(b",\"data_class\":");
            self.string(class.word());
        }
        if let Some(group) = spec.group {
            self.raw(b",\"group\":");
            self.string(group);
        }
        if let Some(egress) = spec.egress {
            self.raw(b",\"egress\":");
            self.string(egress.word());
        }
        if let Some(kind) = spec.kind {
            self.raw(b",\"kind\":");
            self.string(kind.word());
        }
        self.raw(b",\"requires_admin\":");
        self.boolean(spec.requires_admin);
        self.raw(b",\"enabled\":");
        self.boolean(spec.enabled);
        self.raw(b",\"approval\":");
        self.boolean(spec.approval);
        if let Some(schema) = spec.input {
            self.raw(b",\"input\":");
            self.string(schema);
        }
        if let Some(budget) = spec.loop_budget {
            self.raw(b",\"loop_budget\":");
            self.number(budget as u32);
        }
        self.byte(b'}');
    }

    const fn boolean(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }

    const fn number(&mut self, value: u32) {
        if value >= 10 {
            self.number(value / 10);
        }
        self.byte(b'0' + (value % 10) as u8);
    }

    const fn hex(&mut self, value: u64) {
        let mut shift = 64;
        while shift > 0 {
            shift -= 4;
            self.hex_digit((value >> shift) as u8 & 0xf);
        }
    }

    const fn hex_digit(&mut self, digit: u8) {
        self.byte(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
    }

    const fn strings(&mut self, texts: &[&str]) {
        self.byte(b'[');
        let mut at = 0;
        while at < texts.len() {
            if at > 0 {
                self.byte(b',');
            }
            self.string(texts[at]);
            at += 1;
        }
        self.byte(b']');
    }

    const fn string(&mut self, text: &str) {
        self.byte(b'"');
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self.escaped(bytes[at]);
            at += 1;
        }
        self.byte(b'"');
    }

    /// The first paragraph of a text as one line: doc comments are broken into lines where the editor ends, and a summary has none.
    const fn first_paragraph(&mut self, text: &str) {
        self.byte(b'"');
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let in_character = at + 1 < bytes.len() && bytes[at + 1] & 0xc0 == 0x80;
            match bytes[at] {
                b'\n' if at + 1 < bytes.len() && bytes[at + 1] == b'\n' => break,
                0..0x20 => self.byte(b' '),
                other => self.escaped(other),
            }
            at += 1;
            if at >= SUMMARY_LEN && !in_character {
                break;
            }
        }
        self.byte(b'"');
    }

    const fn escaped(&mut self, byte: u8) {
        match byte {
            b'"' | b'\\' => {
                self.byte(b'\\');
                self.byte(byte);
            }
            0..0x20 => {
                self.raw(b"\\u00");
                self.hex_digit(byte >> 4);
                self.hex_digit(byte & 0xf);
            }
            other => self.byte(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use toolbay_abi::note::{HEADER_LEN, MAGIC, Note};

    use super::*;
    use crate::spec::{DataClass, Effect, Egress, Kind};

    const PLAIN: ToolSpec = ToolSpec::new("plain", "Says \"hi\"\n\\o/ und\tGrüße.\n\nMore of it.");
    const FULL: ToolSpec = ToolSpec::new("full", "Everything declared.")
        .aliases(&["former", "older"])
        .label("Full")
        .summary("One line.")
        .effect(Effect::IdempotentWrite)
        .data_class(DataClass::EditorContent)
        .group("content")
        .egress(Egress::ConfiguredEndpoint)
        .kind(Kind::Write)
        .requires_admin()
        .enabled()
        .requires_approval();
    const ASKS: ToolSpec = ToolSpec::new("asks", "Asks a person first.")
        .effect(Effect::ReadOnly)
        .input("{\n\t\"properties\": { \"größe\": { \"pattern\": \"\\\\d+\" } }\n}\n")
        .loop_budget(255);
    const DECLARED: Declared = Declared {
        id: "sample",
        version: "1.2.3",
        tools: &[PLAIN, FULL, ASKS],
        paths: &[ConfiguredPath::read("roots"), ConfiguredPath::write("cache.folder")],
        endpoints: &["url"],
    };
    const LEN: usize = record_len(&DECLARED);

    #[test]
    fn a_reader_gets_back_what_the_specs_say() {
        let record = record::<LEN>(&DECLARED);
        assert_eq!(record[..MAGIC.len()], MAGIC);
        let said = u32::from_le_bytes(record[MAGIC.len()..HEADER_LEN].try_into().unwrap());
        assert_eq!(said as usize, LEN - HEADER_LEN);

        let note: Note = serde_json::from_slice(&record[HEADER_LEN..]).unwrap();
        assert_eq!(note.epoch, shape::EPOCH);
        assert_eq!(note.digest, format!("{:016x}", shape::DIGEST));
        assert_eq!(note.shape, shape::SHAPE);
        assert_eq!((note.id.as_str(), note.version.as_str()), ("sample", "1.2.3"));
        assert_eq!((note.panic.as_str(), note.target.as_str()), (note::PANIC, note::TARGET));

        let plain = &note.tools[0];
        assert_eq!(
            plain.summary, "Says \"hi\" \\o/ und Grüße.",
            "the first paragraph, on one line"
        );
        assert_eq!(plain.label, "plain");
        assert_eq!((plain.effect.as_deref(), plain.enabled), (None, false), "undeclared stays out");

        let full = &note.tools[1];
        assert_eq!(full.aliases, ["former", "older"]);
        assert_eq!((full.label.as_str(), full.summary.as_str()), ("Full", "One line."));
        assert_eq!(full.effect.as_deref(), Some("idempotent_write"));
        assert_eq!(full.data_class.as_deref(), Some("editor_content"));
        assert_eq!(full.group.as_deref(), Some("content"));
        assert_eq!(full.egress.as_deref(), Some("configured_endpoint"));
        assert_eq!(full.kind.as_deref(), Some("write"));
        assert!(full.requires_admin && full.enabled && full.approval);
        assert_eq!((&full.input, full.loop_budget), (&None, None));

        let asks = &note.tools[2];
        assert_eq!(asks.input.as_deref(), ASKS.input, "the text as it is, also its line ends");
        assert_eq!(asks.loop_budget, Some(255));
        assert!(asks.input.as_deref().unwrap().contains("größe"));

        let paths: Vec<_> = note.paths.iter().map(|path| (path.key.as_str(), path.write)).collect();
        assert_eq!(paths, [("roots", false), ("cache.folder", true)]);
        assert_eq!(note.endpoints, ["url"]);
    }

    #[test]
    fn a_long_description_ends_between_two_characters() {
        for before in ["", "x"] {
            let description: &str = format!("{before}{}", "ä".repeat(400)).leak();
            let tool = tool_of(&ToolSpec::new("long", description)).unwrap();
            assert!(description.starts_with(&tool.summary));
            assert!((SUMMARY_LEN..=SUMMARY_LEN + 1).contains(&tool.summary.len()));
        }
    }
}
