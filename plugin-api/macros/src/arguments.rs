//! The `arguments` attribute.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    if !attribute.is_empty() {
        return Err(Error::new_spanned(
            attribute,
            "expected #[arguments] alone, without arguments of its own",
        ));
    }
    let input: DeriveInput = syn::parse2(item)?;
    let strict = match &input.data {
        Data::Struct(_) => quote!(, deny_unknown_fields),
        Data::Enum(_) => quote!(),
        Data::Union(_) => {
            return Err(Error::new_spanned(
                &input.ident,
                "expected a struct or an enum, found a union",
            ));
        }
    };
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
