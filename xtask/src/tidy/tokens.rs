//! A source file as a flat list of tokens, so that comments and strings can't be taken for code.

use std::str::FromStr;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

use super::{Finding, Rule};

/// One token; brackets are tokens of their own.
#[derive(Debug, Clone)]
pub(super) struct Token {
    text: String,
    line: usize,
    is_word: bool,
}

impl Token {
    /// The token as it is written; a string keeps its quotes.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The line that it stands on, counted from 1.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Whether it is a word: an identifier or a keyword.
    pub(super) fn is_word(&self) -> bool {
        self.is_word
    }
}

/// The tokens of one file. Doc comments appear as `#[doc = "..."]`, other comments not at all.
#[derive(Debug)]
pub(super) struct Tokens(Vec<Token>);

/// A file that is no Rust source.
#[derive(Debug)]
pub(super) struct NotRust(LexError);

impl NotRust {
    pub(super) fn at(&self, path: &str) -> Finding {
        let line = self.0.span().start().line;
        Finding::new(path, line, Rule::Syntax, "text that falls into no tokens", "Rust source")
    }
}

impl Tokens {
    pub(super) fn parse(text: &str) -> Result<Self, NotRust> {
        let mut tokens = Vec::new();
        flatten(TokenStream::from_str(text).map_err(NotRust)?, &mut tokens);
        Ok(Self(tokens))
    }

    /// All tokens, in order.
    pub(super) fn all(&self) -> &[Token] {
        &self.0
    }

    /// The places where these tokens follow one another; each is the list from there to the end.
    pub(super) fn find<'a>(&'a self, wanted: &'a [&'a str]) -> impl Iterator<Item = &'a [Token]> {
        (0..self.0.len()).map(|at| &self.0[at..]).filter(|rest| starts_with(rest, wanted))
    }

    /// The file without its imports and without the items that only tests see.
    pub(super) fn without_tests_and_imports(&self) -> Self {
        let mut kept = Vec::new();
        let mut rest = self.0.as_slice();
        while let Some(token) = rest.first() {
            let skipped = if starts_with(rest, &["#", "[", "cfg", "(", "test", ")", "]"]) {
                len_up_to(rest, &[";", "}"])
            } else if token.text == "use" && !starts_with(rest, &["use", "<"]) {
                len_up_to(rest, &[";"])
            } else {
                kept.push(token.clone());
                1
            };
            rest = &rest[skipped..];
        }
        Self(kept)
    }
}

/// Whether the list begins with these tokens.
pub(super) fn starts_with(tokens: &[Token], wanted: &[&str]) -> bool {
    tokens.len() >= wanted.len()
        && tokens.iter().zip(wanted).all(|(token, text)| token.text == *text)
}

/// The tokens inside the first bracket of the list, whatever its kind; empty where there is none.
pub(super) fn first_group(tokens: &[Token]) -> &[Token] {
    let Some(open) = tokens.iter().position(|token| depth_change(token) > 0) else { return &[] };
    let inside = &tokens[open + 1..];
    let mut depth = 1;
    for (at, token) in inside.iter().enumerate() {
        depth += depth_change(token);
        if depth == 0 {
            return &inside[..at];
        }
    }
    inside
}

/// The number of tokens up to the first of these ends outside of brackets, or up to where the surrounding bracket closes.
fn len_up_to(tokens: &[Token], ends: &[&str]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        depth += depth_change(token);
        if depth < 0 || depth == 0 && ends.contains(&&*token.text) {
            return at + 1;
        }
    }
    tokens.len()
}

fn depth_change(token: &Token) -> isize {
    match &*token.text {
        "(" | "[" | "{" => 1,
        ")" | "]" | "}" => -1,
        _ => 0,
    }
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let bracket = |text: &str, line| Token { text: text.to_owned(), line, is_word: false };
        let TokenTree::Group(group) = tree else {
            let is_word = matches!(tree, TokenTree::Ident(_));
            tokens.push(Token { text: tree.to_string(), line, is_word });
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        tokens.push(bracket(open, line));
        flatten(group.stream(), tokens);
        tokens.push(bracket(close, group.span_close().start().line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(tokens: &[Token]) -> String {
        tokens.iter().map(Token::text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        let tokens =
            Tokens::parse("// unsafe\n/* unsafe */ f(\"unsafe\", 'u', r#\"unsafe\"#)").unwrap();
        assert_eq!(tokens.find(&["unsafe"]).count(), 0);
        let words: Vec<_> = tokens.all().iter().filter(|token| token.is_word()).collect();
        assert_eq!(words.len(), 1);
        assert_eq!((words[0].text(), words[0].line()), ("f", 2));
    }

    #[test]
    fn tests_and_imports_are_left_out_and_nothing_else() {
        for (source, expected) in [
            ("use a::{b, c}; fn f() {}", "fn f ( ) { }"),
            ("#[cfg(test)] #[path = \"x\"] mod tests { fn g() {} } fn f() {}", "fn f ( ) { }"),
            ("#[cfg(test)] mod tests; fn f() {}", "fn f ( ) { }"),
            ("#[cfg(test)] fn g() -> [u8; 2] { [1; 2] } fn f() {}", "fn f ( ) { }"),
            ("fn f() -> impl A + use<'a> { b }", "fn f ( ) -> impl A + use < ' a > { b }"),
            ("mod m { use a; } fn f() {}", "mod m { } fn f ( ) { }"),
            ("#[cfg(unix)] fn f() {}", "# [ cfg ( unix ) ] fn f ( ) { }"),
        ] {
            let tokens = Tokens::parse(source).unwrap().without_tests_and_imports();
            assert_eq!(texts(tokens.all()).replace("- >", "->"), expected, "{source}");
        }
    }

    #[test]
    fn the_first_group_ends_where_its_bracket_closes() {
        let tokens = Tokens::parse("a(b[c], {d}) e(f)").unwrap();
        assert_eq!(texts(first_group(tokens.all())), "b [ c ] , { d }");
        assert_eq!(texts(first_group(Tokens::parse("a;").unwrap().all())), "");
    }

    #[test]
    fn what_is_no_rust_is_a_finding() {
        let finding = Tokens::parse("fn f() {\n    (").unwrap_err().at("x.rs");
        assert_eq!((finding.path(), finding.rule()), ("x.rs", Rule::Syntax));
    }
}
