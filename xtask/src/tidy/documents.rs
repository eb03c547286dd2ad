//! Documents: the paths and links in them lead somewhere.

use pulldown_cmark::{Event, Parser, Tag};

use super::{Finding, Rule, text::line_at, tree::Tree};

/// Checks one Markdown file.
///
/// A word in backticks is taken for a path of this repository where it looks like one (see [`looks_like_path`]); it may be relative to
/// the root or to the document's folder. A link's target that is no URL is always a path, relative to the document's folder.
pub(super) fn check(path: &str, text: &str, tree: &Tree) -> Vec<Finding> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        let line = line_at(text, range.start);
        match event {
            Event::Code(code)
                if looks_like_path(&code, tree)
                    && !tree.has("", &code)
                    && !tree.has(folder, &code) =>
            {
                let found = format!("`{code}`, which is not there");
                let expected = "a path of this repository";
                findings.push(Finding::new(path, line, Rule::Path, found, expected));
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                if let Some(target) = local_target(&dest_url)
                    && !tree.has(folder, target)
                {
                    let found = format!("a link to {target}, which is not there");
                    let expected = "a path relative to the document, or a URL";
                    findings.push(Finding::new(path, line, Rule::Link, found, expected));
                }
            }
            _ => {}
        }
    }
    findings
}

/// Whether it has two parts or more, only characters that our paths have, and begins with a file or folder of the repository's root.
fn looks_like_path(code: &str, tree: &Tree) -> bool {
    let code = code.strip_prefix("./").unwrap_or(code);
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    code.chars().all(plain)
        && code.split_once('/').is_some_and(|(first, _)| !first.is_empty() && tree.has("", first))
}

/// The path that a link leads to; none where it leads to the web or to a place in the same document.
fn local_target(url: &str) -> Option<&str> {
    let (path, _) = url.split_once('#').unwrap_or((url, ""));
    let has_scheme = url.split_once(':').is_some_and(|(scheme, _)| !scheme.contains('/'));
    (!has_scheme && !path.is_empty()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_links_lead_somewhere() {
        let tree = Tree::new([
            "README.md",
            "core/src/lib.rs",
            "docs/abi.md",
            "docs/core/map.md",
            "docs/img/map.svg",
        ]);
        for (text, expected) in [
            ("See `core/src/lib.rs`.", None),
            ("See `core/`.", None),
            ("See `./core/src`.", None),
            ("See `core/map.md` beside it, and `img/map.svg`.", None),
            ("One\n\nSee `core/src/gone.rs`.", Some((3, Rule::Path))),
            ("See `docs/gone.md`.", Some((1, Rule::Path))),
            ("Call `tools/list` on `x/y`, not `core`.", None),
            ("Any `core/src/*.rs` or `core/<name>`.", None),
            ("```sh\ncat core/src/gone.rs\n```", None),
            ("[abi](abi.md#growth)", None),
            ("[top](#top) [web](https://example.org/x) [mail](mailto:a@example.org)", None),
            ("[readme](../README.md) ![map](img/map.svg)", None),
            ("[readme](README.md)", Some((1, Rule::Link))),
            ("[gone][1]\n\n[1]: gone.md\n", Some((1, Rule::Link))),
            ("![gone](img/gone.svg)", Some((1, Rule::Link))),
            ("[outside](../../x.md)", Some((1, Rule::Link))),
        ] {
            let found: Vec<_> = check("docs/guide.md", text, &tree)
                .iter()
                .map(|finding| (finding.line(), finding.rule()))
                .collect();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{text}");
        }
    }
}
