//! Replies as the protocol has them. Artifacts are for people, and never among them.

use rmcp::model::{CallToolResult, ContentBlock as Block, Resource as Link, ResourceContents};
use toolbay_loader::{
    CallError, ContentBlock, Reply, ReplyStatus, Resource, ResourceBody, ResourceLink,
};

/// A reply as the result of `tools/call`.
pub(crate) fn result(reply: &Reply) -> CallToolResult {
    let content = blocks(reply);
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
