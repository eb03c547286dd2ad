//! The judgement of each check.

mod linking;
mod memory;
mod origin;
mod symbols;

use std::collections::BTreeSet;

pub(super) use symbols::panic_abort;

use super::{Check, HostSystem, StaticAuditPolicy};
use crate::{
    inspect::LibraryFacts,
    plugin_text::one_line,
    rejection::{Reason, Stage},
};

/// The most names in a message.
const MAX_NAMES: usize = 8;
/// The longest name in a message, in bytes.
const MAX_NAME: usize = 100;

/// A library, and what it is judged by.
pub(super) struct Subject<'a> {
    pub(super) facts: &'a LibraryFacts,
    pub(super) host: &'a HostSystem,
    pub(super) policy: &'a StaticAuditPolicy,
    pub(super) companions: &'a BTreeSet<String>,
}

impl Subject<'_> {
    /// What a check finds.
    pub(super) fn judge(&self, check: Check) -> Option<Reason> {
        match check {
            Check::Machine => self.machine(),
            Check::OsAbi => self.os_abi(),
            Check::OtherLibc => self.other_libc(),
            Check::Glibc => self.glibc(),
            Check::RootModule => self.root_module(),
            Check::PanicStrategy => self.panic_strategy(),
            Check::Rustc => self.rustc(),
            Check::NeededLibraries => self.needed_libraries(),
            Check::RunPath => self.run_path(),
            Check::LinkerHooks => self.linker_hooks(),
            Check::StaticTls => self.static_tls(),
            Check::ExecStack => self.exec_stack(),
            Check::TextRelocations => self.text_relocations(),
            Check::WritableCode => self.writable_code(),
            Check::Constructors => self.constructors(),
            Check::DeniedImports => self.denied_imports(),
            Check::Exports => self.exports(),
            Check::DependencyList => self.dependency_list(),
            Check::DeniedCrates => self.denied_crates(),
        }
    }
}

/// A finding of the audit.
fn found(
    code: &'static str,
    expected: impl Into<String>,
    found: impl Into<String>,
    remedy: &str,
) -> Option<Reason> {
    Some(Reason::plugin(Stage::Audit, code, expected, found, remedy))
}

/// The names on one line, of each not too much, and not too many; `None` where there is none.
fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Option<String> {
    let mut names = names.into_iter();
    let shown: Vec<String> =
        names.by_ref().take(MAX_NAMES).map(|name| one_line(name.as_ref(), MAX_NAME)).collect();
    if shown.is_empty() {
        return None;
    }
    let more = names.count();
    let shown = shown.join(", ");
    Some(if more == 0 { shown } else { format!("{shown} and {more} more") })
}
