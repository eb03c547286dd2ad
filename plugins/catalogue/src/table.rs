//! The file's text as a table: columns with names, and rows with a field for each.

mod csv;
mod json_lines;

use std::path::Path;

use toolbay_plugin_api::{ConfigError, log};

use crate::{
    config::{Config, Format, Limits},
    text::{in_full, one_line},
};

/// The most columns that a table may have.
const MAX_COLUMNS: usize = 100;

/// The most bytes of a column's name.
const MAX_NAME: usize = 100;

/// How many faulty rows are logged one by one.
const LOGGED_ROWS: usize = 5;

/// Why a text is no table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum TableError {
    #[error(
        "expected a format by the file's name (.csv, .tsv, .jsonl or .ndjson), found {found}; set `format`"
    )]
    UnknownFormat { found: String },
    #[error("expected one ASCII character, found {found:?}")]
    Delimiter { found: char },
    #[error("expected a first row with the columns' names, found none")]
    NoColumns,
    #[error("expected at most {MAX_COLUMNS} columns, found more")]
    TooManyColumns,
    #[error("expected columns with names of at most {MAX_NAME} bytes, found {name:?}")]
    LongName { name: String },
    #[error("expected columns with different names, found {name:?} twice")]
    SameColumn { name: String },
    #[error("expected at most {limit} rows, found more; raise `limits.max_rows` to take them")]
    TooManyRows { limit: u64 },
    #[error("expected rows, found none without a fault")]
    NoGoodRow(#[source] Fault),
}

impl TableError {
    /// The place in the configuration that the error speaks of.
    const fn place(&self) -> &'static str {
        match self {
            Self::UnknownFormat { .. } => "format",
            Self::Delimiter { .. } => "delimiter",
            _ => "file",
        }
    }
}

impl From<TableError> for ConfigError {
    fn from(error: TableError) -> Self {
        let problem = in_full(&error);
        Self::at(error.place(), problem)
    }
}

/// Why a row is left out.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is left out")]
pub(crate) struct Fault {
    line: u64,
    #[source]
    problem: Problem,
}

/// What is wrong with a row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Problem {
    #[error("expected {expected} fields, found {found}")]
    Fields { expected: usize, found: usize },
    #[error(
        "expected at most {limit} bytes in {column:?}, found {found}; in CSV a quote may be left open"
    )]
    LongField { column: String, limit: u64, found: usize },
    #[error("expected a row of CSV")]
    Csv(#[from] ::csv::Error),
    #[error("expected a JSON object, found what is none from column {column} on")]
    Json { column: usize },
    #[error("expected an id in {column:?}, found none")]
    NoId { column: String },
    #[error("expected an id of its own, found {id:?} a second time")]
    SameId { id: String },
}

/// A row, with the line that it begins in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) line: u64,
    pub(crate) fields: Vec<String>,
}

/// A table. Each row has a field for each column.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Row>,
    pub(crate) faults: Faults,
}

/// The rows that are left out: how many, and the first of them.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    count: usize,
    first: Vec<Fault>,
}

impl Table {
    /// Reads the text as the configuration says, or as the file's name does.
    pub(crate) fn parse(text: &str, path: &Path, config: &Config) -> Result<Self, TableError> {
        let (format, delimiter) = match config.format {
            Some(format) => (format, None),
            None => format_of(path)?,
        };
        match format {
            Format::Csv => {
                let delimiter = match config.delimiter {
                    Some(char) => u8::try_from(char)
                        .ok()
                        .filter(u8::is_ascii)
                        .ok_or(TableError::Delimiter { found: char })?,
                    None => delimiter.unwrap_or_else(|| csv::delimiter_of(text)),
                };
                csv::parse(text, delimiter, &config.limits)
            }
            Format::JsonLines => json_lines::parse(text, &config.limits),
        }
    }

    /// Adds a column.
    fn add_column(&mut self, name: &str) -> Result<(), TableError> {
        let name = one_line(name, name.len());
        if name.len() > MAX_NAME {
            return Err(TableError::LongName { name: one_line(&name, MAX_NAME) });
        }
        if self.columns.len() == MAX_COLUMNS {
            return Err(TableError::TooManyColumns);
        }
        if self.columns.iter().any(|other| other.to_lowercase() == name.to_lowercase()) {
            return Err(TableError::SameColumn { name });
        }
        self.columns.push(name);
        Ok(())
    }

    /// Takes a row, or leaves it out where a field is too long.
    fn push(&mut self, row: Row, limits: &Limits) -> Result<(), TableError> {
        if self.rows.len() as u64 >= limits.rows() {
            return Err(TableError::TooManyRows { limit: limits.rows() });
        }
        let limit = limits.field_bytes();
        match row.fields.iter().position(|field| field.len() as u64 > limit) {
            None => self.rows.push(row),
            Some(at) => {
                let column = self.columns.get(at).cloned().unwrap_or_default();
                let found = row.fields[at].len();
                self.faults.add(row.line, Problem::LongField { column, limit, found });
            }
        }
        Ok(())
    }
}

impl Faults {
    pub(crate) fn add(&mut self, line: u64, problem: impl Into<Problem>) {
        self.count += 1;
        if self.first.len() < LOGGED_ROWS {
            self.first.push(Fault { line, problem: problem.into() });
        }
    }

    /// The first of them.
    pub(crate) fn into_first(self) -> Option<Fault> {
        self.first.into_iter().next()
    }

    /// Tells the operator.
    pub(crate) fn log(&self, path: &Path) {
        for fault in &self.first {
            log::warn!("{}: {}", path.display(), in_full(fault));
        }
        if self.count > self.first.len() {
            log::warn!("{}: {} lines are left out in all", path.display(), self.count);
        }
    }
}

fn format_of(path: &Path) -> Result<(Format, Option<u8>), TableError> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match ending.as_str() {
        "csv" => Ok((Format::Csv, None)),
        "tsv" => Ok((Format::Csv, Some(b'\t'))),
        "jsonl" | "ndjson" => Ok((Format::JsonLines, None)),
        _ => Err(TableError::UnknownFormat { found: format!("{ending:?}") }),
    }
}
