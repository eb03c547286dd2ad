//! What is known of one thing, a line for each fact, with the names of the facts in a column of their own.

/// Facts in the order in which they are read.
#[derive(Debug, Default)]
pub(crate) struct Facts(Vec<(String, String)>);

impl Facts {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a fact. Of a text with several lines, the others stand below the first.
    pub(crate) fn add(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.push((name.into(), text.into()));
    }

    /// The facts as lines.
    pub(crate) fn render(&self) -> String {
        let width = self.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        let mut text = String::new();
        for (name, fact) in &self.0 {
            let mut lines = fact.lines();
            let first = lines.next().unwrap_or_default();
            text.push_str(format!("{name:<width$}  {first}").trim_end());
            text.push('\n');
            for line in lines {
                text.push_str(format!("{:<width$}  {line}", "").trim_end());
                text.push('\n');
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_stand_in_a_column_of_their_own() {
        let mut facts = Facts::new();
        facts.add("state", "on");
        facts.add("review", "two\nlines");
        facts.add("empty", "");
        assert_eq!(facts.render(), "state   on\nreview  two\n        lines\nempty\n");
    }
}
