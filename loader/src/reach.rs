//! Where a plugin's configuration leads: the folders, files and ports that its note says it names.

use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

use fluent_uri::Uri;
use serde_json::{Value, value::RawValue};
use toolbay_abi::note::{Note, NotePath};

/// What a plugin may reach because it is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Folders and files, and whether it writes there.
    pub(crate) paths: Vec<(PathBuf, bool)>,
    /// The ports of its endpoints; `None` where its note names no endpoint.
    pub(crate) ports: Option<Vec<u16>>,
}

impl Reach {
    /// What follows from the note and the configuration. What can't be understood is not reachable.
    pub(crate) fn of(note: &Note, configuration: Option<&RawValue>) -> Self {
        let configuration = configuration.map_or("null", RawValue::get);
        let configuration: Value = serde_json::from_str(configuration).unwrap_or_default();
        let paths_of = |declared: &NotePath| {
            let write = declared.write;
            let texts = texts_at(&configuration, &declared.key).into_iter();
            texts.map(move |path| (PathBuf::from(path), write)).collect::<Vec<_>>()
        };
        let ports_of = |key: &String| {
            let provider = &note.id;
            let endpoints = texts_at(&configuration, key).into_iter();
            let ports = endpoints.filter_map(move |endpoint| {
                let port = port_of(endpoint);
                if port.is_none() {
                    log::warn!(
                        "provider {provider}, configuration {key}: expected a URL of http, https, ws or wss, or host:port; it can't be reached"
                    );
                }
                port
            });
            ports.collect::<Vec<_>>()
        };
        let ports = note.endpoints.iter().flat_map(ports_of).collect();
        Self {
            paths: note.paths.iter().flat_map(paths_of).collect(),
            ports: (!note.endpoints.is_empty()).then_some(ports),
        }
    }

    /// The paths that are there, absolute. Nobody can be given what is not there yet.
    pub(crate) fn present(&self, provider: &str) -> Vec<(PathBuf, bool)> {
        let is_there = |path: &Path| {
            let is_there = path.exists();
            if !is_there {
                let path = path.display();
                log::warn!(
                    "provider {provider}: {path} is configured and not there, so that its worker can't reach it; create it, then call again"
                );
            }
            is_there
        };
        let absolute = |(path, write): &(PathBuf, bool)| {
            std::path::absolute(path).ok().map(|path| (path, *write))
        };
        self.paths.iter().filter_map(absolute).filter(|(path, _)| is_there(path)).collect()
    }
}

/// The texts at a place of a configuration: the names of the members with dots between them, where each list counts as its items.
fn texts_at<'c>(configuration: &'c Value, key: &str) -> Vec<&'c str> {
    let mut there = items(configuration);
    for member in key.split('.') {
        there = there.into_iter().filter_map(|value| value.get(member)).flat_map(items).collect();
    }
    there.into_iter().filter_map(Value::as_str).collect()
}

fn items(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().flat_map(self::items).collect(),
        other => vec![other],
    }
}

/// The port of a URL or of `host:port`.
fn port_of(endpoint: &str) -> Option<u16> {
    if !endpoint.contains("://") {
        let (host, port) = endpoint.rsplit_once(':')?;
        return u16::from_str(port).ok().filter(|_| !host.is_empty());
    }
    let uri = Uri::parse(endpoint).ok()?;
    let said = uri.authority()?.port().filter(|port| !port.is_empty());
    match (said, uri.scheme().as_str()) {
        (Some(port), _) => u16::from_str(port.as_str()).ok(),
        (None, "http" | "ws") => Some(80),
        (None, "https" | "wss") => Some(443),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_lead_to_texts_also_through_lists() {
        let configuration = json!({
            "file": "/a", "roots": ["/b", { "name": "c", "path": "/c" }, 7],
            "deep": { "er": [[{ "est": "/d" }], { "est": ["/e"] }] }, "none": null,
        });
        for (key, expected) in [
            ("file", &["/a"][..]),
            ("roots", &["/b"]),
            ("roots.path", &["/c"]),
            ("deep.er.est", &["/d", "/e"]),
            ("none", &[]),
            ("nowhere", &[]),
            ("file.more", &[]),
            ("", &[]),
        ] {
            assert_eq!(texts_at(&configuration, key), expected, "{key}");
        }
        assert_eq!(texts_at(&Value::Null, "file"), [] as [&str; 0]);
    }

    #[test]
    fn a_port_is_said_or_that_of_the_scheme() {
        for (endpoint, expected) in [
            ("https://example.org/a?b", Some(443)),
            ("http://user:1@example.org", Some(80)),
            ("wss://example.org:8443", Some(8443)),
            ("postgres://example.org:5432/db", Some(5432)),
            ("postgres://example.org/db", None),
            ("http://[::1]:8080/", Some(8080)),
            ("example.org:25", Some(25)),
            ("[::1]:53", Some(53)),
            ("example.org", None),
            (":25", None),
            ("example.org:65536", None),
            ("http://example.org:65536", None),
            ("", None),
        ] {
            assert_eq!(port_of(endpoint), expected, "{endpoint}");
        }
    }
}
