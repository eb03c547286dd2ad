//! The search that a host makes itself where the user asked for one and the model did not.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    declaration::{Effect, Kind},
    definition::ToolDefinition,
    registry::Entry,
    words::{is_verb, words},
};

/// Words in the name of a tool that does more than search, or something else.
const UNSAFE: &[&str] = &[
    "analyze",
    "crawl",
    "create",
    "delete",
    "destroy",
    "extract",
    "fetch",
    "insert",
    "log",
    "map",
    "patch",
    "post",
    "put",
    "read",
    "remove",
    "scrape",
    "transcribe",
    "update",
    "write",
];

/// What a tool's words are worth.
const WORTH: [(&str, u32); 5] =
    [("web", 20), ("internet", 20), ("lookup", 20), ("browser", 20), ("research", 10)];

/// A search to make before anything else.
#[derive(Debug)]
pub struct ForcedSearch<'r> {
    /// The tool.
    pub entry: &'r Arc<Entry>,
    /// Its arguments, as a JSON text: `query` alone.
    pub arguments: String,
}

/// The search that is made for a user's words where a search is forced: by the tool with the highest [score](search_score), the first
/// of several, or by none where all have 0. Tools of the host itself are never forced, nor any that does not take the words as its
/// only argument `query`.
///
/// The query is what the user wrote, without the mention of somebody at its beginning, such as `@bot`. Whoever calls passes the
/// tools that are [offered](crate::offered).
pub fn forced_search<'r>(
    offered: impl IntoIterator<Item = &'r Arc<Entry>>,
    words: &str,
) -> Option<ForcedSearch<'r>> {
    let query = without_mention(words);
    if query.is_empty() {
        return None;
    }
    let arguments = Value::from(Map::from_iter([("query".to_owned(), Value::from(query))]));
    let mut best: Option<(u32, &Arc<Entry>)> = None;
    for entry in offered {
        let score = search_score(entry.definition());
        if score > best.map_or(0, |(highest, _)| highest)
            && !entry.provider().is_core()
            && takes(entry.definition(), &arguments)
        {
            best = Some((score, entry));
        }
    }
    let (_, entry) = best?;
    Some(ForcedSearch { entry, arguments: arguments.to_string() })
}

/// How well a tool suits to be searched with unasked, by what it declares and then by its words; 0 for one that must not be.
///
/// A tool that is not declared read-only has 0. One that declares to search has 40, whatever its description mentions. One that does
/// not say what it is for has 0 where a word of its name, such as `read` or `map`, means something else. One that declares to be for
/// something else has 0. Then `search` in the name counts 60, in the description 40, and `web`, `internet`, `lookup`, `browser` 20
/// and `research` 10.
pub fn search_score(tool: &ToolDefinition) -> u32 {
    let declarations = tool.declarations();
    let (name, description) = (words(tool.name().as_str()), words(tool.description()));
    let declared = match (declarations.effect, declarations.kind) {
        (Effect::ReadOnly, Kind::Search) => 40,
        (Effect::ReadOnly, Kind::Unknown) if !name.iter().any(|word| is_verb(word, UNSAFE)) => 0,
        _ => return 0,
    };
    let searches = |words: &[String]| words.iter().any(|word| is_verb(word, &["search"]));
    let named = if searches(&name) { 60 } else { 0 };
    let described = if searches(&description) { 40 } else { 0 };
    let worth = |(word, worth): (&str, u32)| {
        if name.iter().chain(&description).any(|found| found == word) { worth } else { 0 }
    };
    declared + named + described + WORTH.into_iter().map(worth).sum::<u32>()
}

fn takes(tool: &ToolDefinition, arguments: &Value) -> bool {
    tool.validator().is_ok_and(|validator| {
        validator.coercion().takes_text("query") && validator.is_valid(arguments)
    })
}

/// The text without an explicit mention at its beginning: `@name` or `@"a name"`, and a colon or comma after it.
fn without_mention(text: &str) -> &str {
    let text = text.trim();
    let Some(mention) = text.strip_prefix('@') else { return text };
    let rest = match mention.strip_prefix('"') {
        Some(quoted) => match quoted.split_once('"') {
            Some((name, rest)) if !name.is_empty() => rest,
            _ => return text,
        },
        None => match mention.find(|end: char| end.is_whitespace() || [':', ','].contains(&end)) {
            Some(0) => return text,
            Some(end) => &mention[end..],
            None => "",
        },
    };
    rest.trim_start_matches([':', ',']).trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_explicit_mention_at_the_beginning_is_left_out() {
        let cases = [
            ("what is new?", "what is new?"),
            ("@bot what is new?", "what is new?"),
            (" @bot: what is new? ", "what is new?"),
            ("@bot, what is new?", "what is new?"),
            ("@bot:what is new?", "what is new?"),
            ("@\"Course Bot\" what is new?", "what is new?"),
            ("@\"Course Bot\": what is new?", "what is new?"),
            ("what does @bot know?", "what does @bot know?"),
            ("bot, what is new?", "bot, what is new?"),
            ("ada@example.com wrote", "ada@example.com wrote"),
            ("@ home", "@ home"),
            ("@\"unfinished", "@\"unfinished"),
            ("@bot", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(without_mention(text), expected, "{text}");
        }
    }
}
