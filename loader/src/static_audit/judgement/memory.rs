//! What opening the library does to the process's memory, and what runs then.

use super::{Subject, found};
use crate::{inspect::Stack, rejection::Reason};

impl Subject<'_> {
    pub(super) fn static_tls(&self) -> Option<Reason> {
        let (bytes, budget) = (self.facts.tls_bytes, self.policy.static_tls_bytes);
        if !self.facts.static_tls || bytes <= budget {
            return None;
        }
        found(
            "static_tls",
            format!("at most {budget} bytes of static TLS"),
            format!("{bytes} bytes"),
            "build C parts with -ftls-model=global-dynamic; for allocators there is a feature such as local_dynamic_tls",
        )
    }

    pub(super) fn exec_stack(&self) -> Option<Reason> {
        let says = match self.facts.stack {
            Stack::DataOnly => return None,
            Stack::Executable => "one that makes the stacks of the process executable",
            Stack::Undeclared => "one without a word about its stack, which counts as executable",
        };
        found(
            "executable_stack",
            "a library that declares its stack as data",
            says,
            "link with -Wl,-z,noexecstack, and give assembler sources a .note.GNU-stack section",
        )
    }

    pub(super) fn text_relocations(&self) -> Option<Reason> {
        if !self.facts.text_relocations {
            return None;
        }
        found(
            "text_relocations",
            "code that is loaded as it is in the file",
            "relocations in it",
            "build C and assembler parts with -fPIC, and link with -Wl,-z,text",
        )
    }

    pub(super) fn writable_code(&self) -> Option<Reason> {
        if !self.facts.writable_code {
            return None;
        }
        found(
            "writable_code",
            "segments that are writable or executable",
            "one that is both",
            "link without -N and without sections that are both",
        )
    }

    pub(super) fn constructors(&self) -> Option<Reason> {
        let (count, budget) = (self.facts.constructors, self.policy.constructors);
        if count <= budget {
            return None;
        }
        found(
            "many_constructors",
            format!("at most {budget} functions that run when the library is opened"),
            count.to_string(),
            "initialize at the first use instead, or raise the number",
        )
    }
}
