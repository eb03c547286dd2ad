//! What is left of the access file where processes are killed as they write it.

use std::{
    env,
    hash::{BuildHasher, RandomState},
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::*;

const KILLS: u32 = 150;
const HOME_OF_CHILD: &str = "TOOLBAY_TEST_ACCESS_HOME";

#[test]
fn a_file_whose_writer_was_killed_is_as_before_or_after_the_update() {
    if let Some(home) = env::var_os(HOME_OF_CHILD) {
        write_until_killed(Path::new(&home));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = AccessFile::new(folder.path().to_owned());
    let mut last = 0;
    for _ in 0..KILLS {
        let acknowledged = killed_writer(folder.path()).unwrap_or(last);
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

/// Starts this test again as a process that writes, kills it at a random moment, and returns the last generation that it acknowledged.
fn killed_writer(home: &Path) -> Option<u64> {
    let test =
        "access_file::killed::a_file_whose_writer_was_killed_is_as_before_or_after_the_update";
    let mut writer = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(HOME_OF_CHILD, home)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut acknowledged =
        lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("> ")?.parse().ok());
    let random = RandomState::new().hash_one(writer.id());
    let mut seen = None;
    let mut since = Instant::now();
    let mut update = Duration::ZERO;
    for _ in 0..1 + random % 3 {
        seen = Some(acknowledged.next().expect("the writer goes on"));
        update = since.elapsed();
        since = Instant::now();
    }
    // Somewhere within the next update, as far as that can be told from the last one.
    let moment = update.mul_f64((random >> 32) as f64 / f64::from(u32::MAX));
    while since.elapsed() < moment {
        std::hint::spin_loop();
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    acknowledged.last().or(seen)
}

fn write_until_killed(home: &Path) -> ! {
    let file = AccessFile::new(home.to_owned());
    let mut output = io::stdout();
    // The test runner has begun a line.
    writeln!(output).unwrap();
    loop {
        let updated = file.update(|contents| {
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
        writeln!(output, "> {}", updated.unwrap().contents.generation).unwrap();
    }
}
