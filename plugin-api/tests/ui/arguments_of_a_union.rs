use toolbay_plugin_api::prelude::*;

#[arguments]
union Either {
    one: u8,
    other: u8,
}

fn main() {}
