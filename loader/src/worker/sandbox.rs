//! What a worker may ask of the kernel: it gives up the rest for good, before anything of the plugin's runs.
//!
//! What the static audit denies a library to import, it can't do by other means either: the filter is about system calls, not about names.

mod files;

use std::{collections::BTreeMap, env::consts, io, process};

use rustix::process::Resource;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter_all_threads,
};
use serde::{Deserialize, Serialize};

pub(crate) use files::{Held, held};

/// What a plugin in a worker may do beyond computing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sandbox {
    /// What it reaches of the file system, beside the system's own programs and libraries.
    pub(crate) files: Vec<Reachable>,
    /// Open network connections.
    pub(crate) network: bool,
    /// The ports that they may lead to; `None` where that may be any.
    pub(crate) ports: Option<Vec<u16>>,
    /// Start processes.
    pub(crate) processes: bool,
    /// Bytes of address space.
    pub(crate) memory_bytes: u64,
    /// Open descriptors.
    pub(crate) open_files: u64,
}

/// A folder with all that is in it, or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reachable {
    /// Its path, which need not be text.
    #[serde(with = "serde_bytes")]
    pub(crate) path: Vec<u8>,
    pub(crate) write: bool,
}

/// Why a worker could not give up what it may not do.
#[derive(Debug, thiserror::Error)]
pub(super) enum SandboxError {
    /// The filter can't be made for this processor.
    #[error("no filter for the processor {}", consts::ARCH)]
    Processor(#[source] seccompiler::BackendError),
    /// The kernel takes no filter.
    #[error("the kernel takes no filter for system calls")]
    Filter(#[source] seccompiler::Error),
    /// The kernel does not hold it to the files and ports that it may reach.
    #[error("the kernel does not hold it to what it may reach")]
    Files(#[source] landlock::RulesetError),
    /// The kernel takes no limit.
    #[error("the kernel takes no limit for what it uses")]
    Limit(#[source] io::Error),
    /// The kernel does not end the process with its host.
    #[error("the process can't be tied to its host")]
    Tie(#[source] io::Error),
}

/// No worker needs these, and each of them leads around a boundary: into other processes, around the filter, or into the kernel's own settings.
const NEVER: &[libc::c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsopen,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// What starts a process or another program, beside `clone`.
const PROCESSES: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_fork,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_vfork,
    libc::SYS_execve,
    libc::SYS_execveat,
];

/// Signals to others than the process itself and its group.
const SIGNALS: &[libc::c_long] = &[libc::SYS_kill, libc::SYS_tgkill];

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Whether the kernel can hold a worker to a sandbox, as far as that can be known without making one.
pub(crate) fn is_supported() -> bool {
    seccompiler::TargetArch::try_from(consts::ARCH).is_ok()
        && std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail")
            .is_ok_and(|actions| actions.split_whitespace().any(|action| action == "errno"))
}

impl Sandbox {
    /// Gives up whatever is not allowed, for good. Files and ports are given up by this thread and those that it starts: it is the only one.
    pub(super) fn enter(&self) -> Result<(), SandboxError> {
        files::confine(self).map_err(SandboxError::Files)?;
        // Where there can be no processes of its own, nothing outlives it when the kernel ends it with its host.
        if !self.processes {
            super::setup::end_with_host().map_err(SandboxError::Tie)?;
        }
        for (resource, most) in
            [(Resource::As, self.memory_bytes), (Resource::Nofile, self.open_files)]
        {
            super::setup::limit(resource, most).map_err(SandboxError::Limit)?;
        }
        for filter in self.filters().map_err(SandboxError::Processor)? {
            apply_filter_all_threads(&filter).map_err(SandboxError::Filter)?;
        }
        Ok(())
    }

    fn filters(&self) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
        let mut rules: Rules = NEVER.iter().map(|&call| (call, Vec::new())).collect();
        let own = u64::from(process::id());
        for &call in SIGNALS {
            let others = [own, 0].map(|allowed| first(SeccompCmpOp::Ne, allowed));
            rules.insert(call, vec![rule(others)?]);
        }
        if !self.network {
            // A pair of sockets that are connected already leads nowhere else.
            rules.insert(libc::SYS_socket, Vec::new());
            rules.insert(libc::SYS_connect, Vec::new());
        }
        if !self.processes {
            rules.extend(PROCESSES.iter().map(|&call| (call, Vec::new())));
            let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
            let no_thread = first(SeccompCmpOp::MaskedEq(thread), 0);
            rules.insert(libc::SYS_clone, vec![rule([no_thread])?]);
        }
        let mut filters = vec![filter(rules, libc::EPERM)?];
        if !self.processes {
            // Its flags lie in memory, where no filter can look; without it, threads are made by `clone`.
            let newer = [(libc::SYS_clone3, Vec::new())].into();
            filters.push(filter(newer, libc::ENOSYS)?);
        }
        Ok(filters)
    }
}

/// A condition on the first argument: a process's number or flags, which have 32 bits.
fn first(
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(0, SeccompCmpArgLen::Dword, operator, value)
}

fn rule<const N: usize>(
    conditions: [Result<SeccompCondition, seccompiler::BackendError>; N],
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

/// Lets everything through but these calls, which fail with this error.
fn filter(rules: Rules, error: libc::c_int) -> Result<BpfProgram, seccompiler::BackendError> {
    let refuse = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, consts::ARCH.try_into()?)?;
    filter.try_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_can_be_made_for_every_sandbox() {
        for (network, processes) in [(false, false), (false, true), (true, false), (true, true)] {
            let (memory_bytes, open_files) = (0, 0);
            let (files, ports) = (Vec::new(), None);
            let sandbox = Sandbox { files, network, ports, processes, memory_bytes, open_files };
            let filters = sandbox.filters().unwrap();
            assert_eq!(filters.len(), if processes { 1 } else { 2 });
        }
        assert!(is_supported(), "what the kernels that are promised have");
    }
}
