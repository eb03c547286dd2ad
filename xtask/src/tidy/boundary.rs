//! The boundary to native code: where `unsafe` may stand, and where panics are caught.

use super::{
    Finding, Rule,
    tokens::{Tokens, first_group},
};

/// A file or a folder in which `unsafe` may stand.
struct Fence {
    place: &'static str,
    // The reason is part of the list so that a new entry can't come without one.
    #[expect(dead_code, reason = "it is there to be read")]
    reason: &'static str,
}

const FENCES: &[Fence] = &[
    Fence {
        place: "plugin-api/src/export.rs",
        reason: "the export macro names the library's symbol and section, and makes its header from a constructor",
    },
    Fence {
        place: "loader/src/library.rs",
        reason: "opening a library runs its code, and its symbols have the types that we say",
    },
    Fence {
        place: "loader/src/journal/mapped.rs",
        reason: "a mapping of a file changes with the file, which others could shorten",
    },
    Fence {
        place: "loader/src/hygiene/native.rs",
        reason: "signal actions, the C library's locale and streams and the floating-point control are read and put back",
    },
    Fence {
        place: "loader/src/worker/setup.rs",
        reason: "a worker closes the descriptors that it has inherited, before anything of its own is open",
    },
    Fence { place: "tests/benches/", reason: "the benchmarks measure bare calls as the floor" },
    Fence {
        place: "corpus/provider/",
        reason: "a provider that ruins its process has a root module by hand, and system calls that no safe interface offers",
    },
    Fence {
        place: "tests/fixtures/",
        reason: "hostile plugins do what the safe interface does not let them do",
    },
];

/// The one file of a side that catches panics.
struct Guard {
    side: &'static str,
    file: &'static str,
}

const GUARDS: &[Guard] = &[
    Guard { side: "plugin-api/", file: "plugin-api/src/guard.rs" },
    Guard { side: "loader/", file: "loader/src/services.rs" },
];

/// Checks that the file is fenced where it says `unsafe` or lets itself say it.
pub(super) fn check_unsafe(path: &str, tokens: &Tokens) -> Vec<Finding> {
    if FENCES.iter().any(|fence| path.starts_with(fence.place)) {
        return Vec::new();
    }
    let mut places: Vec<(&str, usize)> =
        tokens.find(&["unsafe"]).map(|rest| ("`unsafe`", rest[0].line())).collect();
    for level in [&["allow", "("], &["expect", "("]] {
        let permissions = tokens
            .find(level)
            .filter(|rest| first_group(rest).iter().any(|token| token.text() == "unsafe_code"));
        places.extend(permissions.map(|rest| ("permission for `unsafe`", rest[0].line())));
    }
    let expected = "safe code, or a fence with its reason in xtask/src/tidy/boundary.rs";
    places
        .into_iter()
        .map(|(found, line)| Finding::new(path, line, Rule::Unsafe, found, expected))
        .collect()
}

/// Checks that the file catches panics only where it is the guard of its side, and there once. Tests may catch anywhere.
pub(super) fn check_catches(path: &str, tokens: &Tokens) -> Vec<Finding> {
    if path.split('/').any(|part| matches!(part, "tests" | "benches")) {
        return Vec::new();
    }
    let tokens = tokens.without_tests_and_imports();
    let catches: Vec<_> = tokens.find(&["catch_unwind"]).map(|rest| rest[0].line()).collect();
    let guard = GUARDS.iter().find(|guard| path.starts_with(guard.side));
    let (allowed, expected) = match guard {
        Some(guard) if guard.file == path => (1, "one `catch_unwind` in this file".to_owned()),
        Some(guard) => (0, format!("the only one of {} in {}", guard.side, guard.file)),
        None => (0, "none: panics are caught at the boundary alone".to_owned()),
    };
    if allowed == 1 && catches.is_empty() {
        return vec![Finding::new(path, 1, Rule::CatchUnwind, "no `catch_unwind`", expected)];
    }
    let surplus = catches.into_iter().skip(allowed);
    surplus
        .map(|line| Finding::new(path, line, Rule::CatchUnwind, "a `catch_unwind`", &*expected))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(findings: &[Finding]) -> Vec<usize> {
        findings.iter().map(Finding::line).collect()
    }

    #[test]
    fn unsafe_stands_in_fenced_files_only() {
        for (source, expected) in [
            ("fn f() {\n    unsafe { g() }\n}", &[2][..]),
            ("unsafe fn f() {}", &[1]),
            ("unsafe impl Send for S {}", &[1]),
            ("unsafe extern \"C\" {\n    fn f();\n}", &[1]),
            ("#[unsafe(no_mangle)]\nfn f() {}", &[1]),
            ("macro_rules! m { () => {\n    unsafe { f() }\n} }", &[2]),
            ("#![allow(unsafe_code)]", &[1]),
            ("#[expect(\n    unsafe_code,\n    reason = \"x\"\n)]\nfn f() {}", &[1]),
            ("#![forbid(unsafe_code)]", &[]),
            ("#![deny(unsafe_code)]\n#![allow(missing_docs, reason = \"x\")]", &[]),
            ("// unsafe\nconst S: &str = \"unsafe\";", &[]),
        ] {
            let tokens = Tokens::parse(source).unwrap();
            assert_eq!(lines(&check_unsafe("loader/src/load.rs", &tokens)), expected, "{source}");
            for fence in FENCES {
                assert_eq!(check_unsafe(fence.place, &tokens), [], "{source}");
            }
        }
    }

    #[test]
    fn each_side_catches_panics_once() {
        const ONE: &str = "use std::panic::catch_unwind;\nfn f() {\n    catch_unwind(g);\n}";
        const TWO: &str = "fn f() {\n    catch_unwind(g);\n    std::panic::catch_unwind(g);\n}";
        const NONE: &str = "/// Not `catch_unwind`.\nfn f() {}";
        const IN_TEST: &str = "#[cfg(test)]\nmod tests {\n    fn f() { catch_unwind(g); }\n}";
        for (path, source, expected) in [
            ("plugin-api/src/guard.rs", ONE, &[][..]),
            ("plugin-api/src/guard.rs", TWO, &[3]),
            ("plugin-api/src/guard.rs", NONE, &[1]),
            ("plugin-api/src/entry.rs", NONE, &[]),
            ("plugin-api/src/entry.rs", ONE, &[3]),
            ("loader/src/services.rs", ONE, &[]),
            ("loader/src/adapt.rs", ONE, &[3]),
            ("core/src/pipeline.rs", ONE, &[3]),
            ("core/src/pipeline.rs", IN_TEST, &[]),
            ("loader/tests/load.rs", TWO, &[]),
            ("tests/src/lib.rs", TWO, &[]),
        ] {
            let tokens = Tokens::parse(source).unwrap();
            assert_eq!(lines(&check_catches(path, &tokens)), expected, "{path}: {source}");
        }
    }
}
