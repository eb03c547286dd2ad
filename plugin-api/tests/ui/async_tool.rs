use toolbay_plugin_api::prelude::*;

#[arguments]
struct Nothing {}

/// Says hello.
#[tool]
async fn hello(_: Nothing) -> Result<Reply, Failure> {
    Ok(Reply::text("hello"))
}

fn main() {}
