//! Masks secrets in what is written down about calls.

mod json;
mod names;
mod text;

use std::borrow::Cow;

/// What stands for a secret.
const MASK: &str = "***";

/// A JSON text with its secrets masked as `***`; what is no JSON is masked as [plain text](redact_text).
///
/// The value of a member whose name says that it is secret is masked as a whole, at any depth: `token`, `authorization`, `cookie`,
/// `password`, `secret`, `apiKey`, `private-key`, `signature`, `credentials`, `session` and the like, in any spelling. A name is
/// taken apart into words for that, so that `max_tokens` and `token_count` stay. `true`, `false`, `null` and empty texts stay, for
/// they are no secrets. In all other texts, JSON within them included, secrets are masked by their form as in plain text. Whatever
/// holds no secret stays as it is to the byte.
///
/// It is for records of what happened, not a proof: a secret without a telling name or form is not found. The work grows linearly
/// with the text.
///
/// ```
/// use toolbay_core::redact_json;
///
/// assert_eq!(
///     redact_json(r#"{"max_tokens": 5, "api_key": "abc", "headers": ["Authorization: Bearer xyz"]}"#),
///     r#"{"max_tokens": 5, "api_key": "***", "headers": ["Authorization: ***"]}"#,
/// );
/// ```
pub fn redact_json(text: &str) -> String {
    match json::redacted(text) {
        Some(redacted) => redacted.into_owned(),
        None => redact_text(text).into_owned(),
    }
}

/// A plain text with its secrets masked as `***`: values of secret names as in `password=x`, `"token": "x"` and `--api-key x`,
/// credentials after `Bearer` and `Basic`, passwords in addresses, private keys in PEM, JSON Web Tokens, and keys that begin as those
/// of well-known services do. See [`redact_json`] for the names.
///
/// ```
/// use toolbay_core::redact_text;
///
/// assert_eq!(redact_text("https://ada:pw@example.com/?page=2&token=abc"), "https://ada:***@example.com/?page=2&token=***");
/// assert_eq!(redact_text("prompt_tokens: 12"), "prompt_tokens: 12");
/// ```
pub fn redact_text(text: &str) -> Cow<'_, str> {
    text::redacted(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts out of what secrets are made of, in every order.
    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "password",
            "token",
            "api key",
            "Authorization",
            "max_tokens",
            "x",
            "key",
            "--secret",
            "://",
            "http",
            "user",
            "@",
            ":",
            "=",
            "=>",
            ":=",
            " ",
            "\n",
            ",",
            ";",
            "&",
            "\"",
            "'",
            "\\",
            "\\\"",
            "{",
            "}",
            "[",
            "]",
            "Bearer",
            "Basic",
            "YTpiYw==",
            "aB3",
            "eyJhbGciOi",
            ".eyJzdWIi.",
            "sk-",
            "abcdefghij1234567890",
            "-----BEGIN PRIVATE KEY-----",
            "-----END",
            " PRIVATE KEY-----",
            "***",
            "*",
            "12",
            "null",
            "é",
            "🦀",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        use serde_json::{Map, Value};
        let name = prop::sample::select(vec!["token", "max_tokens", "a", "password: x", "session"]);
        let leaf = prop_oneof![
            any_text().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            Just(Value::Null)
        ];
        leaf.prop_recursive(3, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((name.clone(), inner.clone()), 0..4).prop_map(|members| {
                    let members = members.into_iter().map(|(name, value)| (name.to_owned(), value));
                    Value::from(Map::from_iter(members))
                }),
                inner.prop_map(|value| Value::from(value.to_string())),
            ]
        })
    }

    proptest! {
        #[test]
        fn redacting_twice_is_redacting_once(text in any_text()) {
            let once = redact_text(&text).into_owned();
            prop_assert_eq!(redact_text(&once), once.as_str(), "{}", text);
            let once = redact_json(&text);
            prop_assert_eq!(redact_json(&once), once.as_str(), "{}", text);
        }

        #[test]
        fn redacted_json_is_json_and_final(value in any_json()) {
            let once = redact_json(&value.to_string());
            prop_assert!(serde_json::from_str::<serde_json::Value>(&once).is_ok(), "{}", once);
            prop_assert_eq!(redact_json(&once), once.as_str());
        }

        #[test]
        fn a_secret_does_not_come_through(before in any_text(), after in any_text()) {
            let secret = "sk-q9w8e7r6t5z4u3i2o1";
            let text = format!("{before} {secret} {after}");
            prop_assert!(!redact_text(&text).contains(secret));
            let json = serde_json::json!({"a": [text], "password": secret}).to_string();
            prop_assert!(!redact_json(&json).contains(secret));
        }
    }
}
