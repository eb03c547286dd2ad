//! The `arguments`, `output` and `config` attributes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result};

pub(crate) fn arguments(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let input = payload(&attribute, item)?;
    let strict = strict(&input);
    Ok(quote! {
        #[derive(
            ::core::fmt::Debug,
            ::toolbay_plugin_api::serde::Deserialize,
            ::toolbay_plugin_api::schemars::JsonSchema,
        )]
        #[serde(crate = "::toolbay_plugin_api::serde" #strict)]
        #[schemars(crate = "::toolbay_plugin_api::schemars")]
        #input
    })
}

pub(crate) fn output(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let input = payload(&attribute, item)?;
    Ok(quote! {
        #[derive(
            ::core::fmt::Debug,
            ::toolbay_plugin_api::serde::Serialize,
            ::toolbay_plugin_api::schemars::JsonSchema,
        )]
        #[serde(crate = "::toolbay_plugin_api::serde")]
        #[schemars(crate = "::toolbay_plugin_api::schemars")]
        #input
    })
}

pub(crate) fn config(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let input = payload(&attribute, item)?;
    let strict = strict(&input);
    Ok(quote! {
        #[derive(::core::fmt::Debug, ::toolbay_plugin_api::serde::Deserialize)]
        #[serde(crate = "::toolbay_plugin_api::serde" #strict)]
        #input
    })
}

/// A struct refuses fields that it does not know: a misspelt one would be lost.
fn strict(input: &DeriveInput) -> TokenStream {
    match &input.data {
        Data::Struct(_) => quote!(, deny_unknown_fields),
        _ => quote!(),
    }
}

fn payload(attribute: &TokenStream, item: TokenStream) -> Result<DeriveInput> {
    if !attribute.is_empty() {
        let expected = "expected the attribute alone, without arguments of its own";
        return Err(Error::new_spanned(attribute, expected));
    }
    let input: DeriveInput = syn::parse2(item)?;
    match &input.data {
        Data::Union(_) => {
            Err(Error::new_spanned(&input.ident, "expected a struct or an enum, found a union"))
        }
        _ => Ok(input),
    }
}
