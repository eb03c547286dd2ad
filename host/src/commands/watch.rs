//! `toolbay watch`: registers plugins whenever their files change, for whoever is writing one.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    time::Duration,
};

use notify::{
    Event, EventKind, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};
use thiserror::Error;

use super::{install, refresh};
use crate::{
    cli::{InstallArgs, RefreshArgs, WatchArgs},
    commands::{CommandError, Setup},
    config::{self, DEFAULT_PLUGIN_DIRECTORY, HostConfig},
    exit::Exit,
    output::Output,
    report,
};

/// How long nothing may change before it counts as written: a linker writes in many steps.
const QUIET: Duration = Duration::from_millis(200);

/// Why files can't be watched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub(crate) enum WatchError {
    /// The system does not tell what changes.
    ///
    /// Resolution: see the cause; where it is the number of watches, raise fs.inotify.max_user_watches.
    #[error("{} can't be watched", .path.display())]
    Path {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: notify::Error,
    },
    /// The system does not tell what changes any more.
    ///
    /// Resolution: start the command again.
    #[error("the system tells no more what changes; start the command again")]
    Ended(#[source] Option<notify::Error>),
}

/// What is watched.
#[derive(Debug)]
struct Watched {
    /// What matters, with all that is beneath.
    matter: Vec<PathBuf>,
}

impl Watched {
    /// These sources, or else the plugin directories; and the configuration.
    fn of(sources: &[PathBuf], config: &HostConfig) -> Self {
        let loader = &config.loader;
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let mut matter: Vec<PathBuf> = match sources {
            // The usual one may be yet to come.
            [] => {
                let usual = loader.home.join(DEFAULT_PLUGIN_DIRECTORY);
                loader.plugin_directories.iter().chain([&usual]).map(absolute).collect()
            }
            sources => sources.iter().map(absolute).collect(),
        };
        matter.push(absolute(&loader.home.join(config::FILE_NAME)));
        Self { matter }
    }

    /// Lets the system tell what happens to each of them, and where it is: a build gives the name to another file.
    fn begin(&self, watcher: &mut impl Watcher) -> Result<(), WatchError> {
        for path in &self.matter {
            let folder = path.parent().unwrap_or(path);
            let beneath = path.is_dir().then_some((path.as_path(), RecursiveMode::Recursive));
            for (path, mode) in beneath.into_iter().chain([(folder, RecursiveMode::NonRecursive)]) {
                let path = path.to_owned();
                let begun = watcher.watch(&path, mode);
                begun.map_err(|source| WatchError::Path { path, source })?;
            }
        }
        Ok(())
    }

    /// The first path of an event that something has been written to, or that has come or gone.
    fn changed<'e>(&self, event: &'e Event) -> Option<&'e Path> {
        let is_change = match event.kind {
            EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
            EventKind::Any | EventKind::Other => false,
            EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) => true,
        };
        let matters = |path: &&PathBuf| self.matter.iter().any(|one| path.starts_with(one));
        event.paths.iter().filter(|_| is_change).find(matters).map(PathBuf::as_path)
    }

    /// Waits until something has changed, and then until nothing does any more.
    fn wait(&self, events: &Receiver<notify::Result<Event>>) -> Result<PathBuf, WatchError> {
        let changed = loop {
            let event = events.recv().map_err(|_| WatchError::Ended(None))?;
            let event = event.map_err(|error| WatchError::Ended(Some(error)))?;
            if let Some(path) = self.changed(&event) {
                break path.to_owned();
            }
        };
        loop {
            match events.recv_timeout(QUIET) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Ok(changed),
                Err(RecvTimeoutError::Disconnected) => return Err(WatchError::Ended(None)),
            }
        }
    }
}

/// Goes on until somebody ends it. What is configured is read anew each time, too.
pub(super) fn watch(
    args: WatchArgs,
    setup: impl Fn() -> Result<Setup, CommandError>,
    output: &mut Output,
) -> Result<Exit, CommandError> {
    let WatchArgs { sources, by } = args;
    let plain = RefreshArgs { json: by.json, verbose: false, replace: false, retry: false };
    let install_args = InstallArgs { sources, replace: false, by };
    let (tell, events) = mpsc::channel();
    let watcher = notify::recommended_watcher(tell);
    let mut watcher = watcher.map_err(|error| WatchError::Ended(Some(error)))?;
    loop {
        let setup = setup()?;
        let watched = Watched::of(&install_args.sources, &setup.config);
        watched.begin(&mut watcher)?;
        match install_args.sources.is_empty() {
            true => refresh::refresh(&plain, setup, output)?,
            false => install::install(&install_args, setup, output)?,
        };
        let changed = watched.wait(&events)?;
        report::note(&format!("{} has changed", changed.display()));
    }
}
