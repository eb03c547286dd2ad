//! Messages on a stream of bytes: each behind its length, a little-endian `u32`.

use std::io::{self, Read};

use bytes::Bytes;
use serde::Serialize;

/// The longest message that is taken, in bytes.
pub(super) const MAX_LEN: usize = 64 * 1024 * 1024;

/// The bytes of a length.
const HEADER: usize = 4;

/// The most bytes that room is made for before they are there, so that a length alone takes no memory.
const STEP: usize = 1024 * 1024;

/// The least room.
const ROOM: usize = 8 * 1024;

/// Why a message could not be exchanged.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    /// The stream broke, or is at its end within a message.
    #[error("the connection broke")]
    Stream(#[from] io::Error),
    /// A message is longer than any may be.
    #[error("expected a message of at most {MAX_LEN} bytes, found one of {found}")]
    TooLong {
        /// Its length.
        found: usize,
    },
    /// A message can't be written or read as such.
    #[error("expected a message of this protocol, found something else")]
    Message(#[from] postcard::Error),
}

/// A message with its length before it, as it is written.
pub(super) fn encode(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut frame = postcard::to_extend(message, vec![0; HEADER])?;
    let found = frame.len() - HEADER;
    match u32::try_from(found) {
        Ok(len) if found <= MAX_LEN => frame[..HEADER].copy_from_slice(&len.to_le_bytes()),
        _ => return Err(FrameError::TooLong { found }),
    }
    Ok(frame)
}

/// Reads messages from a stream.
#[derive(Debug)]
pub(super) struct Frames<R> {
    from: R,
    /// Room for what is read, of which the first `there` bytes were.
    buffer: Vec<u8>,
    there: usize,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, buffer: Vec::new(), there: 0 }
    }

    /// The bytes of the next message; `None` at the end of the stream.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, FrameError> {
        if !self.fill(HEADER)? {
            return Ok(None);
        }
        let header = self.buffer[..HEADER].iter().rev();
        let len = header.fold(0, |len, &byte| (len << 8) | usize::from(byte));
        if len > MAX_LEN {
            return Err(FrameError::TooLong { found: len });
        }
        self.fill(HEADER + len)?;
        let message = Bytes::copy_from_slice(&self.buffer[HEADER..HEADER + len]);
        self.buffer.copy_within(HEADER + len..self.there, 0);
        self.there -= HEADER + len;
        // What one long message took is not kept for the short ones.
        if self.buffer.len() > STEP {
            self.buffer.truncate(self.there.max(ROOM));
            self.buffer.shrink_to_fit();
        }
        Ok(Some(message))
    }

    /// Reads until so many bytes are there; `false` where the stream was at its end before the first.
    fn fill(&mut self, len: usize) -> Result<bool, FrameError> {
        while self.there < len {
            // A small message comes with one reading; the room for a long one grows with what has come of it.
            let room = len.clamp(ROOM, self.there + STEP);
            if self.buffer.len() < room {
                self.buffer.resize(room, 0);
            }
            match read(&mut self.from, &mut self.buffer[self.there..])? {
                0 if self.there == 0 => return Ok(false),
                0 => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                read => self.there += read,
            }
        }
        Ok(true)
    }
}

fn read(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(to) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The other end is gone, which ends the stream as well.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(0),
            read => return read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most so many bytes at a time.
    struct Slowly<'a>(&'a [u8], usize);

    impl Read for Slowly<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(self.0.len()).min(to.len());
            let (given, rest) = self.0.split_at(len);
            to[..len].copy_from_slice(given);
            self.0 = rest;
            Ok(len)
        }
    }

    #[test]
    fn messages_arrive_whole_however_the_bytes_come() {
        let messages: Vec<String> =
            [0, 1, 100, 10_000, 2 * STEP].iter().map(|&len| "x".repeat(len)).collect();
        let mut stream = Vec::new();
        for message in &messages {
            stream.extend(encode(message).unwrap());
        }
        for at_a_time in [7, 4_096, usize::MAX] {
            let mut frames = Frames::new(Slowly(&stream, at_a_time));
            for message in &messages {
                let bytes = frames.next().unwrap().unwrap();
                assert_eq!(postcard::from_bytes::<String>(&bytes).unwrap(), *message);
            }
            assert!(frames.next().unwrap().is_none());
        }
    }

    #[test]
    fn a_stream_that_ends_within_a_message_or_promises_too_much_is_refused() {
        let whole = encode(&"a message").unwrap();
        for cut in 1..whole.len() {
            let error = Frames::new(&whole[..cut]).next().unwrap_err();
            assert!(matches!(error, FrameError::Stream(_)), "{cut}: {error:?}");
        }
        let too_long = u32::try_from(MAX_LEN + 1).unwrap().to_le_bytes();
        let error = Frames::new(&too_long[..]).next().unwrap_err();
        assert!(matches!(error, FrameError::TooLong { found } if found == MAX_LEN + 1));
        // A length alone takes no memory: the bytes are not there.
        let promise = u32::try_from(MAX_LEN).unwrap().to_le_bytes();
        let mut frames = Frames::new(&promise[..]);
        assert!(matches!(frames.next().unwrap_err(), FrameError::Stream(_)));
        assert!(frames.buffer.len() <= 2 * STEP);
        assert!(matches!(encode(&"x".repeat(MAX_LEN)), Err(FrameError::TooLong { .. })));
    }
}
