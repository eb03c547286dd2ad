//! The commands that the program tells people to run, in the form in which a shell takes them.

use std::path::Path;

/// How the program was run, as far as it matters to the next command.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// The name, and the home where the command line named it.
    prefix: String,
}

impl Program {
    /// The program with this home, where the command line named one.
    pub(crate) fn new(home: Option<&Path>) -> Self {
        let prefix = match home {
            None => "toolbay".to_owned(),
            Some(home) => format!("toolbay --home {}", quoted(&home.to_string_lossy())),
        };
        Self { prefix }
    }

    /// A command of the program.
    pub(crate) fn command<W: AsRef<str>>(&self, words: impl IntoIterator<Item = W>) -> String {
        let words = words.into_iter();
        words.fold(self.prefix.clone(), |line, word| format!("{line} {}", quoted(word.as_ref())))
    }
}

/// A word as a shell takes it. What no command line can hold is left as it is, and fails there.
fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_command_back_word_by_word() {
        let cases: [(Option<&str>, &[&str], &str); 3] = [
            (None, &["tool", "enable", "greet"], "toolbay tool enable greet"),
            (Some("/srv/bay"), &["list"], "toolbay --home /srv/bay list"),
            (
                Some("/srv/a b"),
                &["--skill", "x'y=a,b", ""],
                r#"toolbay --home '/srv/a b' --skill "x'y=a,b" ''"#,
            ),
        ];
        for (home, words, expected) in cases {
            let command = Program::new(home.map(Path::new)).command(words);
            assert_eq!(command, expected);
            let mut read = vec!["toolbay"];
            read.extend(home.iter().flat_map(|home| ["--home", home]));
            read.extend(words);
            assert_eq!(shlex::split(&command).unwrap(), read);
        }
    }
}
