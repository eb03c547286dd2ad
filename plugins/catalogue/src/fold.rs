//! The form in which words are compared: without case, accents and ligatures.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The text in the form in which it is compared: `Straße` and `STRASSE` are equal, `Öl` and `ol` are too.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    for char in text.to_lowercase().nfkd().filter(|char| !is_combining_mark(*char)) {
        // The letters that Unicode does not take apart.
        match char {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' => folded.push('d'),
            'ı' => folded.push('i'),
            other => folded.push(other),
        }
    }
    folded
}

/// The words of a folded text.
pub(crate) fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_and_ligatures_fold_away() {
        for (text, expected) in [
            ("Python", "python"),
            ("Öl auf Leinwand", "ol auf leinwand"),
            ("STRASSE Straße STRAẞE", "strasse strasse strasse"),
            ("Ångström", "angstrom"),
            ("o\u{308}l", "ol"),
            ("Œuvre Ærø ŁÓDŹ", "oeuvre aero lodz"),
            ("ﬁn ①", "fin 1"),
            ("İstanbul", "istanbul"),
        ] {
            assert_eq!(fold(text), expected);
        }
    }

    #[test]
    fn words_end_where_letters_and_digits_do() {
        let all = |text| words(text).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(all("py-101: c++ (\"web\")"), ["py", "101", "c", "web"]);
        assert_eq!(all(" -*\"' "), Vec::<String>::new());
    }
}
