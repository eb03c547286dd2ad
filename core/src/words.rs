//! Takes names and sentences apart into words, so that "rag" is not found in "storage".

/// The words of a text in lower case: runs of letters and digits, with `camelCase` and `HTTPServer` taken apart.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let begins = char.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() || chars.peek().is_some_and(|next| next.is_lowercase())
            });
        if (begins || !char.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
        before = char.is_alphanumeric().then_some(char);
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Whether a word is one of these verbs: as it is, as in "deletes", or as in "deleting".
///
/// Not as in "deleted": that tells of things that are so, as in "searches deleted notes".
pub(crate) fn is_verb(word: &str, verbs: &[&str]) -> bool {
    verbs.iter().any(|verb| is_form(word, verb))
}

fn is_form(word: &str, verb: &str) -> bool {
    if word == verb {
        return true;
    }
    let stem = &verb[..verb.len().saturating_sub(1)];
    let last = &verb[stem.len()..];
    if let Some(begin) = word.strip_suffix("ing") {
        // writing, running, deleting
        return begin == verb
            || last == "e" && begin == stem
            || begin.strip_suffix(last) == Some(verb);
    }
    // runs, pushes, copies
    word.strip_suffix('s') == Some(verb)
        || word.strip_suffix("es") == Some(verb)
        || last == "y" && word.strip_suffix("ies") == Some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sentences_fall_apart_at_the_same_places() {
        let cases: [(&str, &[&str]); 9] = [
            ("", &[]),
            ("delete_storage", &["delete", "storage"]),
            ("deleteStorage", &["delete", "storage"]),
            ("HTTPServer-v2", &["http", "server", "v2"]),
            ("s3Upload", &["s3", "upload"]),
            ("Finds notes, by date.", &["finds", "notes", "by", "date"]),
            ("ÄnderungLöschen", &["änderung", "löschen"]),
            ("--x..y--", &["x", "y"]),
            ("ID", &["id"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn verbs_are_known_in_the_forms_that_say_what_a_tool_does() {
        let verbs = ["delete", "run", "push", "query", "log", "put"];
        for word in [
            "delete", "deletes", "deleting", "runs", "running", "pushes", "pushing", "queries",
            "logs", "logging", "puts", "putting",
        ] {
            assert!(is_verb(word, &verbs), "{word}");
        }
        for word in ["deleted", "input", "catalog", "login", "runner", "putty", "ing", "s", "rung"]
        {
            assert!(!is_verb(word, &verbs), "{word}");
        }
    }
}
