//! All cases with their verdicts.

use serde_json::json;

use crate::{
    CSource, Case, Deed, Expected, Making, Moment,
    verdict::Verdict::{self, EndsHost, NotRun, Refused, Survives},
};

/// What a deed comes to while the provider is loaded.
enum Loading {
    /// It ends its process; in a worker that is told with these words.
    Ends(&'static str),
    /// It does not come back.
    Hangs,
    /// It must not be run in a host for what it harms; in a worker it comes to one of these, with the words that tell how.
    OnlyInWorker(&'static str, &'static [(&'static str, &'static str)]),
    /// As the second, but in the host nobody reads what it writes.
    InWorker(&'static str, &'static str),
}

/// Nobody else's connection is harmed where the process has none that the deed finds.
const BROKEN: Loading = Loading::InWorker("crashed", "broke the protocol");
const NOTHING_CAME: &str = "nothing within 1 s";

const WHILE_LOADED: &[(Deed, Loading)] = &[
    (Deed::Exit0, Loading::Ends("exit status 0")),
    (Deed::ExitNow, Loading::Ends("exit status 0")),
    (Deed::Abort, Loading::Ends("SIGABRT")),
    (Deed::Segfault, Loading::Ends("SIGSEGV")),
    (Deed::Overflow, Loading::Ends("SIG")),
    (Deed::Illegal, Loading::Ends("SIGILL")),
    (Deed::Hang, Loading::Hangs),
    (Deed::Spin, Loading::Hangs),
    (Deed::IgnoreTerm, Loading::Hangs),
    (Deed::Garbage, BROKEN),
    (Deed::HalfFrame, Loading::Hangs),
    (Deed::TwoFrames, BROKEN),
    (
        Deed::CloseAll,
        // Its end of the connection is gone, too, so that either is noticed first.
        Loading::OnlyInWorker(CLOSES, &[("hung", NOTHING_CAME), ("crashed", "")]),
    ),
    (Deed::ForkExit, Loading::OnlyInWorker(LEAVES, &[("crashed", "exit status 0")])),
];

const CLOSES: &str = "the host's files";
const LEAVES: &str = "whoever has started the host";
const EATS: &str = "all processes of the machine";

const LOADING: [Moment; 4] = [Moment::Constructor, Moment::Root, Moment::Create, Moment::Tools];

/// What changes the process while it is opened, and is put back or harms nobody.
const CHANGES: &[Deed] = &[
    Deed::Handlers,
    Deed::BlockSignals,
    Deed::Denormals,
    Deed::Locale,
    Deed::Surroundings,
    Deed::Limits,
    Deed::Undumpable,
    Deed::CloseStreams,
    Deed::OtherOutput,
    Deed::Descriptors,
    Deed::Threads,
    Deed::JoinedThread,
    Deed::Print,
    Deed::PrintUnflushed,
];

/// Every case: the twins first, then those of the file, then by moment.
pub fn catalogue() -> Vec<Case> {
    let mut cases =
        vec![of_provider("well", Moment::Call, Making::Called(Deed::Nothing), Survives)];
    cases.extend(files());
    for moment in LOADING {
        cases.extend(WHILE_LOADED.iter().map(|(deed, loading)| loaded(moment, *deed, loading)));
        cases.push(panicking(moment));
    }
    cases.extend(CHANGES.iter().map(|&deed| {
        of_deed(Moment::Constructor, Making::Patched(deed), vec![Survives], vec![Survives])
    }));
    // How long that takes is the machine's affair, and a deadline may be over before.
    let flooded = || {
        let phase = Moment::Constructor.phase();
        vec![Survives, Verdict::fails("hung", phase, NOTHING_CAME)]
    };
    let flood = Making::Patched(Deed::Flood);
    cases.push(of_deed(Moment::Constructor, flood, flooded(), flooded()));
    cases.extend(calls());
    cases.extend(ends());
    cases.sort_by_key(|case| case.moment);
    cases
}

/// What is found by whoever only reads the provider: it imports all that its deeds need.
fn by_reading() -> Expected {
    vec![Refused { code: "denied_import" }]
}

fn of_provider(id: &str, moment: Moment, making: Making, verdict: Verdict) -> Case {
    let (number, does) = match making {
        Making::Patched(deed) | Making::Called(deed) => (deed.number(), deed.does()),
        _ => ("", ""),
    };
    Case {
        id: id.to_owned(),
        number,
        does,
        moment,
        making,
        by_reading: by_reading(),
        in_host: vec![verdict.clone()],
        in_worker: vec![verdict],
    }
}

fn of_deed(moment: Moment, making: Making, in_host: Expected, in_worker: Expected) -> Case {
    let word = match making {
        Making::Patched(deed) | Making::Called(deed) => deed.word(),
        _ => "",
    };
    let id = format!("{}-{}", moment.word(), word.replace('_', "-"));
    Case { in_host, in_worker, ..of_provider(&id, moment, making, Survives) }
}

fn loaded(moment: Moment, deed: Deed, loading: &Loading) -> Case {
    let phase = moment.phase();
    let hung = || vec![Verdict::fails("hung", phase, NOTHING_CAME)];
    let (in_host, in_worker) = match *loading {
        Loading::Ends(how) => (vec![EndsHost], vec![Verdict::fails("crashed", phase, how)]),
        Loading::Hangs => (hung(), hung()),
        Loading::InWorker(code, how) => (hung(), vec![Verdict::fails(code, phase, how)]),
        Loading::OnlyInWorker(harms, outcomes) => {
            let outcomes = outcomes.iter().map(|(code, how)| Verdict::fails(code, phase, how));
            (vec![NotRun { harms }], outcomes.collect())
        }
    };
    of_deed(moment, Making::Patched(deed), in_host, in_worker)
}

/// Where nothing of Toolbay's is around it, a panic can't leave the function and aborts.
fn panicking(moment: Moment) -> Case {
    let phase = moment.phase();
    let (in_host, in_worker) = match moment {
        Moment::Constructor | Moment::Root => {
            (vec![EndsHost], vec![Verdict::fails("crashed", phase, "SIGABRT")])
        }
        _ => {
            let panicked = || vec![Verdict::fails("panicked", phase, "a misfortune")];
            (panicked(), panicked())
        }
    };
    of_deed(moment, Making::Patched(Deed::Panic), in_host, in_worker)
}

fn calls() -> Vec<Case> {
    let crashed = |how| vec![Verdict::fails("crashed", "call", how)];
    let late = || vec![Verdict::fails("deadline_exceeded", "call", "")];
    let fault = || vec![Verdict::fails("fault", "call", "a misfortune")];
    let well = || vec![Survives];
    let not_run = |harms| vec![NotRun { harms }];
    let cases = [
        (Deed::Exit0, vec![EndsHost], crashed("exit status 0")),
        (Deed::ExitNow, vec![EndsHost], crashed("exit status 0")),
        (Deed::Abort, vec![EndsHost], crashed("SIGABRT")),
        (Deed::Segfault, vec![EndsHost], crashed("SIGSEGV")),
        (Deed::Overflow, vec![EndsHost], crashed("SIG")),
        (Deed::Illegal, vec![EndsHost], crashed("SIGILL")),
        (Deed::Hunger, not_run(EATS), crashed("SIGABRT")),
        (Deed::Hang, late(), late()),
        (Deed::Spin, late(), late()),
        (Deed::IgnoreTerm, late(), late()),
        (Deed::HalfFrame, late(), late()),
        (Deed::Garbage, late(), crashed("broke the protocol")),
        (Deed::TwoFrames, late(), crashed("broke the protocol")),
        (Deed::Panic, fault(), fault()),
        (Deed::ThreadLocal, well(), well()),
        (Deed::LogOn, well(), well()),
        (Deed::Print, well(), well()),
        (Deed::Child, not_run(LEAVES), well()),
        (Deed::Daemon, not_run(LEAVES), well()),
        (Deed::KillParent, not_run(LEAVES), well()),
    ];
    let case = |(deed, in_host, in_worker)| {
        of_deed(Moment::Call, Making::Called(deed), in_host, in_worker)
    };
    cases.map(case).into()
}

/// What happens once the provider is no longer needed, or its process is not: whoever waits for that waits in vain, and nobody must.
fn ends() -> Vec<Case> {
    let survives = || vec![Survives];
    let stops = [
        (Deed::Exit0, vec![EndsHost]),
        (Deed::Abort, vec![EndsHost]),
        (Deed::Segfault, vec![EndsHost]),
        (Deed::Hang, survives()),
        (Deed::Panic, survives()),
    ];
    let mut cases: Vec<_> = stops
        .into_iter()
        .map(|(deed, in_host)| of_deed(Moment::Stop, Making::Patched(deed), in_host, survives()))
        .collect();
    let after = [
        (Deed::CrashAtExit, vec![EndsHost]),
        (Deed::HangAtExit, vec![NotRun { harms: "the host's own end, which never comes" }]),
        (Deed::PrintUnflushed, survives()),
    ];
    cases.extend(after.into_iter().map(|(deed, in_host)| {
        of_deed(Moment::AfterHost, Making::Called(deed), in_host, survives())
    }));
    cases
}

/// What is wrong with files, and known by reading them.
fn files() -> Vec<Case> {
    let noted = |id: &str, number, does, member, value, code| Case {
        number,
        does,
        by_reading: vec![Refused { code }],
        ..of_provider(id, Moment::File, Making::Noted { member, value }, Refused { code })
    };
    let audited = |id: &str, number, does, arguments, code| Case {
        number,
        does,
        by_reading: vec![Refused { code }],
        ..of_provider(id, Moment::File, compiled("audited.c", arguments), Refused { code })
    };
    // A root module that is none: all that is right with it are its tables.
    let fails = |id: &str, number, does, source, arguments, code, how| Case {
        number,
        does,
        by_reading: vec![Survives],
        ..of_provider(
            id,
            Moment::File,
            compiled(source, arguments),
            Verdict::fails(code, "load", how),
        )
    };
    let abort = || json!("abort");
    vec![
        noted(
            "file-other-interface",
            "F20",
            "Says that it is for another interface.",
            "digest",
            json!("0000000000000000"),
            "other_abi",
        ),
        Case {
            // Its imports are told first. In a worker it may run.
            by_reading: by_reading(),
            in_worker: vec![Survives],
            ..noted(
                "file-panic-abort",
                "F11",
                "Says that no panic of it can be caught.",
                "panic",
                abort(),
                "panic_abort",
            )
        },
        audited(
            "file-root-function",
            "F07",
            "Has a function where the root module must be.",
            &["-DROOT_FUNCTION", "-lgcc_s"],
            "no_root_module",
        ),
        audited(
            "file-root-small",
            "F07",
            "Has a root module that is too small to be one.",
            &["-DROOT_SMALL", "-lgcc_s"],
            "no_root_module",
        ),
        audited(
            "file-root-weak",
            "F07",
            "Has a root module that another library's may replace.",
            &["-DROOT_WEAK", "-lgcc_s"],
            "no_root_module",
        ),
        audited(
            "file-root-undefined",
            "F07",
            "Takes the root module of another library.",
            &["-DROOT_UNDEFINED", "-lgcc_s"],
            "no_root_module",
        ),
        audited(
            "file-foreign-run-path",
            "F33",
            "Wants its libraries from the working directory.",
            &["-Wl,-rpath,lib", "-lgcc_s"],
            "foreign_run_path",
        ),
        audited(
            "file-static-tls",
            "F36",
            "Takes room of each thread that the process has little of.",
            &["-DSTATIC_TLS", "-lgcc_s"],
            "static_tls",
        ),
        audited(
            "file-executable-stack",
            "F37",
            "Makes the stacks of the whole process executable.",
            &["-Wl,-z,execstack", "-lgcc_s"],
            "executable_stack",
        ),
        audited(
            "file-writable-code",
            "F37",
            "Has code that can be written to.",
            &["-DWRITABLE_CODE", "-lgcc_s"],
            "writable_code",
        ),
        fails(
            "file-no-header",
            "F28",
            "Has a root module that is none, in a file whose tables are all right.",
            "audited.c",
            &["-lgcc_s"],
            "other_abi",
            "does not fit this host",
        ),
        fails(
            "file-undefined-symbol",
            "F32",
            "Calls a function that nobody defines.",
            "audited.c",
            &["-DUNDEFINED", "-Wl,-z,lazy", "-lgcc_s"],
            "not_opened",
            "nobody_defines_this",
        ),
        fails(
            "file-thread-and-no-header",
            "F12",
            "Starts a thread while it is opened, and has a root module that is none: unmapping it would end the host.",
            "constructor_thread.c",
            &["-DFOLDER=\"/nonexistent\"", "-lgcc_s"],
            "other_abi",
            "does not fit this host",
        ),
    ]
}

fn compiled(source: &'static str, arguments: &'static [&'static str]) -> Making {
    Making::Compiled { source: CSource(source), arguments }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_case_has_a_name_of_its_own_and_says_what_it_does() {
        let cases = catalogue();
        let ids: BTreeSet<_> = cases.iter().map(|case| &case.id).collect();
        assert_eq!(ids.len(), cases.len());
        for case in &cases {
            assert!(case.does.ends_with('.'), "{}", case.id);
            for expected in [&case.by_reading, &case.in_host, &case.in_worker] {
                assert_ne!(expected, &[], "{}", case.id);
            }
            assert!(!case.in_worker.contains(&EndsHost), "{}: nothing leaves a worker", case.id);
        }
    }

    #[test]
    fn every_deed_is_done_at_some_moment() {
        let cases = catalogue();
        for deed in Deed::ALL {
            let done = cases.iter().any(|case| {
                matches!(case.making, Making::Patched(done) | Making::Called(done) if done == *deed)
            });
            assert!(done, "{deed:?}");
        }
    }
}
