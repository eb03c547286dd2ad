//! Finds the known word that somebody may have meant by an unknown one.

/// The most similar of the known words, where one is similar: it begins like the wanted one, or about a third of its letters differ.
pub(crate) fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let tolerance = (wanted.len() / 3).max(1);
    let begins = |whole: &str, part: &str| part.len() >= 3 && whole.starts_with(part);
    let distance = |word: &str| match begins(word, wanted) || begins(wanted, word) {
        true => 1,
        false => strsim::osa_distance(wanted, word),
    };
    let rated = known.into_iter().map(|word| (distance(word), word));
    rated.filter(|(distance, _)| *distance <= tolerance).min().map(|(_, word)| word)
}

/// The words in quotes, as a list in a sentence.
pub(crate) fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("{word:?}")).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_similar_word_is_near() {
        let known = ["plugins", "providers", "limits", "log"];
        let cases = [
            ("plugin", Some("plugins")),
            ("limit", Some("limits")),
            ("porviders", Some("providers")),
            ("logs", Some("log")),
            ("telemetry", None),
            ("", None),
        ];
        for (wanted, expected) in cases {
            assert_eq!(nearest(wanted, known), expected, "{wanted:?}");
        }
    }
}
