//! Commands with words in braces, which stand for something of a case.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

/// What the words in braces stand for.
#[derive(Debug, Clone, Default)]
pub struct Placeholders(BTreeMap<&'static str, OsString>);

impl Placeholders {
    /// The names, each with what it stands for.
    pub const NAMES: [(&str, &str); 6] = [
        ("library", "the file to load"),
        ("home", "an empty folder for this run alone"),
        ("id", "the case, or its twin"),
        ("provider", "the provider's id"),
        ("tool", "the tool to call"),
        ("arguments", "its arguments, in JSON"),
    ];

    pub(crate) fn of(
        id: &str,
        provider: &str,
        library: &Path,
        home: &Path,
        (tool, arguments): (&str, &str),
    ) -> Self {
        Self(BTreeMap::from([
            ("library", library.into()),
            ("home", home.into()),
            ("id", id.into()),
            ("provider", provider.into()),
            ("tool", tool.into()),
            ("arguments", arguments.into()),
        ]))
    }

    /// A word of a command: where it is one of the names in braces, what that stands for. Nothing within a word is replaced, so that no path
    /// and no JSON can become more than one argument.
    pub fn filled(&self, word: &OsString) -> OsString {
        let name = word.to_str().and_then(|word| word.strip_prefix('{')?.strip_suffix('}'));
        name.and_then(|name| self.0.get(name)).unwrap_or(word).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_stand_for_something() {
        let (library, home) = (Path::new("/l i b.so"), Path::new("/home"));
        let placeholders =
            Placeholders::of("id", "violent", library, home, ("do", r#"{"deed":"abort"}"#));
        for (word, expected) in [
            ("{library}", "/l i b.so"),
            ("{arguments}", r#"{"deed":"abort"}"#),
            ("--home={home}", "--home={home}"),
            ("{unknown}", "{unknown}"),
            ("{", "{"),
        ] {
            assert_eq!(placeholders.filled(&word.into()), expected);
        }
        for (name, _) in Placeholders::NAMES {
            let word = OsString::from(format!("{{{name}}}"));
            assert_ne!(placeholders.filled(&word), word);
        }
    }
}
