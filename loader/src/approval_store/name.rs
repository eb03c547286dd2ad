//! The names of the files: enough to find a request, to count those that wait, and to know which are old, without reading them.

use std::{fmt, time::Duration};

use serde_json::Value;
use toolbay_core::{ApprovalId, Digest, Owner, PendingRequest, RequestState, digest};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The name of a request's file, without its extension: `open-KEY-ID`, `settled-DAY-KEY-ID` or `delivered-DAY-KEY-ID`.
///
/// The file says where the request stands; its name follows, and may be one step behind where a process was killed between the two.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileName {
    pub(super) stage: Stage,
    /// The digits of the key under which the same call is found, then some of its owner's.
    pub(super) key: String,
    pub(super) id: ApprovalId,
}

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// It waits or runs.
    Open,
    /// It was over on this day, counted from the start of 1970, and nobody has got its outcome yet.
    Settled(u64),
    /// It was over on this day, and has nothing to do with the same call any more.
    Delivered(u64),
}

impl Stage {
    pub(super) fn of(state: &RequestState) -> Self {
        match state {
            RequestState::Waiting { .. } | RequestState::Claimed { .. } => Self::Open,
            RequestState::Settled { at, delivered, .. } => {
                let day = at.as_secs() / DAY.as_secs();
                if *delivered { Self::Delivered(day) } else { Self::Settled(day) }
            }
        }
    }

    /// Whether it was over for so long.
    pub(super) fn is_over_since(self, retention: Duration, now: Duration) -> bool {
        match self {
            Self::Open => false,
            Self::Settled(day) | Self::Delivered(day) => {
                let end = Duration::from_secs(day.saturating_add(1).saturating_mul(DAY.as_secs()));
                end.saturating_add(retention) <= now
            }
        }
    }
}

impl FileName {
    /// The name, where the file is a request's.
    pub(super) fn of_file(file: &str) -> Option<Self> {
        let (rest, id) = file.strip_suffix(".json")?.rsplit_once('-')?;
        let (stage, key) = rest.rsplit_once('-')?;
        let stage = match stage.split_once('-') {
            None if stage == "open" => Stage::Open,
            Some(("settled", day)) => Stage::Settled(day.parse().ok()?),
            Some(("delivered", day)) => Stage::Delivered(day.parse().ok()?),
            _ => return None,
        };
        Some(Self { stage, key: key.to_owned(), id: id.parse().ok()? })
    }

    /// What stands in the name for a request's key and owner.
    pub(super) fn key_of(request: &PendingRequest) -> String {
        format!("{}{}", request.key(), Self::owner_of(&request.owner))
    }

    fn owner_of(owner: &Owner) -> String {
        let mut digits = digest(&Value::from(owner.to_string())).to_string();
        digits.truncate(16);
        digits
    }

    /// Whether it is the request of this key.
    pub(super) fn is_of(&self, key: &Digest) -> bool {
        self.key.starts_with(&key.to_string())
    }

    /// Whether it is a request of this owner, as far as the name tells.
    pub(super) fn is_owned_by(&self, owner: &Owner) -> bool {
        self.key.ends_with(&Self::owner_of(owner))
    }

    pub(super) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    pub(super) fn is_delivered(&self) -> bool {
        matches!(self.stage, Stage::Delivered(_))
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, key, id } = self;
        match stage {
            Stage::Open => write!(f, "open-{key}-{id}"),
            Stage::Settled(day) => write!(f, "settled-{day}-{key}-{id}"),
            Stage::Delivered(day) => write!(f, "delivered-{day}-{key}-{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_as_it_is_written_and_other_files_have_none() {
        for stage in [Stage::Open, Stage::Settled(0), Stage::Delivered(20_787)] {
            let name = FileName { stage, key: "0a".repeat(32), id: "7k3f".parse().unwrap() };
            assert_eq!(FileName::of_file(&format!("{name}.json")), Some(name));
        }
        let others = [
            "open-0a-7k3f",
            "open-7k3f.json",
            "open-1-0a-7k3f.json",
            "settled-0a-7k3f.json",
            "settled-x-0a-7k3f.json",
            "shut-0a-7k3f.json",
            "open-0a-7K3F.json",
            "7k3f.lock",
            ".lock",
            ".request-new",
        ];
        for other in others {
            assert_eq!(FileName::of_file(other), None, "{other}");
        }
    }

    #[test]
    fn a_request_is_old_when_its_whole_day_is() {
        let retention = 30 * DAY;
        for stage in [Stage::Settled(10), Stage::Delivered(10)] {
            assert!(!stage.is_over_since(retention, 41 * DAY - Duration::from_millis(1)));
            assert!(stage.is_over_since(retention, 41 * DAY));
        }
        assert!(!Stage::Open.is_over_since(retention, 1000 * DAY));
        assert!(!Stage::Settled(u64::MAX).is_over_since(retention, 1000 * DAY));
    }
}
