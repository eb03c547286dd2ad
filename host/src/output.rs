//! What a command prints: text and tables for people, JSON for programs.

mod facts;
mod table;

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
};

use serde::Serialize;
use thiserror::Error;

pub(crate) use self::{facts::Facts, table::Table};

/// The width of a terminal that does not tell it.
const DEFAULT_COLUMNS: u16 = 80;

/// Why something could not be printed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum OutputError {
    /// Standard output takes no more.
    ///
    /// Resolution: free space where it goes to.
    #[error("standard output is not writable")]
    Write(#[from] io::Error),
    /// A value is no JSON. It is a bug of the host.
    ///
    /// Resolution: report it.
    #[error("the result can't be written as JSON; report this as a bug of the host")]
    Encode(#[from] serde_json::Error),
}

impl OutputError {
    /// Whether whoever read the output has gone, which is no mistake: `toolbay list | head -1`.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// The standard output of the program.
pub(crate) struct Output {
    file: File,
    /// The width of the terminal, where it is one.
    columns: Option<u16>,
}

impl Output {
    pub(crate) fn new(file: File) -> Self {
        let columns = file.is_terminal().then(|| {
            let columns = rustix::termios::tcgetwinsize(&file).map_or(0, |size| size.ws_col);
            if columns == 0 { DEFAULT_COLUMNS } else { columns }
        });
        Self { file, columns }
    }

    /// Whether a person reads it right away.
    pub(crate) fn is_terminal(&self) -> bool {
        self.columns.is_some()
    }

    /// Prints text and ends its line. A terminal gets no control characters: they could hide or imitate other output.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), OutputError> {
        let text = if self.is_terminal() { visible(text) } else { Cow::Borrowed(text) };
        self.raw(&text)?;
        if !text.is_empty() && !text.ends_with('\n') {
            self.raw("\n")?;
        }
        Ok(())
    }

    /// Prints text of the program's own as it is.
    pub(crate) fn raw(&mut self, text: &str) -> Result<(), OutputError> {
        self.file.write_all(text.as_bytes()).map_err(OutputError::from)
    }

    /// Prints a value as JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), OutputError> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        self.raw(&text)
    }

    /// Prints a table, wrapped to the terminal's width where it is one.
    pub(crate) fn table(&mut self, table: Table) -> Result<(), OutputError> {
        let text = table.render(self.columns);
        self.text(&text)
    }

    /// Prints facts about one thing.
    pub(crate) fn facts(&mut self, facts: &Facts) -> Result<(), OutputError> {
        self.text(&facts.render())
    }

    /// Takes a great many small pieces of the program's own, whose end is to flush it.
    pub(crate) fn writer(&mut self) -> BufWriter<&mut File> {
        BufWriter::new(&mut self.file)
    }

    /// The file itself, for whoever writes a protocol to it.
    pub(crate) fn into_file(self) -> File {
        self.file
    }
}

/// The text with its control characters escaped, except for line feeds and tabs, and with those that turn the direction of writing, end
/// a line or can't be seen at all: a person would decide about another text than the one that is there. Joiners stay, which scripts and
/// emoji need.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |character: char| {
        character.is_control() && !matches!(character, '\n' | '\t')
            || turns(character)
            || is_unseen(character)
    };
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len());
    for character in text.chars() {
        if hidden(character) {
            visible.extend(character.escape_default());
        } else {
            visible.push(character);
        }
    }
    Cow::Owned(visible)
}

fn turns(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

fn is_unseen(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{2060}'..='\u{2064}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// A number with separators, such as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        let cases = [
            ("plain\n\ttext ä", "plain\n\ttext ä"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("over\rwritten", "over\\rwritten"),
            ("a\u{202e}txt.exe", "a\\u{202e}txt.exe"),
            ("a\u{61c}b", "a\\u{61c}b"),
            ("\u{5d0}\u{5d1}", "\u{5d0}\u{5d1}"),
            ("note\u{200b}", "note\\u{200b}"),
            ("a\u{2028}b\u{e0061}", "a\\u{2028}b\\u{e0061}"),
            (
                "\u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f}",
                "\u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f}",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn numbers_are_grouped_by_three() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(grouped(number), expected);
        }
    }
}
