//! `cargo xtask bench`: runs the benchmark of a call and shows what it summarised.

use std::io;

use cargo_metadata::camino::Utf8PathBuf;
use comfy_table::{Cell, CellAlignment, Table, presets};
use serde::Deserialize;

use crate::{
    checkout::Checkout,
    steps::{StepError, Steps},
};

/// Why there is no summary to show.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The benchmark did not run to its end.
    #[error("the benchmark did not finish")]
    Step(#[from] StepError),
    /// The summary can't be read or removed.
    #[error("expected the benchmark's summary at {path}; let the benchmark write it there")]
    File {
        /// Where the summary belongs.
        path: Utf8PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The summary has another form.
    #[error("{path}: expected a summary such as {SAMPLE}")]
    Malformed {
        /// Where the summary is.
        path: Utf8PathBuf,
        /// What the parser said.
        #[source]
        cause: serde_json::Error,
    },
    /// The summary holds nothing.
    #[error("{path}: expected one measurement or more, found none")]
    Empty {
        /// Where the summary is.
        path: Utf8PathBuf,
    },
}

const SAMPLE: &str =
    r#"{"measurements":[{"name":"call, 59 B","value":312.0,"unit":"ns","at_most":400.0}]}"#;

/// What the benchmark measured.
#[derive(Debug, PartialEq, Deserialize)]
pub struct Summary {
    measurements: Vec<Measurement>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Measurement {
    /// What was measured.
    name: String,
    value: f64,
    /// The unit of both numbers, such as `ns`, or `x` for a ratio.
    unit: String,
    /// The target; none where the value is told for comparison only.
    at_most: Option<f64>,
}

impl Measurement {
    fn is_held(&self) -> Option<bool> {
        self.at_most.map(|limit| self.value <= limit)
    }
}

impl Summary {
    /// How many targets were missed. Timings vary on machines that do other work, so a miss is no proof.
    #[must_use]
    pub fn missed(&self) -> usize {
        self.measurements.iter().filter(|measured| measured.is_held() == Some(false)).count()
    }

    /// The measurements as a table, one a line.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN).set_header(["measured", "value", "at most", ""]);
        for measured in &self.measurements {
            let number = |value: f64| {
                Cell::new(format!("{value:.2} {}", measured.unit))
                    .set_alignment(CellAlignment::Right)
            };
            let verdict = match measured.is_held() {
                None => "",
                Some(true) => "held",
                Some(false) => "MISSED",
            };
            table.add_row([
                Cell::new(&measured.name),
                number(measured.value),
                measured.at_most.map_or_else(|| Cell::new(""), number),
                Cell::new(verdict),
            ]);
        }
        table.to_string()
    }
}

/// Runs the benchmark and reads its summary, `bench/summary.json` in the target folder.
///
/// # Errors
///
/// The benchmark fails, or leaves no summary of the expected form. A missed target is no error.
pub fn run(checkout: &Checkout) -> Result<Summary, BenchError> {
    let path = checkout.target().join("bench/summary.json");
    match std::fs::remove_file(&path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
            return Err(BenchError::File { path, cause });
        }
        _ => {}
    }
    Steps::new(1).run(
        "measuring calls",
        &mut checkout.cargo(["bench", "--locked", "-p", "toolbay-tests", "--bench", "call"]),
    )?;
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(path, &text),
        Err(cause) => Err(BenchError::File { path, cause }),
    }
}

fn parse(path: Utf8PathBuf, text: &str) -> Result<Summary, BenchError> {
    match serde_json::from_str::<Summary>(text) {
        Ok(summary) if summary.measurements.is_empty() => Err(BenchError::Empty { path }),
        Ok(summary) => Ok(summary),
        Err(cause) => Err(BenchError::Malformed { path, cause }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Summary, BenchError> {
        parse("summary.json".into(), text)
    }

    #[test]
    fn the_table_says_which_targets_were_held() {
        let summary = parsed(
            r#"{"measurements":[
                {"name":"call","value":312.04,"unit":"ns","at_most":400},
                {"name":"crossing","value":1.25,"unit":"x","at_most":1.2},
                {"name":"floor","value":2,"unit":"ns","at_most":null}
            ],"machine":"any"}"#,
        )
        .unwrap();
        assert_eq!(summary.missed(), 1);
        assert_eq!(
            summary.table(),
            "| measured | value     | at most   |        |\n\
             |----------|-----------|-----------|--------|\n\
             | call     | 312.04 ns | 400.00 ns | held   |\n\
             | crossing |    1.25 x |    1.20 x | MISSED |\n\
             | floor    |   2.00 ns |           |        |"
        );
    }

    #[test]
    fn another_form_is_refused() {
        assert!(parsed(SAMPLE).is_ok());
        for text in ["", "[]", "{}", r#"{"measurements":[{"name":"call"}]}"#] {
            assert!(matches!(parsed(text), Err(BenchError::Malformed { .. })), "{text}");
        }
        assert!(matches!(parsed(r#"{"measurements":[]}"#), Err(BenchError::Empty { .. })));
    }
}
