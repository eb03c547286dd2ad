//! A newcomer's plugin, written from the README alone in an empty crate outside the workspace, loads and answers.
#![cfg(test)]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use toolbay_tests::host_binary;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The first code block of this language after a heading.
fn block<'a>(readme: &'a str, heading: &str, language: &str) -> &'a str {
    let section = &readme[readme.find(heading).unwrap()..];
    let fence = format!("```{language}\n");
    let start = section.find(&fence).unwrap() + fence.len();
    let len = section[start..].find("```").unwrap();
    &section[start..start + len]
}

#[test]
fn the_readmes_plugin_builds_loads_and_answers() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let heading = "## Write a plugin";
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("my-plugin");
    fs::create_dir_all(plugin.join("src")).unwrap();
    // As the README says: beside the clone.
    symlink(repository(), folder.path().join("toolbay")).unwrap();
    fs::write(plugin.join("Cargo.toml"), block(&readme, heading, "toml")).unwrap();
    fs::write(plugin.join("src/lib.rs"), block(&readme, heading, "rust")).unwrap();
    // The versions that are tested here, and not whatever is newest today.
    fs::copy(repository().join("Cargo.lock"), plugin.join("Cargo.lock")).unwrap();

    let commands = block(&readme, heading, "sh");
    // In debug mode, into a target folder that stays, with the host of this build: the rest is to the letter.
    let target = host_binary().ancestors().nth(2).unwrap().join("newcomer");
    let commands = commands
        .replace("cargo build --release", "cargo build --quiet")
        .replace(
            "target/release/libmy_plugin.so",
            &format!("{}/debug/libmy_plugin.so", target.display()),
        )
        .replace("../toolbay/target/release/toolbay", &host_binary().display().to_string());
    let output = Command::new("sh")
        .args(["-e", "-c", &commands])
        .current_dir(&plugin)
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .unwrap();
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    assert_eq!(said.lines().last(), Some("3"), "{said}\n{complained}");
}
