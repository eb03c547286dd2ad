//! The example of a host application does what it says.
#![cfg(test)]

use std::process::{Command, Output};

use toolbay_tests::Home;

fn embed(home: &Home, arguments: &[&str]) -> Output {
    let example = toolbay_tests::host_binary().with_file_name("examples").join("embed");
    assert!(
        example.is_file(),
        "expected {} to be built: run `cargo xtask test`",
        example.display()
    );
    Command::new(example).arg(home.path().join("plugins")).args(arguments).output().unwrap()
}

#[test]
fn a_host_application_calls_a_plugins_tool_and_its_own() {
    let home = Home::with(&["toolbay-plugin-greeting"]);
    let cases: [(&[&str], &str); 3] = [
        (&["greet", r#"{"language": "de"}"#], "Hallo.\n"),
        (&["greet"], "Hello.\n"),
        (&["host_version"], concat!(env!("CARGO_PKG_VERSION"), "\n")),
    ];
    for (arguments, expected) in cases {
        let output = embed(&home, arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    }
    let refused = embed(&home, &["greet", r#"{"language": "fr"}"#]);
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("language") && said.contains("\"en\""), "{said}");
}
