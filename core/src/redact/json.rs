//! Masks secrets in a JSON text, and leaves every other byte of it alone.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::{MASK, names::Secrecy, text};
use crate::json::skip_string;

/// How many levels of JSON within a text within JSON are looked into as JSON.
const MAX_LEVELS: usize = 4;

/// The JSON text with its secrets masked, or `None` where it is no JSON.
pub(super) fn redacted(json: &str) -> Option<Cow<'_, str>> {
    within(json, MAX_LEVELS)
}

fn within(json: &str, levels: usize) -> Option<Cow<'_, str>> {
    serde_json::from_str::<IgnoredAny>(json).ok()?;
    Some(Walk { json, at: 0, copied: 0, out: String::new(), levels }.redacted())
}

/// A walk over a valid JSON text, from string to string: what is between them is no secret, but for the value of a secret name.
struct Walk<'a> {
    json: &'a str,
    at: usize,
    /// Up to where the text is in `out`.
    copied: usize,
    out: String,
    levels: usize,
}

impl<'a> Walk<'a> {
    fn redacted(mut self) -> Cow<'a, str> {
        while let Some(found) = self.json[self.at..].find('"') {
            let start = self.at + found;
            let end = end_of_string(self.json, start);
            let decoded = decoded(&self.json[start..end]);
            self.at = end;
            if let Some(changed) =
                decoded.as_deref().map_or(Some(MASK.into()), |text| self.text(text))
            {
                self.replace(start, end, &changed);
            }
            if let Some(value) = after_colon(self.json, end) {
                self.at = value;
                self.member(&decoded.unwrap_or_default());
            }
        }
        if self.copied == 0 {
            return Cow::Borrowed(self.json);
        }
        self.out.push_str(&self.json[self.copied..]);
        Cow::Owned(self.out)
    }

    /// Masks the value that comes next, where the name says that it is a secret.
    fn member(&mut self, name: &str) {
        let secrecy = Secrecy::of(name);
        if secrecy == Secrecy::Open {
            return;
        }
        let (start, end) = (self.at, end_of_value(self.json, self.at));
        let written = &self.json[start..end];
        let is_spared = match written.strip_prefix('"') {
            Some(_) => decoded(written).is_some_and(|text| secrecy.spares(&text)),
            None => secrecy.spares(written),
        };
        if !is_spared {
            self.replace(start, end, MASK);
        }
        self.at = end;
    }

    /// A text within the JSON with its secrets masked, where it has any.
    fn text(&self, text: &str) -> Option<String> {
        if self.levels > 0
            && text.trim_start().starts_with(['{', '['])
            && let Some(json) = within(text, self.levels - 1)
        {
            return owned(json);
        }
        owned(text::redacted(text))
    }

    fn replace(&mut self, start: usize, end: usize, text: &str) {
        let replacement = serde_json::Value::from(text).to_string();
        if self.json[start..end] != *replacement {
            self.out.push_str(&self.json[self.copied..start]);
            self.out.push_str(&replacement);
            self.copied = end;
        }
    }
}

fn owned(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(text),
    }
}

/// The text of a JSON string with its quotes.
fn decoded(string: &str) -> Option<Cow<'_, str>> {
    let inside = string.strip_prefix('"')?.strip_suffix('"')?;
    match inside.contains('\\') {
        false => Some(Cow::Borrowed(inside)),
        true => serde_json::from_str(string).ok().map(Cow::Owned),
    }
}

fn end_of_string(json: &str, start: usize) -> usize {
    let mut bytes = json.as_bytes()[start..].iter().copied();
    bytes.next();
    skip_string(&mut bytes);
    json.len() - bytes.len()
}

/// The place of the value where a name ended.
fn after_colon(json: &str, end: usize) -> Option<usize> {
    let value = json[end..].trim_ascii_start().strip_prefix(':')?;
    Some(json.len() - value.trim_ascii_start().len())
}

fn end_of_value(json: &str, start: usize) -> usize {
    let mut bytes = json.as_bytes()[start..].iter().copied();
    let mut depth = 0_usize;
    let mut rest = bytes.len();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'{' | b'[' => depth += 1,
            // The end of whatever the value is in.
            b'}' | b']' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            b',' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => break,
            _ => {}
        }
        rest = bytes.len();
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            break;
        }
    }
    json.len() - rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> String {
        redacted(json).unwrap().into_owned()
    }

    #[test]
    fn the_values_of_secret_names_are_masked_at_any_depth_and_of_any_type() {
        let cases = [
            (r#"{"token":"x"}"#, r#"{"token":"***"}"#),
            (r#"{"a":[{"b":{"password":"x"}}]}"#, r#"{"a":[{"b":{"password":"***"}}]}"#),
            (r#"{"password":12,"a":1}"#, r#"{"password":"***","a":1}"#),
            (r#"{"secret" : [1, {"a":"]"}] , "a":1}"#, r#"{"secret" : "***" , "a":1}"#),
            (r#"{"credentials":{"user":"x","b":{}}}"#, r#"{"credentials":"***"}"#),
            (r#"{"pass\u0077ord":"x"}"#, r#"{"pass\u0077ord":"***"}"#),
            (r#"{"token":"a\"b,}"}"#, r#"{"token":"***"}"#),
            (r#"{"token":-1.5e3}"#, r#"{"token":"***"}"#),
            (r#"[{"cookie":"a"},{"cookie":"b"}]"#, r#"[{"cookie":"***"},{"cookie":"***"}]"#),
        ];
        for (json, expected) in cases {
            assert_eq!(of(json), expected);
        }
    }

    #[test]
    fn what_is_no_secret_stays_to_the_byte() {
        for json in [
            r#" { "b" : 1.50 , "a":[ ], "big": 123456789012345678901234567890, "b": "é\u00e9\/" } "#,
            r#"{"max_tokens":4096,"token_count":3,"usage":{"prompt_tokens":12,"tokens":"7"}}"#,
            r#"{"password":null,"secret":false,"token":"","cookie":true}"#,
            r#"{"key":"value","public_key":"x","text":"no secrets, just words: a, b = c"}"#,
            r#""token""#,
            r#"["token","x"]"#,
            "1",
            "null",
        ] {
            assert_eq!(of(json), json);
            assert!(matches!(redacted(json), Some(Cow::Borrowed(_))), "{json}");
        }
    }

    #[test]
    fn texts_and_names_are_looked_into() {
        let cases = [
            (r#"{"h":"Authorization: Bearer abc"}"#, r#"{"h":"Authorization: ***"}"#),
            (r#"["a","password=b\nc"]"#, r#"["a","password=***\nc"]"#),
            (r#"{"https://a:b@c":1}"#, r#"{"https://a:***@c":1}"#),
            (
                r#"{"body":"{\"password\": [\"a\", \"b\"]}"}"#,
                r#"{"body":"{\"password\": \"***\"}"}"#,
            ),
            (
                r#"{"body":"{\"body\":\"{\\\"token\\\":\\\"a b\\\"}\"}"}"#,
                r#"{"body":"{\"body\":\"{\\\"token\\\":\\\"***\\\"}\"}"}"#,
            ),
            (r#"{"body":"{token: a}"}"#, r#"{"body":"{token: ***"}"#),
            // What can't be read is not shown.
            (r#"{"a":"\ud800 token=x"}"#, r#"{"a":"***"}"#),
        ];
        for (json, expected) in cases {
            assert_eq!(of(json), expected);
        }
    }

    #[test]
    fn what_is_no_json_is_left_to_others() {
        for text in ["", "{", "token=x", r#"{"token":"x"} x"#, r#"{'token':'x'}"#] {
            assert!(redacted(text).is_none(), "{text}");
        }
    }

    #[test]
    fn depth_is_no_danger() {
        let (open, close) = (r#"{"a":["#.repeat(50_000), "]}".repeat(50_000));
        let json = format!(r#"{open}{{"token":"x"}}{close}"#);
        assert_eq!(of(&json), format!(r#"{open}{{"token":"***"}}{close}"#));
    }
}
