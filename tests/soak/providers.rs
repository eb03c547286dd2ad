//! The providers: fifty copies of the violent plugin under names of their own, most of which only ever answer.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use toolbay_loader::{Isolation, RefreshOptions, Toolbay};
use toolbay_tests::{
    bay::operator,
    violent::{Guise, Moment, patch_deed},
};

use crate::{
    deeds::{Deed, IN_PROCESS, IN_WORKER},
    ledger::{Ledger, State},
    report::Surprise,
};

const PROVIDERS: usize = 50;

/// The first ones are hostile, and of these the very first in the host's own process.
const HOSTILE: usize = 10;
const HOSTILE_HERE: usize = 2;

/// The versions that there are of each, 1.0.0 and so on: few, for what was opened in the host's own process stays mapped.
const VERSIONS: usize = 2;

/// How the versions of a provider come into the home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Installed,
    /// As a file in the plugin directory.
    Folder,
}

#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) isolation: Isolation,
    pub(crate) source: Source,
    /// Whether it has a configuration: then each refresh runs it.
    pub(crate) is_configured: bool,
    /// Its place among the hostile ones of its kind, where it is one.
    hostile: Option<usize>,
    /// The libraries, by version.
    versions: Vec<PathBuf>,
    /// A version that ends its process while it is made.
    pub(crate) broken: Option<PathBuf>,
    pub(crate) ledger: Ledger,
}

impl Provider {
    /// Writes the libraries of the provider of a number.
    fn write(number: usize, guise: &Guise, folder: &Path) -> Self {
        let hostile = match number {
            0..HOSTILE_HERE => Some(number),
            HOSTILE_HERE..HOSTILE => Some(number - HOSTILE_HERE),
            _ => None,
        };
        let here = number < HOSTILE_HERE || (number >= HOSTILE && number.is_multiple_of(2));
        let isolation = if here { Isolation::InProcess } else { Isolation::Worker };
        let source = if number % 4 < 2 { Source::Installed } else { Source::Folder };
        let (id, tool) = (format!("soak-{number:02}"), format!("soak_{number:02}"));
        let guise = guise.named(&id, &tool);
        let file = |name: &str| folder.join(format!("{id}-{name}.so"));
        let versions = (1..=if hostile.is_some() { 1 } else { VERSIONS }).map(|version| {
            let path = file(&version.to_string());
            guise.write(&path, &format!("{version}.0.0"), |_| {});
            path
        });
        let versions = versions.collect();
        let may_break = hostile.is_none() && !here && source == Source::Installed;
        let broken = may_break.then(|| {
            let path = file("broken");
            guise.write(&path, "9.0.0", |it| patch_deed(it, Moment::Create, "segfault"));
            path
        });
        let is_configured = hostile.is_none() && number % 20 >= 18;
        let ledger = Ledger::new(State { version: 1, enabled: true });
        Self { id, tool, isolation, source, is_configured, hostile, versions, broken, ledger }
    }

    /// What it does in this round, where it is hostile: in each round something else.
    pub(crate) fn deed(&self, round: usize) -> Option<&'static Deed> {
        let deeds = match self.isolation {
            Isolation::InProcess => IN_PROCESS,
            _ => IN_WORKER,
        };
        self.hostile.map(|place| &deeds[(place + round) % deeds.len()])
    }

    /// Whether it has versions to change between.
    pub(crate) fn has_versions(&self) -> bool {
        self.versions.len() > 1
    }

    /// The version that takes the place of this one.
    pub(crate) fn after(&self, version: usize) -> usize {
        version % self.versions.len() + 1
    }

    fn library(&self, version: usize) -> &Path {
        &self.versions[version - 1]
    }
}

/// All of them, and where they lie.
pub(crate) struct Providers {
    pub(crate) all: Vec<Provider>,
    plugins: PathBuf,
}

impl Providers {
    /// Writes the libraries into a folder of their own; those of a plugin directory go there when they are put in.
    pub(crate) fn write(folder: &Path, plugins: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let guise = Guise::new("soak", "soak");
        let all = (0..PROVIDERS).map(|number| Provider::write(number, &guise, folder));
        Ok(Self { all: all.collect(), plugins })
    }

    pub(crate) fn hostile(&self) -> &[Provider] {
        &self.all[..HOSTILE]
    }

    pub(crate) fn benign(&self) -> &[Provider] {
        &self.all[HOSTILE..]
    }

    /// Puts a version of each of these in the place of what is there. Returns once it must be in force.
    pub(crate) fn put(
        &self,
        toolbay: &Toolbay,
        providers: &[&Provider],
        version: usize,
    ) -> Result<(), Surprise> {
        let of = |source| providers.iter().filter(move |one| one.source == source);
        let installed: Vec<PathBuf> =
            of(Source::Installed).map(|one| one.library(version).to_owned()).collect();
        for provider in of(Source::Folder) {
            self.link(provider, version).map_err(|error| {
                Surprise::new(format!("a file in {}", self.plugins.display()), error.to_string())
            })?;
        }
        let mut now = Vec::new();
        if !installed.is_empty() {
            let report = toolbay.install(&installed, &operator(), RefreshOptions::default());
            let report =
                report.map_err(|error| Surprise::new("an installation", format!("{error:?}")))?;
            check_none("installed", &report.rejections)?;
            now.extend(report.installed);
        }
        if installed.len() < providers.len() {
            let report = toolbay
                .refresh()
                .map_err(|error| Surprise::new("a refresh", format!("{error:?}")))?;
            check_none("refreshed", &report.rejections)?;
            now.extend(report.providers);
        }
        let expected = format!("{version}.0.0");
        for provider in providers {
            let found = now.iter().find(|one| one.id.as_str() == provider.id);
            let found = found.map_or("none", |one| one.version.as_str());
            if found != expected {
                let expected = format!("version {expected} of {}", provider.id);
                return Err(Surprise::new(expected, found));
            }
        }
        Ok(())
    }

    /// Lets the file in the plugin directory be this version at one moment.
    fn link(&self, provider: &Provider, version: usize) -> io::Result<()> {
        let library = provider.library(version);
        let next = library.with_extension("next");
        fs::hard_link(library, &next)?;
        fs::rename(next, self.plugins.join(format!("{}.so", provider.id)))
    }
}

/// Checks that nothing was refused.
pub(crate) fn check_none(
    what: &str,
    rejections: &[toolbay_loader::Rejection],
) -> Result<(), Surprise> {
    match rejections {
        [] => Ok(()),
        [first, ..] => {
            let found = format!("{} refused, such as {first}", rejections.len());
            Err(Surprise::new(format!("everything to be {what}"), found))
        }
    }
}
