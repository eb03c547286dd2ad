//! From untrusted files to running tools: what a host application embeds.
//!
//! A refresh takes each file through these stages; trust rises from one to the next, and only a stage makes the value that the next
//! one takes. Nothing before 6 runs any of the plugin's code.
//!
//! 1. [`discover`] finds the bundles and libraries in the configured directories; [`Toolbay::install`] is given them.
//! 2. A [`Bundle`] is opened, its manifest read and its [`Signer`] found out by the keys that are trusted; a loose library has none.
//! 3. [`inspect()`] reads the library's note, and its tables as the dynamic linker would.
//! 4. [`findings`] judges them by the operator's [`Policy`]: the [`static_audit()`], and the [`compatibility()`] with this host.
//! 5. The whole of it is copied into the host's private store, and from there on the copy alone is used. Each load begins here: signature,
//!    content, tables and note are verified once more.
//! 6. The copy is opened, what is mapped is held against what was verified, and the provider is made from its configuration.
//! 7. What it lists becomes tools, as far as its note declares them and its manifest promises them.
//! 8. The tools of all providers become the registry, and the registry a file: [`Toolbay::refresh`].
//! 9. [`Toolbay::call`] takes a request through gates, validation, execution and bounding.
//!
//! What can't be taken is a [`Rejection`]: where it ended, what was expected and found, and what to do.
//!
//! ```
//! use toolbay_loader::{Actor, CallRequest, Caller, Config, Toolbay};
//!
//! # let folder = tempfile::tempdir()?;
//! # let home = folder.path();
//! let mut config = Config::new(home);
//! # std::fs::create_dir(home.join("plugins"))?;
//! config.plugin_directories.push(home.join("plugins")); // (1)
//! let toolbay = Toolbay::open(config)?;
//! let report = toolbay.refresh()?; // (1 to 8)
//! for rejection in &report.rejections {
//!     eprintln!("{rejection}");
//! }
//!
//! let nobody = Caller::new(Actor::Anonymous);
//! let error = toolbay.call(&CallRequest::new("greet", "{}", &nobody)).unwrap_err(); // (9)
//! assert_eq!(error.code(), "not_registered"); // no plugin is there
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A library that is loaded into this process can do whatever the process can: loading is no security boundary.

mod plugin_text;
mod rejection;
mod signal_name;
mod sync;

mod compatibility;
mod deadlines;
mod discover;
mod inspect;
mod static_audit;

mod bundle;
mod signature;
mod trust;

mod examine;
mod policy;
mod rights;
mod store;
mod verify;
mod vetting;

mod awaited;
mod breaker;
mod capture;
mod encode;
mod entries;
mod hygiene;
mod in_host;
mod in_process;
mod instance;
mod journal;
mod library;
mod load;
mod mappings;
mod not_opened;
mod probes;
mod reach;
mod running;
mod services;
mod supervised;
mod threads;
mod worker;

mod provider;
mod refresh;
mod scan_cache;

mod file_declarations;
mod home_file;
#[cfg(test)]
mod killed_writer;
mod lock_file;
mod sealed_file;

mod departed_file;
mod failure_file;
mod installed_file;
mod plugins_lock;

#[cfg_attr(not(test), expect(dead_code, reason = "no decision is kept yet"))]
mod access_file;
mod approval_store;
mod registry_file;

mod audit_log;
mod audit_query;
mod clock;

mod access_error;
mod config;
mod error;
mod quarantine;
mod toolbay;

pub use crate::{
    access_error::AccessError,
    access_file::Label,
    approval_store::ApprovalFiles,
    audit_log::DELAY as AUDIT_DELAY,
    audit_query::{
        ActorUsage, AuditCall, AuditDecision, AuditEntries, AuditEntry, AuditEvent, AuditFilter,
        AuditItem, AuditReadError, AuditSummary, AuditTail, AuditTrail, AuditWrite, DamagedLine,
        Moment, MomentError, ToolUsage,
    },
    bundle::{
        Bundle, BundlePath, BundledDefinition, BundledTool, FileContent, ListedFile,
        MAX_BUNDLE_ENTRIES, MAX_BUNDLE_LEN, Manifest, ManifestParts, PathError, Target,
        WriteZipError, write_zip,
    },
    compatibility::compatibility,
    config::{ActorNow, AuditConfig, Config},
    deadlines::Deadlines,
    discover::{Candidate, Discovery, MAX_ENTRIES, discover},
    error::{AccessFileError, OpenError, RefreshError, RegistryFileError},
    examine::{Examination, ExaminedLibrary, examine},
    failure_file::{FIRST_DELAY, FailureClass, FailureRecord, MAX_DELAY, MAX_STRIKES, Retry},
    home_file::HomeFileError,
    hygiene::{Became, Change as DisturbingChange, Disturbance, Handler as SignalHandling},
    in_host::end_where_linker_is_held,
    inspect::{
        Content, Dependencies, Dependency, FileIdentity, Inspected, Inspection, LibraryFacts,
        MAX_FILE_LEN, RootFault, RootSymbol, Stack, VersionNeed, inspect, parse_note, read_content,
    },
    installed_file::InstalledBundle,
    plugin_text::one_line,
    plugins_lock::{FILE_NAME as LOCK_FILE_NAME, LockedPlugin, PluginsLock, PluginsLockError},
    policy::{HygienePolicy, Isolation, IsolationPolicy, Loosened, Policy, Unsigned, WorkerLimits},
    quarantine::{QuarantineError, Quarantined},
    refresh::RefreshOptions,
    registry_file::FORMAT as REGISTRY_FORMAT,
    rejection::{Reason as RejectionReason, Rejection, Stage},
    rights::has_raised_rights,
    running::{LoadedLibrary, Phase, RunningProcess},
    signature::{KeyId, NotAKey, NotAKeyId, PublicKey, SignatureText, TrustedComment},
    static_audit::{
        BUILT_IN_LIBRARIES, Check, DENIED_IMPORTS, DeniedCrate, Finding, HostSystem, Level,
        LooserSetting, PolicySetting, StaticAuditPolicy, UnknownAuditWord, static_audit,
    },
    store::{ContentHash, NotAHash},
    toolbay::{
        ChangedTool, Collected, Diagnosis, GcError, GroupState, Health, InstallError,
        InstallReport, Loadout, LoadoutChange, ProviderState, ProviderStatus, RefreshReport,
        StepVerdict, Switch, ToolState, Toolbay, Trace, TraceStep,
    },
    trust::{Revocation, Signer, TrustError, TrustedKey},
    verify::{DeclaredTool, Judged, Problem, declared_tools, findings, judged},
    worker::{WorkerProgram, run_if_worker},
};
pub use toolbay_abi::note::{Note, NotePath, NoteTool};
pub use toolbay_core::*;

/// What the fuzz targets reach that no application does.
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::registry_file::fuzz as registry_file;
}

/// The guide to workers, compiled so that it stays true.
#[cfg(doctest)]
#[doc = include_str!("../../docs/isolation.md")]
struct IsolationGuide;

/// The guide to embedding, compiled so that it stays true.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
struct EmbeddingGuide;
