//! A process for tests that writes, and is killed at a random moment.

use std::{
    env,
    hash::{BuildHasher, RandomState},
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// A test that is started again as the process that writes.
pub(crate) struct KilledWriter {
    /// The test's name.
    pub(crate) test: &'static str,
    /// The environment variable that tells the process which folder is its home.
    pub(crate) home: &'static str,
}

impl KilledWriter {
    /// Writes without an end where this is the process that writes. Each write returns the generation that it made.
    pub(crate) fn write_if_asked(&self, write: impl Fn(&Path) -> u64) {
        let Some(home) = env::var_os(self.home) else { return };
        let mut output = io::stdout();
        // The test runner has begun a line.
        writeln!(output).unwrap();
        loop {
            writeln!(output, "> {}", write(Path::new(&home))).unwrap();
        }
    }

    /// Starts the process, kills it at a random moment, and returns the last generation that it acknowledged.
    pub(crate) fn kill(&self, home: &Path) -> Option<u64> {
        let mut writer = Command::new(env::current_exe().unwrap())
            .args(["--exact", self.test, "--nocapture"])
            .env(self.home, home)
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
        let mut last_write = Duration::ZERO;
        for _ in 0..1 + random % 3 {
            seen = Some(acknowledged.next().expect("the writer goes on"));
            last_write = since.elapsed();
            since = Instant::now();
        }
        // Somewhere within the next write, as far as that can be told from the last one.
        let moment = last_write.mul_f64((random >> 32) as f64 / f64::from(u32::MAX));
        while since.elapsed() < moment {
            std::hint::spin_loop();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        acknowledged.last().or(seen)
    }
}
