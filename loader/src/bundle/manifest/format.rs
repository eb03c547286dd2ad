//! The form of a manifest, apart from the types that it is read into: changing those does not change the file.

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
    marker::PhantomData,
};

use semver::Version;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::value::RawValue;
use toolbay_core::{Egress, ProviderId, Schema, canonical};

use super::{Manifest, canonical_bytes, mistake};
use crate::{
    bundle::{BundlePath, BundledDefinition, BundledTool, ListedFile, ManifestParts, Target},
    file_declarations::{FileDeclared, FileNames},
    plugin_text::one_line,
    rejection::Reason,
    store::ContentHash,
    verify::DeclaredTool,
};

#[derive(Serialize, Deserialize)]
struct FileManifest {
    toolbay_bundle: u64,
    #[serde(with = "text")]
    id: ProviderId,
    #[serde(with = "text")]
    version: Version,
    vendor: String,
    license: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    homepage: Option<String>,
    #[serde(with = "text")]
    minimum_host: Version,
    #[serde(with = "text")]
    egress: Egress,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    documentation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    targets: BTreeMap<String, Members<FileTarget>>,
    files: Vec<Members<FileListed>>,
    /// Texts, because what serde makes of flattened members can't hold a schema as text.
    tools: Vec<Box<RawValue>>,
}

#[derive(Serialize, Deserialize)]
struct FileTarget {
    epoch: u32,
    #[serde(with = "digits")]
    digest: u64,
    libraries: Vec<Members<FileListed>>,
}

#[derive(Serialize, Deserialize)]
struct FileListed {
    path: String,
    size: u64,
    #[serde(with = "text")]
    sha256: ContentHash,
}

#[derive(Serialize)]
struct FileTool {
    #[serde(flatten)]
    declared: FileDeclared,
    #[serde(flatten)]
    definition: FileDefinition,
}

#[derive(Serialize, Deserialize)]
struct FileDefinition {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input_schema: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output_schema: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    configured: bool,
}

/// A value that is an object in the file. What is derived alone would take an array of the members' values as well.
#[derive(Serialize)]
#[serde(transparent)]
struct Members<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Members<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectOf(PhantomData))
    }
}

struct ObjectOf<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectOf<T> {
    type Value = Members<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Members<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Members)
    }
}

/// Values that are texts in the file.
mod text {
    use std::{fmt::Display, str::FromStr};

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(
        value: &impl Display,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A number of 64 bits as 16 hexadecimal digits.
mod digits {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{value:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        let is_digest = text.len() == 16 && text.bytes().all(is_digit);
        let value = u64::from_str_radix(&text, 16).ok().filter(|_| is_digest);
        value.ok_or_else(|| {
            let text: String = text.chars().take(80).collect();
            D::Error::custom(format_args!("expected 16 hexadecimal digits, found {text:?}"))
        })
    }
}

/// Reads the text of a manifest, in which no member is there twice.
pub(super) fn read(text: &str) -> Result<ManifestParts, Reason> {
    let file: FileManifest = at("", text)?;
    let target = |(name, Members(target)): (String, Members<FileTarget>)| {
        let place = format!("targets.{name}.libraries");
        let FileTarget { epoch, digest, libraries } = target;
        Ok((name, Target { epoch, digest, libraries: listed(&place, libraries)? }))
    };
    let path =
        |place: &str, path: Option<String>| path.map(|text| path_at(place, &text)).transpose();
    Ok(ManifestParts {
        id: file.id,
        version: file.version,
        vendor: file.vendor,
        license: file.license,
        description: file.description,
        homepage: file.homepage,
        minimum_host: file.minimum_host,
        egress: file.egress,
        documentation: path("documentation", file.documentation)?,
        icon: path("icon", file.icon)?,
        targets: file.targets.into_iter().map(target).collect::<Result<_, Reason>>()?,
        files: listed("files", file.files)?,
        tools: file
            .tools
            .iter()
            .enumerate()
            .map(|(number, text)| tool(&format!("tools[{number}]"), text.get()))
            .collect::<Result<_, _>>()?,
    })
}

/// The canonical text of a manifest.
pub(in crate::bundle) fn canonical_text(parts: &ManifestParts) -> Result<Vec<u8>, Reason> {
    let failed =
        |error: serde_json::Error| mistake("manifest", "what JSON can hold", &error.to_string());
    let tools = parts.tools.iter().map(|tool| serde_json::value::to_raw_value(&tool_to_file(tool)));
    let file = FileManifest {
        toolbay_bundle: Manifest::FORMAT,
        id: parts.id.clone(),
        version: parts.version.clone(),
        vendor: parts.vendor.clone(),
        license: parts.license.clone(),
        description: parts.description.clone(),
        homepage: parts.homepage.clone(),
        minimum_host: parts.minimum_host.clone(),
        egress: parts.egress,
        documentation: parts.documentation.as_ref().map(ToString::to_string),
        icon: parts.icon.as_ref().map(ToString::to_string),
        targets: parts
            .targets
            .iter()
            .map(|(name, target)| (name.clone(), target_to_file(target)))
            .collect(),
        files: parts.files.iter().map(listed_to_file).collect(),
        tools: tools.collect::<Result<_, _>>().map_err(failed)?,
    };
    let text = serde_json::to_string(&file).map_err(failed)?;
    let value = serde_json::from_str(&text).map_err(failed)?;
    Ok(canonical_bytes(&value))
}

/// Reads a JSON object that stands at a place in the manifest.
fn at<'de, T: Deserialize<'de>>(place: &str, text: &'de str) -> Result<T, Reason> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut json);
    read.map(|Members(read)| read).map_err(|error| {
        let inner = error.path().to_string();
        let place = match (place, &*inner) {
            ("", inner) => inner.to_owned(),
            (place, ".") => place.to_owned(),
            (place, inner) => format!("{place}.{inner}"),
        };
        let error: serde_json::Error = error.into_inner();
        // The line and column would count from the place.
        let found = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        mistake(&place, WELL_FORMED, found.strip_suffix(&position).unwrap_or(&found))
    })
}

const WELL_FORMED: &str = "the members of a manifest, each with its kind of value";

fn path_at(place: &str, text: &str) -> Result<BundlePath, Reason> {
    text.parse::<BundlePath>().map_err(|error| {
        let mut reason = error.refused();
        reason.found = one_line(&format!("{place}: {}", reason.found), 400);
        reason
    })
}

fn listed(place: &str, files: Vec<Members<FileListed>>) -> Result<Vec<ListedFile>, Reason> {
    let listed = files.into_iter().enumerate().map(|(number, Members(file))| {
        let path = path_at(&format!("{place}[{number}].path"), &file.path)?;
        Ok(ListedFile { path, size: file.size, sha256: file.sha256 })
    });
    listed.collect()
}

fn tool(place: &str, text: &str) -> Result<BundledTool, Reason> {
    let wrong = |error: &dyn Display| mistake(place, WELL_FORMED, &error.to_string());
    let declared =
        FileDeclared { names: at::<FileNames>(place, text)?, declarations: at(place, text)? };
    let declared = DeclaredTool::try_from(declared).map_err(|error| wrong(&error))?;
    let schema = |member: &str, text: Box<RawValue>| {
        let mistaken = |error: &dyn Display| {
            mistake(&format!("{place}.{member}"), "a JSON schema of objects", &error.to_string())
        };
        let schema = Schema::parse(text.get()).map_err(|error| mistaken(&error))?;
        // The properties that it may have lacked stand where they do when it is written.
        let value = serde_json::from_str(schema.as_str()).map_err(|error| mistaken(&error))?;
        Schema::parse(&canonical(&value)).map_err(|error| mistaken(&error))
    };
    let definition = match at(place, text)? {
        FileDefinition {
            description: Some(description),
            input_schema: Some(input),
            output_schema,
            configured: false,
        } => BundledDefinition::Fixed {
            description,
            input_schema: schema("input_schema", input)?,
            output_schema: output_schema.map(|text| schema("output_schema", text)).transpose()?,
        },
        FileDefinition {
            description: None,
            input_schema: None,
            output_schema: None,
            configured: true,
        } => BundledDefinition::Configured,
        _ => {
            let expected = "description and input_schema, or \"configured\": true and neither";
            return Err(mistake(place, expected, "something else"));
        }
    };
    Ok(BundledTool { declared, definition })
}

fn target_to_file(target: &Target) -> Members<FileTarget> {
    let libraries = target.libraries.iter().map(listed_to_file).collect();
    Members(FileTarget { epoch: target.epoch, digest: target.digest, libraries })
}

fn listed_to_file(file: &ListedFile) -> Members<FileListed> {
    Members(FileListed { path: file.path.to_string(), size: file.size, sha256: file.sha256 })
}

fn tool_to_file(tool: &BundledTool) -> FileTool {
    let definition = match &tool.definition {
        BundledDefinition::Fixed { description, input_schema, output_schema } => FileDefinition {
            description: Some(description.clone()),
            input_schema: Some(input_schema.as_raw().to_owned()),
            output_schema: output_schema.as_ref().map(|schema| schema.as_raw().to_owned()),
            configured: false,
        },
        BundledDefinition::Configured => FileDefinition {
            description: None,
            input_schema: None,
            output_schema: None,
            configured: true,
        },
    };
    FileTool { declared: FileDeclared::from(&tool.declared), definition }
}
