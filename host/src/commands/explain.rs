//! `toolbay explain`: why a tool can or can't be used, gate by gate, and what to do about it.

mod gates;
mod limits;
mod name;
mod provider;
mod remedy;
mod row;

use toolbay_loader::{Caller, Entry, Origin, Registry, decide};

use self::{
    remedy::Remedy,
    row::{Explanation, show},
};
use crate::{
    caller::caller,
    cli::ExplainArgs,
    commands::{CommandError, Opened, Setup, warn_about_agent},
    exit::Exit,
    output::Output,
};

pub(super) fn explain(
    args: &ExplainArgs,
    setup: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let opened = setup.open()?;
    // A tool comes first: that is what models and people call.
    let is_tool = || opened.toolbay.registry().get(&args.tool).is_some();
    if args.provider || !is_tool() {
        let trace = opened.toolbay.trace(&args.tool);
        if args.provider || trace.is_known() {
            return provider::show(&trace, args.json, output);
        }
    }
    let caller = caller(&args.caller, &opened.people, &opened.toolbay)?;
    warn_about_agent(&caller, &opened.toolbay);
    let registry = opened.toolbay.registry();
    let case = Case { opened: &opened, registry: &registry, caller: &caller, args };
    let explanation = Explanation::of(&case);
    match args.json {
        true => output.json(&explanation)?,
        false => show(&explanation, output)?,
    }
    Ok(Exit::Done)
}

/// What is asked: a tool's name, and who wants to use it.
struct Case<'a> {
    opened: &'a Opened,
    registry: &'a Registry,
    caller: &'a Caller,
    args: &'a ExplainArgs,
}

impl<'a> Case<'a> {
    /// The tool of the name, where the caller may know of it: names of remote tools that they can't use are for administrators.
    fn entry(&self) -> Option<&'a Entry> {
        let entry = self.registry.get(&self.args.tool)?;
        self.may_know(&self.args.tool).then_some(entry)
    }

    /// Whether the caller may know that there is a tool of this name.
    fn may_know(&self, name: &str) -> bool {
        let local = self.registry.get(name).is_some_and(|entry| entry.origin() == Origin::Local);
        local || self.caller.actor().is_admin() || decide(self.registry, self.caller, name).allowed
    }

    /// A command that does something about a gate.
    fn command(&self, text: &str, words: &[&str]) -> Remedy {
        Remedy::command(text, self.opened.program.command(words))
    }

    /// This command, asked for somebody else.
    fn again_as(&self, user: &str) -> String {
        let agent = self.args.caller.agent.iter().flat_map(|agent| ["--agent", agent.as_str()]);
        let pending = self.args.caller.pending.then_some("--pending");
        let words = ["explain", &self.args.tool].into_iter().chain(agent).chain(pending);
        self.opened.program.command(words.chain(["--as", user]))
    }
}
