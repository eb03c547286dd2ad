//! The processes of the machine, as the kernel lists them.

use std::{fs, process, thread};

/// What the kernel says of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Who has started it, or has taken it over from whoever had.
    pub parent: u32,
    /// The number of its group.
    pub group: u32,
    /// Whether it has ended, and only its parent has not heard of it.
    pub is_zombie: bool,
}

/// Every process. One that ends meanwhile may be among them or not.
pub fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(described).collect()
}

fn described(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the name, which may hold anything: state, parent, group.
    let (_, after) = stat.rsplit_once(") ")?;
    let mut fields = after.split(' ');
    let is_zombie = fields.next()? == "Z";
    let (parent, group) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Process { pid, parent, group, is_zombie })
}

/// The processes of a group, by number.
pub fn group(leader: u32) -> Vec<u32> {
    let alive = processes().into_iter().filter(|one| one.group == leader && !one.is_zombie);
    alive.map(|one| one.pid).collect()
}

/// The children of this process, by number, also those that have ended and whose end it has not heard of.
pub fn children() -> Vec<u32> {
    let own = process::id();
    processes().into_iter().filter(|one| one.parent == own).map(|one| one.pid).collect()
}

/// Waits until a group has nobody left.
pub fn has_gone(leader: u32) -> bool {
    comes_true(|| group(leader).is_empty())
}

/// Waits for something that the kernel tells nobody of, as whoever is told to look again and again.
pub fn comes_true(condition: impl Fn() -> bool) -> bool {
    (0..1_000_000).any(|_| {
        thread::yield_now();
        condition()
    })
}
