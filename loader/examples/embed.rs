//! A host application in one file: it has a tool of its own, takes plugins from a folder, lists what there is and calls one tool.
//!
//! ```text
//! cargo build -p toolbay-plugin-greeting
//! cargo run -p toolbay-loader --example embed -- target/debug greet '{"language": "de"}'
//! ```

use std::{env, error::Error, path::PathBuf, process::ExitCode, sync::Arc};

use toolbay_loader::{
    Actor, BackendError, CallRequest, Caller, Config, Declarations, DefinitionParts, Effect, Offer,
    OfferedTool, ProviderId, RawReply, ReplyStatus, Schema, ToolBackend, ToolDefinition, Toolbay,
    Unsigned, ValidCall,
};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprintln!("  because: {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "a command prints its result")]
fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(plugins), Some(tool)) = (arguments.next(), arguments.next()) else {
        return Err(
            "expected a folder of plugins, a tool and, where it takes any, its arguments as JSON"
                .into(),
        );
    };
    let arguments = arguments.next().unwrap_or_default();

    // 1. The home holds the registry file, the copies of libraries and the audit log. A real host keeps it.
    let home = tempfile::tempdir()?;
    let mut config = Config::new(home.path());
    config.plugin_directories.push(PathBuf::from(plugins).canonicalize()?);
    config.core = Some(own_tools()?);
    // Loose libraries have no signature. A real host leaves the policy as it is, and trusts keys of publishers: `Toolbay::trust_key`.
    config.policy.unsigned = Unsigned::Allow;

    // 2. Opening reads the registry file alone; refreshing verifies and loads what is in the folder.
    let toolbay = Toolbay::open(config)?;
    for rejection in toolbay.refresh()?.rejections {
        eprintln!("not taken: {rejection}");
    }

    // 3. Each call says on whose authority it runs. One caller serves all calls of a run.
    let ada = Caller::new(Actor::User { name: "ada".parse()?, admin: false });
    for entry in toolbay.tools(&ada) {
        eprintln!(
            "{} ({}): {}",
            entry.definition().name(),
            entry.provider(),
            entry.definition().summary()
        );
    }

    // 4. Every call takes the same way: gates, validation, execution, bounding, and one line in the audit log.
    let reply = toolbay.call(&CallRequest::new(&tool, &arguments, &ada))?;
    println!("{}", reply.model_text());
    Ok(())
}

/// The host application's own tools. No plugin can take their names.
fn own_tools() -> Result<Offer, Box<dyn Error>> {
    let definition = ToolDefinition::new(DefinitionParts {
        name: "host_version".parse()?,
        aliases: Vec::new(),
        label: None,
        summary: None,
        description: "Says which version of the host this is.".to_owned(),
        schema: Schema::parse(
            r#"{"type": "object", "properties": {}, "additionalProperties": false}"#,
        )?,
        output_schema: None,
        declarations: Declarations {
            effect: Effect::ReadOnly,
            enabled_by_default: true,
            requires_approval: false,
            ..Declarations::default()
        },
    })?;
    let tool = OfferedTool { definition: Arc::new(definition), backend: Arc::new(HostVersion) };
    Ok(Offer::new(ProviderId::core(), env!("CARGO_PKG_VERSION"), vec![tool]))
}

struct HostVersion;

impl ToolBackend for HostVersion {
    fn invoke(&self, _call: &ValidCall<'_>) -> Result<RawReply, BackendError> {
        Ok(RawReply::text(ReplyStatus::Ok, env!("CARGO_PKG_VERSION")))
    }
}
