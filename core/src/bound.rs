//! Turns whatever a backend returned into something of known size and encoding.

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::{
    backend::RawReply,
    json,
    limits::Limits,
    reply::{
        Artifact, ArtifactBody, Beside, ContentBlock, Reply, ReplyError, ReplyText,
        wire::{self, Rest},
    },
};

/// The most bytes beside the text that are read at all, whatever the limits say.
const REST_BYTES: usize = 16 * 1024 * 1024;

/// The most levels that structured results and artifacts may nest.
const MAX_DEPTH: usize = 64;

/// Bounds a reply. Each limit holds for what comes out, the markers that say that something was left out included.
///
/// A text within the limit stays in the backend's buffer.
pub(crate) fn bound(raw: RawReply, limits: &Limits) -> Result<Reply, ReplyError> {
    if raw.rest.is_empty() {
        let (text, truncated) = bound_text(raw.text, limits.text_bytes);
        return Ok(Reply { status: raw.status, text, truncated, beside: None });
    }
    let mut rest = Rest::parse(&raw.rest, REST_BYTES)?;
    let content = rest.take_content()?;
    let write = rest.take_write(raw.status)?;
    let completeness = rest.completeness();
    let artifacts = rest.artifacts.map(|raw| bound_artifacts(raw, limits.artifact_bytes));
    let (structured, note) = bound_structured(rest.structured, limits.text_bytes);
    let mut truncated = note.is_some();

    let (text, content) = match content {
        None => {
            let text = note.map(Bytes::from).filter(|_| raw.text.is_empty()).unwrap_or(raw.text);
            let (text, cut) = bound_text(text, limits.text_bytes);
            truncated |= cut;
            (text, None)
        }
        Some(mut blocks) => {
            if !raw.text.is_empty() {
                let (first, cut) = bound_text(raw.text, limits.text_bytes);
                truncated |= cut;
                blocks.insert(0, ContentBlock::Text(first.as_str().to_owned()));
            }
            truncated |= bound_media(&mut blocks, limits.media_bytes);
            truncated |= bound_blocks(&mut blocks, limits.text_bytes);
            (ReplyText::default(), Some(blocks))
        }
    };
    let artifacts = artifacts.unwrap_or_default();
    let beside = Some(Box::new(Beside { content, structured, artifacts, write, completeness }));
    Ok(Reply { status: raw.status, text, truncated, beside })
}

fn bound_text(raw: Bytes, limit: usize) -> (ReplyText, bool) {
    let total = raw.len();
    let head = if total <= limit { raw } else { raw.slice(..limit) };
    let text = ReplyText::lossy(head);
    // Substitutes can be longer than what they stand for.
    if total <= limit && text.len() <= limit {
        return (text, false);
    }
    (cut(&text, limit, &marker(limit, total)).into(), true)
}

fn marker(limit: usize, total: usize) -> String {
    format!("\n[cut here: the result has {total} bytes, the limit is {limit}]")
}

/// The beginning of a text and the marker, together within the limit.
fn cut(text: &str, limit: usize, marker: &str) -> String {
    let keep = text.floor_char_boundary(limit.saturating_sub(marker.len()));
    let mut kept = text[..keep].to_owned();
    kept.push_str(marker);
    kept.truncate(kept.floor_char_boundary(limit));
    kept
}

/// A JSON value can't be cut: one that is too large or too deep is left out, with a note that says so.
fn bound_structured(
    raw: Option<&RawValue>,
    limit: usize,
) -> (Option<Box<RawValue>>, Option<String>) {
    let Some(raw) = raw else { return (None, None) };
    let found = raw.get().len();
    if found > limit {
        let note =
            format!("[structured result left out: it has {found} bytes, the limit is {limit}]");
        return (None, Some(note));
    }
    if json::depth(raw.get()) > MAX_DEPTH {
        let note = format!("[structured result left out: it nests deeper than {MAX_DEPTH} levels]");
        return (None, Some(note));
    }
    (Some(raw.to_owned()), None)
}

fn bound_artifacts(raw: &RawValue, limit: usize) -> Vec<Artifact> {
    let found = raw.get().len();
    let problem = if found > limit {
        format!("they have {found} bytes, the limit is {limit}")
    } else if json::depth(raw.get()) > MAX_DEPTH {
        format!("they nest deeper than {MAX_DEPTH} levels")
    } else {
        match wire::artifacts(raw) {
            Ok(artifacts) => return artifacts,
            Err(_) => "they are no list of tables and texts".to_owned(),
        }
    };
    let body = ArtifactBody::Text(format!("The tool's artifacts were left out: {problem}."));
    vec![Artifact { label: "Artifacts left out".to_owned(), body }]
}

/// Replaces each block whose encoded data exceeds what is left of the limit by a text that says so.
fn bound_media(blocks: &mut [ContentBlock], limit: usize) -> bool {
    let mut left = limit;
    let mut truncated = false;
    for block in blocks {
        let bytes = block.media_bytes();
        match left.checked_sub(bytes) {
            Some(rest) => left = rest,
            None => {
                let kind = block.kind();
                let note = format!(
                    "[{kind} left out: it has {bytes} bytes, the limit of a reply is {limit}]"
                );
                *block = ContentBlock::Text(note);
                truncated = true;
            }
        }
    }
    truncated
}

/// Keeps the blocks until their text is over the limit, cuts the one that exceeds it, and of the others keeps those without text.
fn bound_blocks(blocks: &mut Vec<ContentBlock>, limit: usize) -> bool {
    let separator = ContentBlock::SEPARATOR.len();
    let cost = |block: &ContentBlock| {
        block.text_bytes() + if block.as_text().is_some() { separator } else { 0 }
    };
    let total = blocks.iter().map(cost).sum::<usize>().saturating_sub(separator);
    if total <= limit {
        return false;
    }
    let marker = marker(limit, total);
    let mut left = limit.saturating_sub(marker.len());
    let mut is_cut = false;
    blocks.retain_mut(|block| match cost(block) {
        0 => true,
        _ if is_cut => false,
        cost if cost <= left => {
            left -= cost;
            true
        }
        _ => {
            let room = limit.min(left + marker.len());
            *block = ContentBlock::Text(cut(block.as_text().unwrap_or_default(), room, &marker));
            is_cut = true;
            true
        }
    });
    true
}
