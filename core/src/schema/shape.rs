//! The types that a schema accepts at each place of a value, read once out of its text.

use std::ptr;

use foldhash::HashMap;
use serde_json::Value;

use super::types::Types;

/// The most references that are followed from one to the next.
const MAX_HOPS: usize = 16;

/// The most levels of alternatives that are looked into at one place.
const MAX_LEVELS: usize = 32;

/// The most alternatives that are searched for the schema of items or members.
const MAX_SEARCHED: usize = 64;

/// A schema that says nothing.
const ANYTHING: &Value = &Value::Bool(true);

/// Which place of a [`Shape`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(usize);

/// What is accepted at one place.
#[derive(Debug)]
pub(super) struct Accepted {
    /// Never less than what is valid there, so that a value of another type is known to be wrong.
    pub(super) types: Types,
    /// What holds for each item, where it is an array.
    pub(super) item: Option<Place>,
    /// What holds for the declared members, where it is an object; sorted by name.
    members: Box<[(Box<str>, Place)]>,
}

impl Accepted {
    pub(super) fn member(&self, name: &str) -> Option<Place> {
        let found = self.members.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some(self.members[found].1)
    }

    pub(super) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }
}

/// Every place of a schema. A schema that contains itself is one of its own places again.
#[derive(Debug)]
pub(super) struct Shape(Box<[Accepted]>);

impl Shape {
    pub(super) const ROOT: Place = Place(0);

    pub(super) fn read(schema: &Value) -> Self {
        let mut reader = Reader {
            root: schema,
            places: Vec::new(),
            known: HashMap::default(),
            types: HashMap::default(),
        };
        reader.place(schema);
        let mut read = Vec::new();
        while let Some(schema) = reader.places.get(read.len()).copied() {
            read.push(reader.accepted(schema));
        }
        Self(read.into())
    }

    pub(super) fn at(&self, place: Place) -> &Accepted {
        &self.0[place.0]
    }
}

struct Reader<'s> {
    root: &'s Value,
    /// The schemas in the order in which they are read.
    places: Vec<&'s Value>,
    known: HashMap<*const Value, Place>,
    types: HashMap<*const Value, Types>,
}

impl<'s> Reader<'s> {
    fn place(&mut self, schema: &'s Value) -> Place {
        let schema = self.resolved(schema);
        let next = Place(self.places.len());
        let place = *self.known.entry(ptr::from_ref(schema)).or_insert(next);
        if place == next {
            self.places.push(schema);
        }
        place
    }

    fn accepted(&mut self, schema: &'s Value) -> Accepted {
        let item = self.structure(schema, Types::ARRAY, &mut { MAX_SEARCHED }, items);
        let members = self.structure(schema, Types::OBJECT, &mut { MAX_SEARCHED }, properties);
        let members = members.and_then(Value::as_object).into_iter().flatten();
        let mut members: Vec<(Box<str>, Place)> =
            members.map(|(name, schema)| (name.as_str().into(), self.place(schema))).collect();
        members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        Accepted {
            types: self.types(schema, MAX_LEVELS),
            item: item.map(|schema| self.place(schema)),
            members: members.into(),
        }
    }

    /// The schema that this one refers to, if it does. What stands beside a reference is left out: some dialects don't read it.
    fn resolved(&self, schema: &'s Value) -> &'s Value {
        let mut schema = schema;
        for _ in 0..MAX_HOPS {
            // References in a document within the document are not relative to the root.
            let is_document = ["$id", "id"].iter().any(|id| schema.get(id).is_some());
            if is_document && !ptr::eq(schema, self.root) {
                return ANYTHING;
            }
            let Some(reference) = schema.get("$ref") else { return schema };
            let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
            let Some(target) = pointer.and_then(|pointer| self.root.pointer(pointer)) else {
                return ANYTHING;
            };
            schema = target;
        }
        ANYTHING
    }

    fn types(&mut self, schema: &'s Value, levels: usize) -> Types {
        let schema = self.resolved(schema);
        if levels == 0 || !schema.is_object() {
            return Types::ANY;
        }
        let key = ptr::from_ref(schema);
        if let Some(known) = self.types.get(&key) {
            return *known;
        }
        // What comes back to itself says nothing new by that.
        self.types.insert(key, Types::ANY);
        let mut types = Types::declared(schema);
        for each in listed(schema, "allOf") {
            types = types.and(self.types(each, levels - 1));
        }
        for keyword in ["anyOf", "oneOf"] {
            if schema.get(keyword).is_some() {
                let each = listed(schema, keyword).map(|each| self.types(each, levels - 1));
                types = types.and(Types::union(each));
            }
        }
        self.types.insert(key, types);
        types
    }

    /// What `read` finds in the schema, or in what it consists of. Of alternatives it must be the only one that accepts the `kind`
    /// of value: for several nobody can tell which of them was meant.
    fn structure(
        &mut self,
        schema: &'s Value,
        kind: Types,
        left: &mut usize,
        read: fn(&'s Value) -> Option<&'s Value>,
    ) -> Option<&'s Value> {
        *left = left.checked_sub(1)?;
        let schema = self.resolved(schema);
        if let Some(found) = read(schema) {
            return Some(found);
        }
        for each in listed(schema, "allOf") {
            if let Some(found) = self.structure(each, kind, left, read) {
                return Some(found);
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            let mut fitting = Vec::new();
            for each in listed(schema, keyword) {
                if self.types(each, MAX_LEVELS).accepts(kind) {
                    fitting.push(each);
                }
            }
            if let [only] = fitting.as_slice() {
                return self.structure(only, kind, left, read);
            }
        }
        None
    }
}

/// The schema of each item. That of a list whose first items have schemas of their own is not.
fn items(schema: &Value) -> Option<&Value> {
    let items = schema.get("items").filter(|items| !items.is_array());
    items.filter(|_| schema.get("prefixItems").is_none())
}

fn properties(schema: &Value) -> Option<&Value> {
    schema.get("properties")
}

fn listed<'s>(schema: &'s Value, keyword: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}
