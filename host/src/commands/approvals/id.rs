//! Finds the request that a person names by the beginning of its id.

use thiserror::Error;
use toolbay_loader::{ApprovalId, NameError, Toolbay};

/// The fewest characters that name a request.
const MIN_CHARACTERS: usize = 4;

/// Why it is not known which request is meant.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum RequestIdError {
    /// It is no id.
    ///
    /// Resolution: copy one from `toolbay approvals list`.
    #[error(transparent)]
    NotAnId(#[from] NameError),
    /// It is too short to name one.
    ///
    /// Resolution: give more of the id.
    #[error("request {found:?}: expected at least {MIN_CHARACTERS} characters of its id")]
    TooShort {
        /// What was given.
        found: String,
    },
    /// Several requests begin like that.
    ///
    /// Resolution: give more of the id.
    #[error("request {found:?} is one of {}: expected more characters of its id", .ids.join(", "))]
    Ambiguous {
        /// What was given.
        found: String,
        /// The ids that begin like that.
        ids: Vec<String>,
    },
}

impl RequestIdError {
    /// The word by which programs know the error.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::NotAnId(_) | Self::TooShort { .. } => "bad_id",
            Self::Ambiguous { .. } => "ambiguous_id",
        }
    }
}

/// The id of the request that is meant. Where there is none of it, whoever looks for it says so.
pub(super) fn resolve(text: &str, toolbay: &Toolbay) -> Result<ApprovalId, RequestIdError> {
    let id: ApprovalId = text.parse()?;
    if toolbay.approval(&id).is_ok() {
        return Ok(id);
    }
    let (requests, _) = toolbay.approvals();
    let ids: Vec<&ApprovalId> = requests.iter().map(|stored| &stored.id).collect();
    choose(id, &ids)
}

fn choose(id: ApprovalId, ids: &[&ApprovalId]) -> Result<ApprovalId, RequestIdError> {
    if ids.contains(&&id) {
        return Ok(id);
    }
    let begin: Vec<_> =
        ids.iter().filter(|known| known.as_str().starts_with(id.as_str())).collect();
    let found = || id.to_string();
    match begin.as_slice() {
        [] => Ok(id),
        _ if id.as_str().len() < MIN_CHARACTERS => Err(RequestIdError::TooShort { found: found() }),
        [one] => Ok((**one).clone()),
        several => Err(RequestIdError::Ambiguous {
            found: found(),
            ids: several.iter().map(ToString::to_string).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_names_it_where_it_is_the_only_one() {
        let ids: Vec<ApprovalId> =
            ["abcd1", "abcd2", "abcdef", "xyz"].map(|id| id.parse().unwrap()).into();
        let ids: Vec<&ApprovalId> = ids.iter().collect();
        let chosen = |text: &str| choose(text.parse().unwrap(), &ids);
        let cases =
            [("abcd1", "abcd1"), ("abcde", "abcdef"), ("xyz", "xyz"), ("nothing", "nothing")];
        for (text, expected) in cases {
            assert_eq!(chosen(text).unwrap().as_str(), expected, "{text}");
        }
        let ambiguous = chosen("abcd");
        assert!(
            matches!(&ambiguous, Err(RequestIdError::Ambiguous { ids, .. }) if ids.len() == 3),
            "{ambiguous:?}"
        );
        for short in ["xy", "abc"] {
            assert!(matches!(chosen(short), Err(RequestIdError::TooShort { .. })), "{short}");
        }
    }
}
