//! The `tool` attribute.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Attribute, Error, Expr, ExprArray, FnArg, Ident, ItemFn, Lit, LitStr, Meta, Path, Result,
    Token, Type, TypeReference,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let function: ItemFn = syn::parse2(item)?;
    let declarations = Punctuated::<Declaration, Token![,]>::parse_terminated.parse2(attribute)?;
    let signature = Signature::of(&function)?;

    let ident = &function.sig.ident;
    let visibility = &function.vis;
    let mut name = LitStr::new(&ident.to_string(), ident.span());
    let mut calls = Vec::new();
    let mut preview = None;
    let mut may_viewer_read = None;
    let mut output = None;
    for declaration in declarations {
        match declaration {
            Declaration::Name(text) => name = text,
            Declaration::Preview(path) => preview = Some(path),
            Declaration::MayViewerRead(path) => may_viewer_read = Some(path),
            Declaration::Output(result) => output = Some(result),
            Declaration::Call(call) => calls.push(call),
        }
    }
    check_name(&name)?;
    let description = description(&function.attrs);
    if description.is_empty() {
        return Err(Error::new_spanned(
            ident,
            "expected a doc comment: it is the description that the model reads, and without one no model knows when to call the tool",
        ));
    }
    let doc = LitStr::new(&format!("The tool `{}`.", name.value()), Span::call_site());
    let Signature { state, arguments, passed } = signature;
    let passed_of_viewer = match &state {
        Some(_) => quote!(state, arguments, viewer),
        None => quote!(arguments, viewer),
    };
    // A tool that does not take the state goes with any.
    let (generics, state) = match state {
        Some(state) => (quote!(), quote!(#state)),
        None => (quote!(<__State: ::toolbay_plugin_api::State>), quote!(__State)),
    };
    let define = output.map(|result| {
        quote! {
            fn define() -> ::toolbay_plugin_api::ToolDefinition {
                let spec = &<Self as ::toolbay_plugin_api::Tool<#state>>::SPEC;
                ::toolbay_plugin_api::ToolDefinition::new::<Self::Arguments>(spec)
                    .with_output::<#result>()
            }
        }
    });
    let preview = preview.map(|path| {
        quote! {
            fn preview(
                state: &#state,
                arguments: Self::Arguments,
                context: &::toolbay_plugin_api::Context<'_>,
            ) -> ::core::option::Option<::std::vec::Vec<::std::string::String>> {
                let _ = (state, context);
                #path(#passed)
            }
        }
    });

    let may_viewer_read = may_viewer_read.map(|path| {
        quote! {
            fn may_viewer_read(
                state: &#state,
                arguments: Self::Arguments,
                viewer: &::toolbay_plugin_api::Context<'_>,
            ) -> ::core::option::Option<bool> {
                let _ = state;
                ::core::option::Option::Some(#path(#passed_of_viewer))
            }
        }
    });

    Ok(quote! {
        #function

        #[doc = #doc]
        #[allow(non_camel_case_types, reason = "it has the name of its function")]
        #visibility struct #ident {}

        impl #generics ::toolbay_plugin_api::Tool<#state> for #ident {
            type Arguments = #arguments;
            const SPEC: ::toolbay_plugin_api::ToolSpec =
                ::toolbay_plugin_api::ToolSpec::new(#name, #description) #(#calls)*.checked();

            fn execute(
                state: &#state,
                arguments: Self::Arguments,
                context: &::toolbay_plugin_api::Context<'_>,
            ) -> ::core::result::Result<::toolbay_plugin_api::Reply, ::toolbay_plugin_api::Failure> {
                let _ = (state, context);
                #ident(#passed)
            }

            #define

            #preview

            #may_viewer_read
        }
    })
}

/// `ToolSpec::new` has the same rule; here it is told where the name stands.
fn check_name(name: &LitStr) -> Result<()> {
    let text = name.value();
    let plain = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    if (1..=64).contains(&text.len()) && text.chars().all(plain) {
        return Ok(());
    }
    Err(Error::new(
        name.span(),
        format!("expected 1 to 64 characters of A-Z a-z 0-9 _ -, found {text:?}"),
    ))
}

/// What the function takes.
struct Signature {
    /// The state's type, where the function takes it.
    state: Option<Type>,
    arguments: Type,
    passed: TokenStream,
}

impl Signature {
    fn of(function: &ItemFn) -> Result<Self> {
        let signature = &function.sig;
        let expected = "expected (arguments), (arguments, &Context), (&State, arguments) or (&State, arguments, &Context)";
        if let Some(keyword) = &signature.asyncness {
            return Err(Error::new_spanned(
                keyword,
                "expected a plain function: calls are synchronous, and hosts call from many threads",
            ));
        }
        let types = signature
            .inputs
            .iter()
            .map(|input| match input {
                FnArg::Typed(input) => Ok(&*input.ty),
                FnArg::Receiver(receiver) => Err(Error::new_spanned(receiver, expected)),
            })
            .collect::<Result<Vec<_>>>()?;
        let (state, arguments, passed) = match types[..] {
            [arguments] => (None, arguments, quote!(arguments)),
            [Type::Reference(state), arguments] if !is_context(state) => {
                (Some(state), arguments, quote!(state, arguments))
            }
            [arguments, Type::Reference(context)] if is_context(context) => {
                (None, arguments, quote!(arguments, context))
            }
            [Type::Reference(state), arguments, Type::Reference(context)]
                if is_context(context) =>
            {
                (Some(state), arguments, quote!(state, arguments, context))
            }
            _ => return Err(Error::new_spanned(&signature.inputs, expected)),
        };
        if let Type::Reference(_) = arguments {
            let found = format!("{expected}; the arguments are taken by value");
            return Err(Error::new_spanned(arguments, found));
        }
        let state = state.map(|state| (*state.elem).clone());
        Ok(Self { state, arguments: arguments.clone(), passed })
    }
}

/// Whether it is the context by its name, under whatever path.
fn is_context(reference: &TypeReference) -> bool {
    match &*reference.elem {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Context"),
        _ => false,
    }
}

/// One entry of the attribute.
enum Declaration {
    Name(LitStr),
    Preview(Path),
    MayViewerRead(Path),
    Output(Box<Type>),
    /// A call of a `ToolSpec` method.
    Call(TokenStream),
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key: Ident = input.parse()?;
        let word = key.to_string();
        if let "enabled" | "requires_admin" | "requires_approval" = word.as_str() {
            return Ok(Self::Call(quote!(.#key())));
        }
        let variants_of = match word.as_str() {
            "effect" => Some("Effect"),
            "data_class" => Some("DataClass"),
            "egress" => Some("Egress"),
            "kind" => Some("Kind"),
            "name" | "label" | "summary" | "group" | "aliases" | "input" | "loop_budget"
            | "output" | "preview" | "may_viewer_read" => None,
            _ => {
                return Err(Error::new(
                    key.span(),
                    format!(
                        "expected one of name, label, summary, group, aliases, effect, data_class, egress, kind, enabled, \
                         requires_admin, requires_approval, input, loop_budget, output, preview, \
                         may_viewer_read; found {word}"
                    ),
                ));
            }
        };
        input.parse::<Token![=]>()?;
        if let Some(type_name) = variants_of {
            let type_name = Ident::new(type_name, key.span());
            let variant: Ident = input.parse()?;
            return Ok(Self::Call(quote!(.#key(::toolbay_plugin_api::#type_name::#variant))));
        }
        Ok(match word.as_str() {
            "name" => Self::Name(input.parse()?),
            "preview" => Self::Preview(input.parse()?),
            "may_viewer_read" => Self::MayViewerRead(input.parse()?),
            "output" => Self::Output(Box::new(input.parse()?)),
            "aliases" => {
                let list: ExprArray = input.parse()?;
                Self::Call(quote!(.aliases(&#list)))
            }
            "input" | "loop_budget" => {
                let value: Expr = input.parse()?;
                Self::Call(quote!(.#key(#value)))
            }
            _ => {
                let text: LitStr = input.parse()?;
                Self::Call(quote!(.#key(#text)))
            }
        })
    }
}

/// The doc comment, as the text that the model reads.
fn description(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned()).collect();
    lines.join("\n").trim().to_owned()
}
