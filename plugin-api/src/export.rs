//! The export macro: note, root module and the checks that need the vendor's own crate.

use crate::spec::ToolSpec;

/// Exports the crate's provider. Write it once, in `lib.rs` of a crate with `crate-type = ["cdylib"]`.
///
/// ```
/// # use toolbay_plugin_api::prelude::*;
/// # #[arguments] struct Nothing {}
/// /// Tells the answer.
/// #[tool(effect = ReadOnly, enabled)]
/// fn answer(_: Nothing) -> Result<Reply, Failure> {
///     Ok(Reply::text("42"))
/// }
///
/// export_provider! { id: "answers", tools: [answer] }
/// ```
///
/// Its forms are
///
/// - `id: "...", tools: [a, b]` for tools without configuration,
/// - `id: "...", state: S, tools: [a, b]` for tools that share a [`State`](crate::State),
/// - `id: "...", provider: P` for a [`Provider`](crate::Provider) that lists its tools at run time.
///
/// The id is a lower-case letter, then letters, digits, `_` and `-`, 64 at most; the version is the crate's. The macro also names
/// the provider's type `ExportedProvider`, which tests hand to [`testing::Plugin`](crate::testing::Plugin).
///
/// It refuses to compile with `panic = "abort"`: the guard could catch nothing.
#[macro_export]
macro_rules! export_provider {
    (id: $id:literal, tools: [$($tool:ty),* $(,)?] $(,)?) => {
        $crate::export_provider! { id: $id, state: (), tools: [$($tool),*] }
    };
    (id: $id:literal, state: $state:ty, tools: [$($tool:ty),* $(,)?] $(,)?) => {
        /// The tools that this library exports.
        #[derive(Debug)]
        pub struct ExportedTools;

        impl $crate::ToolTable<$state> for ExportedTools {
            const SPECS: &'static [$crate::ToolSpec] = &[$(<$tool as $crate::Tool<$state>>::SPEC),*];
            const TOOLS: &'static [$crate::TypedTool<$state>] =
                &[$($crate::TypedTool::of::<$tool>()),*];
        }

        $crate::export_provider! { id: $id, provider: $crate::Typed<ExportedTools, $state> }
    };
    (id: $id:literal, provider: $provider:ty $(,)?) => {
        /// The provider that this library exports.
        #[allow(private_interfaces, reason = "what the tools share may be private to the plugin")]
        pub type ExportedProvider = $provider;

        #[cfg(not(panic = "unwind"))]
        ::core::compile_error!(
            "a Toolbay plugin must be built with panic = \"unwind\": with \"abort\" a panic in it would end the host. \
             Remove `panic = \"abort\"` from the profile in Cargo.toml"
        );

        const _: () = {
            use $crate::macro_support::{
                Declared, abi, check_id, check_tools, record, record_len, root,
            };

            const DECLARED: Declared = Declared {
                id: check_id($id),
                version: ::core::env!("CARGO_PKG_VERSION"),
                tools: check_tools(<$provider as $crate::Provider>::TOOLS),
                paths: <$provider as $crate::Provider>::PATHS,
                endpoints: <$provider as $crate::Provider>::ENDPOINTS,
            };
            const NOTE_LEN: usize = record_len(&DECLARED);

            #[used]
            #[unsafe(link_section = ".toolbay")]
            static NOTE: [u8; NOTE_LEN] = record::<NOTE_LEN>(&DECLARED);

            extern "C" fn erased_root() -> abi::library::RootModuleResult {
                abi::library::__call_root_module_loader(root::<$provider>)
            }

            #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
            static ROOT: abi::library::LibHeader =
                // SAFETY: `erased_root` returns what `root` made, a `PluginRootRef`, with its type erased by the same crate.
                unsafe {
                    abi::library::LibHeader::from_constructor::<$crate::macro_support::PluginRootRef>(
                        erased_root,
                        abi::library::CheckTypeLayout::Yes,
                    )
                };
        };
    };
}

/// Checks a provider's id where the macro expands, so that a wrong one is a compile error.
///
/// # Panics
///
/// Where the id breaks the rule.
#[expect(
    clippy::panic,
    reason = "it runs at compile time, where it is the error that the vendor should see"
)]
pub const fn check_id(id: &'static str) -> &'static str {
    if !crate::spec::is_id(id) {
        panic!(
            "a provider's id is a lower-case letter, then lower-case letters, digits, _ and -, 64 at most"
        );
    }
    id
}

/// Checks a provider's tools where the macro expands: specs that are written by hand are whole only there.
pub const fn check_tools(tools: &'static [ToolSpec]) -> &'static [ToolSpec] {
    let mut at = 0;
    while at < tools.len() {
        let _ = tools[at].checked();
        at += 1;
    }
    tools
}
