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

const SAMPLE: &str = r#"[{"id":"call/b2/60B","ratio":1.21,"target":1.3,"holds":true}]"#;

/// What the benchmark measured: a list of ratios.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Summary {
    measurements: Vec<Measurement>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Measurement {
    /// Subject, base and size.
    id: String,
    /// The time of the subject over that of the base, both measured by turns in one run.
    ratio: f64,
    /// The most that the ratio should be; none where it is told for comparison only.
    target: Option<f64>,
    /// Whether it is.
    holds: Option<bool>,
}

impl Summary {
    /// How many targets were missed. Timings vary on machines that do other work, so a miss is no proof.
    #[must_use]
    pub fn missed(&self) -> usize {
        self.measurements.iter().filter(|measured| measured.holds == Some(false)).count()
    }

    /// The measurements as a table, one a line.
    #[must_use]
    pub fn table(&self) -> String {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN).set_header(["measured", "ratio", "at most", ""]);
        for measured in &self.measurements {
            let number =
                |value: f64| Cell::new(format!("{value:.3}")).set_alignment(CellAlignment::Right);
            let verdict = match measured.holds {
                None => "",
                Some(true) => "held",
                Some(false) => "MISSED",
            };
            table.add_row([
                Cell::new(&measured.id),
                number(measured.ratio),
                measured.target.map_or_else(|| Cell::new(""), number),
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
            r#"[
                {"id":"call/b2/60B","ratio":1.2104,"target":1.3,"holds":true},
                {"id":"call/b2/4KiB","ratio":1.06,"target":1.05,"holds":false},
                {"id":"function/b2/60B","ratio":0.5,"target":null,"holds":null}
            ]"#,
        )
        .unwrap();
        assert_eq!(summary.missed(), 1);
        assert_eq!(
            summary.table(),
            "| measured        | ratio | at most |        |\n\
             |-----------------|-------|---------|--------|\n\
             | call/b2/60B     | 1.210 |   1.300 | held   |\n\
             | call/b2/4KiB    | 1.060 |   1.050 | MISSED |\n\
             | function/b2/60B | 0.500 |         |        |"
        );
    }

    #[test]
    fn another_form_is_refused() {
        assert!(parsed(SAMPLE).is_ok());
        for text in ["", "{}", r#"[{"id":"call"}]"#, r#"[{"id":"call","ratio":"1","target":1}]"#] {
            assert!(matches!(parsed(text), Err(BenchError::Malformed { .. })), "{text}");
        }
        assert!(matches!(parsed("[]"), Err(BenchError::Empty { .. })));
    }
}
