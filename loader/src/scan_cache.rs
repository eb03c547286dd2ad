//! What files looked like when they were last read, so that a refresh reads only those that may have changed.
//!
//! It is a cache and nothing more: a library is hashed each time before it is loaded, and the file can be removed at any time.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use toolbay_abi::{note::TARGET, shape};

use crate::{
    home_file::Document,
    inspect::FileIdentity,
    provider::Registered,
    registry_file,
    store::{ContentHash, Store},
};

/// How long after its last change a file must have been recorded: within that time, a further change could leave the same times behind, as
/// git knows it of its index.
const RACY: Duration = Duration::from_secs(2);

/// The most files of one bundle that are compared; a larger one is read each time.
const MAX_FILES: usize = 1_000;

/// What must be the same for anything in the cache to count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Circumstances {
    /// The digest of the interface.
    abi: String,
    /// The system.
    target: String,
    /// The program that reads.
    host: String,
    /// The operator's policy.
    policy: String,
    /// The keys that are trusted, and those that are not any more.
    trust: String,
    /// What alone may run, where the policy wants that.
    lock: String,
}

impl Circumstances {
    pub(crate) fn now(policy: &str, trust: &[u8], lock: &str) -> Self {
        Self {
            abi: format!("{:016x}", shape::DIGEST),
            target: TARGET.to_owned(),
            host: host_build(),
            policy: ContentHash::of(policy.as_bytes()).to_string(),
            trust: ContentHash::of(trust).to_string(),
            lock: ContentHash::of(lock.as_bytes()).to_string(),
        }
    }
}

/// Which build of which program this is: the loader's release, and size and time of the program's file.
pub(crate) fn host_build() -> String {
    let program = fs::metadata("/proc/self/exe").ok().map(|program| FileIdentity::of(&program));
    let program = program.map(|program| format!(" {} {}", program.len, program.modified_ns));
    format!("{}{}", env!("CARGO_PKG_VERSION"), program.unwrap_or_default())
}

/// The cache's content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScanCache {
    circumstances: Circumstances,
    /// By path, encoded.
    files: BTreeMap<String, Seen>,
}

impl Document for ScanCache {
    const NAME: &'static str = "scan-cache";
    const FORMAT: u32 = 2;
    const FOUND_ANEW: bool = true;
}

/// A library or bundle as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    /// The entry of the store that came of it.
    entry: String,
    /// It and, of a folder, everything in it.
    stats: Stats,
    /// The same of the entry, which a further scan would replace where it is not what it was.
    stored: Stats,
    /// The digest of how it was registered: what somebody wrote into the registry since is not known.
    registered: String,
    /// When it was recorded, in nanoseconds since the epoch.
    recorded_ns: i128,
}

/// What the system tells of files without opening them, by their encoded paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Stats(BTreeMap<String, FileIdentity>);

impl Stats {
    /// What there is at a path, or `None` where that can't be told, or is too much to compare.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let mut stats = BTreeMap::new();
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            let metadata = fs::symlink_metadata(&path).ok()?;
            stats.insert(encoded(&path), FileIdentity::of(&metadata));
            if metadata.is_dir() {
                for entry in fs::read_dir(&path).ok()? {
                    waiting.push(entry.ok()?.path());
                    if stats.len() + waiting.len() > MAX_FILES {
                        return None;
                    }
                }
            }
        }
        Some(Self(stats))
    }

    /// Whether the times say something: neither constant, as in reproducible archives, nor of the future, and long enough before `recorded_ns`.
    fn tell(&self, recorded_ns: i128, now_ns: i128) -> bool {
        const DAY_NS: i128 = 24 * 60 * 60 * 1_000_000_000;
        let racy = i128::try_from(RACY.as_nanos()).unwrap_or(i128::MAX);
        self.0.values().all(|stat| {
            let latest = stat.modified_ns.max(stat.changed_ns);
            let earliest = stat.modified_ns.min(stat.changed_ns);
            earliest > DAY_NS && latest <= now_ns && recorded_ns > latest.saturating_add(racy)
        })
    }
}

impl ScanCache {
    /// A cache with nothing in it.
    pub(crate) fn new(circumstances: Circumstances) -> Self {
        Self { circumstances, files: BTreeMap::new() }
    }

    /// A cache of the same circumstances with nothing in it.
    pub(crate) fn emptied(&self) -> Self {
        Self::new(self.circumstances.clone())
    }

    /// What of the cache counts now.
    pub(crate) fn under(self, circumstances: &Circumstances) -> Self {
        if self.circumstances == *circumstances { self } else { Self::new(circumstances.clone()) }
    }

    /// The entry of the store that the library or bundle at a path is, which looks like this now, where neither need be read to know that.
    pub(crate) fn fresh(
        &self,
        path: &Path,
        stats: &Stats,
        store: &Store,
        now: Duration,
    ) -> Option<ContentHash> {
        let seen = self.files.get(&encoded(path))?;
        let entry = seen.entry.parse().ok()?;
        let now_ns = i128::try_from(now.as_nanos()).ok()?;
        let is_told = |stats: &Stats| stats.tell(seen.recorded_ns, now_ns);
        let is_stored = || Stats::of(&store.entry(entry)).is_some_and(|now| now == seen.stored);
        let is_same = *stats == seen.stats && is_told(&seen.stats) && is_told(&seen.stored);
        (is_same && is_stored()).then_some(entry)
    }

    /// Whether an entry of the store was taken under these circumstances, and registered in this way.
    pub(crate) fn knows(&self, entry: ContentHash, registered: ContentHash) -> bool {
        let known = (entry.to_string(), registered.to_string());
        let mut seen = self.files.values();
        seen.any(|seen| (&seen.entry, &seen.registered) == (&known.0, &known.1))
    }

    /// Records how a library or bundle, which looked like this before it was read, was registered. What can't be told is not recorded: then it
    /// is read the next time.
    pub(crate) fn remember(
        &mut self,
        path: &Path,
        stats: Option<Stats>,
        registered: &Registered,
        store: &Store,
        now: Duration,
    ) {
        let entry = registered.plugin.entry;
        let (stored, digest) = (Stats::of(&store.entry(entry)), registry_file::digest(registered));
        if let (Some(stats), Some(stored), Ok(digest)) = (stats, stored, digest) {
            self.record(path, stats, (entry, stored), digest, now);
        }
    }

    /// Records what a library or bundle looked like before it was read, which entry of the store came of it, and how that was registered.
    fn record(
        &mut self,
        path: &Path,
        stats: Stats,
        (entry, stored): (ContentHash, Stats),
        registered: ContentHash,
        now: Duration,
    ) {
        let recorded_ns = i128::try_from(now.as_nanos()).unwrap_or_default();
        let (entry, registered) = (entry.to_string(), registered.to_string());
        let seen = Seen { entry, stats, stored, registered, recorded_ns };
        self.files.insert(encoded(path), seen);
    }
}

/// A path as text: as it is where it is UTF-8 without control characters and percent signs, and with those bytes as `%XX`.
pub(crate) fn encoded(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() || character == '%' {
                let mut bytes = [0; 4];
                text.extend(character.encode_utf8(&mut bytes).bytes().map(escaped));
            } else {
                text.push(character);
            }
        }
        text.extend(chunk.invalid().iter().copied().map(escaped));
    }
    text
}

/// The path that [`encoded`] made a text of.
pub(crate) fn decoded(text: &str) -> PathBuf {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| after.get(..2)).flatten();
        let byte = escaped
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsStr::from_bytes(&bytes))
}

fn escaped(byte: u8) -> String {
    format!("%{byte:02X}")
}

#[cfg(test)]
mod tests {
    use std::fs::{File, FileTimes};
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;

    fn later() -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(10)
    }

    fn circumstances() -> Circumstances {
        Circumstances::now("policy", b"trust", "lock")
    }

    /// A store with an entry, beside what was scanned.
    struct Scanned {
        _folder: tempfile::TempDir,
        store: Store,
        stored: PathBuf,
    }

    impl Scanned {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::new(folder.path().to_owned());
            let stored = store.entry(ContentHash::of(b"a")).join("a.so");
            fs::create_dir(stored.parent().unwrap()).unwrap();
            fs::write(&stored, "one").unwrap();
            Self { _folder: folder, store, stored }
        }

        fn fresh(&self, cache: &ScanCache, path: &Path, now: Duration) -> Option<ContentHash> {
            cache.fresh(path, &Stats::of(path).unwrap(), &self.store, now)
        }

        fn recorded(&self, path: &Path, at: Duration) -> ScanCache {
            let mut cache = ScanCache::new(circumstances());
            let entry = ContentHash::of(b"a");
            let stored = Stats::of(&self.store.entry(entry)).unwrap();
            let registered = ContentHash::of(b"registered");
            cache.record(path, Stats::of(path).unwrap(), (entry, stored), registered, at);
            assert!(cache.knows(entry, registered) && !cache.knows(entry, ContentHash::of(b"b")));
            cache
        }
    }

    fn modify(path: &Path, modified: SystemTime) {
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_times(FileTimes::new().set_modified(modified))
            .unwrap();
    }

    #[test]
    fn what_has_not_changed_is_fresh_and_any_change_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let bundle = folder.path().join("bundle");
        let (file, other) = (bundle.join("a"), bundle.join("b"));
        let scanned = Scanned::new();
        let fresh_after = |change: &dyn Fn()| {
            let _ = fs::remove_dir_all(&bundle);
            fs::create_dir(&bundle).unwrap();
            fs::write(&file, "one").unwrap();
            let cache = scanned.recorded(&bundle, later());
            change();
            scanned.fresh(&cache, &bundle, later() + Duration::from_secs(1))
        };
        let time = || fs::metadata(&file).unwrap().modified().unwrap();
        assert_eq!(fresh_after(&|| ()), Some(ContentHash::of(b"a")));
        let changes: [(&str, &dyn Fn()); 6] = [
            // F60: the time is put back, and the size is the same.
            ("content", &|| {
                let before = time();
                fs::write(&file, "two").unwrap();
                modify(&file, before);
            }),
            ("size", &|| fs::write(&file, "four").unwrap()),
            ("the copy in the store", &|| fs::write(&scanned.stored, "two").unwrap()),
            ("time", &|| modify(&file, UNIX_EPOCH + Duration::from_secs(1_000_000_000))),
            ("a further file", &|| fs::write(&other, "").unwrap()),
            ("another file of the name", &|| {
                fs::write(&other, "one").unwrap();
                fs::rename(&other, &file).unwrap();
            }),
        ];
        for (name, change) in changes {
            assert_eq!(fresh_after(change), None, "{name}");
        }
    }

    #[test]
    fn times_that_tell_nothing_make_nothing_fresh() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "one").unwrap();
        let now = later();
        let scanned = Scanned::new();
        let fresh =
            |cache: &ScanCache| scanned.fresh(cache, &file, now + Duration::from_secs(1)).is_some();
        assert!(fresh(&scanned.recorded(&file, now)));
        // Within two seconds of the last change.
        let just = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        assert!(!fresh(&scanned.recorded(&file, just)), "racily clean");
        // F61 and F62: constant times of archives, and a time of the future.
        for at in [Duration::ZERO, Duration::from_secs(1), now + Duration::from_hours(1)] {
            modify(&file, UNIX_EPOCH + at);
            assert!(!fresh(&scanned.recorded(&file, now)), "{at:?}");
        }
    }

    #[test]
    fn nothing_counts_under_other_circumstances() {
        let folder = tempfile::tempdir().unwrap();
        let scanned = Scanned::new();
        let cache = scanned.recorded(folder.path(), later());
        let fresh = |circumstances: &Circumstances| {
            let cache = cache.clone().under(circumstances);
            scanned.fresh(&cache, folder.path(), later() + Duration::from_secs(1)).is_some()
        };
        assert!(fresh(&circumstances()));
        let same = circumstances();
        let others = [
            Circumstances::now("another policy", b"trust", "lock"),
            Circumstances::now("policy", b"other keys", "lock"),
            Circumstances::now("policy", b"trust", "another lock"),
            Circumstances { abi: "0".to_owned(), ..same.clone() },
            Circumstances { target: "other".to_owned(), ..same.clone() },
            Circumstances { host: "other".to_owned(), ..same.clone() },
        ];
        for other in others {
            assert!(!fresh(&other), "{other:?}");
        }
    }

    #[test]
    fn every_path_reads_back_from_its_text() {
        let cases: [(&[u8], &str); 4] = [
            (b"/a b/\xc3\xa4.so", "/a b/ä.so"),
            (b"/a\nb", "/a%0Ab"),
            (b"/a\xff%", "/a%FF%25"),
            (b"%2", "%252"),
        ];
        for (bytes, text) in cases {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(encoded(path), text);
            assert_eq!(decoded(text), path);
        }
    }
}
