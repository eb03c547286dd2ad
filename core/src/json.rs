//! What can be told of a JSON text without parsing it into values.

use serde_json::Value;

/// How deep arrays and objects nest in a valid JSON text: 0 for a scalar, 1 for `{}`.
pub(crate) fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    deepest
}

/// Moves on behind the end of a string whose opening quote was just read.
pub(crate) fn skip_string(bytes: &mut impl Iterator<Item = u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

/// What kind of value it is, with its article, for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_strings() {
        let cases = [
            ("7", 0),
            ("{}", 1),
            (r#"[{"a":[]},[]]"#, 3),
            (r#"{"a":"[[[","b":"\"{{","c":"\\"}"#, 1),
            (r#"["\\",[]]"#, 2),
        ];
        for (json, expected) in cases {
            assert_eq!(depth(json), expected, "{json}");
        }
    }
}
