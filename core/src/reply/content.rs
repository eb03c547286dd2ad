//! The content blocks of a reply, as the Model Context Protocol has them.

/// One piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text for the model.
    Text(String),
    /// A picture.
    Image {
        /// The picture in base64.
        data: String,
        /// Its media type, such as `image/png`.
        mime: String,
    },
    /// A sound.
    Audio {
        /// The sound in base64.
        data: String,
        /// Its media type, such as `audio/wav`.
        mime: String,
    },
    /// A resource with what it holds.
    Resource(Resource),
    /// A resource that the client may read by itself.
    ResourceLink(ResourceLink),
}

/// A resource that a reply holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// Its media type, where it has one.
    pub mime: Option<String>,
    /// What it holds.
    pub body: ResourceBody,
}

/// What a resource holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Anything else, in base64.
    Blob(String),
}

/// A resource that a reply points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceLink {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name for people, where it has one.
    pub title: Option<String>,
    /// What it is, where the tool says so.
    pub description: Option<String>,
    /// Its media type, where it has one.
    pub mime: Option<String>,
    /// Its size in bytes, where the tool says so.
    pub size: Option<u64>,
}

impl ContentBlock {
    /// What stands between text blocks in the text for a model.
    pub(crate) const SEPARATOR: &str = "\n\n";

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What the block is, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Image { .. } => "image",
            Self::Audio { .. } => "audio",
            Self::Resource(_) => "resource",
            Self::ResourceLink(_) => "resource link",
        }
    }

    /// The bytes of what a reader could take for text: everything that does not belong to encoded data.
    pub(crate) fn text_bytes(&self) -> usize {
        let len = |text: &Option<String>| text.as_deref().map_or(0, str::len);
        match self {
            Self::Text(text) => text.len(),
            Self::Image { .. } | Self::Audio { .. } => 0,
            Self::Resource(Resource { uri, mime, body }) => {
                let body = match body {
                    ResourceBody::Text(text) => text.len(),
                    ResourceBody::Blob(_) => 0,
                };
                uri.len() + len(mime) + body
            }
            Self::ResourceLink(ResourceLink { uri, name, title, description, mime, size: _ }) => {
                uri.len() + name.len() + len(title) + len(description) + len(mime)
            }
        }
    }

    /// The bytes of encoded data, with the media type that it needs.
    pub(crate) fn media_bytes(&self) -> usize {
        match self {
            Self::Image { data, mime } | Self::Audio { data, mime } => data.len() + mime.len(),
            Self::Resource(Resource { body: ResourceBody::Blob(blob), .. }) => blob.len(),
            _ => 0,
        }
    }
}
