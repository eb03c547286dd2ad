//! What the audit must know about the host.

use toolbay_abi::note::TARGET;

use crate::library;

/// The system that libraries are judged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostSystem {
    /// Processor and system, in the form that notes have, such as `x86_64-linux-gnu`.
    pub target: &'static str,
    /// The release of glibc that runs, where one does.
    pub glibc: Option<(u32, u32)>,
}

impl HostSystem {
    /// The system of this process.
    pub fn current() -> Self {
        Self { target: TARGET, glibc: library::glibc_release().as_deref().and_then(release) }
    }
}

/// The release in a text such as `2.36`; builds of distributions may append words.
fn release(text: &str) -> Option<(u32, u32)> {
    let (major, rest) = text.split_once('.')?;
    let minor = rest.split(|character: char| !character.is_ascii_digit()).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_with_and_without_more_behind_them() {
        for (text, expected) in [
            ("2.36", Some((2, 36))),
            ("2.31.9000", Some((2, 31))),
            ("2.36-custom", Some((2, 36))),
            ("stable", None),
            ("2.", None),
        ] {
            assert_eq!(release(text), expected, "{text}");
        }
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn the_running_glibc_is_known() {
        assert!(HostSystem::current().glibc.is_some_and(|release| release >= (2, 17)));
    }
}
