//! The words that occur in the catalogue, and those among them that are spelt nearly like another one.

use strsim::damerau_levenshtein;

/// The most words that one word is taken for.
const MAX_SIMILAR: usize = 40;

/// The words of the catalogue, by their number of characters.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    by_length: Vec<Vec<Word>>,
}

#[derive(Debug)]
struct Word {
    text: Box<str>,
    letters: u32,
    /// How many entries have it.
    entries: u32,
}

impl Vocabulary {
    /// Adds a word that so many entries have. One with a digit is left out: 2026 is not nearly 2025.
    pub(crate) fn add(&mut self, text: String, entries: u32) {
        if text.contains(char::is_numeric) {
            return;
        }
        let length = text.chars().count();
        if self.by_length.len() <= length {
            self.by_length.resize_with(length + 1, Vec::new);
        }
        let letters = letters(&text);
        self.by_length[length].push(Word { text: text.into_boxed_str(), letters, entries });
    }

    /// The words spelt nearly like this one: those that differ in one place, or in two from eight characters on. The nearest come
    /// first, then the most frequent. Words that begin with this one are not among them.
    pub(crate) fn similar(&self, word: &str) -> Vec<&str> {
        let length = word.chars().count();
        let allowed = match length {
            0..4 => return Vec::new(),
            4..8 => 1,
            _ => 2,
        };
        let mine = letters(word);
        let last = self.by_length.len().min(length + allowed + 1);
        let mut similar = self.by_length[last.min(length - allowed)..last]
            .iter()
            .flatten()
            // Each edit adds a letter, removes one, or does both; so most words are out without a look at their spelling.
            .filter(|other| (other.letters ^ mine).count_ones() as usize <= 2 * allowed)
            .filter(|other| !other.text.starts_with(word))
            .map(|other| (damerau_levenshtein(word, &other.text), other))
            .filter(|(distance, _)| *distance <= allowed)
            .collect::<Vec<_>>();
        similar.sort_unstable_by(|(one_distance, one), (other_distance, other)| {
            let by_distance = one_distance.cmp(other_distance);
            by_distance
                .then(other.entries.cmp(&one.entries))
                .then_with(|| one.text.cmp(&other.text))
        });
        similar.truncate(MAX_SIMILAR);
        similar.into_iter().map(|(_, word)| &*word.text).collect()
    }
}

/// The set of letters in a word, several to a bit.
fn letters(word: &str) -> u32 {
    word.chars().fold(0, |set, char| set | 1 << (u32::from(char) % 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_words_are_within_the_distance_that_their_length_allows() {
        let mut vocabulary = Vocabulary::default();
        for word in
            ["art", "kurs", "kurz", "python", "pythons", "programming", "programmieren", "malerei"]
        {
            vocabulary.add(word.to_owned(), 1);
        }
        let cases: [(&str, &[&str]); 12] = [
            ("arts", &["art"]),
            ("ark", &[]),
            ("kurs", &["kurz"]),
            ("kurse", &["kurs"]),
            ("pyhton", &["python"]),
            ("phyton", &[]),
            ("pytho", &[]),
            ("pytohns", &["pythons"]),
            ("prorgaming", &["programming"]),
            ("prgrmming", &["programming"]),
            ("prgrming", &[]),
            ("", &[]),
        ];
        for (word, expected) in cases {
            assert_eq!(vocabulary.similar(word), expected, "{word}");
        }
        assert_eq!(Vocabulary::default().similar("anything"), Vec::<&str>::new());
    }

    #[test]
    fn the_nearest_and_then_the_most_frequent_come_first() {
        let mut vocabulary = Vocabulary::default();
        for (word, entries) in
            [("gradening", 9), ("gardeming", 1), ("gardeing", 5), ("gerdemung", 9)]
        {
            vocabulary.add(word.to_owned(), entries);
        }
        assert_eq!(vocabulary.similar("gardening"), ["gradening", "gardeing", "gardeming"]);
        for number in 0..100 {
            vocabulary.add(format!("gardenin{}", char::from(b'A' + number % 60)), 1);
        }
        assert_eq!(vocabulary.similar("gardening").len(), MAX_SIMILAR);
    }
}
