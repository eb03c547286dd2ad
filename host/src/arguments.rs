//! From the words of a command line to the arguments of a call.

use std::io::{self, Read};

use serde_json::{Map, Value};
use thiserror::Error;
use toolbay_loader::{Coercion, Schema, Toolbay};

/// Why words are no arguments.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum ArgumentsError {
    /// A word is none of the forms.
    ///
    /// Resolution: write one of them.
    #[error("argument {word:?}: expected key=value, key:=JSON, or one JSON object alone")]
    NotAPair {
        /// The word.
        word: String,
    },
    /// The value after `:=` is no JSON.
    ///
    /// Resolution: correct the value, or write `=` for a text.
    #[error("argument {key:?}: expected JSON after \":=\", found {found:?}")]
    NotJson {
        /// The key.
        key: String,
        /// The value.
        found: String,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A key is given several times, and the tool takes no list there.
    ///
    /// Resolution: give it once.
    #[error("argument {key:?}: expected one value, found {count}")]
    Repeated {
        /// The key.
        key: String,
        /// How often it is given.
        count: usize,
    },
    /// Standard input can't be read as text.
    ///
    /// Resolution: pipe JSON in UTF-8 into the command.
    #[error("arguments from standard input: not readable as text")]
    Input(#[source] io::Error),
}

/// The arguments as they stand on the command line.
#[derive(Debug, PartialEq)]
pub(crate) enum Given {
    /// A JSON text, not looked into; empty for no arguments.
    Json(String),
    /// Whatever standard input holds.
    StandardInput,
    /// Keys with values.
    Pairs(Vec<Pair>),
}

/// One key with one value.
#[derive(Debug, PartialEq)]
pub(crate) struct Pair {
    key: String,
    value: Written,
}

#[derive(Debug, PartialEq)]
enum Written {
    /// After `=`: the tool's schema says what it is.
    Text(String),
    /// After `:=`.
    Json(Value),
}

impl From<Written> for Value {
    fn from(written: Written) -> Self {
        match written {
            Written::Text(text) => Self::String(text),
            Written::Json(value) => value,
        }
    }
}

impl Given {
    /// Tells the forms apart: nothing, `-`, one JSON text, or pairs.
    pub(crate) fn parse(words: &[String]) -> Result<Self, ArgumentsError> {
        match words {
            [] => Ok(Self::Json(String::new())),
            [word] if word == "-" => Ok(Self::StandardInput),
            [word] if word.trim_start().starts_with(['{', '[']) => Ok(Self::Json(word.clone())),
            words => words.iter().map(|word| pair(word)).collect::<Result<_, _>>().map(Self::Pairs),
        }
    }

    /// The arguments of a call of this tool, typed by its schema where it is registered.
    pub(crate) fn for_tool(
        self,
        tool: &str,
        toolbay: &Toolbay,
        input: impl Read,
    ) -> Result<String, ArgumentsError> {
        let registry = toolbay.registry();
        let schema = registry.get(tool).map(|entry| entry.definition().schema());
        self.into_json(schema, input, toolbay.config().limits.argument_bytes)
    }

    /// The arguments as JSON text, typed by the tool's schema where they are pairs. Of standard input, `limit` bytes and one more
    /// are read: what is longer is refused anyway.
    pub(crate) fn into_json(
        self,
        schema: Option<&Schema>,
        input: impl Read,
        limit: usize,
    ) -> Result<String, ArgumentsError> {
        match self {
            Self::Json(text) => Ok(text),
            Self::StandardInput => {
                let mut text = String::new();
                let limit = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
                input.take(limit).read_to_string(&mut text).map_err(ArgumentsError::Input)?;
                Ok(text)
            }
            Self::Pairs(pairs) => {
                let coercion = schema.map(Schema::coercion);
                object(pairs, coercion.as_ref()).map(|object| Value::Object(object).to_string())
            }
        }
    }
}

fn pair(word: &str) -> Result<Pair, ArgumentsError> {
    let not_a_pair = || ArgumentsError::NotAPair { word: word.to_owned() };
    let (key, value) = word.split_once('=').ok_or_else(not_a_pair)?;
    let (key, value) =
        match key.strip_suffix(':') {
            Some(key) => {
                let json = serde_json::from_str(value).map_err(|source| {
                    ArgumentsError::NotJson { key: key.to_owned(), found: value.to_owned(), source }
                })?;
                (key, Written::Json(json))
            }
            None => (key, Written::Text(value.to_owned())),
        };
    if key.is_empty() {
        return Err(not_a_pair());
    }
    Ok(Pair { key: key.to_owned(), value })
}

/// The members, read as what the schema wants; without one every value after `=` is a text.
fn object(
    pairs: Vec<Pair>,
    coercion: Option<&Coercion>,
) -> Result<Map<String, Value>, ArgumentsError> {
    let mut keys: Vec<(String, Vec<Value>)> = Vec::new();
    for Pair { key, value } in pairs {
        match keys.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value.into()),
            None => keys.push((key, vec![value.into()])),
        }
    }
    let mut object = Map::new();
    for (key, values) in keys {
        let value = match <[Value; 1]>::try_from(values) {
            Ok([value]) => value,
            Err(values) if coercion.is_some_and(|coercion| coercion.takes_list(&key)) => {
                Value::Array(values)
            }
            Err(values) => return Err(ArgumentsError::Repeated { key, count: values.len() }),
        };
        object.insert(key, value);
    }
    if let Some(coercion) = coercion {
        coercion.coerce(&mut object);
    }
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r##"{
        "type": "object",
        "$defs": { "Language": { "oneOf": [{ "const": "en" }, { "enum": ["de"] }] }, "Loop": { "$ref": "#/$defs/Loop" },
                   "Nested": { "type": "array", "items": { "$ref": "#/$defs/Nested" } } },
        "properties": {
            "text": { "type": "string" },
            "name": { "type": ["string", "null"] },
            "language": { "$ref": "#/$defs/Language" },
            "limit": { "type": "integer" },
            "ratio": { "type": ["number", "null"] },
            "loud": { "anyOf": [{ "type": "boolean" }, { "type": "null" }] },
            "tags": { "type": "array", "items": { "type": "string" } },
            "sizes": { "type": "array", "items": { "type": "integer" } },
            "one_or_more": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] },
            "filter": { "type": "object" },
            "loop": { "$ref": "#/$defs/Loop" },
            "nested": { "$ref": "#/$defs/Nested" }
        }
    }"##;

    fn json(words: &[&str]) -> Result<String, ArgumentsError> {
        let schema = Schema::parse(SCHEMA).unwrap();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Given::parse(&words)?.into_json(Some(&schema), &b"{\"from\": \"stdin\"}"[..], 100)
    }

    #[test]
    fn the_schema_says_what_a_value_is() {
        let cases: [(&[&str], &str); 26] = [
            (&["text=5"], r#"{"text":"5"}"#),
            (&["text="], r#"{"text":""}"#),
            (&["text=a=b:=c"], r#"{"text":"a=b:=c"}"#),
            (&["name=null"], r#"{"name":"null"}"#),
            (&["language=de"], r#"{"language":"de"}"#),
            (&["limit=5"], r#"{"limit":5}"#),
            (&["limit=-1"], r#"{"limit":-1}"#),
            // The validator says it better than a parser could.
            (&["limit=many"], r#"{"limit":"many"}"#),
            (&["limit=1.5"], r#"{"limit":"1.5"}"#),
            (&["ratio=0.5"], r#"{"ratio":0.5}"#),
            (&["ratio=null"], r#"{"ratio":null}"#),
            (&["loud=true"], r#"{"loud":true}"#),
            (&["loud=yes"], r#"{"loud":"yes"}"#),
            (&["tags=a"], r#"{"tags":["a"]}"#),
            (&["tags=a", "tags=5"], r#"{"tags":["a","5"]}"#),
            (&[r#"tags=["a", "b"]"#], r#"{"tags":["a","b"]}"#),
            (&["sizes=1", "sizes:=2"], r#"{"sizes":[1,2]}"#),
            (&["one_or_more=a"], r#"{"one_or_more":"a"}"#),
            (&["one_or_more=a", "one_or_more=b"], r#"{"one_or_more":["a","b"]}"#),
            (&[r#"filter={"a": 1}"#], r#"{"filter":{"a":1}}"#),
            (&["loop=a"], r#"{"loop":"a"}"#),
            (&["nested=a"], r#"{"nested":"a"}"#),
            (&["nested=[[]]"], r#"{"nested":[[]]}"#),
            (&["unknown=1"], r#"{"unknown":"1"}"#),
            (&["limit=1", "text=a"], r#"{"limit":1,"text":"a"}"#),
            (&["text:=[1, null]"], r#"{"text":[1,null]}"#),
        ];
        for (words, expected) in cases {
            assert_eq!(json(words).unwrap(), expected, "{words:?}");
        }
    }

    #[test]
    fn json_and_standard_input_pass_as_they_are() {
        let cases: [(&[&str], &str); 4] = [
            (&[], ""),
            (&[" {\"b\": 1,  \"a\": 2}"], " {\"b\": 1,  \"a\": 2}"),
            (&["[not looked into"], "[not looked into"),
            (&["-"], "{\"from\": \"stdin\"}"),
        ];
        for (words, expected) in cases {
            assert_eq!(json(words).unwrap(), expected, "{words:?}");
        }
    }

    #[test]
    fn standard_input_is_read_to_one_byte_beyond_the_limit() {
        let read = |limit| Given::StandardInput.into_json(None, &b"123456"[..], limit).unwrap();
        assert_eq!((read(4).as_str(), read(usize::MAX).as_str()), ("12345", "123456"));
    }

    #[test]
    fn other_words_are_refused() {
        for word in ["de", "=de", ":=1", "\"text\""] {
            let error = json(&[word]).unwrap_err();
            assert!(matches!(&error, ArgumentsError::NotAPair { word: found } if found == word));
        }
        assert!(matches!(json(&["limit=1", "{}"]), Err(ArgumentsError::NotAPair { .. })));
        assert!(matches!(json(&["limit:=many"]), Err(ArgumentsError::NotJson { .. })));
        let twice = json(&["limit=1", "limit=2"]);
        assert!(matches!(twice, Err(ArgumentsError::Repeated { count: 2, .. })));
        let not_utf8 = Given::StandardInput.into_json(None, &[0xff][..], 100);
        assert!(matches!(not_utf8, Err(ArgumentsError::Input(_))));
    }
}
