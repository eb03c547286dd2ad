//! Which plugin is to blame where the host's own process ended, and what becomes of it then.
#![cfg(test)]

use std::{env, fs, path::Path, process::Command};

use serde_json::Value;
use toolbay_loader::{Config, MAX_STRIKES, Toolbay};
use toolbay_tests::{
    Home,
    bay::verdict,
    child::{Child, say, wait},
    violent::{Moment, greets_still, order},
};

/// The home, in the process that is to end.
const HOME: &str = "TOOLBAY_TEST_HOME";

/// Runs the test once more, as a host of this home, until it has ended by itself.
fn ended_host(test: &str, home: &Home, deed: &str) {
    let variables = [(HOME, home.path().as_os_str()), ("TOOLBAY_TEST_DEED", deed.as_ref())];
    let mut host = Child::of(test, &variables);
    assert_eq!(host.line(), None, "{deed}: it has ended");
}

/// What the process of the host does: uses both plugins in its own process, and lets the violent one do something.
fn host(home: &Path) -> ! {
    let mut config = Config::new(home);
    config.plugin_directories.push(home.join("plugins"));
    config.policy = Home::new().in_process().policy;
    let create = home.join("create");
    if let Ok(json) = fs::read_to_string(create) {
        let json = serde_json::value::RawValue::from_string(json).unwrap();
        config.providers.insert("violent".parse().unwrap(), json);
    }
    let toolbay = Toolbay::open(config).unwrap();
    toolbay.refresh().unwrap();
    assert!(greets_still(&toolbay));
    let deed = env::var("TOOLBAY_TEST_DEED").unwrap();
    let _ = order(&toolbay, &deed);
    say("it is still there");
    wait();
    panic!("nobody has killed it")
}

/// What is remembered as failed in a home.
fn failures(home: &Home) -> Vec<Value> {
    let Ok(text) = fs::read_to_string(home.path().join("failures.json")) else { return Vec::new() };
    let file: Value = serde_json::from_str(&text).unwrap();
    let failures = file["failures"].as_object().unwrap();
    failures.values().cloned().collect()
}

#[test]
fn the_plugin_whose_code_ran_is_named_and_runs_in_a_worker_from_then_on() {
    // F71.
    if let Some(home) = env::var_os(HOME) {
        host(home.as_ref());
    }
    let test = "the_plugin_whose_code_ran_is_named_and_runs_in_a_worker_from_then_on";
    let cases = [
        (Moment::Constructor, "exit_0", "constructors"),
        (Moment::Root, "segfault", "root"),
        (Moment::Create, "exit_now", "create"),
        (Moment::Tools, "abort", "tools"),
        (Moment::Create, "nothing", "call"),
    ];
    for (moment, deed, phase) in cases {
        let mut home = Home::violent(moment, deed);
        match moment {
            Moment::Create => {
                fs::write(home.path().join("create"), format!("{{\"create\":{deed:?}}}")).unwrap()
            }
            Moment::Tools => {
                fs::write(home.path().join("create"), format!("{{\"tools\":{deed:?}}}")).unwrap()
            }
            _ => {}
        }
        ended_host(test, &home, "segfault");
        home.configure("violent", serde_json::json!({}));
        let toolbay = Toolbay::open(home.isolated()).unwrap();
        let [failure] = &failures(&home)[..] else { panic!("{phase}: the other is not to blame") };
        assert_eq!(
            (failure["class"].as_str(), failure["provider"].as_str()),
            (Some("crash"), Some("violent"))
        );
        assert_eq!(failure["found"], format!("the host's process ended in the phase {phase}"));
        // In a worker it is tried at once.
        let rejections = toolbay.refresh().unwrap().rejections;
        match phase {
            "create" | "tools" | "call" => assert_eq!(rejections, [], "{phase}"),
            _ => assert_eq!(rejections[0].reason.code, "crashed", "{phase}"),
        }
        assert!(greets_still(&toolbay));
    }
}

#[test]
fn a_host_that_ends_while_no_plugin_runs_blames_none() {
    // F73.
    if let Some(home) = env::var_os(HOME) {
        host(home.as_ref());
    }
    let test = "a_host_that_ends_while_no_plugin_runs_blames_none";
    let home = Home::violent(Moment::Create, "nothing");
    let variables = [(HOME, home.path().as_os_str()), ("TOOLBAY_TEST_DEED", "nothing".as_ref())];
    let mut host = Child::of(test, &variables);
    assert_eq!(host.line().as_deref(), Some("it is still there"));
    host.kill();
    let toolbay = Toolbay::open(home.in_process()).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    assert_eq!(order(&toolbay, "nothing").unwrap().model_text(), "done");
}

#[test]
fn a_power_cut_blames_nobody_and_another_content_is_released() {
    // F71 and F72.
    if let Some(home) = env::var_os(HOME) {
        host(home.as_ref());
    }
    let test = "a_power_cut_blames_nobody_and_another_content_is_released";
    let home = Home::violent(Moment::Create, "nothing");
    ended_host(test, &home, "abort");
    // As if the machine had been started since: what is left behind is of another start.
    for entry in fs::read_dir(home.path().join("journal")).unwrap() {
        let path = entry.unwrap().path();
        let mut journal = fs::read(&path).unwrap();
        journal[8] ^= 1;
        fs::write(path, journal).unwrap();
    }
    let answer = |home: &Home| order(&Toolbay::open(home.in_process()).unwrap(), "nothing");
    assert_eq!(answer(&home).unwrap().model_text(), "done");
    assert_eq!(failures(&home), [] as [Value; 0]);
    // Somebody may have ended the host at that moment; but not again and again.
    for strikes in 1..=MAX_STRIKES {
        assert_eq!(answer(&home).unwrap().model_text(), "done", "{strikes}");
        ended_host(test, &home, "abort");
    }
    assert_eq!(verdict(&answer(&home).unwrap_err()).1, "failed_before");
    // A corrected version is another content.
    let library = home.violent_library();
    let mut content = fs::read(&library).unwrap();
    content.extend_from_slice(b"corrected");
    fs::write(library, content).unwrap();
    let toolbay = Toolbay::open(home.in_process()).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    assert_eq!(order(&toolbay, "nothing").unwrap().model_text(), "done");
}

#[test]
fn a_number_that_belongs_to_another_process_by_now_harms_and_blames_nobody() {
    // F41.
    if let Some(home) = env::var_os(HOME) {
        host(home.as_ref());
    }
    let test = "a_number_that_belongs_to_another_process_by_now_harms_and_blames_nobody";
    let home = Home::violent(Moment::Create, "nothing");
    ended_host(test, &home, "segfault");
    let mut stranger = Command::new("sleep").arg("1000").spawn().unwrap();
    let number = stranger.id().to_string();
    // All that the host has left behind under its own number: its journal, and what it had loaded.
    let mut renamed = 0;
    for folder in ["journal", "running"] {
        for entry in fs::read_dir(home.path().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let Some((_, rest)) = name.split_once('-') else { continue };
            if folder == "running" {
                let text = fs::read_to_string(&path).unwrap();
                let lines = text.lines().map(|line| {
                    let mut line: Value = serde_json::from_str(line).unwrap();
                    if let Some(pid) = line.pointer_mut("/process/pid") {
                        *pid = stranger.id().into();
                    }
                    if let Some(loaded) = line.pointer_mut("/loaded") {
                        loaded["worker"] = stranger.id().into();
                    }
                    format!("{line}\n")
                });
                fs::write(&path, lines.collect::<String>()).unwrap();
            }
            fs::rename(&path, path.with_file_name(format!("{number}-{rest}"))).unwrap();
            renamed += 1;
        }
    }
    assert_eq!(renamed, 2, "a file of each kind");

    let toolbay = Toolbay::open(home.isolated()).unwrap();
    let status = home.json(&["status"]);
    let running = status["processes"].as_array().unwrap().iter();
    assert_eq!(running.filter(|process| process["pid"] == stranger.id()).count(), 0, "{status}");
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    assert_eq!(order(&toolbay, "nothing").unwrap().model_text(), "done");
    let [failure] = &failures(&home)[..] else { panic!("the one whose code ran") };
    assert_eq!(failure["provider"], "violent");
    drop(toolbay);
    assert!(stranger.try_wait().unwrap().is_none(), "it is still there");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}
