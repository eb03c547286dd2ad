//! Which files and ports a worker reaches, held by Landlock. Threads that are there already are not bound, so that it comes before any other.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use super::{Reachable, Sandbox};

/// What is asked of the kernel; one that has less gives what it has.
const WANTED: ABI = ABI::V6;

/// What programs and libraries of the system, and their configuration, are read from. Nothing in it is the host's own.
const SYSTEM: &[&str] = &[
    "/bin",
    "/lib",
    "/lib64",
    "/sbin",
    "/usr",
    "/gnu/store",
    "/nix/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/pki",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl",
    "/etc/timezone",
    "/run/systemd/resolve",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self",
    "/proc/stat",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
];

/// Devices that hold nothing.
const DEVICES: &[&str] = &["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// The port of name servers, which answer also through connections.
const DOMAIN: u16 = 53;

/// What this kernel can hold a worker to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) files: bool,
    pub(crate) ports: bool,
}

/// Asks this kernel, without giving anything up.
pub(crate) fn held() -> Held {
    let ruleset = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let files = ruleset().handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create);
    let ports = ruleset().handle_access(AccessNet::from_all(ABI::V4)).and_then(Ruleset::create);
    Held { files: files.is_ok(), ports: ports.is_ok() }
}

/// Gives up every file and port but those of the sandbox, as far as the kernel can hold the process to it.
pub(super) fn confine(sandbox: &Sandbox) -> Result<(), RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let run = read | AccessFs::Execute;
    let write = AccessFs::from_all(WANTED)
        & !(AccessFs::Execute | AccessFs::MakeBlock | AccessFs::MakeChar);
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;

    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(WANTED))?;
    ruleset = ruleset.handle_access(AccessNet::BindTcp)?.scope(Scope::from_all(WANTED))?;
    if sandbox.ports.is_some() {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
    }
    let mut rules = ruleset.create()?;
    for (paths, access) in [(SYSTEM, run), (DEVICES, device)] {
        for path in paths {
            rules = allow(rules, Path::new(path), access)?;
        }
    }
    for Reachable { path, write: writes } in &sandbox.files {
        let path = Path::new(OsStr::from_bytes(path));
        rules = allow(rules, path, if *writes { write } else { read })?;
    }
    for port in sandbox.ports.iter().flatten().chain([&DOMAIN]) {
        if sandbox.ports.is_some() {
            rules = rules.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
    }
    rules.restrict_self().map(drop)
}

/// Allows something beneath a path, where there is one: systems differ.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(there) => rules.add_rule(PathBeneath::new(there, access)),
        Err(_) => Ok(rules),
    }
}
