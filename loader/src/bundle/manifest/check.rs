//! The rules that bind the parts of a manifest.

use std::collections::HashSet;

use toolbay_core::Schema;

use super::mistake;
use crate::{
    bundle::{
        self, BundlePath, BundledDefinition, BundledTool, ListedFile, ManifestParts, PathError,
        Target, path::PathSet, refused, sizes::Sizes,
    },
    rejection::Reason,
};

/// What a tool whose definition is not known yet takes.
const ANY_OBJECT: &str = r#"{"type":"object","properties":{}}"#;

pub(super) fn check(parts: &ManifestParts) -> Result<(), Reason> {
    visible("vendor", &parts.vendor, 100)?;
    visible("license", &parts.license, 200)?;
    if let Some(description) = &parts.description {
        visible("description", description, 1000)?;
    }
    if let Some(homepage) = &parts.homepage {
        address(homepage)?;
    }
    if parts.targets.is_empty() {
        return Err(mistake("targets", "the libraries for at least one system", "none"));
    }
    parts.targets.iter().try_for_each(|(name, entry)| target(name, entry))?;
    files(parts)?;
    listed_among_files("documentation", parts.documentation.as_ref(), &parts.files)?;
    listed_among_files("icon", parts.icon.as_ref(), &parts.files)?;
    tools(parts)
}

fn visible(place: &str, text: &str, limit: usize) -> Result<(), Reason> {
    let is_blank = text.is_empty() || text.trim() != text;
    if !is_blank && text.chars().count() <= limit && text.chars().all(is_visible) {
        return Ok(());
    }
    let expected = format!("1 to {limit} visible characters, no space at either end");
    Err(mistake(place, expected, &text.escape_debug().to_string()))
}

/// Whether people see the character and it changes nothing about the others: no control, no other space than the usual one, and none of
/// the marks that hide or reorder text.
fn is_visible(char: char) -> bool {
    let is_hidden = matches!(
        char,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}'
    );
    !char.is_control() && !is_hidden && (char == ' ' || !char.is_whitespace())
}

fn address(text: &str) -> Result<(), Reason> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_address =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic());
    if rest.is_some_and(is_address) && text.len() <= 1000 {
        return Ok(());
    }
    let expected = "an https or http address of at most 1,000 ASCII characters";
    Err(mistake("homepage", expected, &text.escape_debug().to_string()))
}

fn target(name: &str, target: &Target) -> Result<(), Reason> {
    let place = format!("targets.{name}");
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    if !(1..=64).contains(&name.len()) || !name.bytes().all(allowed) {
        return Err(mistake(
            "targets",
            "names of 1 to 64 characters of a-z 0-9 _ -",
            &format!("{name:?}"),
        ));
    }
    let Some((plugin, private)) = target.libraries.split_first() else {
        return Err(mistake(&place, "at least one library", "none"));
    };
    let folder = plugin.path.folder();
    match private.iter().find(|library| !library.path.is_below(folder)) {
        None => Ok(()),
        Some(library) => {
            let expected =
                format!("private libraries in {folder:?}, the plugin's folder, or below");
            Err(mistake(&format!("{place}.libraries"), expected, library.path.as_str()))
        }
    }
}

fn files(parts: &ManifestParts) -> Result<(), Reason> {
    let mut paths = PathSet::default();
    for name in [bundle::MANIFEST, bundle::SIGNATURE] {
        paths.add_file(&name.parse().map_err(PathError::refused)?)?;
    }
    let mut sizes = Sizes::default();
    for file in parts.listed() {
        paths.add_file(&file.path)?;
        sizes.add(file.path.as_str(), file.size)?;
    }
    Ok(())
}

fn listed_among_files(
    place: &str,
    path: Option<&BundlePath>,
    files: &[ListedFile],
) -> Result<(), Reason> {
    match path {
        Some(path) if !files.iter().any(|file| file.path == *path) => {
            Err(mistake(place, "one of the files that the manifest lists", path.as_str()))
        }
        _ => Ok(()),
    }
}

fn tools(parts: &ManifestParts) -> Result<(), Reason> {
    let mut names = HashSet::new();
    for (number, tool) in parts.tools.iter().enumerate() {
        let place = format!("tools[{number}]");
        if !names.insert(&tool.declared.name) {
            let found = format!("{} twice", tool.declared.name);
            return Err(mistake(&place, "each tool once", &found));
        }
        definition(&place, tool)?;
        let egress = tool.declared.declarations.egress;
        if egress > parts.egress {
            return Err(refused(
                "egress_understated",
                format!(
                    "an egress of the bundle that covers {egress}, which {} has",
                    tool.declared.name
                ),
                parts.egress.to_string(),
                super::REMEDY,
            ));
        }
    }
    Ok(())
}

/// Holds a tool against the rules that it will meet once it is registered.
fn definition(place: &str, tool: &BundledTool) -> Result<(), Reason> {
    let wrong = |found: String| mistake(place, "a tool that a registry takes", &found);
    let (description, input, output) = match &tool.definition {
        BundledDefinition::Fixed { description, input_schema, output_schema } => {
            (description.clone(), input_schema.clone(), output_schema.clone())
        }
        // The rules for the rest are the same.
        BundledDefinition::Configured => {
            let any = Schema::parse(ANY_OBJECT).map_err(|error| wrong(error.to_string()))?;
            ("Not known yet.".to_owned(), any, None)
        }
    };
    let defined = tool.declared.define(description, input, output);
    defined.map(drop).map_err(|error| wrong(error.to_string()))
}
