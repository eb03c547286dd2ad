//! The words of a query, as expressions for the index.

use toolbay_plugin_api::output;

use crate::{
    fold::{fold, words},
    vocabulary::Vocabulary,
};

/// The most words of a query that are looked for.
const MAX_WORDS: usize = 12;

/// How near an entry's words are to the query's.
#[output]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Closeness {
    /// They are the same.
    Exact,
    /// Some begin with the query's.
    Prefix,
    /// Some are spelt nearly like the query's.
    Similar,
}

/// How many of the words an entry has.
#[output]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Joined {
    /// All of them.
    All,
    /// Some of them.
    Some,
}

/// The words of a query.
pub(crate) struct Words(Vec<Word>);

struct Word {
    text: String,
    similar: Vec<String>,
}

/// What the index is asked.
pub(crate) struct Expression {
    pub(crate) text: String,
    pub(crate) joined: Joined,
    pub(crate) closeness: Closeness,
}

impl Words {
    /// The first words of the query, each once. Whatever else stands in it says nothing.
    pub(crate) fn new(query: &str, vocabulary: &Vocabulary) -> Self {
        let folded = fold(query);
        let mut texts = Vec::new();
        for text in words(&folded) {
            if texts.len() < MAX_WORDS && !texts.contains(&text) {
                texts.push(text);
            }
        }
        let word = |text: &str| {
            let similar = vocabulary.similar(text).into_iter().map(str::to_owned).collect();
            Word { text: text.to_owned(), similar }
        };
        Self(texts.into_iter().map(word).collect())
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The expressions to ask in turn: for all the words, then for some of them; in each case the nearest first.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = Expression> {
        let joined: &[Joined] =
            if self.0.len() == 1 { &[Joined::All] } else { &[Joined::All, Joined::Some] };
        let has_similar = self.0.iter().any(|word| !word.similar.is_empty());
        let closeness: &[Closeness] = if has_similar {
            &[Closeness::Exact, Closeness::Prefix, Closeness::Similar]
        } else {
            &[Closeness::Exact, Closeness::Prefix]
        };
        joined.iter().flat_map(move |joined| {
            closeness.iter().map(move |closeness| self.expression(*joined, *closeness))
        })
    }

    fn expression(&self, joined: Joined, closeness: Closeness) -> Expression {
        let operator = match joined {
            Joined::All => " AND ",
            Joined::Some => " OR ",
        };
        let terms = self.0.iter().map(|word| word.term(closeness)).collect::<Vec<_>>();
        Expression { text: terms.join(operator), joined, closeness }
    }
}

impl Word {
    /// The word in the index's language. A word is letters and digits alone, and stands in quotes, so that none of it is an operator.
    fn term(&self, closeness: Closeness) -> String {
        let text = &self.text;
        match closeness {
            Closeness::Exact => format!("\"{text}\""),
            // One letter begins too much.
            Closeness::Prefix | Closeness::Similar if text.chars().nth(1).is_none() => {
                format!("\"{text}\"")
            }
            Closeness::Prefix => format!("\"{text}\" *"),
            Closeness::Similar => {
                let similar = self.similar.iter().map(|other| format!(" OR \"{other}\""));
                format!("(\"{text}\" *{})", similar.collect::<String>())
            }
        }
    }
}
