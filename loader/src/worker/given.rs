//! A worker's answers, as the host keeps them: the bytes stay in the message that they came in.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::PathBuf};

use bytes::Bytes;
use toolbay_abi::wire::Fault;

use super::{client::MappedThere, message::Answer};
use crate::{entries::EntryReply, not_opened::NotOpened};

/// What a worker answered.
#[derive(Debug)]
pub(super) enum Given {
    Hello { protocol: u32 },
    Opened(MappedThere),
    NotOpened(NotOpened),
    Created,
    Replied(EntryReply),
    Bytes(Option<Bytes>),
    Fault(Fault),
}

impl Given {
    /// The answer that was read from a message.
    pub(super) fn of(message: &Bytes, answer: Answer<'_>) -> Self {
        match answer {
            Answer::Hello { protocol } => Self::Hello { protocol },
            Answer::Opened { path, device, inode } => Self::Opened(MappedThere {
                path: PathBuf::from(OsStr::from_bytes(path)),
                device: device.to_owned(),
                inode,
            }),
            Answer::NotOpened(problem) => Self::NotOpened(problem),
            Answer::Created => Self::Created,
            Answer::Replied { status, text, rest } => {
                let (text, rest) = (message.slice_ref(text), message.slice_ref(rest));
                Self::Replied(EntryReply { status, text, rest })
            }
            Answer::Given(bytes) => Self::Bytes(bytes.map(|bytes| message.slice_ref(bytes))),
            Answer::Fault(json) => {
                Self::Fault(serde_json::from_slice(json).unwrap_or_else(|error| {
                    let problem = format!("expected a fault as JSON: {error}");
                    Fault::Contract { problem }
                }))
            }
        }
    }
}
