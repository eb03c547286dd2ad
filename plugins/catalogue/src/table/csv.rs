//! Tables as CSV: a row of names, then a row for each entry.

use ::csv::{ReaderBuilder, StringRecord, Trim};

use super::{Problem, Row, Table, TableError};
use crate::config::Limits;

/// The delimiter that stands most often in the first row, quoted text aside. A spreadsheet writes `;` where the comma is a decimal's.
pub(super) fn delimiter_of(text: &str) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in text.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted => break,
            _ if quoted => {}
            _ => {
                for (_, count) in counts.iter_mut().filter(|(delimiter, _)| *delimiter == byte) {
                    *count += 1;
                }
            }
        }
    }
    // Of equals the last wins, and a text without any has one column whatever is said.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| *delimiter)
}

/// Reads the table. Columns without a name are left out: spreadsheets write such for cells that were used once.
pub(super) fn parse(text: &str, delimiter: u8, limits: &Limits) -> Result<Table, TableError> {
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let names = reader.headers().map_err(|_| TableError::NoColumns)?.clone();
    let named = (0..names.len()).filter(|at| !names[*at].is_empty()).collect::<Vec<_>>();
    if named.is_empty() {
        return Err(TableError::NoColumns);
    }
    let mut table = Table::default();
    for at in &named {
        table.add_column(&names[*at])?;
    }

    let mut lines = Lines { text: text.as_bytes(), passed: 0, line: 1 };
    let mut record = StringRecord::new();
    loop {
        let start = reader.position().byte();
        match reader.read_record(&mut record) {
            Ok(false) => return Ok(table),
            Ok(true) if record.len() == names.len() => {
                let fields = named.iter().map(|at| record[*at].to_owned()).collect();
                table.push(Row { line: lines.of(start), fields }, limits)?;
            }
            Ok(true) => {
                let (expected, found) = (names.len(), record.len());
                table.faults.add(lines.of(start), Problem::Fields { expected, found });
            }
            Err(error) => table.faults.add(lines.of(start), error),
        }
    }
}

/// Counts lines up to the rows. The reader's own count is behind where line ends have two characters, or lines are empty.
struct Lines<'a> {
    text: &'a [u8],
    passed: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of the row that begins at or after this place, which never goes back.
    fn of(&mut self, start: u64) -> u64 {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        while let Some(byte) = self.text.get(self.passed) {
            if self.passed >= start && !matches!(byte, b'\r' | b'\n') {
                break;
            }
            self.line += u64::from(*byte == b'\n');
            self.passed += 1;
        }
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_found_in_the_first_row() {
        for (text, expected) in [
            ("a,b,c\n1;2;3;4;5\n", b','),
            ("a;b;c\r\n1,5;2;3\r\n", b';'),
            ("a\tb\n", b'\t'),
            ("\"a;b;c;d\",e\n", b','),
            ("\"a\n;;\",e,f;\n", b','),
            ("alone\n", b','),
            ("", b','),
        ] {
            assert_eq!(delimiter_of(text), expected, "{text:?}");
        }
    }
}
