//! The catalogue as it is served: its entries, and the index over them.

use std::{
    collections::{HashMap, hash_map},
    path::Path,
};

use toolbay_plugin_api::{ConfigError, log};

use crate::{
    columns::Columns,
    config::Config,
    file,
    fold::fold,
    index::{Index, IndexError},
    table::{Faults, Problem, Row, Table, TableError},
    text::{in_full, one_line},
};

/// How many different values of a column are told of at most.
const MAX_VALUES: usize = 12;

/// The most bytes of a value in a description.
const MAX_VALUE: usize = 40;

/// The entries of a catalogue, numbered from 0.
#[derive(Debug)]
pub(crate) struct Entries {
    name: String,
    columns: Columns,
    rows: Vec<Vec<String>>,
    by_id: HashMap<String, usize>,
    index: Index,
    values: Vec<Values>,
}

/// Values of a column.
#[derive(Debug)]
enum Values {
    /// All that occur.
    All(Vec<String>),
    /// A few of many.
    Some(Vec<String>),
}

impl Entries {
    /// Reads the file and indexes it.
    pub(crate) fn load(path: &Path, config: &Config) -> Result<Self, ConfigError> {
        let text = file::read(path, config.limits.file_bytes())
            .map_err(|error| ConfigError::at("file", in_full(&error)))?;
        let Table { columns, rows, mut faults } = Table::parse(&text, path, config)?;
        let columns = Columns::new(columns, config)?;
        let (rows, by_id) = identified(rows, &columns, &mut faults);
        faults.log(path);
        if rows.is_empty()
            && let Some(fault) = faults.into_first()
        {
            return Err(TableError::NoGoodRow(fault).into());
        }
        let index =
            index(&rows, &columns).map_err(|error| ConfigError::at("file", in_full(&error)))?;
        let values = (0..columns.names().len()).map(|at| Values::of(&rows, at)).collect();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        log::info!("{}: {} entries", path.display(), rows.len());
        Ok(Self { name: one_line(&name, MAX_VALUE), columns, rows, by_id, index, values })
    }

    /// The catalogue's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The columns and their roles.
    pub(crate) const fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The index; its numbers are those of the entries.
    pub(crate) const fn index(&self) -> &Index {
        &self.index
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The fields of an entry, one for each column.
    pub(crate) fn fields(&self, number: usize) -> &[String] {
        self.rows.get(number).map_or(&[], Vec::as_slice)
    }

    /// The title of an entry.
    pub(crate) fn title(&self, number: usize) -> &str {
        self.fields(number).get(self.columns.title()).map_or("", String::as_str)
    }

    /// What identifies an entry: its id, or its number counted from 1.
    pub(crate) fn id(&self, number: usize) -> String {
        let id = self.columns.id().and_then(|column| self.fields(number).get(column));
        id.cloned().unwrap_or_else(|| (number + 1).to_string())
    }

    /// The entry with this id.
    pub(crate) fn by_id(&self, id: &str) -> Option<usize> {
        match self.columns.id() {
            Some(_) => self.by_id.get(&id_key(id)).copied(),
            None => {
                let number = id.trim().parse::<usize>().ok()?.checked_sub(1)?;
                (number < self.rows.len()).then_some(number)
            }
        }
    }

    /// The ids, in the form in which they are compared.
    pub(crate) fn id_keys(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(String::as_str)
    }

    /// The values of a column in words, for descriptions and refusals.
    pub(crate) fn values(&self, column: usize) -> String {
        match self.values.get(column) {
            Some(Values::All(values)) => format!("one of {}", values.join(", ")),
            Some(Values::Some(values)) => format!("such as {}", values.join(", ")),
            None => String::new(),
        }
    }
}

/// The form in which ids are compared.
pub(crate) fn id_key(id: &str) -> String {
    id.trim().to_lowercase()
}

/// The rows that have an id of their own, with the way from the id to the row's number.
fn identified(
    rows: Vec<Row>,
    columns: &Columns,
    faults: &mut Faults,
) -> (Vec<Vec<String>>, HashMap<String, usize>) {
    let mut by_id = HashMap::new();
    let Some(column) = columns.id() else {
        return (rows.into_iter().map(|row| row.fields).collect(), by_id);
    };
    let mut good = Vec::with_capacity(rows.len());
    for row in rows {
        let id = row.fields[column].as_str();
        if id.is_empty() {
            faults.add(row.line, Problem::NoId { column: columns.names()[column].clone() });
            continue;
        }
        match by_id.entry(id_key(id)) {
            hash_map::Entry::Vacant(place) => {
                place.insert(good.len());
                good.push(row.fields);
            }
            hash_map::Entry::Occupied(_) => {
                faults.add(row.line, Problem::SameId { id: one_line(id, MAX_VALUE) });
            }
        }
    }
    (good, by_id)
}

fn index(rows: &[Vec<String>], columns: &Columns) -> Result<Index, IndexError> {
    let searched = columns.searched();
    let title = searched.iter().position(|column| *column == columns.title());
    let folded = rows.iter().map(|row| searched.iter().map(|column| fold(&row[*column])).collect());
    Index::build(searched.len(), title, folded)
}

impl Values {
    fn of(rows: &[Vec<String>], column: usize) -> Self {
        let mut values = Vec::<&str>::new();
        for value in rows.iter().map(|row| row[column].as_str()) {
            if value.is_empty() || values.contains(&value) {
                continue;
            }
            if values.len() == MAX_VALUES || value.len() > MAX_VALUE {
                values.push(value);
                let shown = values.iter().take(2).map(|value| one_line(value, MAX_VALUE));
                return Self::Some(shown.collect());
            }
            values.push(value);
        }
        Self::All(values.into_iter().map(|value| one_line(value, MAX_VALUE)).collect())
    }
}
