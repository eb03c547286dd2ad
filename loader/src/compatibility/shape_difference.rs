//! The first place where two descriptions of the crossing types differ.
//!
//! A line is `Type{field:type;field:type}`, as in `toolbay_abi::shape`. The plugin's lines may be anything.

use crate::plugin_text::one_line;

/// The longest word of a shape in a message, in bytes.
const MAX_WORD: usize = 200;

/// A place, and what either side has there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// A type, or a field in the form `Type.field`.
    pub(super) place: String,
    /// What the host has there.
    pub(super) expected: String,
    /// What the plugin has there.
    pub(super) found: String,
}

/// Finds the first difference, in the order of the host's lines; `None` where there is none, or where the plugin does not spell its
/// types out.
pub(super) fn first(host: &[&str], plugin: &[String]) -> Option<Difference> {
    if plugin.is_empty() {
        return None;
    }
    let plugin: Vec<Type<'_>> = plugin.iter().map(|line| Type::parse(line)).collect();
    let host: Vec<Type<'_>> = host.iter().map(|line| Type::parse(line)).collect();
    let in_host = host.iter().find_map(|expected| {
        match plugin.iter().find(|found| found.name == expected.name) {
            Some(found) => difference(expected, found),
            None => Some(at(expected.name, "a type", "no such type")),
        }
    });
    in_host.or_else(|| {
        let new = plugin.iter().find(|found| host.iter().all(|known| known.name != found.name))?;
        Some(at(new.name, "no such type", "a type"))
    })
}

/// A type, with its fields in order.
struct Type<'a> {
    name: &'a str,
    fields: Vec<(&'a str, &'a str)>,
}

impl<'a> Type<'a> {
    /// Takes a line apart. What is no type is one without fields, which differs from all that have some.
    fn parse(line: &'a str) -> Self {
        let (name, rest) = line.split_once('{').unwrap_or((line, ""));
        let fields = rest.strip_suffix('}').unwrap_or(rest).split(';');
        let fields = fields.filter(|field| !field.is_empty());
        Self {
            name,
            fields: fields.map(|field| field.split_once(':').unwrap_or((field, ""))).collect(),
        }
    }

    fn order(&self) -> Vec<&'a str> {
        self.fields.iter().map(|(field, _)| *field).collect()
    }

    fn type_of(&self, field: &str) -> Option<&'a str> {
        self.fields.iter().find(|(name, _)| *name == field).map(|(_, of)| *of)
    }
}

fn difference(host: &Type<'_>, plugin: &Type<'_>) -> Option<Difference> {
    let place = |field: &str| format!("{}.{field}", host.name);
    // Added and removed fields first: each of them also moves the fields behind it.
    for (field, expected) in &host.fields {
        match plugin.type_of(field) {
            None => return Some(at(&place(field), expected, "no such field")),
            Some(found) if found != *expected => return Some(at(&place(field), expected, found)),
            Some(_) => {}
        }
    }
    if let Some((field, found)) =
        plugin.fields.iter().find(|(field, _)| host.type_of(field).is_none())
    {
        return Some(at(&place(field), "no such field", found));
    }
    let (expected, found) = (host.order(), plugin.order());
    let moved = expected.iter().zip(&found).position(|(expected, found)| expected != found);
    let number = match moved {
        Some(moved) => moved,
        // A field twice: it is the last of those that the host has no place for.
        None if expected.len() != found.len() => expected.len().min(found.len()),
        None => return None,
    };
    let at_number =
        |fields: &[&str]| fields.get(number).map_or("no field", |field| field).to_owned();
    let place = format!("{}, field {}", host.name, number + 1);
    Some(at(&place, &at_number(&expected), &at_number(&found)))
}

fn at(place: &str, expected: &str, found: &str) -> Difference {
    let word = |text: &str| one_line(text, MAX_WORD);
    Difference { place: word(place), expected: word(expected), found: word(found) }
}
