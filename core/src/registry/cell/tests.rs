//! Readers see one registry whole, and each goes once nobody has it.

#[cfg(shuttle)]
mod model;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use super::RegistryCell;
use crate::{
    access::Access,
    arguments::ValidCall,
    backend::{BackendError, RawReply, ToolBackend},
    declaration::Declarations,
    definition::{DefinitionParts, ToolDefinition},
    name::ProviderId,
    registry::{Offer, OfferedTool, Plan, Registry},
    schema::Schema,
};

const TOOLS: [&str; 2] = ["first", "last"];

/// Counts itself when it is dropped.
struct Counted(Arc<AtomicU64>);

impl ToolBackend for Counted {
    fn invoke(&self, _: &ValidCall<'_>) -> Result<RawReply, BackendError> {
        Err(BackendError::Cancelled)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A registry whose parts all tell its generation.
fn registry(generation: u64, dropped: &Arc<AtomicU64>) -> Registry {
    let tools = TOOLS.map(|name| {
        let definition = ToolDefinition::new(DefinitionParts {
            name: name.parse().unwrap(),
            aliases: Vec::new(),
            label: None,
            summary: None,
            description: "Does nothing.".to_owned(),
            schema: Schema::parse(r#"{"type": "object"}"#).unwrap(),
            output_schema: None,
            declarations: Declarations::default(),
        });
        let definition = Arc::new(definition.unwrap());
        OfferedTool { definition, backend: Arc::new(Counted(Arc::clone(dropped))) }
    });
    let core = Offer::new(ProviderId::core(), generation.to_string(), tools.into());
    let (plan, _) = Plan::new(core, Vec::new()).unwrap();
    plan.commit(generation, &Access::default())
}

/// The generation of a registry, which all its parts tell. `between` comes between two looks.
fn whole(registry: &Registry, between: impl Fn()) -> u64 {
    let generation = registry.generation();
    for name in TOOLS {
        between();
        // The empty one is the first.
        let version = registry.get(name).map(|entry| entry.provider_version().to_owned());
        assert_eq!(version, (generation > 0).then(|| generation.to_string()));
    }
    generation
}

// Real threads on the real cell; what no assertion sees is for the address sanitizer and Miri.
#[test]
fn readers_see_one_registry_whole_while_writers_replace_it() {
    const WRITERS: u64 = 2;
    const EACH: u64 = if cfg!(miri) { 3 } else { 300 };
    let (cell, dropped) = (RegistryCell::default(), Arc::<AtomicU64>::default());
    let turn = Mutex::new(());
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let _turn = turn.lock().unwrap();
                    let next = cell.load().generation() + 1;
                    cell.replace(registry(next, &dropped));
                }
            });
        }
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = 0;
                while last < WRITERS * EACH {
                    let seen = whole(&cell.load(), || ());
                    assert!(last <= seen, "{seen} after {last}");
                    last = seen;
                }
            });
        }
    });
    let made = WRITERS * EACH * 2;
    assert_eq!(dropped.load(Ordering::SeqCst), made - 2, "the last one is there");
    drop(cell);
    assert_eq!(dropped.load(Ordering::SeqCst), made, "each once");
}
