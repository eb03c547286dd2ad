//! The attributes of the Toolbay plugin API; use them through `toolbay_plugin_api`, which re-exports them.

mod payload;
mod tool;

use proc_macro::TokenStream;

/// Makes a struct usable as a tool's arguments, and a struct or an enum usable within them: it can be parsed from JSON, and has a JSON
/// Schema. The arguments as a whole are always an object, so that their type is a struct.
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

/// Makes a struct or an enum usable in a provider's configuration: it can be parsed from JSON, and a struct refuses what it does not
/// know.
///
/// It stands for `#[derive(Debug, Deserialize)]` through the crates that the plugin API re-exports. Every type within a configuration
/// needs it.
#[proc_macro_attribute]
pub fn config(attribute: TokenStream, item: TokenStream) -> TokenStream {
    payload::config(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a tool from a function.
///
/// The function takes `(arguments)`, `(arguments, &Context)`, `(&State, arguments)` or `(&State, arguments, &Context)` and returns
/// `Result<Reply, Failure>`. A tool that takes no state goes with a provider of any state. Its doc comment is the description that the model reads, its name the tool's name. The attribute holds
/// the declarations, each a method of `ToolSpec`:
///
/// - `name = "..."`, `label = "..."`, `summary = "..."`, `group = "..."`, `aliases = ["...", "..."]`
/// - `effect = ReadOnly | IdempotentWrite | NonIdempotentWrite`
/// - `data_class = ...`, `egress = ...`, `kind = ...`, each a variant of the type of that name
/// - `enabled`, `requires_admin`, `requires_approval`
/// - `input = ...`: the JSON Schema of what a person must type in, a constant expression of type `&str`, such as `include_str!("...")`
/// - `loop_budget = 3`: how often the same call may be repeated in a row
/// - `output = Type`: the type of the structured result, whose schema is listed with the tool
/// - `preview = function`: the function that says what a call would do; it takes what the tool's function takes
/// - `may_viewer_read = function`: the function that says, as a `bool`, whether a person may read that; it takes what the tool's function
///   takes, and always a `&Context`, which is that person's
///
/// It also makes a type of the function's name, for `export_provider!`.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(attribute.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
