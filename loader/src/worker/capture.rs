//! What a plugin prints: taken from its pipe, cut into lines, and logged under its id.

use std::{
    io::{self, Read},
    time::{Duration, Instant},
};

use log::Level;
use toolbay_core::ProviderId;

use crate::{plugin_text::one_line, services};

/// The longest line that is logged, in bytes; the rest is cut.
const MAX_LINE: usize = 8 * 1024;

/// How many bytes are logged in one [`PERIOD`]; what is beyond is counted and left out.
const MAX_BYTES: usize = 256 * 1024;

/// After which time as much may be logged again.
const PERIOD: Duration = Duration::from_secs(10);

/// What a plugin prints, however much, takes at most so much of the host's log.
#[derive(Debug)]
pub(super) struct Budget {
    begun: Instant,
    used: usize,
    left_out: usize,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), used: 0, left_out: 0 }
    }

    /// Whether so many bytes may be logged now, and how many were left out since something was logged last.
    pub(super) fn take(&mut self, bytes: usize, now: Instant) -> Option<usize> {
        if now.saturating_duration_since(self.begun) >= PERIOD {
            *self = Self { begun: now, used: 0, ..*self };
        }
        if self.used + bytes > MAX_BYTES {
            self.left_out += bytes;
            return None;
        }
        self.used += bytes;
        Some(std::mem::take(&mut self.left_out))
    }
}

/// One of the two streams that a plugin may print to.
#[derive(Debug)]
pub(super) struct Capture<R> {
    /// The pipe, until it is at its end.
    pub(super) from: Option<R>,
    name: &'static str,
    /// What came after the last line.
    line: Vec<u8>,
    /// The last line that is not empty.
    last: String,
    budget: Budget,
}

impl<R: Read> Capture<R> {
    /// What comes through a pipe that does not block.
    pub(super) fn new(from: Option<R>, name: &'static str) -> Self {
        Self { from, name, line: Vec::new(), last: String::new(), budget: Budget::new() }
    }

    /// Takes what is there now.
    pub(super) fn drain(&mut self, provider: &ProviderId) {
        let mut buffer = [0; 16 * 1024];
        while let Some(from) = &mut self.from {
            match from.read(&mut buffer) {
                Ok(0) => self.from = None,
                Ok(len) => self.take(&buffer[..len], provider),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.from = None,
            }
        }
    }

    /// The last thing that was printed.
    pub(super) fn last_words(&mut self, provider: &ProviderId) -> Option<&str> {
        self.end_line(provider);
        (!self.last.is_empty()).then_some(&*self.last)
    }

    fn take(&mut self, bytes: &[u8], provider: &ProviderId) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let room = (MAX_LINE + 1).saturating_sub(self.line.len());
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.end_line(provider);
            }
        }
    }

    fn end_line(&mut self, provider: &ProviderId) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        if text.is_empty() {
            return;
        }
        self.last = one_line(&text, MAX_LINE);
        if let Some(left_out) = self.budget.take(text.len(), Instant::now()) {
            if left_out > 0 {
                let note = format!("{left_out} bytes before this were too many to log");
                services::log_for(provider, Level::Warn, self.name, &note);
            }
            // As visible as it is where a plugin prints in the host.
            services::log_for(provider, Level::Warn, self.name, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_left_out_and_counted_until_the_next_period() {
        let mut budget = Budget::new();
        let start = budget.begun;
        assert_eq!(budget.take(MAX_BYTES, start), Some(0));
        assert_eq!(budget.take(100, start), None);
        assert_eq!(budget.take(200, start + PERIOD / 2), None);
        assert_eq!(budget.take(1, start + PERIOD), Some(300));
        assert_eq!(budget.take(1, start + PERIOD), Some(0));
    }

    #[test]
    fn the_last_words_are_the_last_line_however_it_came() {
        let provider: ProviderId = "a".parse().unwrap();
        let cases: [(&[u8], Option<&str>); 6] = [
            (b"", None),
            (b"\n\n", None),
            (b"one\ntwo\n", Some("two")),
            (b"one\ntwo", Some("two")),
            (b"one\n\n", Some("one")),
            (b"not \xff text\r\n", Some("not \u{fffd} text")),
        ];
        for (printed, expected) in cases {
            let mut capture = Capture::new(Some(printed), "stdout");
            capture.drain(&provider);
            assert_eq!(capture.last_words(&provider), expected);
        }
        let endless = vec![b'x'; 1_000_000];
        let mut capture = Capture::new(Some(&*endless), "stdout");
        capture.drain(&provider);
        assert!(capture.line.len() <= MAX_LINE + 1, "a line without an end takes no more memory");
    }
}
