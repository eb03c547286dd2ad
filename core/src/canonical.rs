//! One text for each JSON value, however it was written, and a digest of it.

use std::fmt;

use serde_json::{Number, Value};
use sha2::{Digest as _, Sha256};

/// The value as the one text that every spelling of it has: members sorted by the bytes of their names, no space, and nothing left
/// out however long it is.
///
/// Numbers that are equal are written alike: `1.0`, `1e0` and `1` are `1`, and `-0.0` is `0`. A model or a JavaScript client can't
/// tell them apart, so they must not make two calls of one. Whole numbers of 64 bits keep every digit. Strings keep every character:
/// `é` as one character and as two are different.
///
/// ```
/// use serde_json::json;
/// use toolbay_core::canonical;
///
/// assert_eq!(canonical(&json!({"b": [1.0, 0.5], "a": "é"})), r#"{"a":"é","b":[1,0.5]}"#);
/// ```
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut |part| text.push_str(part));
    text
}

/// The digest of a value's [`canonical`] text.
///
/// ```
/// use serde_json::json;
/// use toolbay_core::digest;
///
/// assert_eq!(digest(&json!({"a": 1, "b": 2})), digest(&json!({"b": 2, "a": 1.0})));
/// assert_ne!(digest(&json!({"a": 1})), digest(&json!({"a": "1"})));
/// ```
pub fn digest(value: &Value) -> Digest {
    let mut hasher = Sha256::new();
    update(&mut hasher, value);
    Digest::of(hasher)
}

/// The value of a JSON text, where its canonical text tells it from every other one; otherwise the text itself. A number can have more
/// digits than a value keeps.
pub(crate) fn exact(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value) if numbers(text).all(is_kept) => value,
        _ => Value::from(text),
    }
}

/// The numbers of a JSON text, as they are written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(|char: char| char == '"' || char == '-' || char.is_ascii_digit())?;
            rest = &rest[at..];
            if let Some(string) = rest.strip_prefix('"') {
                rest = after_string(string);
                continue;
            }
            let number = |char: char| char.is_ascii_digit() || "+-.eE".contains(char);
            let end = rest.find(|char| !number(char)).unwrap_or(rest.len());
            let (found, after) = rest.split_at(end);
            rest = after;
            return Some(found);
        }
    })
}

fn after_string(string: &str) -> &str {
    let mut escaped = false;
    let end = string.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or("", |end| &string[end + 1..])
}

/// Whether a number is read without losing any of its digits.
fn is_kept(number: &str) -> bool {
    const EXACT_DIGITS: usize = 15;
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    digits <= EXACT_DIGITS || number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok()
}

/// Adds the canonical text of a value to what is hashed.
pub(crate) fn update(hasher: &mut Sha256, value: &Value) {
    write(value, &mut |part| hasher.update(part.as_bytes()));
}

/// A SHA-256 hash, shown as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    /// The fewest digits by which a person names a digest.
    pub const MIN_DIGITS: usize = 12;

    /// Whether these are the digits of this digest, or enough of the first of them.
    pub fn is_named_by(&self, digits: &str) -> bool {
        digits.len() >= Self::MIN_DIGITS && self.to_string().starts_with(digits)
    }

    /// The hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

fn write(value: &Value, out: &mut impl FnMut(&str)) {
    match value {
        Value::Number(number) => out(&canonical_number(number)),
        Value::Array(items) => {
            out("[");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out(",");
                }
                write(item, out);
            }
            out("]");
        }
        Value::Object(members) => {
            // Whether a map is sorted depends on a feature that any crate of a build can switch.
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            out("{");
            for (at, (name, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    out(",");
                }
                out(&Value::from(name.as_str()).to_string());
                out(":");
                write(value, out);
            }
            out("}");
        }
        Value::Null | Value::Bool(_) | Value::String(_) => out(&value.to_string()),
    }
}

fn canonical_number(number: &Number) -> String {
    // Beyond this no whole number is kept as one, so that there is no second spelling.
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < LIMIT => {
            format!("{}", float as i128)
        }
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn of(text: &str) -> String {
        canonical(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn a_text_is_exact_as_far_as_its_numbers_are_kept() {
        let same = [
            (
                r#"{"a": 1.0, "b": "1.00000000000000000001"}"#,
                r#"{"b":"1.00000000000000000001","a":1}"#,
            ),
            ("[18446744073709551615, -3]", " [ 18446744073709551615,-3 ]"),
            (r#"["\"1.00000000000000000001", "\\", 2]"#, r#"["\"1.00000000000000000001","\\",2]"#),
        ];
        for (one, other) in same {
            assert_eq!(digest(&exact(one)), digest(&exact(other)), "{one}");
        }
        let different = [
            ("[1.00000000000000000001]", "[1.0]"),
            ("[123456789012345678901]", "[123456789012345678902]"),
            (r#"["\\", 1.00000000000000000001]"#, r#"["\\", 1.0]"#),
            ("[1]", "[\"1\"]"),
        ];
        for (one, other) in different {
            assert_ne!(digest(&exact(one)), digest(&exact(other)), "{one}");
        }
    }

    #[test]
    fn each_spelling_of_a_value_has_the_same_text() {
        let cases = [
            (r#" { "b" : 1 , "a" : [ ] } "#, r#"{"a":[],"b":1}"#),
            (r#"{"b":{"d":1,"c":2},"a":0}"#, r#"{"a":0,"b":{"c":2,"d":1}}"#),
            ("[1.0, 1e0, 10e-1, 1]", "[1,1,1,1]"),
            ("[-0.0, -0, 0]", "[0,0,0]"),
            ("[0.1, 1e-1, 0.10]", "[0.1,0.1,0.1]"),
            ("[18014398509481984.0, 18014398509481984]", "[18014398509481984,18014398509481984]"),
            (
                "[9223372036854775807, 18446744073709551615]",
                "[9223372036854775807,18446744073709551615]",
            ),
            ("[1e300, 1e20, 100000000000000000000]", "[1e+300,1e+20,1e+20]"),
            (r#""\u00e9\/\n""#, r#""é/\n""#),
            ("[null, true, false, \"\"]", "[null,true,false,\"\"]"),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn different_values_have_different_texts() {
        let values = [
            json!(1),
            json!("1"),
            json!(1.5),
            json!([1]),
            json!({"1": 1}),
            json!(null),
            json!("null"),
            json!(true),
            json!({}),
            json!([]),
            json!("é"),
            json!("e\u{301}"),
            json!({"a": {"b": 1}}),
            json!({"a": 1, "b": 1}),
            json!("x".repeat(1_000) + "a"),
            json!("x".repeat(1_000) + "b"),
        ];
        for (at, one) in values.iter().enumerate() {
            for (other_at, other) in values.iter().enumerate() {
                assert_eq!(digest(one) == digest(other), at == other_at, "{one} {other}");
                assert_eq!(canonical(one) == canonical(other), at == other_at, "{one} {other}");
            }
        }
    }

    #[test]
    fn a_digest_is_the_hash_of_the_text() {
        let value = json!({"b": [1.0, {"c": "\"é"}], "a": null});
        let expected = Digest::of(Sha256::new().chain_update(canonical(&value)));
        assert_eq!(digest(&value), expected);
        let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(digest(&json!({})).to_string(), empty);
    }

    /// A JSON text with its members in a given order, and one with them in the opposite order and some space.
    fn two_spellings() -> impl Strategy<Value = (String, String)> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<i64>().prop_map(|number| number.to_string()),
            any::<f64>().prop_filter_map("JSON has none such", |number| {
                serde_json::Number::from_f64(number).map(|number| number.to_string())
            }),
            any::<String>().prop_map(|text| Value::from(text).to_string()),
        ];
        leaf.prop_map(|text| (text.clone(), text)).prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|items| {
                    let (one, other): (Vec<_>, Vec<_>) = items.into_iter().unzip();
                    (format!("[{}]", one.join(",")), format!("[ {} ]", other.join(" , ")))
                }),
                prop::collection::btree_map("[a-f]{1,3}", inner, 0..4).prop_map(|members| {
                    let (one, mut other): (Vec<_>, Vec<_>) = members
                        .into_iter()
                        .map(|(name, (one, other))| {
                            (format!("\"{name}\":{one}"), format!("\n\"{name}\" : {other}"))
                        })
                        .unzip();
                    other.reverse();
                    (format!("{{{}}}", one.join(",")), format!("{{{}}}", other.join(" ,")))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_text_does_not_depend_on_the_order_of_members((one, other) in two_spellings()) {
            let text = of(&one);
            prop_assert_eq!(&text, &of(&other));
            prop_assert_eq!(&text, &of(&text), "it is its own canonical text");
        }
    }
}
