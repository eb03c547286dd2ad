use toolbay_plugin_api::prelude::*;

#[arguments]
struct Nothing {}

#[tool]
fn hello(_: Nothing) -> Result<Reply, Failure> {
    Ok(Reply::text("hello"))
}

fn main() {
    let _ = <hello as Tool>::SPEC;
}
