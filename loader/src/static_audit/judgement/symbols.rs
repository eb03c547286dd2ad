//! What the library defines and what it uses.

use toolbay_abi::ROOT_SYMBOL;

use super::{Subject, found, listed};
use crate::{
    inspect::RootSymbol,
    plugin_text::one_line,
    rejection::{Reason, Stage},
};

/// The panic strategy of a plugin, whatever the host's own is: the catch is in the plugin.
const UNWIND: &str = "unwind";

/// The reason for which a library with that panic strategy is refused.
pub(in crate::static_audit) fn panic_abort(strategy: &str) -> Reason {
    let strategy = one_line(strategy, super::MAX_NAME);
    Reason::plugin(
        Stage::Verify,
        "panic_abort",
        format!("a library built with panic = {UNWIND:?}"),
        format!("panic = {strategy:?}, with which a panic would end the host"),
        "remove `panic` from the profile in Cargo.toml and build again",
    )
}

impl Subject<'_> {
    pub(super) fn root_module(&self) -> Option<Reason> {
        let found = match self.facts.root {
            RootSymbol::Defined { .. } => return None,
            RootSymbol::Malformed(fault) => fault.to_string(),
            RootSymbol::Missing if self.facts.imports.contains(ROOT_SYMBOL) => {
                "one that another library must define".to_owned()
            }
            RootSymbol::Missing => "none".to_owned(),
        };
        Some(Reason::plugin(
            Stage::Verify,
            "no_root_module",
            "a root module defined in this very file",
            found,
            "call export_provider! in a crate with crate-type = [\"cdylib\"]",
        ))
    }

    pub(super) fn panic_strategy(&self) -> Option<Reason> {
        (!self.facts.unwinds).then(|| panic_abort("abort"))
    }

    pub(super) fn denied_imports(&self) -> Option<Reason> {
        let denied = listed(self.facts.imports.intersection(&self.policy.denied_imports))?;
        found(
            "denied_import",
            "no function that ends or changes the whole process",
            denied,
            "leave out what uses them, such as std::process::Command, or take them off denied_imports",
        )
    }

    pub(super) fn exports(&self) -> Option<Reason> {
        let others = listed(self.facts.exports.iter().filter(|name| *name != ROOT_SYMBOL))?;
        found(
            "more_exports",
            "the root module as the only symbol",
            others,
            "hide the others: no #[no_mangle], and -fvisibility=hidden for C parts",
        )
    }
}
