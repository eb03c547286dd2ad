//! Masks secrets in a plain text by their form and by the names before them.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use regex::Regex;

use super::{MASK, names::Secrecy};

/// How often what is left is looked at again. What is masked can bring together what was apart.
const MAX_ROUNDS: usize = 4;

/// The text with its secrets masked.
pub(super) fn redacted(text: &str) -> Cow<'_, str> {
    // A pattern that does not compile would let everything through.
    let Some(patterns) = &*PATTERNS else { return Cow::Borrowed(MASK) };
    let mut redacted = Cow::Borrowed(text);
    for _ in 0..MAX_ROUNDS {
        match masked(&redacted, patterns.secrets(&redacted)) {
            Some(masked) => redacted = Cow::Owned(masked),
            None => break,
        }
    }
    redacted
}

/// The text with each of these parts masked; `None` where that changes nothing.
fn masked(text: &str, mut secrets: Vec<Range<usize>>) -> Option<String> {
    secrets.retain(|secret| text[secret.clone()] != *MASK);
    if secrets.is_empty() {
        return None;
    }
    secrets.sort_unstable_by_key(|secret| (secret.start, secret.end));
    let mut masked = String::with_capacity(text.len());
    let mut copied = 0;
    for Range { start, end } in secrets {
        // What overlaps the one before is one secret with it.
        if start >= copied {
            masked.push_str(&text[copied..start]);
            masked.push_str(MASK);
        }
        copied = copied.max(end);
    }
    masked.push_str(&text[copied..]);
    Some(masked)
}

struct Patterns {
    /// Whatever is a secret by its form alone. The group is the secret, where it is not the whole.
    forms: [Regex; 4],
    /// A scheme of authentication with what may be its credentials, or just the next word.
    schemes: Regex,
    /// A name with what separates it from its value: one or two words as in `api key`, or a flag.
    names: Regex,
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| Patterns::new().ok());

impl Patterns {
    fn new() -> Result<Self, regex::Error> {
        let private_key = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)";
        let json_web_token =
            r"(?-u:\b)eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*)*";
        let address = r#"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@?\#"'<>]*:([^\s/?\#"'<>]+)@"#;
        let services = [
            r"gh[pousr]_[A-Za-z0-9]{16,}",
            r"github_pat_[A-Za-z0-9_]{16,}",
            r"gl[a-z]{2,6}-[A-Za-z0-9_-]{16,}",
            r"sk-[A-Za-z0-9_-]{16,}",
            r"[spr]k_(?:live|test)_[A-Za-z0-9]{10,}",
            r"A(?:KIA|SIA)[A-Z0-9]{16}",
            r"xox[a-z]-[A-Za-z0-9-]{10,}",
            r"xapp-[A-Za-z0-9-]{10,}",
            r"AIza[A-Za-z0-9_-]{30,}",
            r"ya29\.[A-Za-z0-9_-]{10,}",
            r"npm_[A-Za-z0-9]{30,}",
            r"pypi-[A-Za-z0-9_-]{30,}",
            r"hf_[A-Za-z0-9]{30,}",
            r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
        ];
        Ok(Self {
            forms: [
                Regex::new(private_key)?,
                Regex::new(json_web_token)?,
                Regex::new(address)?,
                Regex::new(&format!(r"(?-u:\b)(?:{})", services.join("|")))?,
            ],
            schemes: Regex::new(r"(?i-u:\b(bearer|basic)[ \t]+([A-Za-z0-9._~+/-]+=*))")?,
            names: Regex::new(concat!(
                r#"(?:([A-Za-z][A-Za-z0-9_.-]*)[ ])?([A-Za-z][A-Za-z0-9_.-]*)(?:\\*["'`])?[ \t]*(:+=?|=+>?)[ \t]*"#,
                r"|--([A-Za-z][A-Za-z0-9-]*)[ \t]+",
            ))?,
        })
    }

    /// Where the secrets are, in no order.
    fn secrets(&self, text: &str) -> Vec<Range<usize>> {
        let mut secrets = Vec::new();
        for form in &self.forms {
            let found = form.captures_iter(text);
            secrets.extend(found.filter_map(|found| Some(found.iter().flatten().last()?.range())));
        }
        for found in self.schemes.captures_iter(text) {
            if let (Some(scheme), Some(credentials)) = (found.get(1), found.get(2))
                && looks_like_credentials(scheme.as_str(), credentials.as_str())
            {
                secrets.push(credentials.range());
            }
        }
        secrets.extend(self.named(text));
        secrets
    }

    /// The values of secret names.
    fn named(&self, text: &str) -> Vec<Range<usize>> {
        let mut secrets = Vec::new();
        let mut at = 0;
        while let Some(found) = self.names.captures_at(text, at) {
            let start = found.get_match().end();
            at = start;
            let group = |group| found.get(group).map(|found| found.as_str());
            let name = group(2).or(group(4)).unwrap_or_default();
            // In `a::b` the colons are part of a path.
            let is_path = group(3).is_some_and(|separator| separator.starts_with("::"));
            let secrecy = match (Secrecy::of(name), group(1)) {
                _ if is_path => Secrecy::Open,
                (Secrecy::Open, Some(before)) if name.eq_ignore_ascii_case("key") => {
                    Secrecy::of(&format!("{before} {name}"))
                }
                (secrecy, _) => secrecy,
            };
            if secrecy == Secrecy::Open {
                continue;
            }
            let value = value(&text[start..], is_header(name));
            let value = start + value.start..start + value.end;
            at = value.end;
            if !secrecy.spares(&text[value.clone()]) {
                secrets.push(value);
            }
        }
        secrets
    }
}

/// Whether the word after a scheme is no word of a language: it has a digit or a capital within, or it is long.
fn looks_like_credentials(scheme: &str, word: &str) -> bool {
    let odd = |char: char| char.is_ascii_digit() || char == '=';
    let is_odd = word.contains(odd) || word.chars().skip(1).any(|char| char.is_ascii_uppercase());
    is_odd || scheme.eq_ignore_ascii_case("bearer") && word.len() >= 16
}

/// Whether the value of a name goes on to the end of its line.
fn is_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.ends_with("authorization") || name.ends_with("cookie")
}

/// Where the value is at the beginning of a text.
fn value(text: &str, is_header: bool) -> Range<usize> {
    let backslashes = text.len() - text.trim_start_matches('\\').len();
    match text.as_bytes().get(backslashes) {
        Some(quote @ (b'"' | b'\'' | b'`')) => quoted(text, backslashes, *quote),
        Some(b'{' | b'[') if backslashes == 0 => 0..end_of_brackets(text),
        _ if is_header => 0..end_of_header(text),
        _ => 0..end_of_word(text),
    }
}

/// The inside of a quoted value, where each quote has this many backslashes before it: in JSON within a text within JSON there are
/// some. Without an end it is all that is left.
fn quoted(text: &str, backslashes: usize, quote: u8) -> Range<usize> {
    let start = backslashes + 1;
    let mut before = 0;
    for (at, byte) in text.bytes().enumerate().skip(start) {
        if byte == quote
            && (before < backslashes || before % (2 * (backslashes + 1)) == backslashes)
        {
            return start..at - before.min(backslashes);
        }
        before = if byte == b'\\' { before + 1 } else { 0 };
    }
    start..text.len()
}

fn end_of_brackets(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut bytes = text.bytes().enumerate();
    let mut in_quotes = false;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'"' => in_quotes = !in_quotes,
            b'{' | b'[' if !in_quotes => depth += 1,
            b'}' | b']' if !in_quotes => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The end of a header's line, or of the quotes that the whole header is in. Quotes after `=` are its own.
fn end_of_header(text: &str) -> usize {
    let mut own: Option<char> = None;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        match char {
            '\n' | '\r' => return at,
            '"' | '\'' | '`' => match own {
                Some(open) if open == char => own = None,
                Some(_) => {}
                None if before == '=' => own = Some(char),
                None => return text[..at].trim_end_matches('\\').len(),
            },
            _ => {}
        }
        before = char;
    }
    text.len()
}

/// The end of a value without quotes, with a scheme of authentication before it or not.
fn end_of_word(text: &str) -> usize {
    let end = end_of_run(text);
    let is_scheme = ["basic", "bearer", "digest", "token"]
        .iter()
        .any(|scheme| text[..end].eq_ignore_ascii_case(scheme));
    let rest = text[end..].trim_start_matches([' ', '\t']);
    match is_scheme && !rest.is_empty() {
        true => text.len() - rest.len() + end_of_run(rest),
        false => end,
    }
}

fn end_of_run(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let is_end = match char {
            '&' | '"' | '\'' | '`' | '<' | '>' => true,
            // A password may have these, a list has them at its end or before a space.
            ',' | ';' => next.is_none_or(char::is_whitespace),
            '\\' => matches!(next, Some('"' | '\'' | '`' | 'n' | 'r' | 't')),
            _ => char.is_whitespace(),
        };
        if is_end {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(redacted(text), *expected, "{text}");
        }
    }

    #[test]
    fn every_pattern_compiles() {
        Patterns::new().unwrap();
    }

    #[test]
    fn values_of_secret_names_are_masked_up_to_their_end() {
        check(&[
            ("password=hunter2", "password=***"),
            ("password = hunter2 and more", "password = *** and more"),
            ("password: hunter2, user: ada", "password: ***, user: ada"),
            ("Password:hunter2;", "Password:***;"),
            ("password=a,b;c!", "password=***"),
            ("api key: abc", "api key: ***"),
            ("my private key = abc", "my private key = ***"),
            ("the key: abc", "the key: abc"),
            ("export API_TOKEN=abc", "export API_TOKEN=***"),
            ("a?access_token=abc&page=2", "a?access_token=***&page=2"),
            ("--api-key abc --page 2", "--api-key *** --page 2"),
            ("--password=abc", "--password=***"),
            ("\"password\": \"a b\", \"x\": 1", "\"password\": \"***\", \"x\": 1"),
            ("{'token': 'it\\'s', 'x': 1}", "{'token': '***', 'x': 1}"),
            ("'token' => 'x y'", "'token' => '***'"),
            ("token := `x y` z", "token := `***` z"),
            ("password=\"without an end", "password=\"***"),
            ("secret: {\"a\": [1, \"}\"]} rest", "secret: *** rest"),
            ("secret: [1, 2", "secret: ***"),
            ("token: Bearer abc x", "token: *** x"),
            ("password=\npassword=a", "password=\npassword=***"),
            // JSON within a text that is no JSON itself.
            (r#"{\"password\":\"a \\\" b\",\"x\":1}"#, r#"{\"password\":\"***\",\"x\":1}"#),
            (r#"{\"password\":\"a\\\\\",\"x\":1}"#, r#"{\"password\":\"***\",\"x\":1}"#),
            (r"password=abc\nuser=ada", r"password=***\nuser=ada"),
        ]);
    }

    #[test]
    fn what_a_mask_brings_together_is_looked_at_again() {
        check(&[("http://x:token=[a b]@host", "http://x:***")]);
    }

    #[test]
    fn headers_are_masked_to_the_end_of_their_line() {
        check(&[
            ("Authorization: Basic YTpi\nHost: x", "Authorization: ***\nHost: x"),
            ("Cookie: a=b; c=d\r\nHost: x", "Cookie: ***\r\nHost: x"),
            ("Set-Cookie: a=\"b\"; Path=/", "Set-Cookie: ***"),
            (
                "curl -H 'Authorization: Digest username=\"a\", response=\"b\"' https://x",
                "curl -H 'Authorization: ***' https://x",
            ),
            ("curl -H \\\"Cookie: a=b\\\" https://x", "curl -H \\\"Cookie: ***\\\" https://x"),
        ]);
    }

    #[test]
    fn secrets_are_known_by_their_form() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----";
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_";
        let cases = [
            (format!("a {key} b"), "a *** b"),
            (key[..50].to_owned(), "***"),
            (key.replace('\n', "\\n").replace("RSA ", ""), "***"),
            (format!("see {jwt}, then"), "see ***, then"),
            (format!("x {}", "ghp_".to_owned() + &"a1".repeat(18)), "x ***"),
            ("github_pat_".to_owned() + &"a1_".repeat(12), "***"),
            ("sk-proj-".to_owned() + &"aB3-".repeat(10), "***"),
            ("(AKIA".to_owned() + &"A1B2".repeat(4) + ")", "(***)"),
            ("xoxb-".to_owned() + &"12-ab".repeat(4), "***"),
            ("Bearer aB3.x-y_z~+/==".to_owned(), "Bearer ***"),
            ("bearer abcdefghijklmnop".to_owned(), "bearer ***"),
            ("Basic dXNlcjpwYXNz, x".to_owned(), "Basic ***, x"),
            ("https://ada:p:w@example.com:80/x".to_owned(), "https://ada:***@example.com:80/x"),
            ("redis://:p@ss@host/0 and a@b".to_owned(), "redis://:***@host/0 and a@b"),
        ];
        for (text, expected) in &cases {
            assert_eq!(redacted(text), *expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "",
            "***",
            "plain words: no = secrets",
            "max_tokens=4096&token_count: 3, tokens: 12",
            "password=***; token: \"***\"",
            "password=null token: true",
            "the basic introduction of bearer instruments",
            "Basic Introduction",
            "a task-management-system-for-everybody and risk-assessment-of-everything",
            "std::session::Key, crate::token::Token",
            "https://example.com:8080/a?mail=ada@example.com",
            "https://example.com/@ada and ada@example.com",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----",
            "eyJ is how they begin",
            "secretary: Ada, author: Grace, tokenizer: fast",
        ] {
            assert!(matches!(redacted(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }
}
