//! A disk that is full: what a command does is there as a whole or not at all, what was there goes on, and with room again all is well.
#![cfg(test)]

use std::{
    collections::BTreeMap,
    env,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;
use toolbay_loader::{Config, Toolbay};
use toolbay_tests::{
    Ended,
    bay::{Bay, install},
    bundle::{Draft, Key},
    host_binary,
};

const MOUNT: &str = "TOOLBAY_TEST_FULL_DISK_MOUNT";
const TEST: &str = "a_disk_without_room_leaves_all_or_nothing";
const PAGE: usize = 4096;

/// How much there is room for.
#[derive(Debug, Clone, Copy)]
enum Room {
    /// In each file, in blocks of 512 bytes.
    InFile(u64),
    /// On the disk, in pages.
    OnDisk(u64),
}

/// What a home knows of a provider: the version that is installed, and the one that is registered.
type Known = BTreeMap<String, [Option<String>; 2]>;

/// A home in which the first version of a plugin works, and what is to come: its second version, and another plugin.
struct Before {
    folder: TempDir,
    /// The sources of what is to come.
    sources: [PathBuf; 2],
}

impl Before {
    /// In `installs`, plugins are installed, and otherwise they lie in the plugin directory. What `is_stored` is in the store already.
    fn new(installs: bool, is_stored: bool) -> Self {
        // Outside of what is full.
        let folder = tempfile::Builder::new().tempdir_in("/tmp").unwrap();
        let key = Key::new();
        let path = |name: &str| folder.path().join(name);
        let greeting = Draft::of("toolbay-plugin-greeting");
        let first = greeting.clone().with_version("1.0.0").zip(&path("first"), Some(&key));
        let sources = [
            greeting.with_version("2.0.0").zip(&path("greeting"), Some(&key)),
            Draft::of("toolbay-fixture-echo").zip(&path("echo"), Some(&key)),
        ];
        let (bay, other) = (Bay::trusting(&key), Bay::trusting(&key));
        let plugins = bay.home("plugins");
        fs::create_dir(&plugins).unwrap();
        if installs {
            install(&bay.open(), &first);
        } else {
            fs::copy(&first, plugins.join("greeting")).unwrap();
            run(&bay.home(""), &["refresh"]).with(0);
            for source in &sources {
                fs::copy(source, plugins.join(source.file_name().unwrap())).unwrap();
            }
        }
        if is_stored {
            for source in &sources {
                install(&other.open(), source);
            }
            copy(&other.home("store/."), &bay.home("store"));
        }
        copy(&bay.home("."), &path("home"));
        Self { folder, sources }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn command(&self, installs: bool) -> Vec<&str> {
        let sources = self.sources.iter().map(|source| source.to_str().unwrap());
        if installs { ["install"].into_iter().chain(sources).collect() } else { vec!["refresh"] }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

fn run(home: &Path, words: &[&str]) -> Ended {
    let mut command = Command::new(host_binary());
    command.env_remove("TOOLBAY_LOG").arg("--home").arg(home).args(words);
    Ended::of(command.output().unwrap())
}

impl Room {
    /// Does what there is to do in a home while there is no more room than this.
    fn lend<T>(self, home: &Path, work: impl FnOnce(&dyn Fn(&[&str]) -> Ended) -> T) -> T {
        match self {
            Self::InFile(blocks) => work(&|words| {
                // With the signal ignored, a write gets an error.
                let limited = "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"";
                let mut command = Command::new("sh");
                command.args(["-c", limited, &blocks.to_string()]).arg(host_binary());
                Ended::of(command.arg("--home").arg(home).args(words).output().unwrap())
            }),
            Self::OnDisk(pages) => {
                let ballast = home.with_file_name("ballast");
                let mut file = File::create(&ballast).unwrap();
                let mut len = 0;
                while let Ok(written) = file.write(&[1; PAGE]) {
                    len += written as u64;
                }
                file.set_len(len.saturating_sub(pages * PAGE as u64)).unwrap();
                let outcome = work(&|words| run(home, words));
                fs::remove_file(ballast).unwrap();
                outcome
            }
        }
    }
}

fn known(home: &Path) -> Known {
    let toolbay = Toolbay::open(Config::new(home)).unwrap();
    let mut known = Known::new();
    for (id, bundle) in toolbay.installed().unwrap() {
        known.entry(id).or_default()[0] = Some(bundle.version);
    }
    for provider in toolbay.providers() {
        known.entry(provider.id.to_string()).or_default()[1] = Some(provider.version);
    }
    known
}

/// What is in the home that nobody would ever look at again.
fn left_over(home: &Path) -> Vec<String> {
    let collected = Toolbay::open(Config::new(home)).unwrap().collect_store(true).unwrap();
    let names = [home.to_owned(), home.join("store")].map(|folder| fs::read_dir(folder).unwrap());
    let names = names.into_iter().flatten().map(|entry| entry.unwrap().file_name());
    let hidden = names.filter_map(|name| name.into_string().ok()).filter(|it| it.starts_with('.'));
    hidden.chain(collected.entries.iter().map(ToString::to_string)).collect()
}

/// Whether an error names a file or folder, and what there is too little of.
fn names_file_and_space(error: &str) -> bool {
    let names_file = error.contains("/home/") || error.contains("room for a copy of ");
    let names_space = error.contains("No space left on device") || error.contains("File too large");
    names_file && names_space
}

/// Runs a command with so much room, and then with all of it. Returns whether it did all that there was to do with so little.
fn check(before: &Before, home: &Path, installs: bool, room: Room) -> bool {
    let case = format!("{} with {room:?}", if installs { "install" } else { "refresh" });
    let _ = fs::remove_dir_all(home);
    copy(&before.home().join("."), home);
    let old = known(home);
    let words = before.command(installs);
    let (ended, listed, called) = room.lend(home, |run| {
        let ended = run(&words);
        (ended, run(&["list"]), run(&["call", "greet"]))
    });
    let (listed, said) = (listed.with(0).output, format!("{}{}", ended.output, ended.errors));
    assert!(listed.contains("greet"), "{case}: {listed}");
    match called.code {
        0 => assert_eq!(called.output, "Hello.\n", "{case}"),
        _ => assert!(names_file_and_space(&called.errors), "{case}: {called:?}"),
    }

    let whole = |id: &str| {
        let version = Some(if id == "echo" { "0.1.0" } else { "2.0.0" }.to_owned());
        [version.clone().filter(|_| installs), version]
    };
    let now = known(home);
    let done = |id: &&str| now.get(*id) == Some(&whole(id));
    for id in ["echo", "greeting"] {
        assert!(done(&id) || now.get(id) == old.get(id), "{case}: {id} of {now:?}: {said}");
    }
    let all = ["echo", "greeting"].iter().all(done);
    assert_eq!(ended.code == 0, all, "{case}: {said}");
    assert!(all || names_file_and_space(&said), "{case}: {said}");
    assert_eq!(run(home, &["call", "greet"]).with(0).output, "Hello.\n", "{case}");
    run(home, &["gc"]).with(0);
    assert_eq!(left_over(home), [] as [&str; 0], "{case}");

    run(home, &words).with(0);
    let now = known(home);
    assert!(["echo", "greeting"].iter().all(|id| now.get(*id) == Some(&whole(id))), "{case}");
    assert_eq!(run(home, &["call", "greet"]).with(0).output, "Hello.\n", "{case}");
    assert_eq!(run(home, &["call", "counted", "text=a"]).with(0).code, 0, "{case}");
    run(home, &["gc"]).with(0);
    assert_eq!(left_over(home), [] as [&str; 0], "{case}");
    all
}

/// Tries rooms of these sizes with libraries that are in the store already, so that small files alone need some, and of those where they
/// are not. Of each, the first is too little and the last is enough.
fn sweep(home: &Path, room: fn(u64) -> Room, small: &[u64], large: &[u64]) {
    for installs in [true, false] {
        for (is_stored, sizes) in [(true, small), (false, large)] {
            let before = Before::new(installs, is_stored);
            let done: Vec<bool> =
                sizes.iter().map(|size| check(&before, home, installs, room(*size))).collect();
            assert_eq!((done.first(), done.last()), (Some(&false), Some(&true)), "{sizes:?}");
        }
    }
}

#[test]
fn a_file_that_cant_grow_leaves_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let small: Vec<u64> = (0..12).chain([16, 24, 32, 64]).collect();
    sweep(&folder.path().join("home"), Room::InFile, &small, &[4, 32, 1_000, 20_000]);
}

#[test]
fn a_disk_without_room_leaves_all_or_nothing() {
    if let Some(mount) = env::var_os(MOUNT) {
        let small: Vec<u64> = (0..20).chain([32]).collect();
        return sweep(
            &PathBuf::from(mount).join("home"),
            Room::OnDisk,
            &small,
            &[4, 100, 700, 3_000],
        );
    }
    let mount = tempfile::tempdir().unwrap();
    // A file system that only the child sees, and that goes when it ends.
    let script =
        "mount -t tmpfs -o size=32m none \"$1\" || exit 77; exec \"$0\" --exact \"$2\" --nocapture";
    let mut child = Command::new("unshare");
    child.args(["-rm", "sh", "-c", script]).arg(env::current_exe().unwrap()).arg(mount.path());
    match child.arg(TEST).env(MOUNT, mount.path()).status() {
        Ok(status) if status.success() => {}
        Ok(status) if status.code() == Some(101) => panic!("the child failed"),
        other => eprintln!("left out: no file system can be mounted here: {other:?}"),
    }
}
