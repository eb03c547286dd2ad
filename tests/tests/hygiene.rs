//! What a plugin changes of the host's process while it is loaded in it is told and put back, or refused.
#![cfg(test)]

use std::{env, fs, hint};

use regex::Regex;
use rustix::process::dumpable_behavior;
use serde_json::json;
use toolbay_loader::{HygienePolicy, Isolation, Stage, Toolbay, Unsigned};
use toolbay_tests::{
    Home,
    bay::{Bay, codes},
    bundle::{Draft, Key},
    child::{Child, say},
    violent::{Moment, greets_still, order},
};

const MOMENT: &str = "TOOLBAY_TEST_MOMENT";
const POLICY: &str = "TOOLBAY_TEST_POLICY";

/// When a plugin's code runs while it is loaded.
const MOMENTS: [(&str, Moment); 4] = [
    ("constructor", Moment::Constructor),
    ("root", Moment::Root),
    ("create", Moment::Create),
    ("tools", Moment::Tools),
];

/// A deed, and what is told of it.
struct Case {
    deed: &'static str,
    /// Regular expressions, one for each thing that is told.
    told: &'static [&'static str],
    /// What the process still has of it, by the words of [`state`].
    remains: &'static [&'static str],
    /// Whether the policy can refuse a plugin for it.
    disturbs: bool,
}

const CASES: &[Case] = &[
    Case { deed: "nothing", told: &[], remains: &[], disturbs: false },
    Case { deed: "joined_thread", told: &[], remains: &[], disturbs: false },
    Case {
        deed: "handlers",
        told: &[
            r"SIGSEGV: handler at 0x[0-9a-f]+, now handler at 0x[0-9a-f]+ \(restored\)",
            r"SIGPIPE: ignored, now handler at 0x[0-9a-f]+ \(restored\)",
            r"SIGCHLD: default, now handler at 0x[0-9a-f]+ \(restored\)",
        ],
        remains: &[],
        disturbs: true,
    },
    Case {
        deed: "block_signals",
        told: &[r"signals blocked: SIGTERM SIGCHLD \(restored\)"],
        remains: &[],
        disturbs: true,
    },
    Case {
        deed: "denormals",
        told: &[r"floating-point control: 0x[0-9a-f]+, now 0x[0-9a-f]+ \(restored\)"],
        remains: &[],
        disturbs: true,
    },
    Case {
        deed: "locale",
        told: &[r"LC_ALL: C, now C\.UTF-8 \(not restored\)"],
        remains: &[],
        disturbs: true,
    },
    Case {
        deed: "surroundings",
        told: &[
            r"working directory: .*, now / \(restored\)",
            r"umask: 022, now 000 \(restored\)",
            r"environment variable TOOLBAY_VIOLENT: new \(not restored\)",
        ],
        remains: &["variable"],
        disturbs: true,
    },
    Case {
        deed: "limits",
        told: &[r"RLIMIT_NOFILE: \d+ of \d+, now 99 of \d+ \(restored\)"],
        remains: &[],
        disturbs: true,
    },
    Case {
        deed: "undumpable",
        told: &[r"dumpable: 1, now 0 \(restored\)"],
        remains: &[],
        disturbs: true,
    },
    Case {
        deed: "close_streams",
        told: &[
            r"descriptor 0: now closed \(restored\)",
            r"descriptor 1: now closed \(restored\)",
            r"descriptor 2: now closed \(restored\)",
        ],
        remains: &[],
        disturbs: true,
    },
    Case {
        deed: "other_output",
        told: &[r"descriptor 1: now another file \(restored\)"],
        remains: &[],
        disturbs: true,
    },
    Case {
        deed: "descriptors",
        told: &["5 more descriptors open: /dev/null, /dev/null, /dev/null, /dev/null, ..."],
        remains: &[],
        disturbs: false,
    },
    Case {
        deed: "threads",
        // A thread gives itself its name, soon after it has begun.
        told: &[r"50 more threads running: .*, \.\.\."],
        remains: &[],
        disturbs: false,
    },
];

/// What can be seen of this process and thread, each by a word.
fn state() -> Vec<(&'static str, String)> {
    let lines = |path: &str, names: &[&str]| {
        let text = fs::read_to_string(path).unwrap();
        let lines = text.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let streams = (0..3).map(|number| fs::read_link(format!("/proc/self/fd/{number}")).unwrap());
    vec![
        ("signals", lines("/proc/self/status", &["SigIgn", "SigCgt"])),
        ("mask", lines("/proc/thread-self/status", &["SigBlk"])),
        // Half of the smallest normal number is none where denormal numbers count as zero.
        ("floats", (hint::black_box(f64::MIN_POSITIVE) / hint::black_box(2.0)).to_string()),
        ("folder", env::current_dir().unwrap().display().to_string()),
        ("umask", lines("/proc/self/status", &["Umask"])),
        ("variable", format!("{:?}", env::var_os("TOOLBAY_VIOLENT"))),
        ("limits", lines("/proc/self/limits", &["Max"])),
        ("dumpable", format!("{:?}", dumpable_behavior())),
        ("streams", format!("{:?}", streams.collect::<Vec<_>>())),
    ]
}

/// What the child does: loads the plugin with each deed, and says what it was told and what it sees.
fn load_and_say(moment: &str) {
    let (_, moment) = MOMENTS.into_iter().find(|(name, _)| *name == moment).unwrap();
    for Case { deed, .. } in CASES {
        let home = Home::violent(moment, deed);
        fs::remove_file(home.plugin("toolbay-plugin-greeting.so")).unwrap();
        let mut config = home.in_process();
        config.owns_output = true;
        if env::var_os(POLICY).is_some() {
            config.policy.hygiene = HygienePolicy::Refuse;
        }
        let toolbay = Toolbay::open(config).unwrap();
        let before = state();
        let report = toolbay.refresh().unwrap();
        for (before, (word, after)) in before.iter().zip(state()) {
            if before.1 != after {
                say(&format!("{deed} remains {word}"));
            }
        }
        for rejection in &report.rejections {
            let reason = &rejection.reason;
            assert_eq!((reason.stage, reason.code), (Stage::Load, "disturbed_host"), "{reason}");
            reason.found.split("; ").for_each(|found| say(&format!("{deed} refused {found}")));
        }
        for disturbance in toolbay.loaded().iter().flat_map(|library| &library.disturbances) {
            say(&format!("{deed} told {disturbance}"));
        }
    }
    let home = Home::with(&["toolbay-plugin-greeting"]);
    assert!(greets_still(&home.refreshed()));
    say("end");
}

/// What a child says of a deed, by the kind of it.
fn said(lines: &[String], deed: &str) -> [Vec<String>; 3] {
    ["told", "remains", "refused"].map(|kind| {
        let begin = format!("{deed} {kind} ");
        lines.iter().filter_map(|line| Some(line.strip_prefix(&begin)?.to_owned())).collect()
    })
}

/// What a child says that loads the plugin with each deed at this moment.
fn lines_of(test: &str, moment: &str, refuses: bool) -> Vec<String> {
    let mut variables = vec![(MOMENT, moment.as_ref())];
    variables.extend(refuses.then_some((POLICY, "refuse".as_ref())));
    let mut child = Child::of(test, &variables);
    let lines: Vec<_> = std::iter::from_fn(|| child.line()).collect();
    assert_eq!(lines.last().map(String::as_str), Some("end"), "in {moment}: {lines:?}");
    lines
}

fn check_told(found: &[String], expected: &[&str], context: &str) {
    assert_eq!(found.len(), expected.len(), "{context}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        let expected = Regex::new(&format!("^{expected}$")).unwrap();
        assert!(expected.is_match(found), "{context}: {found} is not {expected}");
    }
}

#[test]
fn what_a_plugin_changes_is_told_and_put_back_whenever_it_does_so() {
    // F50, F51 and F52.
    if let Ok(moment) = env::var(MOMENT) {
        return load_and_say(&moment);
    }
    let test = "what_a_plugin_changes_is_told_and_put_back_whenever_it_does_so";
    for (moment, _) in MOMENTS {
        let lines = lines_of(test, moment, false);
        for case in CASES {
            let context = format!("{} in {moment}", case.deed);
            let [told, remains, refused] = said(&lines, case.deed);
            check_told(&told, case.told, &context);
            assert_eq!(remains, case.remains, "{context}");
            assert_eq!(refused, [""; 0], "{context}");
        }
    }
}

#[test]
fn a_plugin_that_disturbs_the_host_is_refused_where_the_policy_says_so() {
    if let Ok(moment) = env::var(MOMENT) {
        return load_and_say(&moment);
    }
    let test = "a_plugin_that_disturbs_the_host_is_refused_where_the_policy_says_so";
    for (moment, _) in MOMENTS {
        let lines = lines_of(test, moment, true);
        for case in CASES {
            let context = format!("{} in {moment}", case.deed);
            let [told, remains, refused] = said(&lines, case.deed);
            let (left, not_taken) = match case.disturbs {
                true => (&[][..], case.told),
                false => (case.told, &[][..]),
            };
            check_told(&told, left, &context);
            check_told(&refused, not_taken, &context);
            assert_eq!(remains, case.remains, "{context}");
        }
    }
}

#[test]
fn what_was_refused_for_it_is_not_run_in_the_host_again_and_runs_in_a_worker() {
    // Constructors run once in a process, and this one process loads it several times.
    let home = Home::violent(Moment::Create, "block_signals");
    let config = |isolation, hygiene| {
        let mut config = home.isolated();
        config.policy.isolation.default = isolation;
        config.policy.hygiene = hygiene;
        config
    };
    let steps = [
        (Isolation::InProcess, HygienePolicy::Refuse, Some("disturbed_host")),
        // Its code is not run to find the same again.
        (Isolation::InProcess, HygienePolicy::Refuse, Some("failed_before")),
        (Isolation::Worker, HygienePolicy::Refuse, None),
        // A worker says nothing about the host.
        (Isolation::InProcess, HygienePolicy::Refuse, Some("failed_before")),
        (Isolation::InProcess, HygienePolicy::Report, None),
        (Isolation::InProcess, HygienePolicy::Refuse, Some("disturbed_host")),
    ];
    for (isolation, hygiene, code) in steps {
        let toolbay = Toolbay::open(config(isolation, hygiene)).unwrap();
        let rejections = toolbay.refresh().unwrap().rejections;
        let codes: Vec<_> = rejections.iter().map(|rejection| rejection.reason.code).collect();
        assert_eq!(codes, code.as_slice(), "{isolation:?} {hygiene:?}: {rejections:?}");
        assert_eq!(order(&toolbay, "nothing").is_ok(), code.is_none());
        assert!(greets_still(&toolbay));
    }
}

#[test]
fn under_auto_it_runs_in_a_worker_from_the_next_refresh_on() {
    let key = Key::new();
    let bay = Bay::trusting(&key);
    let home = Home::violent(Moment::Root, "block_signals");
    let draft = Draft::of_unopened(&home.violent_library());
    draft.zip(&bay.path("plugins").join("violent.zip"), Some(&key));
    let mut config = home.isolated();
    let loose = bay.config();
    (config.home, config.plugin_directories) = (loose.home, loose.plugin_directories);
    config.policy.unsigned = Unsigned::Refuse;
    config.policy.isolation.default = Isolation::Auto;
    config.policy.hygiene = HygienePolicy::Refuse;
    let toolbay = Toolbay::open(config).unwrap();
    let rejections = toolbay.refresh().unwrap().rejections;
    assert_eq!(codes(&rejections), [(Stage::Load, "disturbed_host")], "{rejections:?}");
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    let loaded = toolbay.loaded();
    assert!(matches!(&loaded[..], [one] if one.worker.is_some()), "{loaded:?}");
    assert!(order(&toolbay, "nothing").is_ok());
}

/// The home's program loads plugins in its own process.
fn in_the_program(home: &Home) {
    home.configuration(
        "[plugins]\nisolation = \"in-process\"\n[static_audit]\ndenied_imports = \"allow\"\n",
    );
}

#[test]
fn what_is_printed_while_a_plugin_is_loaded_is_logged_under_its_id_and_the_output_is_whole() {
    // F14.
    let cases: [(&str, &[&str]); 3] = [
        ("nothing", &[]),
        (
            "print",
            &[
                "plugin::violent::stdout] a line on standard output",
                "plugin::violent::stderr] a line on standard error",
            ],
        ),
        ("print_unflushed", &["plugin::violent::stdout] without an end of line"]),
    ];
    for moment in [Moment::Constructor, Moment::Root] {
        for (deed, expected) in cases {
            let home = Home::violent(moment, deed);
            in_the_program(&home);
            let ended = home.run(&["refresh", "--json"]).with(0);
            assert_eq!(ended.json()["rejections"], json!([]));
            let lines: Vec<_> = ended.errors.lines().collect();
            assert_eq!(lines.len(), expected.len(), "{deed}: {lines:?}");
            for (line, expected) in lines.iter().zip(expected) {
                assert!(line.ends_with(expected), "{deed}: {line}");
            }
        }
    }
}

#[test]
fn a_flood_keeps_nobody_waiting_and_takes_little_of_the_log() {
    // F14.
    const MOST: usize = 512 * 1024;
    let home = Home::violent(Moment::Constructor, "flood");
    in_the_program(&home);
    let ended = home.run(&["refresh", "--json"]).with(0);
    assert_eq!(ended.json()["rejections"], json!([]));
    assert!(ended.errors.len() < MOST, "{}", ended.errors.len());
    // It is one line without an end.
    let [line] = &ended.errors.lines().collect::<Vec<_>>()[..] else { panic!("{}", ended.errors) };
    assert!(line.contains("plugin::violent::stdout] xxx") && line.ends_with(" [cut]"), "{line}");
    assert_eq!(home.printed(&["call", "greet"]), "Hello.\n");
}

#[test]
fn status_tells_what_a_plugin_has_changed_in_a_process() {
    let home = Home::violent(Moment::Root, "block_signals");
    let toolbay = Toolbay::open(home.in_process()).unwrap();
    assert_eq!(toolbay.refresh().unwrap().rejections, []);
    let status = home.printed(&["status"]);
    assert!(status.contains("signals blocked: SIGTERM SIGCHLD (restored)"), "{status}");
    let status = home.json(&["status"]);
    let loaded = status["processes"][0]["loaded"].as_array().unwrap();
    let disturbances = |provider: &str| {
        let library = loaded.iter().find(|library| library["provider"] == provider).unwrap();
        let disturbances = library["disturbances"].as_array().unwrap().iter();
        disturbances.filter(|one| one["kind"] == "blocked_signals").cloned().collect::<Vec<_>>()
    };
    let blocked = [libc::SIGTERM, libc::SIGCHLD];
    let expected = json!({
        "kind": "blocked_signals", "blocked": blocked, "unblocked": [], "restored": true
    });
    assert_eq!(disturbances("violent"), [expected]);
    assert!(disturbances("greeting").is_empty(), "the twin");
}
