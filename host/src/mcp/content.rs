//! Replies as the protocol has them. Artifacts are for people, and never among them.

use rmcp::model::{CallToolResult, ContentBlock as Block, Resource as Link, ResourceContents};
use toolbay_loader::{
    CallError, ContentBlock, Reply, ReplyStatus, Resource, ResourceBody, ResourceLink,
    ToolDefinition,
};

/// A reply of this tool as the result of `tools/call`.
pub(crate) fn result(reply: &Reply, tool: Option<&ToolDefinition>) -> CallToolResult {
    let mut content = blocks(reply);
    // Clients refuse a success without the structured result that the tool promises, and its text with it.
    let promised = tool.is_some_and(|tool| tool.output_schema().is_some());
    if promised && reply.status() == ReplyStatus::Ok && reply.structured().is_none() {
        content.push(Block::text(
            "[the structured result of this tool is left out: it is larger than this host lets through]",
        ));
        return CallToolResult::error(content);
    }
    let mut result = match reply.status() {
        ReplyStatus::Ok => CallToolResult::success(content),
        ReplyStatus::Failed | ReplyStatus::Cancelled => CallToolResult::error(content),
    };
    // A reply's structured result is JSON; anything else is left out like an absent one.
    result.structured_content =
        reply.structured().and_then(|structured| serde_json::from_str(structured.get()).ok());
    result
}

/// A call without a reply as a result that a model can read: nothing of it is the plugin's own text.
pub(crate) fn error(error: &CallError) -> CallToolResult {
    CallToolResult::error(vec![Block::text(error.model_text())])
}

/// The content of a reply. A structured result without any text is its own text, for clients that read nothing else.
pub(crate) fn blocks(reply: &Reply) -> Vec<Block> {
    let mut blocks: Vec<Block> = reply.content().unwrap_or_default().iter().map(block).collect();
    if !blocks.iter().any(|block| block.as_text().is_some()) {
        let text = reply.model_text();
        if !text.is_empty() {
            blocks.push(Block::text(text));
        }
    }
    blocks
}

fn block(block: &ContentBlock) -> Block {
    match block {
        ContentBlock::Text(text) => Block::text(text),
        ContentBlock::Image { data, mime } => Block::image(data, mime),
        ContentBlock::Audio { data, mime } => Block::audio(data, mime),
        ContentBlock::Resource(resource) => Block::resource(contents(resource)),
        ContentBlock::ResourceLink(resource) => Block::resource_link(link(resource)),
        other => Block::text(format!("[{}]", other.kind())),
    }
}

fn contents(resource: &Resource) -> ResourceContents {
    let Resource { uri, mime, body } = resource;
    let (uri, mime_type) = (uri.clone(), mime.clone());
    match body.clone() {
        ResourceBody::Text(text) => {
            ResourceContents::TextResourceContents { uri, mime_type, text, meta: None }
        }
        ResourceBody::Blob(blob) => {
            ResourceContents::BlobResourceContents { uri, mime_type, blob, meta: None }
        }
    }
}

fn link(resource: &ResourceLink) -> Link {
    let ResourceLink { uri, name, title, description, mime, size } = resource;
    let mut link = Link::new(uri, name);
    link.title = title.clone();
    link.description = description.clone();
    link.mime_type = mime.clone();
    link.size = *size;
    link
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::sample;

    fn converted(status: ReplyStatus, text: &str, rest: &Value) -> Value {
        serde_json::to_value(result(&sample::reply(status, text, rest), None)).unwrap()
    }

    #[test]
    fn a_text_is_one_block() {
        let expected = json!({
            "resultType": "complete",
            "content": [{ "type": "text", "text": "Hallo." }],
            "isError": false,
        });
        assert_eq!(converted(ReplyStatus::Ok, "Hallo.", &Value::Null), expected);
    }

    #[test]
    fn a_tool_that_could_not_is_an_error_that_a_model_can_read() {
        for status in [ReplyStatus::Failed, ReplyStatus::Cancelled] {
            let result = converted(status, "no such file", &Value::Null);
            assert_eq!(result["isError"], true);
            assert_eq!(result["content"], json!([{ "type": "text", "text": "no such file" }]));
        }
    }

    #[test]
    fn every_block_arrives_as_the_protocol_writes_it() {
        let content = json!([
            { "type": "text", "text": "one" },
            { "type": "image", "data": "aGk=", "mimeType": "image/png" },
            { "type": "audio", "data": "aGk=", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "file:///a", "text": "a" } },
            { "type": "resource", "resource": { "uri": "file:///b", "blob": "aGk=", "mimeType": "x/y" } },
            {
                "type": "resource_link", "uri": "file:///c", "name": "c", "title": "C",
                "description": "a file", "mimeType": "text/plain", "size": 3,
            },
        ]);
        let result = converted(ReplyStatus::Ok, "", &json!({ "content": content }));
        assert_eq!(result["content"], content);
    }

    #[test]
    fn a_structured_result_is_text_as_well_where_there_is_no_other() {
        let image = json!({ "type": "image", "data": "aGk=", "mimeType": "image/png" });
        let as_text = json!({ "type": "text", "text": "{\"a\":1}" });
        let cases = [
            ("", json!({ "structured": { "a": 1 } }), json!([as_text])),
            (
                "one",
                json!({ "structured": { "a": 1 } }),
                json!([{ "type": "text", "text": "one" }]),
            ),
            ("", json!({ "content": [image], "structured": { "a": 1 } }), json!([image, as_text])),
        ];
        for (text, rest, content) in cases {
            let result = converted(ReplyStatus::Ok, text, &rest);
            assert_eq!(result["structuredContent"], json!({ "a": 1 }));
            assert_eq!(result["content"], content);
        }
    }

    #[test]
    fn an_artifact_never_goes_out() {
        let artifact =
            json!({ "type": "text", "label": "notes", "data": { "text": "for people" } });
        let rest = json!({ "artifacts": [artifact] });
        assert_eq!(sample::reply(ReplyStatus::Ok, "a", &rest).artifacts().len(), 1);
        let expected = converted(ReplyStatus::Ok, "a", &Value::Null);
        assert_eq!(converted(ReplyStatus::Ok, "a", &rest), expected);
    }
}
