//! When a provider does something.

use serde::Serialize;

/// The length of the places in the provider's file that name a deed.
pub const PLACE_LEN: usize = 48;

/// Where in its place a word begins; it is filled up with spaces.
pub const WORD: usize = 29;

/// When a provider does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// Never: something is wrong with its file.
    File,
    /// While it is opened.
    Constructor,
    /// While its root module is made.
    Root,
    /// While the provider is made.
    Create,
    /// While it lists its tools.
    Tools,
    /// In a call.
    Call,
    /// While it is dropped.
    Stop,
    /// When its process ends.
    AfterHost,
}

impl Moment {
    /// All of them, in their order in a plugin's life.
    pub const ALL: [Self; 8] = [
        Self::File,
        Self::Constructor,
        Self::Root,
        Self::Create,
        Self::Tools,
        Self::Call,
        Self::Stop,
        Self::AfterHost,
    ];

    /// The moment in one word, as cases are named.
    pub const fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Constructor => "constructor",
            Self::Root => "root",
            Self::Create => "create",
            Self::Tools => "tools",
            Self::Call => "call",
            Self::Stop => "stop",
            Self::AfterHost => "after-host",
        }
    }

    /// The phase that a host should name.
    pub const fn phase(self) -> &'static str {
        match self {
            Self::Constructor => "constructors",
            other => other.word(),
        }
    }

    /// What stands in the provider's file before the word of what it does then. There is no such place for what a call is told.
    pub const fn marker(self) -> Option<&'static str> {
        match self {
            Self::Constructor => Some("toolbay-violent constructor: "),
            Self::Root => Some("toolbay-violent root:        "),
            Self::Create => Some("toolbay-violent create:      "),
            Self::Tools => Some("toolbay-violent tools:       "),
            Self::Stop => Some("toolbay-violent drop:        "),
            Self::File | Self::Call | Self::AfterHost => None,
        }
    }

    /// The place in a provider that does nothing then.
    pub const fn benign_place(self) -> [u8; PLACE_LEN] {
        let mut place = [b' '; PLACE_LEN];
        let marker = match self.marker() {
            Some(marker) => marker.as_bytes(),
            None => &[],
        };
        let (mut at, word) = (0, b"nothing");
        while at < marker.len() {
            place[at] = marker[at];
            at += 1;
        }
        at = 0;
        while at < word.len() {
            place[WORD + at] = word[at];
            at += 1;
        }
        place
    }
}
