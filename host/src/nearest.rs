//! Finds the known word that somebody may have meant by an unknown one.

use toolbay_loader::similar;

/// The most similar of the known words, where one is similar.
pub(crate) fn nearest<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    similar(wanted, known.into_iter(), 1).pop()
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
