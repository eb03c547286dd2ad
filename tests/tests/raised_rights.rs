//! A program with rights that its caller does not have: the caller's environment does not choose its home.
#![cfg(test)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    process::{Command, Output},
};

use toolbay_tests::{Home, host_binary};

const NOBODY: u32 = 65_534;

fn left_out(why: &str) {
    eprintln!("left out: {why}");
}

#[test]
fn a_setuid_program_takes_its_home_from_its_arguments_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("toolbay");
    fs::copy(host_binary(), &program).unwrap();
    let run = |home: &Home, arguments: &[&str]| -> Output {
        let mut command = Command::new(&program);
        command.args(arguments).env("TOOLBAY_HOME", home.path()).current_dir("/").output().unwrap()
    };
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let plain = run(&Home::new(), &["list"]);
    assert!(plain.status.success(), "the twin: {}", said(&plain));

    if chown(&program, Some(NOBODY), None).is_err() {
        return left_out("only root can give a program away");
    }
    // In its own home the program may write.
    let home = Home::new();
    chown(home.path(), Some(NOBODY), None).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    let by_environment = run(&home, &["list"]);
    if by_environment.status.success() {
        return left_out("this file system is mounted with nosuid");
    }
    assert_eq!(by_environment.status.code(), Some(5), "{}", said(&by_environment));
    let expected = "environment variables do not count for a program that runs setuid";
    assert!(said(&by_environment).contains(expected), "{}", said(&by_environment));
    let by_argument = run(&home, &["--home", home.path().to_str().unwrap(), "list"]);
    assert!(by_argument.status.success(), "{}", said(&by_argument));
}
