//! The attributes of the Toolbay plugin API; use them through `toolbay_plugin_api`, which re-exports them.

mod payload;
mod tool;

use proc_macro::TokenStream;

/// Makes a struct or an enum usable as a tool's arguments: it can be parsed from JSON, and has a JSON Schema.
///
/// It stands for `#[derive(Debug, Deserialize, JsonSchema)]` with `deny_unknown_fields` on structs, through the crates that the
/// plugin API re-exports: the plugin itself depends on neither serde nor schemars. Doc comments become descriptions, and serde's and
/// schemars' own attributes work as ever.
#[proc_macro_attribute]
pub fn arguments(attribute: TokenStream, item: TokenStream) -> TokenStream {
    payload::arguments(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a struct or an enum usable as a tool's structured result: it can be written as JSON, and has a JSON Schema.
///
/// It stands for `#[derive(Debug, Serialize, JsonSchema)]` through the crates that the plugin API re-exports.
#[proc_macro_attribute]
pub fn output(attribute: TokenStream, item: TokenStream) -> TokenStream {
    payload::output(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a tool from a function.
///
/// The function takes `(arguments)`, `(arguments, &Context)` or `(&State, arguments, &Context)` and returns
/// `Result<Reply, Failure>`. Its doc comment is the description that the model reads, its name the tool's name. The attribute holds
/// the declarations, each a method of `ToolSpec`:
///
/// - `name = "..."`, `label = "..."`, `summary = "..."`, `group = "..."`, `aliases = ["...", "..."]`
/// - `effect = ReadOnly | IdempotentWrite | NonIdempotentWrite`
/// - `data_class = ...`, `egress = ...`, `kind = ...`, each a variant of the type of that name
/// - `enabled`, `requires_admin`, `requires_approval`
/// - `output = Type`: the type of the structured result, whose schema is listed with the tool
/// - `preview = function`: the function that says what a call would do; it takes what the tool's function takes
///
/// It also makes a type of the function's name, for `export_provider!`.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
