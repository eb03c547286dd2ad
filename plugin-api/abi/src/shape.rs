//! The canonical text of the types that cross, and its digest.
//!
//! A host compares the digest in a plugin's note with its own before it opens the library. It depends on nothing but the types:
//! not on paths, features, version control or the machine that built it.

/// One line per crossing type: its fields in order, with their types.
///
/// A change here is a new [`EPOCH`]: no plugin built before it loads any more.
pub const SHAPE: &[&str] = &[
    "PluginRoot{create:fn(HostServices,RSlice<u8>)->RResult<u64,RVec<u8>>;\
     tools:fn(u64)->RResult<RVec<u8>,RVec<u8>>;\
     execute:fn(u64,CallInput)->RResult<PluginReply,RVec<u8>>;\
     preview:fn(u64,CallInput)->RResult<RVec<u8>,RVec<u8>>;\
     destroy:fn(u64)->RResult<(),RVec<u8>>;\
     extension:fn(RStr,u32)->ROption<Extension>}",
    "HostServices{provider:u64;log_level:fn(u64)->u32;log:fn(u64,u32,RStr,RStr);cancelled:fn(u64)->bool;\
     progress:fn(u64,RSlice<u8>);extension:fn(RStr,u32)->ROption<Extension>}",
    "CallInput{tool:RStr;arguments:RStr;context:RSlice<u8>;tool_config:RSlice<u8>;call:u64;remaining_ms:u64}",
    "PluginReply{status:u32;text:RVec<u8>;rest:RVec<u8>}",
    "Extension{invoke:fn(u64,RSlice<u8>)->RResult<RVec<u8>,RVec<u8>>}",
    "abi_stable{minor:0.11}",
];

/// The generation of the interface; plugins of another epoch are refused.
pub const EPOCH: u32 = 1;

/// The FNV-1a digest of [`SHAPE`].
pub const DIGEST: u64 = digest(SHAPE);

const fn digest(lines: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut line = 0;
    while line < lines.len() {
        let bytes = lines[line].as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        hash = (hash ^ b'\n' as u64).wrapping_mul(0x0100_0000_01b3);
        line += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use abi_stable::{
        StableAbi,
        abi_stability::PrefixStableAbi,
        type_layout::{TLField, TypeLayout},
    };

    use super::*;
    use crate::{CallInput, Extension, HostServices, PluginReply, PluginRootFields};

    /// The frozen value: if this fails, the interface changed and every plugin that exists is refused.
    #[test]
    fn the_digest_is_frozen() {
        assert_eq!(format!("{DIGEST:016x}"), "da26d0a1bc2da653");
    }

    /// `SHAPE` is written by hand; the layouts that `abi_stable` derives from the types hold it to the truth.
    #[test]
    fn the_shape_is_that_of_the_types() {
        let layouts: [(&str, &TypeLayout); 5] = [
            ("PluginRoot", <PluginRootFields as PrefixStableAbi>::LAYOUT),
            ("HostServices", <HostServices as StableAbi>::LAYOUT),
            ("CallInput", <CallInput<'static> as StableAbi>::LAYOUT),
            ("PluginReply", <PluginReply as StableAbi>::LAYOUT),
            ("Extension", <Extension as StableAbi>::LAYOUT),
        ];
        for ((name, layout), shape) in layouts.into_iter().zip(SHAPE) {
            let fields = layout.get_fields().expect("a struct has fields");
            let described: Vec<String> = fields.iter().map(described).collect();
            let found = format!("{name}{{{}}}", described.join(";"));
            assert_eq!(found, without_generics(shape));
        }
    }

    /// A field as `SHAPE` has it, but for what stands in angle brackets, which layouts do not tell.
    fn described(field: TLField) -> String {
        let name = field.name();
        if !field.is_function() {
            return format!("{name}:{}", type_of(&field));
        }
        // What it displays is `fn(,,: u64, param_1: RStr<'a>)->u32`, with the names of the parameters put oddly.
        let function = field.function_range().iter().next().expect("one function").to_string();
        let line = without_generics(function.lines().next().unwrap_or_default());
        let (parameters, result) = line["fn(".len()..].split_once(")->").expect("a result");
        let parameters: Vec<&str> =
            parameters.split(", ").filter_map(|parameter| parameter.rsplit(": ").next()).collect();
        let result = if result == "()" { String::new() } else { format!("->{result}") };
        format!("{name}:fn({}){result}", parameters.join(","))
    }

    fn type_of(field: &TLField) -> String {
        without_generics(&field.full_type().to_string())
    }

    fn without_generics(text: &str) -> String {
        let mut depth = 0;
        let mut before = ' ';
        let mut outside = |character: char| {
            let arrow = character == '>' && before == '-';
            before = character;
            match character {
                '<' => depth += 1,
                '>' if !arrow => {
                    depth -= 1;
                    return false;
                }
                _ => {}
            }
            depth == 0
        };
        text.chars().filter(|&character| outside(character)).collect()
    }
}
