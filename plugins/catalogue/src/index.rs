//! The full-text index: an SQLite database in memory that is filled once and then only read.

use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use crate::vocabulary::Vocabulary;

/// How much more a word in the title says than one elsewhere.
const TITLE_WEIGHT: f64 = 8.0;

/// Why the index fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum IndexError {
    #[error("the search index can't be built")]
    Build(#[source] rusqlite::Error),
    #[error("the search index can't be read")]
    Read(#[source] rusqlite::Error),
}

/// The index. It holds words alone; the entries stay with who asks.
#[derive(Debug)]
pub(crate) struct Index {
    connection: Mutex<Connection>,
    vocabulary: Vocabulary,
    select: String,
}

impl Index {
    /// Indexes rows of folded fields, `columns` each, one of which may be the title. Entries are numbered from 0.
    pub(crate) fn build(
        columns: usize,
        title: Option<usize>,
        rows: impl Iterator<Item = Vec<String>>,
    ) -> Result<Self, IndexError> {
        Self::try_build(columns, title, rows).map_err(IndexError::Build)
    }

    fn try_build(
        columns: usize,
        title: Option<usize>,
        rows: impl Iterator<Item = Vec<String>>,
    ) -> rusqlite::Result<Self> {
        let each =
            |what: &dyn Fn(usize) -> String| (0..columns).map(what).collect::<Vec<_>>().join(", ");
        let names = each(&|at| format!("c{at}"));
        let places = each(&|at| format!("?{}", at + 2));
        let weights =
            each(&|at| format!("{:.1}", if title == Some(at) { TITLE_WEIGHT } else { 1.0 }));

        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE entries USING fts5({names}, content='', prefix='2 3', tokenize='unicode61 remove_diacritics 2');
             CREATE VIRTUAL TABLE words USING fts5vocab(entries, row);"
        ))?;
        let transaction = connection.transaction()?;
        let insert = format!("INSERT INTO entries (rowid, {names}) VALUES (?1, {places})");
        let mut statement = transaction.prepare(&insert)?;
        for (number, fields) in (0_u32..).zip(rows) {
            statement.raw_bind_parameter(1, number)?;
            for (place, field) in (2..).zip(&fields) {
                statement.raw_bind_parameter(place, field)?;
            }
            statement.raw_execute()?;
        }
        drop(statement);
        transaction.commit()?;
        connection.execute_batch(
            "INSERT INTO entries(entries) VALUES ('optimize'); PRAGMA query_only = ON;",
        )?;

        let mut vocabulary = Vocabulary::default();
        let mut statement = connection.prepare("SELECT term, doc FROM words")?;
        let mut terms = statement.query([])?;
        while let Some(term) = terms.next()? {
            vocabulary.add(term.get(0)?, term.get(1)?);
        }
        drop(terms);
        drop(statement);
        Ok(Self {
            connection: Mutex::new(connection),
            vocabulary,
            select: format!(
                "SELECT rowid FROM entries WHERE entries MATCH ?1 ORDER BY bm25(entries, {weights}), rowid"
            ),
        })
    }

    /// The words that occur.
    pub(crate) const fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The entries that the expression finds, the best first.
    pub(crate) fn find(&self, expression: &str) -> Result<Vec<usize>, IndexError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let found = || {
            let mut statement = connection.prepare_cached(&self.select)?;
            let mut numbers = statement.query([expression])?;
            let mut found = Vec::new();
            while let Some(row) = numbers.next()? {
                found.push(row.get::<_, u32>(0)? as usize);
            }
            Ok(found)
        };
        found().map_err(IndexError::Read)
    }
}
