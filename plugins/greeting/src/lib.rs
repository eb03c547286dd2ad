//! Greets in English or German: the plugin that the tutorial builds.

use toolbay_plugin_api::prelude::*;

/// Whom to greet, and how.
#[arguments]
struct Greeting {
    /// The language of the greeting.
    #[serde(default)]
    language: Language,
    /// Whom to greet; nobody in particular where it is left out.
    #[serde(default)]
    name: Option<String>,
}

/// A language that the tool can greet in.
#[arguments]
#[derive(Default)]
#[serde(rename_all = "lowercase")]
enum Language {
    /// English.
    #[default]
    En,
    /// German.
    De,
}

/// Greets somebody in English or German. Returns one short sentence.
#[tool(
    label = "Greeting",
    summary = "Greets in English or German",
    effect = ReadOnly,
    data_class = PublicContent,
    kind = Read,
    enabled
)]
fn greet(greeting: Greeting) -> Result<Reply, Failure> {
    let word = match greeting.language {
        Language::En => "Hello",
        Language::De => "Hallo",
    };
    toolbay_plugin_api::log::info!("greeting with {word}");
    Ok(Reply::text(match greeting.name.as_deref().map(str::trim) {
        None | Some("") => format!("{word}."),
        Some(name) => format!("{word}, {name}."),
    }))
}

export_provider! { id: "greeting", tools: [greet] }

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolbay_plugin_api::{serde_json, testing::Plugin};

    use super::*;

    #[test]
    fn it_greets_in_both_languages() {
        let plugin = Plugin::create::<ExportedProvider>(&json!({})).unwrap();
        for (arguments, expected) in [
            (json!({}), "Hello."),
            (json!({ "language": "en" }), "Hello."),
            (json!({ "language": "de" }), "Hallo."),
            (json!({ "language": "de", "name": "Ada" }), "Hallo, Ada."),
            (json!({ "name": " " }), "Hello."),
        ] {
            let answer = plugin.call("greet", &arguments).unwrap();
            assert!(answer.ok);
            assert_eq!(answer.text, expected, "{arguments}");
        }
    }

    #[test]
    fn another_language_is_refused_by_name() {
        let plugin = Plugin::create::<ExportedProvider>(&json!({})).unwrap();
        let answer = plugin.call("greet", &json!({ "language": "fr" })).unwrap();
        assert!(!answer.ok);
        assert_eq!(answer.text, "argument language: unknown variant `fr`, expected `en` or `de`");
    }
}
