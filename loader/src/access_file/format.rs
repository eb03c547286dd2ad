//! The form of the access file's content, apart from the types that it is read into: changing those does not change the file.
//!
//! Nothing is read for more than it says. A member that is missing or unknown is damage, of the agent where it is an agent's and of the file
//! otherwise, because what one release does not know may be what another forbids.

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;
use toolbay_core::{
    Access, AgentName, AgentProfile, Enforcement, NameError, PendingLoadout, Pin, Schema,
    SchemaError, TrustZone, UnknownWord,
};

use super::{Contents, DamagedAgent, Label};
use crate::{
    error::AccessFileError,
    file_declarations::{DeclarationsError, FileDeclarations},
    sealed_file::stated,
};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileContents<A> {
    generation: u64,
    tools: BTreeMap<String, bool>,
    groups: BTreeMap<String, bool>,
    providers: BTreeMap<String, bool>,
    approvals: Vec<String>,
    pins: BTreeMap<String, FilePin>,
    agents: BTreeMap<String, A>,
    labels: BTreeMap<String, FileLabel>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePin {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    name: String,
    description: String,
    schema: Box<RawValue>,
    declarations: FileDeclarations,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileLabel {
    label: String,
    summary: String,
    provider: String,
}

/// An agent as it is written: as it is, or as the text that could not be read.
#[derive(Serialize)]
#[serde(untagged)]
enum AgentToFile<'a> {
    Whole(Box<FileAgent>),
    Damaged(&'a RawValue),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileAgent {
    #[serde(deserialize_with = "stated")]
    loadout: Option<Vec<String>>,
    #[serde(deserialize_with = "stated")]
    pending: Option<FilePending>,
    skills: BTreeMap<String, Option<Vec<String>>>,
    #[serde(deserialize_with = "stated")]
    groups: Option<Vec<String>>,
    zone: String,
    fallbacks: Vec<Option<String>>,
    enforcement: String,
    four_eyes: bool,
    visibility: String,
    tool_config: BTreeMap<String, Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePending {
    #[serde(deserialize_with = "stated")]
    loadout: Option<Vec<String>>,
    by: String,
    at_ms: u64,
}

/// Why well-formed content can't be used.
#[derive(Debug, Error)]
pub(super) enum DecodeError {
    #[error("content in another form: {0}")]
    Form(#[from] serde_json::Error),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Word(#[from] UnknownWord),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error(transparent)]
    Declarations(#[from] DeclarationsError),
}

pub(super) fn encode(contents: &Contents) -> Result<Box<RawValue>, AccessFileError> {
    to_text(contents).map_err(|source| AccessFileError::Encode { source })
}

fn to_text(contents: &Contents) -> Result<Box<RawValue>, serde_json::Error> {
    let Contents { generation, access, agents, labels, damaged } = contents;
    let agent = |(name, profile): (&AgentName, &AgentProfile)| {
        let whole = agent_to_file(profile);
        let agent = match damaged.get(name) {
            // Nobody has replaced it: what is there is worth more than what was made of it.
            Some(damaged) if is_same(&whole, &agent_to_file(&unusable(name)))? => {
                AgentToFile::Damaged(&damaged.text)
            }
            _ => AgentToFile::Whole(Box::new(whole)),
        };
        Ok((name.to_string(), agent))
    };
    let file = FileContents {
        generation: *generation,
        tools: keys(&access.tools, |enabled| *enabled),
        groups: keys(&access.groups, |enabled| *enabled),
        providers: keys(&access.providers, |enabled| *enabled),
        approvals: texts(&access.approvals),
        pins: keys(&access.pins, pin_to_file),
        agents: agents.iter().map(agent).collect::<Result<_, serde_json::Error>>()?,
        labels: keys(labels, label_to_file),
    };
    serde_json::to_string_pretty(&file).and_then(RawValue::from_string)
}

fn is_same(one: &FileAgent, other: &FileAgent) -> Result<bool, serde_json::Error> {
    Ok(serde_json::to_string(one)? == serde_json::to_string(other)?)
}

pub(super) fn decode(content: &RawValue) -> Result<Contents, DecodeError> {
    let file: FileContents<Box<RawValue>> = serde_json::from_str(content.get())?;
    let mut contents = Contents {
        generation: file.generation,
        access: Access {
            closed: false,
            tools: names(file.tools, Ok)?,
            groups: names(file.groups, Ok)?,
            providers: names(file.providers, Ok)?,
            approvals: set(&file.approvals)?,
            pins: names(file.pins, pin_from_file)?,
        },
        labels: names(file.labels, label_from_file)?,
        ..Contents::default()
    };
    for (name, text) in file.agents {
        let name: AgentName = name.parse()?;
        let profile = agent_from_file(name.clone(), &text).unwrap_or_else(|error| {
            let found = error.to_string();
            contents.damaged.insert(name.clone(), DamagedAgent { found, text });
            unusable(&name)
        });
        contents.agents.insert(name, profile);
    }
    Ok(contents)
}

/// An agent of which nothing is known but its name, so that it may use nothing.
fn unusable(name: &AgentName) -> AgentProfile {
    AgentProfile {
        loadout: Some(BTreeSet::new()),
        groups: Some(BTreeSet::new()),
        ..AgentProfile::new(name.clone())
    }
}

fn agent_to_file(profile: &AgentProfile) -> FileAgent {
    let list = |tools: &Option<BTreeSet<_>>| tools.as_ref().map(texts);
    let pending = profile.pending.as_ref().map(|pending| FilePending {
        loadout: list(&pending.loadout),
        by: pending.by.clone(),
        at_ms: u64::try_from(pending.at.as_millis()).unwrap_or(u64::MAX),
    });
    FileAgent {
        loadout: list(&profile.loadout),
        pending,
        skills: keys(&profile.skills, list),
        groups: profile.groups.as_ref().map(texts),
        zone: profile.zone.to_string(),
        fallbacks: profile.fallbacks.iter().map(|zone| zone.map(|zone| zone.to_string())).collect(),
        enforcement: profile.enforcement.to_string(),
        four_eyes: profile.four_eyes,
        visibility: profile.visibility.to_string(),
        tool_config: keys(&profile.tool_config, Clone::clone),
    }
}

fn agent_from_file(name: AgentName, text: &RawValue) -> Result<AgentProfile, DecodeError> {
    let file: FileAgent = serde_json::from_str(text.get())?;
    let pending = file.pending.map(|pending| {
        let loadout = pending.loadout.as_deref().map(set).transpose()?;
        let at = Duration::from_millis(pending.at_ms);
        Ok::<_, DecodeError>(PendingLoadout { loadout, by: pending.by, at })
    });
    let skill = |(name, tools): (String, Option<Vec<String>>)| {
        Ok::<_, DecodeError>((name, tools.as_deref().map(set).transpose()?))
    };
    Ok(AgentProfile {
        name,
        loadout: file.loadout.as_deref().map(set).transpose()?,
        pending: pending.transpose()?,
        skills: file.skills.into_iter().map(skill).collect::<Result<_, _>>()?,
        groups: file.groups.as_deref().map(set).transpose()?,
        zone: TrustZone::of_setting(Some(&file.zone)),
        fallbacks: file.fallbacks.iter().map(|zone| zone.as_deref()?.parse().ok()).collect(),
        enforcement: Enforcement::of_setting(Some(&file.enforcement)),
        four_eyes: file.four_eyes,
        visibility: file.visibility.parse()?,
        tool_config: names(file.tool_config, Ok)?,
    })
}

fn pin_to_file(pin: &Pin) -> FilePin {
    FilePin {
        provider: pin.provider.as_ref().map(ToString::to_string),
        name: pin.name.to_string(),
        description: pin.description.clone(),
        schema: pin.schema.as_raw().to_owned(),
        declarations: FileDeclarations::from(&pin.declarations),
    }
}

fn pin_from_file(file: FilePin) -> Result<Pin, DecodeError> {
    Ok(Pin {
        provider: file.provider.map(|id| id.parse()).transpose()?,
        name: file.name.parse()?,
        description: file.description,
        schema: Schema::parse(file.schema.get())?,
        declarations: file.declarations.try_into()?,
    })
}

fn label_to_file(label: &Label) -> FileLabel {
    FileLabel {
        label: label.label.clone(),
        summary: label.summary.clone(),
        provider: label.provider.to_string(),
    }
}

fn label_from_file(file: FileLabel) -> Result<Label, DecodeError> {
    let FileLabel { label, summary, provider } = file;
    Ok(Label { label, summary, provider: provider.parse()? })
}

fn texts(names: &BTreeSet<impl ToString>) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

fn set<N: FromStr<Err = NameError> + Ord>(names: &[String]) -> Result<BTreeSet<N>, NameError> {
    names.iter().map(|name| name.parse()).collect()
}

fn keys<V, T>(rows: &BTreeMap<impl ToString, V>, to_file: impl Fn(&V) -> T) -> BTreeMap<String, T> {
    rows.iter().map(|(name, row)| (name.to_string(), to_file(row))).collect()
}

fn names<N: FromStr<Err = NameError> + Ord, V, T>(
    rows: BTreeMap<String, V>,
    from_file: impl Fn(V) -> Result<T, DecodeError>,
) -> Result<BTreeMap<N, T>, DecodeError> {
    rows.into_iter().map(|(name, row)| Ok((name.parse()?, from_file(row)?))).collect()
}

#[cfg(test)]
mod tests;
