//! The columns' roles: which one identifies an entry, which one names it, and which ones are searched.

use toolbay_plugin_api::ConfigError;

use crate::config::Config;

/// The columns of the catalogue, with their roles.
#[derive(Debug)]
pub(crate) struct Columns {
    names: Vec<String>,
    id: Option<usize>,
    title: usize,
    searched: Vec<usize>,
}

impl Columns {
    /// Finds the configured columns, and the usual ones for those that are not configured.
    pub(crate) fn new(names: Vec<String>, config: &Config) -> Result<Self, ConfigError> {
        let columns = Self { id: None, title: 0, searched: Vec::new(), names };
        let id = match &config.id {
            Some(name) => Some(columns.configured(name, "id")?),
            None => columns.find("id"),
        };
        let title = match &config.title {
            Some(name) => columns.configured(name, "title")?,
            None => columns
                .find("title")
                .or_else(|| (0..columns.names.len()).find(|at| Some(*at) != id))
                .unwrap_or_default(),
        };
        let mut searched = match &config.search {
            Some(names) => names
                .iter()
                .enumerate()
                .map(|(at, name)| columns.configured(name, &format!("search[{at}]")))
                .collect::<Result<Vec<_>, _>>()?,
            None => (0..columns.names.len()).collect(),
        };
        searched.sort_unstable();
        searched.dedup();
        if searched.is_empty() {
            return Err(ConfigError::at(
                "search",
                "expected the names of columns, found an empty list; leave it out to search all columns",
            ));
        }
        Ok(Self { id, title, searched, ..columns })
    }

    /// Every column's name.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The column that identifies an entry; without one its number does.
    pub(crate) const fn id(&self) -> Option<usize> {
        self.id
    }

    /// The column that names an entry.
    pub(crate) const fn title(&self) -> usize {
        self.title
    }

    /// The columns that are searched.
    pub(crate) fn searched(&self) -> &[usize] {
        &self.searched
    }

    /// The column of this name, in any case.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let name = name.trim().to_lowercase();
        self.names.iter().position(|other| other.to_lowercase() == name)
    }

    /// The names in words.
    pub(crate) fn listed(&self) -> String {
        self.names.join(", ")
    }

    fn configured(&self, name: &str, place: &str) -> Result<usize, ConfigError> {
        self.find(name).ok_or_else(|| {
            let problem = format!("expected one of the columns {}; found {name:?}", self.listed());
            ConfigError::at(place, problem)
        })
    }
}
