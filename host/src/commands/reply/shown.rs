//! A reply as a person reads it on a terminal: text as it is, everything else as a line that says what it is.

use std::borrow::Cow;

use toolbay_loader::{ContentBlock, Reply, Resource, ResourceBody, ResourceLink};

use crate::output::grouped;

pub(super) fn reply(reply: &Reply) -> Cow<'_, str> {
    let Some(blocks) = reply.content() else { return reply.model_text() };
    let mut parts: Vec<Cow<'_, str>> = blocks.iter().map(block).collect();
    // Without a text of its own, what the model reads is the structured result.
    if !blocks.iter().any(|block| block.as_text().is_some()) {
        parts.extend(reply.structured().map(|structured| Cow::Borrowed(structured.get())));
    }
    Cow::Owned(parts.join("\n\n"))
}

fn block(block: &ContentBlock) -> Cow<'_, str> {
    let line = match block {
        ContentBlock::Text(text) => return Cow::Borrowed(text),
        ContentBlock::Image { data, mime } | ContentBlock::Audio { data, mime } => {
            format!("[{} {mime}, {} bytes]", block.kind(), decoded_len(data))
        }
        ContentBlock::Resource(Resource { uri, mime, body }) => {
            let len = match body {
                ResourceBody::Text(text) => grouped(text.len() as u64),
                ResourceBody::Blob(blob) => decoded_len(blob),
            };
            let mime = mime.as_deref().map(|mime| format!(" {mime}")).unwrap_or_default();
            format!("[resource {uri}{mime}, {len} bytes]")
        }
        ContentBlock::ResourceLink(ResourceLink { uri, name, .. }) => {
            format!("[resource link {name} {uri}]")
        }
        other => format!("[{}]", other.kind()),
    };
    Cow::Owned(line)
}

/// The bytes that a base64 text stands for.
fn decoded_len(base64: &str) -> String {
    grouped((base64.trim_end_matches('=').len() as u64) * 3 / 4)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolbay_loader::ReplyStatus;

    use super::*;
    use crate::sample;

    #[test]
    fn what_is_no_text_is_named_in_one_line() {
        let image = json!({ "type": "image", "data": "aGVsbG8=", "mimeType": "image/png" });
        let resource = |contents: Value| json!({ "type": "resource", "resource": contents });
        let cases = [
            ("one\n", json!(null), "one\n"),
            ("", json!({ "structured": [1, 2] }), "[1,2]"),
            (
                "",
                json!({ "content": [{ "type": "text", "text": "one" }, image] }),
                "one\n\n[image image/png, 5 bytes]",
            ),
            ("", json!({ "content": [image], "structured": 3 }), "[image image/png, 5 bytes]\n\n3"),
            (
                "",
                json!({ "content": [{ "type": "audio", "data": "aGk=", "mimeType": "audio/wav" }] }),
                "[audio audio/wav, 2 bytes]",
            ),
            (
                "",
                json!({ "content": [resource(json!({ "uri": "file:///a", "text": "abc" }))] }),
                "[resource file:///a, 3 bytes]",
            ),
            (
                "",
                json!({ "content": [resource(json!({ "uri": "file:///a", "mimeType": "x/y", "blob": "aGk=" }))] }),
                "[resource file:///a x/y, 2 bytes]",
            ),
            (
                "",
                json!({ "content": [{ "type": "resource_link", "uri": "file:///a", "name": "a" }] }),
                "[resource link a file:///a]",
            ),
        ];
        for (text, rest, expected) in cases {
            assert_eq!(reply(&sample::reply(ReplyStatus::Ok, text, &rest)), expected, "{rest}");
        }
    }
}
