//! Lays JSON out over lines without reading its values: every digit and every member stays as it was written.

use serde::de::IgnoredAny;

/// An object or array over as many lines as it has parts; any other text as it is.
pub(crate) fn lay_out(text: &str) -> String {
    let text = text.trim();
    if !text.starts_with(['{', '[']) || serde_json::from_str::<IgnoredAny>(text).is_err() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(2 * text.len());
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    let new_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    for character in text.chars() {
        if quoted {
            out.push(character);
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
            continue;
        }
        match character {
            '"' => {
                quoted = true;
                out.push('"');
            }
            '{' | '[' => {
                depth += 1;
                out.push(character);
                new_line(&mut out, depth);
            }
            '}' | ']' => {
                depth -= 1;
                let empty = out.trim_end().ends_with(['{', '[']);
                out.truncate(out.trim_end().len());
                if !empty {
                    new_line(&mut out, depth);
                }
                out.push(character);
            }
            ',' => {
                out.push(',');
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            character if character.is_ascii_whitespace() => {}
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_but_space() {
        let cases = [
            (
                r#"{"b":1.00000000000000000001,"a":[true, null]}"#,
                "{\n  \"b\": 1.00000000000000000001,\n  \"a\": [\n    true,\n    null\n  ]\n}",
            ),
            (r#" { } "#, "{}"),
            (r#"{"a":[ ],"b":{}}"#, "{\n  \"a\": [],\n  \"b\": {}\n}"),
            (r#"{"a":"x, {y}: \"[z]\\"}"#, "{\n  \"a\": \"x, {y}: \\\"[z]\\\\\"\n}"),
            (r#"{"a":"b[ ","c":"]"}"#, "{\n  \"a\": \"b[ \",\n  \"c\": \"]\"\n}"),
            ("{not JSON}", "{not JSON}"),
            ("a text", "a text"),
        ];
        for (text, expected) in cases {
            assert_eq!(lay_out(text), expected);
        }
    }
}
