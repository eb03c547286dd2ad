//! Several writers at once: threads of one instance, and instances that know nothing of each other, as those of other processes.

use std::{collections::BTreeSet, fs::File, sync::Barrier, thread};

use rustix::fs::FlockOperation;
use toolbay_plugin_api::{
    serde_json::json,
    testing::{Call, Plugin},
};
use toolbay_plugin_notes::ExportedProvider;

use crate::shelf::Shelf;

const THREADS: usize = 8;
const EACH: usize = 4;

#[test]
fn appends_of_many_threads_lose_nothing() {
    let shelf = Shelf::new(&[("list.md", "0\n")]);
    let other = Plugin::create::<ExportedProvider>(&json!({ "folder": shelf.root() })).unwrap();
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let plugin = if thread % 2 == 0 { &shelf.plugin } else { &other };
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for at in 0..EACH {
                    let text = format!("{thread}-{at}");
                    let arguments = json!({ "name": "list", "text": text });
                    let answer = plugin.call("notes_append", &arguments).unwrap();
                    assert!(answer.ok, "{}", answer.text);
                }
            });
        }
    });
    let text = shelf.text("list.md");
    let lines: Vec<_> = text.lines().skip(1).collect();
    let expected: BTreeSet<_> =
        (0..THREADS).flat_map(|thread| (0..EACH).map(move |at| format!("{thread}-{at}"))).collect();
    assert_eq!(lines.len(), THREADS * EACH);
    assert_eq!(lines.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), expected);
}

#[test]
fn of_many_who_make_one_note_one_does() {
    let shelf = Shelf::new(&[]);
    let start = Barrier::new(THREADS);
    let made: Vec<bool> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (start, plugin) = (&start, &shelf.plugin);
                scope.spawn(move || {
                    start.wait();
                    let arguments = json!({ "name": "list", "text": format!("{thread}") });
                    plugin.call("notes_create", &arguments).unwrap().ok
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let winners: Vec<_> = (0..THREADS).filter(|thread| made[*thread]).collect();
    assert_eq!(winners.len(), 1, "{made:?}");
    assert_eq!(shelf.text("list.md"), format!("{}\n", winners[0]));
}

#[test]
fn a_writer_waits_for_another_process_and_readers_do_not() {
    let shelf = Shelf::new(&[("list.md", "milk\n")]);
    let folder = File::open(shelf.root()).unwrap();
    rustix::fs::flock(&folder, FlockOperation::LockExclusive).unwrap();

    shelf.call("notes_list", json!({}));
    shelf.call("notes_read", json!({ "name": "list" }));
    let append = json!({ "name": "list", "text": "eggs" });
    assert_eq!(shelf.preview("notes_append", append.clone()).len(), 2);
    // It stops waiting where nobody waits for it any more.
    let over = Call { remaining_ms: 1, ..Call::default() };
    let answer = shelf.plugin.call_with("notes_append", &append, &over).unwrap();
    assert!(answer.cancelled, "{}", answer.text);
    assert_eq!(shelf.text("list.md"), "milk\n");

    thread::scope(|scope| {
        let waiting = scope.spawn(|| shelf.plugin.call("notes_append", &append).unwrap());
        drop(folder);
        assert!(waiting.join().unwrap().ok);
    });
    assert_eq!(shelf.text("list.md"), "milk\neggs\n");
}
