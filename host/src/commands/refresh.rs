//! `toolbay refresh`: finds the plugins and registers their tools.

use serde::Serialize;
use toolbay_loader::{
    ChangedTool, Collision, Config, ProviderId, ProviderStatus, RefreshOptions, RefreshReport,
    Rejection, ToolName, Toolbay,
};

use crate::{
    cli::RefreshArgs,
    commands::{
        CommandError, Setup,
        row::{ChangeRow, ReasonRow, path_text, reason_lines},
        suggest_refresh,
        tool::change_lines,
        warn_about_access,
    },
    config::{self, HostConfig},
    exit::Exit,
    nearest::nearest,
    output::{Output, Table},
    program::Program,
    report,
};

#[derive(Serialize)]
struct ReportJson<'a> {
    generation: u64,
    providers: Vec<RefreshedJson<'a>>,
    rejections: Vec<RejectionJson<'a>>,
    warnings: Vec<RejectionJson<'a>>,
    collisions: Vec<String>,
    ignored: Vec<IgnoredJson>,
    changed: Vec<ChangedJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct ChangedJson<'a> {
    tool: &'a str,
    needs_review: bool,
    changes: Vec<ChangeRow<'a>>,
}

/// A provider as it was registered.
#[derive(Serialize)]
pub(super) struct ProviderJson<'a> {
    pub(super) id: &'a str,
    pub(super) version: &'a str,
    hash: String,
    pub(super) signer: String,
    pub(super) tools: Vec<&'a str>,
}

#[derive(Serialize)]
struct RefreshedJson<'a> {
    #[serde(flatten)]
    provider: ProviderJson<'a>,
    not_listed: Vec<&'a str>,
}

#[derive(Serialize)]
pub(super) struct RejectionJson<'a> {
    path: String,
    provider: Option<&'a str>,
    #[serde(flatten)]
    reason: ReasonRow<'a>,
}

#[derive(Serialize)]
struct IgnoredJson {
    path: String,
    what: &'static str,
}

/// A plugin that was not taken is the news of this command, and so is its exit code.
pub(super) fn refresh(
    args: &RefreshArgs,
    Setup { config: HostConfig { loader, .. }, program }: Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    // Without the warning about the registry file: it is what gets replaced.
    let toolbay = Toolbay::open(loader)?;
    warn_about_access(&toolbay);
    let options = RefreshOptions::default().replace(args.replace).retry(args.retry);
    let report = toolbay.refresh_with(options)?;
    warn_of_unknown(&toolbay, &report);
    if args.json {
        output.json(&json(&report))?;
    } else {
        show(&report, args.verbose, &program, output)?;
        if report.providers.is_empty() && report.rejections.is_empty() {
            suggest_refresh(toolbay.config());
        }
    }
    let everything = report.rejections.is_empty();
    Ok(if everything { Exit::Done } else { Exit::Refused })
}

/// What is said of a provider or tool that is not there is more often a typing mistake than a plan.
fn warn_of_unknown(toolbay: &Toolbay, report: &RefreshReport) {
    let Config { providers: configured, limits, .. } = toolbay.config();
    let registered = report.providers.iter().map(|provider| provider.id.as_str());
    let rejected = report.rejections.iter().filter_map(|one| one.provider.as_deref());
    let ids: Vec<&str> = registered.chain(rejected).collect();
    let declared = report.providers.iter().flat_map(|provider| &provider.declared);
    let registry = toolbay.registry();
    let aliases = registry.aliases().map(|(name, _)| name);
    let tools = declared.map(|tool| &tool.name).chain(aliases).map(ToolName::as_str);
    let tools: Vec<&str> = tools.collect();

    for id in unknown(configured.keys().map(ProviderId::as_str), &ids) {
        warn_of(&format!("configures provider {id:?}, which no plugin is"), id, &ids);
    }
    for id in unknown(limits.providers.keys().map(ProviderId::as_str), &ids) {
        warn_of(&format!("limits provider {id:?}, which no plugin is"), id, &ids);
    }
    for name in unknown(limits.tools.keys().map(ToolName::as_str), &tools) {
        warn_of(&format!("limits tool {name:?}, which no registered plugin has"), name, &tools);
    }
}

fn unknown<'a>(
    said: impl Iterator<Item = &'a str>,
    known: &[&str],
) -> impl Iterator<Item = &'a str> {
    said.filter(move |said| !known.contains(said))
}

fn warn_of(what: &str, said: &str, known: &[&str]) {
    let near = nearest(said, known.iter().copied());
    let near = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
    report::warning(&format!("{} {what}{near}", config::FILE_NAME));
}

fn json(report: &RefreshReport) -> ReportJson<'_> {
    let providers = report.providers.iter().map(|provider| RefreshedJson {
        provider: ProviderJson::from(provider),
        not_listed: not_listed(provider).collect(),
    });
    let ignored =
        report.ignored.iter().map(|(path, what)| IgnoredJson { path: path_text(path), what });
    ReportJson {
        generation: report.generation,
        providers: providers.collect(),
        rejections: report.rejections.iter().map(RejectionJson::from).collect(),
        warnings: report.warnings.iter().map(RejectionJson::from).collect(),
        collisions: report.collisions.iter().map(Collision::to_string).collect(),
        ignored: ignored.collect(),
        changed: report.changed.iter().map(ChangedJson::from).collect(),
    }
}

impl<'a> From<&'a ProviderStatus> for ProviderJson<'a> {
    fn from(provider: &'a ProviderStatus) -> Self {
        Self {
            id: provider.id.as_str(),
            version: &provider.version,
            hash: provider.hash.to_string(),
            signer: provider.signer.to_string(),
            tools: provider.tools.iter().map(ToolName::as_str).collect(),
        }
    }
}

impl<'a> From<&'a Rejection> for RejectionJson<'a> {
    fn from(Rejection { path, provider, reason }: &'a Rejection) -> Self {
        let (path, reason) = (path_text(path), ReasonRow::of(reason));
        Self { path, provider: provider.as_deref(), reason }
    }
}

impl<'a> From<&'a ChangedTool> for ChangedJson<'a> {
    fn from(changed: &'a ChangedTool) -> Self {
        Self {
            tool: changed.tool.as_str(),
            needs_review: changed.needs_review,
            changes: changed.changes.iter().map(ChangeRow::from).collect(),
        }
    }
}

fn show(
    report: &RefreshReport,
    verbose: bool,
    program: &Program,
    output: &mut Output,
) -> Result<(), CommandError> {
    if !report.providers.is_empty() {
        let mut table = Table::new(["PROVIDER", "VERSION", "TOOLS"]);
        for provider in &report.providers {
            table.row([provider.id.as_str(), &provider.version, &tools(provider)]);
        }
        output.table(table)?;
    }
    rejection_lines(&report.rejections, output)?;
    collision_lines(&report.collisions, output)?;
    changed_lines(&report.changed, program, output)?;
    warn(&report.warnings);
    for (path, what) in report.ignored.iter().filter(|_| verbose) {
        output.text(&format!("ignored: {}: {what}", path.display()))?;
    }
    Ok(())
}

pub(super) fn rejection_lines(
    rejections: &[Rejection],
    output: &mut Output,
) -> Result<(), CommandError> {
    for Rejection { path, provider, reason } in rejections {
        let provider = provider.as_ref().map(|id| format!(", provider {id}")).unwrap_or_default();
        output.text(&format!("not taken: {}{provider}", path.display()))?;
        output.text(&reason_lines(reason))?;
    }
    Ok(())
}

pub(super) fn collision_lines(
    collisions: &[Collision],
    output: &mut Output,
) -> Result<(), CommandError> {
    for collision in collisions {
        output.text(&format!("collision: {collision}"))?;
    }
    Ok(())
}

pub(super) fn changed_lines(
    changed: &[ChangedTool],
    program: &Program,
    output: &mut Output,
) -> Result<(), CommandError> {
    for ChangedTool { tool, changes, needs_review, .. } in changed {
        let state = if *needs_review { ", and is off until somebody has looked at it" } else { "" };
        output.text(&format!("changed: {tool}{state}"))?;
        let rows: Vec<ChangeRow<'_>> = changes.iter().map(ChangeRow::from).collect();
        output.text(&change_lines(&rows))?;
        if *needs_review {
            let review = program.command(["tool", "review", tool.as_str()]);
            output.text(&format!("  where it is fine as it is now: {review}"))?;
        }
    }
    Ok(())
}

/// Tells what the policy warns of in what was taken.
pub(super) fn warn(warnings: &[Rejection]) {
    for Rejection { path, provider, reason } in warnings {
        let provider = provider.as_deref().unwrap_or("a plugin");
        let (code, found, remedy) = (reason.code, &reason.found, &reason.remedy);
        report::warning(&format!("{provider} ({}): {code}: {found}; {remedy}", path.display()));
    }
}

fn tools(provider: &ProviderStatus) -> String {
    let listed: Vec<&str> = provider.tools.iter().map(ToolName::as_str).collect();
    let others = not_listed(provider).count();
    match (listed.as_slice(), others) {
        ([], 0) => "none".to_owned(),
        ([], others) => format!("none of its {others}: does it need a configuration?"),
        (listed, 0) => listed.join(", "),
        (listed, others) => format!("{}; {others} not listed", listed.join(", ")),
    }
}

/// The tools that the provider declares and does not list now.
fn not_listed(provider: &ProviderStatus) -> impl Iterator<Item = &str> {
    let declared = provider.declared.iter().map(|tool| &tool.name);
    declared.filter(|name| !provider.tools.contains(name)).map(ToolName::as_str)
}
