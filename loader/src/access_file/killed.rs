//! What is left of the access file where processes are killed as they write it.

use std::path::Path;

use super::*;
use crate::killed_writer::KilledWriter;

const KILLS: u32 = 150;
const WRITER: KilledWriter = KilledWriter {
    test: "access_file::killed::a_file_whose_writer_was_killed_is_as_before_or_after_the_update",
    home: "TOOLBAY_TEST_ACCESS_HOME",
};

#[test]
fn a_file_whose_writer_was_killed_is_as_before_or_after_the_update() {
    WRITER.write_if_asked(update);
    let folder = tempfile::tempdir().unwrap();
    let file = AccessFile::new(folder.path().to_owned());
    let mut last = 0;
    for _ in 0..KILLS {
        let acknowledged = WRITER.kill(folder.path()).unwrap_or(last);
        let reading = file.read();
        assert!(reading.problem.is_none(), "{:?}", reading.problem);
        let contents = reading.contents;
        let [one, other] = ["one", "other"].map(|name| contents.labels[name].summary.clone());
        assert_eq!(one, other, "one update writes both");
        assert_eq!(one, contents.generation.to_string());
        assert!(contents.generation >= acknowledged && acknowledged >= last);
        assert!(contents.generation <= acknowledged + 1, "one update at most was not acknowledged");
        last = contents.generation;
    }
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(names.len() <= 5, "killed processes leave no heap of files: {names:?}");
}

fn update(home: &Path) -> u64 {
    let updated = AccessFile::new(home.to_owned()).update(|contents| {
        let label = Label {
            label: String::new(),
            summary: (contents.generation + 1).to_string(),
            provider: ProviderId::core(),
        };
        for name in ["one", "other"] {
            contents.labels.insert(name.parse().unwrap(), label.clone());
        }
        Ok::<_, AccessFileError>(())
    });
    updated.unwrap().contents.generation
}
