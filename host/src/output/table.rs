//! Tables for people: columns without lines, which other programs can cut apart as well.

use comfy_table::{ColumnConstraint, ContentArrangement, presets};

/// Rows under a header.
pub(crate) struct Table(comfy_table::Table);

impl Table {
    pub(crate) fn new<const N: usize>(header: [&str; N]) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).force_no_tty().set_header(header);
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        // What a row is about stays in one piece, however narrow the terminal is.
        if let Some(first) = table.column_mut(0) {
            first.set_constraint(ColumnConstraint::ContentWidth);
        }
        Self(table)
    }

    /// Adds a row. A cell shows the first line of its text.
    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.0.add_row(cells.map(|cell| cell.lines().next().unwrap_or_default().to_owned()));
    }

    /// The table as lines, each row on one where no width is given.
    pub(super) fn render(mut self, columns: Option<u16>) -> String {
        if let Some(columns) = columns {
            self.0.set_width(columns).set_content_arrangement(ContentArrangement::Dynamic);
        }
        self.0.trim_fmt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new(["NAME", "SUMMARY"]);
        table.row(["greet", "Greets somebody in a language\nand more"]);
        table.row(["x", ""]);
        table
    }

    #[test]
    fn without_a_width_each_row_is_one_line() {
        let expected = "NAME   SUMMARY\ngreet  Greets somebody in a language\nx";
        assert_eq!(sample().render(None), expected);
    }

    #[test]
    fn a_narrow_terminal_wraps_cells() {
        let expected = "NAME   SUMMARY\ngreet  Greets\n       somebody in\n       a language\nx";
        assert_eq!(sample().render(Some(20)), expected);
    }
}
