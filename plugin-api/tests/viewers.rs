//! Who may read a preview: the question that crosses as an extension, and the tool's answer.

#![cfg(test)]

use toolbay_abi::{
    Extension, HostServices, PluginRootRef,
    abi_stable::std_types::{ROption, RSlice, RStr},
    extensions::MAY_VIEWER_READ,
};
use toolbay_plugin_api::{
    prelude::*,
    serde_json::{self, Value, json},
    testing::{Call, Plugin},
    wire::{Actor, Fault},
};

#[config]
struct Config {
    owner: String,
}

struct Desk(String);

impl State for Desk {
    type Config = Config;

    fn create(config: Config) -> Result<Self, ConfigError> {
        Ok(Self(config.owner))
    }
}

/// Which letter.
#[arguments]
struct Letter {
    /// Its text.
    text: String,
}

/// What an agent may configure.
#[config]
struct Settings {
    guest: String,
}

/// Burns a letter.
#[tool(preview = lines, may_viewer_read = may_read)]
fn burn(desk: &Desk, letter: Letter, _: &Context<'_>) -> Result<Reply, Failure> {
    Ok(Reply::text(format!("{} of {} is burnt", letter.text, desk.0)))
}

fn lines(desk: &Desk, letter: Letter, context: &Context<'_>) -> Option<Vec<String>> {
    let agent = context.agent().unwrap_or("nobody");
    Some(vec![format!("{agent} would burn {} of {}", letter.text, desk.0)])
}

/// The owner, and the guest that the agent's configuration names.
fn may_read(desk: &Desk, letter: Letter, viewer: &Context<'_>) -> bool {
    assert_ne!(letter.text, "panic", "as the letter says");
    let guest = viewer.tool_config::<Settings>().ok().flatten().map(|settings| settings.guest);
    match viewer.actor() {
        Actor::User { name, .. } => *name == desk.0 || Some(name.as_ref()) == guest.as_deref(),
        _ => false,
    }
}

/// Posts a letter. It takes neither state nor context, and its question about viewers no state.
#[tool(preview = post_lines, may_viewer_read = may_read_post)]
fn post(letter: Letter) -> Result<Reply, Failure> {
    Ok(Reply::text(letter.text))
}

fn post_lines(letter: Letter) -> Option<Vec<String>> {
    Some(vec![letter.text])
}

fn may_read_post(letter: Letter, viewer: &Context<'_>) -> bool {
    letter.text == "a postcard" || matches!(viewer.actor(), Actor::User { admin: true, .. })
}

/// Does not say who may read what it shows.
#[tool(preview = post_lines)]
fn fold(letter: Letter) -> Result<Reply, Failure> {
    Ok(Reply::text(letter.text))
}

export_provider! { id: "desk", state: Desk, tools: [burn, post, fold] }

fn plugin() -> Plugin {
    Plugin::create::<ExportedProvider>(&json!({ "owner": "ada" })).unwrap()
}

fn user(name: &str, admin: bool) -> Value {
    json!({ "actor": { "kind": "user", "name": name, "admin": admin } })
}

#[test]
fn the_tool_decides_by_the_viewer_and_not_by_the_caller() {
    let plugin = plugin();
    let letter = json!({ "text": "a letter" });
    let postcard = json!({ "text": "a postcard" });
    let account =
        json!({ "actor": { "kind": "service_account", "name": "ada", "scopes": ["all"] } });
    let cases = [
        ("burn", &letter, user("ada", false), Some(true)),
        ("burn", &letter, user("bob", true), Some(false)),
        ("burn", &letter, account, Some(false)),
        ("burn", &letter, json!({}), Some(false)),
        ("post", &letter, user("bob", true), Some(true)),
        ("post", &letter, user("ada", false), Some(false)),
        ("post", &postcard, json!({}), Some(true)),
        ("fold", &letter, user("ada", true), None),
        ("absent", &letter, user("ada", true), None),
    ];
    for (tool, arguments, viewer, expected) in cases {
        let found = plugin.may_viewer_read(tool, arguments, &viewer).unwrap();
        assert_eq!(found, expected, "{tool} {viewer}");
    }
}

#[test]
fn what_does_not_fit_the_arguments_has_neither_preview_nor_answer() {
    let wrong = json!({ "text": 7 });
    assert_eq!(plugin().may_viewer_read("burn", &wrong, &user("ada", false)), Ok(None));
    assert_eq!(plugin().preview("burn", &wrong), Ok(None));
}

#[test]
fn a_panic_over_a_viewer_is_a_fault_and_the_next_question_is_answered() {
    let plugin = plugin();
    let ada = user("ada", false);
    let fault = plugin.may_viewer_read("burn", &json!({ "text": "panic" }), &ada).unwrap_err();
    let Fault::Panic { message, location } = fault else { panic!("{fault:?}") };
    assert!(message.contains("as the letter says"), "{message}");
    assert!(location.unwrap().contains("viewers.rs:"));
    let letter = json!({ "text": "a letter" });
    assert_eq!(plugin.may_viewer_read("burn", &letter, &ada), Ok(Some(true)));
}

#[test]
fn a_preview_knows_who_calls() {
    let context = json!({ "agent": "helper" });
    let call = Call { context: Some(&context), ..Call::default() };
    let letter = json!({ "text": "a letter" });
    for (lines, expected) in [
        (plugin().preview_with("burn", &letter, &call), "helper would burn a letter of ada"),
        (plugin().preview("burn", &letter), "nobody would burn a letter of ada"),
    ] {
        assert_eq!(lines, Ok(Some(vec![expected.to_owned()])));
    }
}

fn root() -> PluginRootRef {
    toolbay_plugin_api::macro_support::root::<ExportedProvider>()
}

/// What a host gets that asks the extension itself.
fn ask(extension: &Extension, handle: u64, question: &str) -> Result<Value, Fault> {
    match (extension.invoke)(handle, question.as_bytes().into()).into_result() {
        Ok(json) => Ok(serde_json::from_slice(&json).unwrap()),
        Err(json) => Err(serde_json::from_slice(&json).unwrap()),
    }
}

#[test]
fn the_extension_has_one_version_and_no_other_name() {
    let (id, version) = MAY_VIEWER_READ;
    assert_eq!((id, version), ("toolbay.may_viewer_read", 1));
    for (id, version, there) in [
        (id, version, true),
        (id, 0, false),
        (id, 2, false),
        ("toolbay.may_viewer_write", 1, false),
        ("", 1, false),
    ] {
        let found = root().extension()(id.into(), version);
        assert_eq!(matches!(found, ROption::RSome(_)), there, "{id} {version}");
    }
}

#[test]
fn a_question_is_read_as_the_wire_says_and_any_other_is_the_hosts_mistake() {
    let (id, version) = MAY_VIEWER_READ;
    let extension = root().extension()(id.into(), version).into_option().unwrap();
    let json = br#"{"owner":"ada"}"#;
    let handle = root().create()(services(), json.as_slice().into()).unwrap();

    let of_bob = r#""tool":"burn","arguments":{"text":"a"},"viewer":{"actor":{"kind":"user","name":"b\u006fb","admin":false}}"#;
    for (rest, expected) in [
        ("", false),
        (r#","tool_config":{"guest":"bob"}"#, true),
        (r#","tool_config":null,"a later member":[1]"#, false),
        (r#","tool_config":{"guest":7}"#, false),
    ] {
        let question = format!("{{{of_bob}{rest}}}");
        assert_eq!(ask(&extension, handle, &question), Ok(json!(expected)), "{question}");
    }
    for question in ["", "[]", "{}", r#"{"tool":"burn","arguments":{}}"#, "\u{0}"] {
        let fault = ask(&extension, handle, question).unwrap_err();
        let Fault::Contract { problem } = &fault else { panic!("{question}: {fault:?}") };
        assert!(problem.starts_with("expected a question about a viewer: "), "{problem}");
    }

    root().destroy()(handle).unwrap();
    let question = format!("{{{of_bob}}}");
    for handle in [handle, 0, u64::MAX] {
        let fault = ask(&extension, handle, &question).unwrap_err();
        assert!(matches!(fault, Fault::Contract { .. }), "{fault:?}");
    }
}

/// Services that a test needs to make an instance and never uses.
fn services() -> HostServices {
    extern "C" fn level(_: u64) -> u32 {
        0
    }
    extern "C" fn log(_: u64, _: u32, _: RStr<'_>, _: RStr<'_>) {}
    extern "C" fn cancelled(_: u64) -> bool {
        false
    }
    extern "C" fn progress(_: u64, _: RSlice<'_, u8>) {}
    extern "C" fn extension(_: RStr<'_>, _: u32) -> ROption<Extension> {
        ROption::RNone
    }
    HostServices { provider: 0, log_level: level, log, cancelled, progress, extension }
}
