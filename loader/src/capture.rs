//! What a plugin prints: taken from a pipe, cut into lines, and logged under its id.

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

/// The most bytes that are taken from a pipe before its reader looks at whatever else it watches: more than a pipe holds, so that what was
/// printed before is taken.
const MAX_AT_ONCE: usize = 1024 * 1024;

/// After which time as much may be logged again.
const PERIOD: Duration = Duration::from_secs(10);

/// What a plugin prints, however much, takes at most so much of the host's log.
#[derive(Debug)]
pub(crate) struct Budget {
    begun: Instant,
    used: usize,
    left_out: usize,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), used: 0, left_out: 0 }
    }

    /// Whether so many bytes may be logged now, and how many were left out since something was logged last.
    pub(crate) fn take(&mut self, bytes: usize, now: Instant) -> Option<usize> {
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
pub(crate) struct Capture<R> {
    /// The pipe, until it is at its end.
    pub(crate) from: Option<R>,
    name: &'static str,
    /// What came after the last line.
    line: Vec<u8>,
    /// The last line that is not empty.
    last: String,
    budget: Budget,
    /// All that came, in bytes.
    bytes: u64,
    /// What is to be logged later, where it is.
    held: Option<Vec<String>>,
}

impl<R: Read> Capture<R> {
    /// What comes through a pipe that does not block.
    pub(crate) fn new(from: Option<R>, name: &'static str) -> Self {
        let (line, last, budget) = (Vec::new(), String::new(), Budget::new());
        Self { from, name, line, last, budget, bytes: 0, held: None }
    }

    /// The same, with lines that are kept until they are [let go](Self::let_go).
    pub(crate) fn holding(from: R, name: &'static str) -> Self {
        Self { held: Some(Vec::new()), ..Self::new(Some(from), name) }
    }

    /// Takes what is there now.
    pub(crate) fn drain(&mut self, provider: &ProviderId) {
        let (mut buffer, mut taken) = ([0; 16 * 1024], 0);
        while taken < MAX_AT_ONCE
            && let Some(from) = &mut self.from
        {
            match from.read(&mut buffer) {
                Ok(0) => self.from = None,
                Ok(len) => {
                    taken += len;
                    self.take(&buffer[..len], provider);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.from = None,
            }
        }
    }

    /// Logs what was held, and from now on each line as it comes. Returns how many bytes have come.
    pub(crate) fn let_go(&mut self, provider: &ProviderId) -> u64 {
        self.end_line(provider);
        for line in self.held.take().into_iter().flatten() {
            self.say(provider, line);
        }
        let left_out = std::mem::take(&mut self.budget.left_out);
        self.say_left_out(provider, left_out);
        self.bytes
    }

    /// The last thing that was printed.
    pub(crate) fn last_words(&mut self, provider: &ProviderId) -> Option<&str> {
        self.end_line(provider);
        (!self.last.is_empty()).then_some(&*self.last)
    }

    fn take(&mut self, bytes: &[u8], provider: &ProviderId) {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
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
            self.say_left_out(provider, left_out);
            self.say(provider, text.into_owned());
        }
    }

    fn say_left_out(&mut self, provider: &ProviderId, left_out: usize) {
        if left_out > 0 {
            self.say(provider, format!("{left_out} bytes before this were too many to log"));
        }
    }

    fn say(&mut self, provider: &ProviderId, line: String) {
        match &mut self.held {
            Some(held) => held.push(line),
            // As visible as it is where a plugin prints in the host.
            None => services::log_for(provider, Level::Warn, self.name, &line),
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
