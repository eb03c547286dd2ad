//! Writes what the benchmark found to a file that programs can read.

use std::{fs, path::Path};

use serde_json::json;

/// The ratios of one pair at one size.
pub(crate) struct Ratio {
    pub(crate) id: String,
    pub(crate) samples: Vec<f64>,
    pub(crate) target: Option<f64>,
}

/// All of them.
#[derive(Default)]
pub(crate) struct Summary(Vec<Ratio>);

impl Summary {
    pub(crate) fn add(&mut self, ratio: Ratio) {
        self.0.push(ratio);
    }

    /// Writes `target/bench/summary.json`: a list of `{id, ratio, target, holds}`. Where a filter has left something out, nothing
    /// is written, so that no summary is less than it says.
    pub(crate) fn write(mut self) {
        if self.0.iter().any(|ratio| ratio.samples.is_empty()) {
            return;
        }
        let rows: Vec<_> = self
            .0
            .iter_mut()
            .map(|ratio| {
                let median = (median(&mut ratio.samples) * 1000.0).round() / 1000.0;
                let holds = ratio.target.map(|target| median <= target);
                json!({ "id": ratio.id, "ratio": median, "target": ratio.target, "holds": holds })
            })
            .collect();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench");
        fs::create_dir_all(&folder).expect("target/bench");
        let text = serde_json::to_string_pretty(&rows).expect("JSON");
        fs::write(folder.join("summary.json"), text).expect("summary.json");
    }
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
