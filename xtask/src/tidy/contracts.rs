//! The functions of the binary interface: each states on which thread, in which state and with whose memory it runs.

use proc_macro2::Span;
use syn::{Attribute, Expr, Field, Fields, Item, Lit, Meta, Type, spanned::Spanned};

use super::{Finding, Rule};

/// The files whose structs hold the functions that cross.
const INTERFACE: [&str; 2] = ["plugin-api/abi/src/root.rs", "plugin-api/abi/src/services.rs"];

/// Checks one source file; the rule speaks about the interface's files only.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !INTERFACE.contains(&path) {
        return Vec::new();
    }
    let file = match syn::parse_file(text) {
        Ok(file) => file,
        Err(error) => {
            let line = line(error.span());
            return vec![Finding::new(path, line, Rule::Syntax, error.to_string(), "Rust source")];
        }
    };
    let mut findings = Vec::new();
    for item in &file.items {
        let Item::Struct(item) = item else { continue };
        let Fields::Named(fields) = &item.fields else { continue };
        // A struct around a single function is that function: its own doc may state the contract.
        let single = fields.named.len() == 1 && has_contract(&item.attrs);
        for field in &fields.named {
            if is_function(field) && !single && !has_contract(&field.attrs) {
                let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                findings.push(Finding::new(
                    path,
                    line(field.ty.span()),
                    Rule::Contract,
                    format!("the function {}::{name} without a contract", item.ident),
                    "a doc line such as `[any-thread] [between create and destroy] [returns: plugin's buffer]`",
                ));
            }
        }
    }
    findings
}

fn line(span: Span) -> usize {
    span.start().line
}

fn is_function(field: &Field) -> bool {
    matches!(field.ty, Type::BareFn(_))
}

/// Whether a line of the doc comment begins with a bracketed term that is no link.
fn has_contract(attributes: &[Attribute]) -> bool {
    attributes.iter().filter_map(doc_text).any(|text| {
        text.lines().any(|line| {
            let line = line.trim().trim_start_matches('`');
            line.strip_prefix('[').and_then(|rest| rest.split_once(']')).is_some_and(
                |(term, rest)| !term.contains('`') && !rest.starts_with(['(', '[', ':']),
            )
        })
    })
}

fn doc_text(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    let Expr::Lit(literal) = &meta.value else { return None };
    match &literal.lit {
        Lit::Str(text) if meta.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_states_its_contract() {
        const FN: &str = "pub f: extern \"C\" fn(u64)";
        const CONTRACT: &str = "/// `[any-thread] [always]`";
        for (source, line) in [
            (format!("struct S {{\n    {CONTRACT}\n    {FN},\n    pub n: u64,\n}}"), None),
            (format!("struct S {{\n    /// Runs.\n    {FN},\n    pub n: u64,\n}}"), Some(3)),
            (format!("struct S {{\n    /// [`Runs`] it.\n    {FN},\n    pub n: u64,\n}}"), Some(3)),
            (
                format!("struct S {{\n    /// [Runs](a) it.\n    {FN},\n    pub n: u64,\n}}"),
                Some(3),
            ),
            (format!("{CONTRACT}\nstruct S {{\n    {FN},\n}}"), None),
            (format!("{CONTRACT}\nstruct S {{\n    {FN},\n    pub n: u64,\n}}"), Some(3)),
            ("struct S { n: u64 }".to_owned(), None),
        ] {
            let found: Vec<_> = check(INTERFACE[0], &source)
                .iter()
                .map(|finding| (finding.line(), finding.rule()))
                .collect();
            let expected: Vec<_> = line.map(|line| (line, Rule::Contract)).into_iter().collect();
            assert_eq!(found, expected, "{source}");
            assert_eq!(check("plugin-api/abi/src/wire.rs", &source), [], "{source}");
        }
    }
}
