//! `toolbay serve --stdio`, which works for one user as one agent, and follows what is decided while it runs.
#![cfg(test)]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use toolbay_tests::Home;

const GREETING: &str = "toolbay-plugin-greeting";
const CODE: &str = "toolbay-plugin-code";
const NOTES: &str = "toolbay-plugin-notes";
const ECHO: &str = "toolbay-fixture-echo";

fn home() -> Home {
    let home = Home::with(&[GREETING, CODE, NOTES, ECHO]);
    let shelf = home.path().join("shelf");
    fs::create_dir(&shelf).unwrap();
    home.configuration(&format!(
        "[users]\nadmins = [\"ada\"]\n[services.indexer]\n[providers.notes]\nfolder = {shelf:?}\n[providers.code]\nroots = [{shelf:?}]\n"
    ));
    home.printed(&["refresh"]);
    home
}

/// Far more than any answer takes: a server that says nothing fails its test instead of holding it up.
const SILENCE: Duration = Duration::from_secs(60);

/// A client of a running server, which is killed where its test fails.
struct Session {
    server: Child,
    to: Option<ChildStdin>,
    from: Receiver<String>,
    /// What the server has told without being asked, since it was last looked at.
    told: Vec<Value>,
}

impl Session {
    fn begin(home: &Home, words: &[&str]) -> Self {
        let mut server = home.start(&[&["serve", "--stdio"], words].concat());
        let to = server.stdin.take();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let (line, from) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|said| line.send(said)));
        let mut session = Self { server, to, from, told: Vec::new() };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        session.ask("initialize", params);
        session.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_ref().unwrap(), "{message}").unwrap();
    }

    fn receive(&mut self) -> Value {
        serde_json::from_str(&self.from.recv_timeout(SILENCE).unwrap()).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        loop {
            let mut message = self.receive();
            if message["id"] == 1 {
                return message["result"].take();
            }
            self.told.push(message);
        }
    }

    fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}));
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// What a model reads of a call.
    fn call(&mut self, tool: &str, arguments: Value) -> String {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.ask("tools/call", params);
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Waits until the server tells, without being asked, that the list of tools is another one.
    fn hears_of_a_change(&mut self) {
        let changed = |message: &Value| message["method"] == "notifications/tools/list_changed";
        while !self.told.iter().any(changed) {
            let message = self.receive();
            self.told.push(message);
        }
        self.told.clear();
    }

    /// Ends the session, and returns what the server said in its log.
    fn end(mut self) -> String {
        self.to = None;
        let mut log = String::new();
        self.server.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(self.server.wait().unwrap().success(), "{log}");
        log
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn who(session: &mut Session) -> Value {
    serde_json::from_str(&session.call("whoami", json!({}))).unwrap()
}

#[test]
fn a_session_works_as_one_agent_for_one_user_in_one_run() {
    let home = home();
    home.printed(&["agent", "create", "helper"]);
    home.printed(&["agent", "loadout", "helper", "--set", "repeat,whoami,for_admins"]);
    let cases: [(&[&str], Value); 4] = [
        (&[], json!({ "kind": "anonymous" })),
        (&["--as", "cleo"], json!({ "kind": "user", "name": "cleo", "admin": false })),
        (&["--as", "ada"], json!({ "kind": "user", "name": "ada", "admin": true })),
        (
            &["--as", "service:indexer"],
            json!({ "kind": "service_account", "name": "indexer", "scopes": [] }),
        ),
    ];
    for (words, actor) in cases {
        let mut session = Session::begin(&home, &[&["--agent", "helper"], words].concat());
        assert_eq!(session.tools(), ["echo", "whoami"], "{words:?}");
        let (first, second) = (who(&mut session), who(&mut session));
        assert_eq!(
            (&first["actor"]["kind"], &first["actor"]["name"]),
            (&actor["kind"], &actor["name"])
        );
        assert_eq!(
            (&first["actor"]["admin"], &first["agent"]),
            (&actor["admin"], &json!("helper"))
        );
        assert!(first["run"].as_str().unwrap().starts_with("mcp-"), "{first}");
        assert_eq!(first["run"], second["run"]);
        assert_eq!(session.call("echo", json!({ "text": "a" })), "a");
        assert!(session.call("greet", json!({})).contains("is not permitted here"));
        session.end();
    }
    let records = home.json(&["audit", "--tool", "whoami"])["records"].clone();
    let runs: std::collections::BTreeSet<&str> =
        records.as_array().unwrap().iter().map(|row| row["run"].as_str().unwrap()).collect();
    assert_eq!(runs.len(), 4, "each session is a run of its own");
    for words in [["--agent", "nobody"], ["--as", "service:nobody"], ["--as", "operator"]] {
        home.run(&[&["serve", "--stdio"][..], &words].concat()).with(3);
    }
}

#[test]
fn without_a_name_it_works_as_an_agent_of_which_nothing_is_known() {
    let home = home();
    let mut session = Session::begin(&home, &[]);
    assert!(!session.tools().contains(&"code_search".to_owned()));
    let text = session.call("code_search", json!({ "pattern": "x" }));
    assert!(text.contains("may not leave for where this model runs"), "{text}");
    let log = session.end();
    let words =
        "serving as agent default, whose model runs in zone external_global: 3 tools are held back";
    assert!(log.contains(words), "{log}");
    let explain = log.split('`').nth(1).unwrap();
    let text = home.shell(explain).with(0).output;
    assert!(text.contains("agent create default --zone external_eu"), "{text}");

    home.printed(&["agent", "create", "default", "--zone", "local"]);
    let mut session = Session::begin(&home, &[]);
    assert!(session.tools().contains(&"code_search".to_owned()));
    assert!(session.end().contains("serving as agent default, whose model runs in zone local\n"));
}

#[test]
fn what_is_decided_while_it_runs_is_followed_and_told() {
    let home = home();
    home.printed(&["agent", "create", "helper", "--zone", "local"]);
    home.printed(&["agent", "loadout", "helper", "--set", "greet,echo"]);
    let mut session = Session::begin(&home, &["--agent", "helper", "--as", "cleo"]);
    assert_eq!(session.tools(), ["echo", "greet"]);
    // Each of them makes another list, without a refresh.
    let steps: [(&[&str], &[&str]); 5] = [
        (&["tool", "disable", "greet"], &["echo"]),
        (&["agent", "loadout", "helper", "--add", "code_search"], &["code_search", "echo"]),
        (&["agent", "set", "helper", "--zone", "external_global"], &["echo"]),
        (&["provider", "disable", "echo"], &[]),
        (&["provider", "reset", "echo"], &["echo"]),
    ];
    for (words, expected) in steps {
        home.printed(words);
        session.hears_of_a_change();
        assert_eq!(session.tools(), expected, "{words:?}");
        assert_eq!(session.told, [Value::Null; 0], "told once");
    }
    // What changes nothing about the list is followed all the same, and not told.
    home.printed(&["agent", "set", "helper", "--config", r#"whoami={"greeting": "hi"}"#]);
    home.printed(&["tool", "disable", "forms"]);
    assert_eq!(session.tools(), ["echo"]);
    home.printed(&["agent", "loadout", "helper", "--add", "whoami"]);
    assert_eq!(who(&mut session)["config"], json!({ "greeting": "hi" }));
    session.hears_of_a_change();

    // A decision counts from the next call on, however soon that comes.
    home.printed(&["tool", "disable", "echo"]);
    assert!(session.call("echo", json!({ "text": "a" })).contains("switched off"));
    session.hears_of_a_change();
    session.end();
}

#[test]
fn who_works_as_an_agent_that_is_no_more_can_use_nothing() {
    let home = home();
    home.printed(&["agent", "create", "helper"]);
    let mut session = Session::begin(&home, &["--agent", "helper", "--as", "ada"]);
    assert!(session.tools().len() > 1);
    home.printed(&["agent", "delete", "helper"]);
    session.hears_of_a_change();
    assert_eq!(session.tools(), [""; 0]);
    assert!(session.call("greet", json!({})).contains("is not permitted here"));
    home.printed(&["agent", "create", "helper"]);
    session.hears_of_a_change();
    assert_eq!(session.call("greet", json!({})), "Hello.");
    let log = session.end();
    assert!(log.contains("nothing can be used any more"), "{log}");
}

#[test]
fn a_call_that_waits_is_approved_elsewhere_and_gives_its_result_when_it_is_made_again() {
    let home = home();
    let mut session = Session::begin(&home, &["--as", "cleo"]);
    let call = json!({ "name": "list", "text": "milk" });
    let waits = session.call("notes_create", call.clone());
    assert!(waits.contains("waits for a person's approval, as request"), "{waits}");
    let listed = home.json(&["approvals", "list"])["requests"].clone();
    let request = &listed[0];
    let id = request["id"].as_str().unwrap();
    assert!(waits.contains(id), "{waits}");
    assert_eq!((&request["owner"], &request["agent"]), (&json!("user:cleo"), &json!("default")));
    assert!(request["run"].as_str().unwrap().starts_with("mcp-"));

    let shown = home.json(&["approvals", "show", id, "--as", "ada"]);
    home.shell(shown["commands"]["approve"].as_str().unwrap()).with(0);
    assert_eq!(
        session.call("notes_create", call.clone()),
        "There is a note \"list\" now, with 5 bytes."
    );

    session.call("notes_delete", json!({ "name": "list" }));
    let listed = home.json(&["approvals", "list"])["requests"].clone();
    let id = listed[0]["id"].as_str().unwrap();
    let shown = home.json(&["approvals", "show", id, "--as", "ada"]);
    home.shell(shown["commands"]["deny"].as_str().unwrap()).with(0);
    let denied = session.call("notes_delete", json!({ "name": "list" }));
    assert!(denied.contains("was denied by somebody other than the user"), "{denied}");
    session.end();
}

#[test]
fn a_loadout_that_waits_for_a_review_is_tried_out() {
    let home = home();
    home.printed(&["agent", "create", "helper", "--visibility", "shared"]);
    home.printed(&["agent", "loadout", "helper", "--set", "greet", "--as", "ada"]);
    let mut trial = Session::begin(&home, &["--agent", "helper", "--pending", "--as", "ada"]);
    let mut others = Session::begin(&home, &["--agent", "helper"]);
    assert_eq!(trial.tools(), ["greet"]);
    assert!(others.tools().len() > 1);
    home.printed(&["agent", "loadout", "helper", "--approve"]);
    others.hears_of_a_change();
    assert_eq!(
        (trial.tools(), others.tools()),
        (vec!["greet".to_owned()], vec!["greet".to_owned()])
    );
    trial.end();
    others.end();
}

#[test]
fn what_is_limited_in_the_configuration_is_refused_in_words_explained_and_recorded() {
    let home = home();
    let text = fs::read_to_string(home.path().join("toolbay.toml")).unwrap();
    home.configuration(&format!(
        "{text}[limits]\nresult_bytes = 1000\n\
         [limits.providers.echo]\nconcurrency = 2\nqueue = 3\nqueue_ms = 40\nargument_bytes = 20\nresult_bytes = 5\n\
         [limits.tools.greet]\ncalls_per_minute = 1\n\
         [limits.providers.ecko]\nqueue = 1\n[limits.tools.greeet]\nqueue = 1\n"
    ));
    let refreshed = home.run(&["refresh"]).with(0);
    for warning in [
        "toolbay.toml limits provider \"ecko\", which no plugin is; did you mean \"echo\"?",
        "toolbay.toml limits tool \"greeet\", which no registered plugin has; did you mean \"greet\"?",
    ] {
        assert!(refreshed.errors.contains(warning), "{}", refreshed.errors);
    }

    let mut session = Session::begin(&home, &[]);
    assert_eq!(session.call("greet", json!({})), "Hello.");
    let refused = session.call("greet", json!({}));
    let begins = "The tool \"greet\" was not run: too many calls of tool greet: expected at most 1 a minute, found more; call again in ";
    let rest = refused.strip_prefix(begins).unwrap();
    let milliseconds: u32 = rest.strip_suffix(" ms.").unwrap().parse().unwrap();
    assert!((1..=60_000).contains(&milliseconds), "{refused}");
    assert_eq!(session.call("echo", json!({ "text": "12345" })), "12345");
    session.end();

    // One more byte of a result, and of arguments.
    let called = home.run(&["call", "echo", "text=123456", "--json"]).with(5).json();
    assert_eq!(called["error"]["code"], "result_too_large");
    let message = called["error"]["message"].as_str().unwrap();
    assert!(message.contains("expected at most 5 bytes of provider echo, found 6"), "{message}");
    let long = r#"{"text":     "1234"}"#;
    assert_eq!(long.len(), 20);
    home.run(&["call", "echo", long]).with(0);
    let called = home.run(&["call", "echo", &long.replace("4", "45")]).with(3);
    let told = "expected at most 20 bytes in calls of provider echo, found 21";
    assert!(called.errors.contains(told), "{}", called.errors);

    let limits = home.json(&["explain", "echo"])["limits"].clone();
    let expected = json!([{
        "scope": "provider echo", "concurrency": 2, "queue": 3, "queue_ms": 40, "calls_per_minute": null,
        "argument_bytes": 20, "result_bytes": 5,
    }]);
    assert_eq!(limits, expected);
    let text = home.printed(&["explain", "greet"]);
    let lines = ["provider greeting: results of 1,000 bytes", "tool greet: 1 a minute"];
    assert!(lines.iter().all(|line| text.contains(line)), "{text}");

    let records = home.json(&["audit", "--outcome", "limited"])["records"].clone();
    assert_eq!(records.as_array().unwrap().len(), 1, "{records}");
    assert_eq!(
        (&records[0]["tool"], &records[0]["code"]),
        (&json!("greet"), &json!("rate_limited"))
    );
    let summary = home.json(&["audit", "--tool", "greet", "--summary"]);
    assert!(summary["denials"].to_string().contains("rate_limited"), "{summary}");
}
