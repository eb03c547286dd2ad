//! The `arguments` and `output` attributes.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result};

pub(crate) fn arguments(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let input = payload(&attribute, item)?;
    let strict = match &input.data {
        Data::Struct(_) => quote!(, deny_unknown_fields),
        _ => quote!(),
    };
    Ok(derived(&input, &quote!(::toolbay_plugin_api::serde::Deserialize), &strict))
}

pub(crate) fn output(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let input = payload(&attribute, item)?;
    Ok(derived(&input, &quote!(::toolbay_plugin_api::serde::Serialize), &quote!()))
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

fn derived(input: &DeriveInput, direction: &TokenStream, strict: &TokenStream) -> TokenStream {
    quote! {
        #[derive(::core::fmt::Debug, #direction, ::toolbay_plugin_api::schemars::JsonSchema)]
        #[serde(crate = "::toolbay_plugin_api::serde" #strict)]
        #[schemars(crate = "::toolbay_plugin_api::schemars")]
        #input
    }
}
