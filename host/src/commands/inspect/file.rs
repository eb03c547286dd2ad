//! What a bundle or a library says, read without running it, and what this host has to say about it.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use toolbay_loader::{
    Dependencies, Examination, ExaminedLibrary, LibraryFacts, Note, NotePath, NoteTool, RootSymbol,
    Signer, examine,
};

use super::InspectError;
use crate::{
    commands::{
        CommandError, Setup,
        row::{ReasonRow, listed, path_text, reason_lines},
    },
    exit::Exit,
    output::{Facts, Output, Table, grouped},
};

#[derive(Serialize)]
struct FileJson<'a> {
    path: String,
    /// Whether this host would take it.
    accepted: bool,
    /// Who stands for it; none where nobody does whom this host trusts.
    signer: Option<String>,
    /// Why nobody does.
    unsigned: Option<ReasonRow<'a>>,
    problems: Vec<ReasonRow<'a>>,
    warnings: Vec<ReasonRow<'a>>,
    /// All of a bundle's manifest, also what this host does not know.
    manifest: Option<&'a Value>,
    library: Option<LibraryJson<'a>>,
}

#[derive(Serialize)]
struct LibraryJson<'a> {
    path: String,
    bytes: u64,
    hash: Option<String>,
    note: &'a Note,
    machine: &'static str,
    unwinds: bool,
    root_module: &'static str,
    rustc: Vec<&'a str>,
    glibc: Option<String>,
    needed: Vec<&'a str>,
    constructors: u64,
    imports: usize,
}

pub(super) fn inspect(
    path: &Path,
    json: bool,
    setup: &Setup,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let examination = examine(path, &setup.config.loader)
        .map_err(|rejection| InspectError::Rejected(Box::new(rejection)))?;
    match json {
        true => output.json(&FileJson::from(&examination))?,
        false => show(&examination, output)?,
    }
    Ok(if examination.is_accepted() { Exit::Done } else { Exit::Refused })
}

impl<'a> From<&'a Examination> for FileJson<'a> {
    fn from(examination: &'a Examination) -> Self {
        Self {
            path: path_text(&examination.path),
            accepted: examination.is_accepted(),
            signer: examination.signer.as_ref().ok().map(Signer::to_string),
            unsigned: examination.signer.as_ref().err().map(ReasonRow::of),
            problems: examination.problems.iter().map(ReasonRow::of).collect(),
            warnings: examination.warnings.iter().map(ReasonRow::of).collect(),
            manifest: examination.manifest.as_ref().map(|manifest| manifest.value()),
            library: examination.library.as_ref().map(LibraryJson::from),
        }
    }
}

impl<'a> From<&'a ExaminedLibrary> for LibraryJson<'a> {
    fn from(library: &'a ExaminedLibrary) -> Self {
        let ExaminedLibrary { path, len, hash, note, facts, .. } = library;
        Self {
            path: path_text(path),
            bytes: *len,
            hash: hash.map(|hash| hash.to_string()),
            note,
            machine: facts.machine,
            unwinds: facts.unwinds,
            root_module: root_module(facts),
            rustc: facts.rustc.iter().map(String::as_str).collect(),
            glibc: glibc(facts),
            needed: facts.needed.iter().map(String::as_str).collect(),
            constructors: facts.constructors,
            imports: facts.imports.len(),
        }
    }
}

fn show(examination: &Examination, output: &mut Output) -> Result<(), CommandError> {
    let mut facts = Facts::new();
    if let Some(manifest) = &examination.manifest {
        let parts = manifest.parts();
        facts.add("bundle", format!("{} {} of {}", parts.id, parts.version, parts.vendor));
        facts.add("license", &parts.license);
        facts.add("host", format!("{} or later", parts.minimum_host));
        facts.add("systems", listed(parts.targets.keys()));
        facts.add("egress", parts.egress.as_str());
    }
    match &examination.signer {
        Ok(signer) => facts.add("signed by", signer.to_string()),
        Err(reason) => {
            facts.add("signed by", format!("nobody who is trusted here ({})", reason.code))
        }
    }
    if let Some(library) = &examination.library {
        add_library(&mut facts, library);
    }
    facts.add("accepted", if examination.is_accepted() { "yes" } else { "no" });
    output.facts(&facts)?;
    for reason in examination.signer.as_ref().err().into_iter().chain(&examination.problems) {
        output.text(&reason_lines(reason))?;
    }
    if !examination.warnings.is_empty() {
        output.text("warnings")?;
    }
    for reason in &examination.warnings {
        output.text(&reason_lines(reason))?;
    }
    if let Some(library) = examination.library.as_ref().filter(|one| !one.note.tools.is_empty()) {
        output.raw("\n")?;
        output.table(table(&library.note.tools))?;
    }
    Ok(())
}

fn add_library(facts: &mut Facts, library: &ExaminedLibrary) {
    let ExaminedLibrary { path, len, hash, note, facts: tables, .. } = library;
    facts.add("provider", format!("{} {}", note.id, note.version));
    facts.add("file", format!("{}, {} bytes", path.display(), grouped(*len)));
    let hash = hash.map_or_else(|| "not readable any more".to_owned(), |hash| hash.to_string());
    facts.add("sha256", hash);
    facts.add("interface", format!("{}, digest {}", note.epoch, note.digest));
    facts.add("system", &note.target);
    facts.add("glibc", glibc(tables).unwrap_or_else(|| "not needed".to_owned()));
    facts.add("rustc", listed(&tables.rustc));
    facts.add("panic", &note.panic);
    facts.add("root module", root_module(tables));
    if !note.paths.is_empty() {
        let access = |path: &NotePath| {
            format!("{} ({})", path.key, if path.write { "writes" } else { "reads" })
        };
        facts.add("configured paths", listed(note.paths.iter().map(access)));
    }
    if !note.endpoints.is_empty() {
        facts.add("configured endpoints", listed(&note.endpoints));
    }
    facts.add("needs", listed(&tables.needed));
    facts.add("constructors", tables.constructors.to_string());
    let crates = match &tables.dependencies {
        Dependencies::Listed(crates) => format!("{} listed", crates.len()),
        _ => "not listed: build with cargo auditable to have them in the library".to_owned(),
    };
    facts.add("crates", crates);
}

/// The latest version of the C library that is needed.
fn glibc(facts: &LibraryFacts) -> Option<String> {
    facts.glibc_floor().map(|(major, minor)| format!("{major}.{minor} or later"))
}

/// The tools in the note's own words: nothing of it has been checked.
fn table(tools: &[NoteTool]) -> Table {
    let mut table = Table::new(["TOOL", "EFFECT", "ON", "APPROVAL", "LABEL", "SUMMARY"]);
    for tool in tools {
        let effect = tool.effect.as_deref().unwrap_or("not declared");
        let approval = match (tool.approval, tool.effect.as_deref()) {
            (true, _) => "asked for",
            (false, Some("read_only")) => "no",
            (false, _) => "as a write",
        };
        table.row([
            &tool.name,
            effect,
            if tool.enabled { "yes" } else { "no" },
            approval,
            &tool.label,
            &tool.summary,
        ]);
    }
    table
}

fn root_module(facts: &LibraryFacts) -> &'static str {
    match facts.root {
        RootSymbol::Defined { .. } => "defined",
        RootSymbol::Malformed(_) => "malformed",
        RootSymbol::Missing => "missing",
    }
}
