//! The threads that change what is called: other versions, versions that can't be used, switches, refreshes.

use std::{path::Path, slice, sync::atomic::Ordering, time::Duration};

use fastrand::Rng;
use toolbay_loader::{RefreshOptions, Switch};
use toolbay_tests::bay::operator;

use crate::{
    ledger::State,
    providers::{Provider, check_none},
    report::Surprise,
    round::Round,
};

/// How long a change may take: those of others may come first.
const ALLOWED: Duration = Duration::from_secs(120);

/// Changes something, and counts whether it did what it should.
fn change(
    round: &Round<'_>,
    thread: usize,
    about: String,
    work: impl FnOnce() -> Result<(), Surprise>,
) {
    round.changes.fetch_add(1, Ordering::Relaxed);
    let (outcome, _) = round.overdue.watch(thread, about.clone(), ALLOWED, work);
    round.report.count(outcome, || format!("{about} in round {}", round.number));
}

/// Puts the other version in the place of what is there, again and again, and now and then tries one that ends its process.
pub(crate) fn swap(round: &Round<'_>, thread: usize, mut rng: Rng) {
    let providers: Vec<_> =
        round.providers.benign().iter().filter(|one| one.has_versions()).collect();
    while !round.is_over() {
        let provider = providers[rng.usize(..providers.len())];
        match &provider.broken {
            Some(broken) if rng.u8(..100) < 30 => {
                let about = format!("a broken version of {}", provider.id);
                change(round, thread, about, || {
                    provider.ledger.change(|state| state, |_| refuse(round, provider, broken))
                });
            }
            _ => swap_once(round, thread, provider),
        }
        round.pause(rng.u64(..50));
    }
}

fn swap_once(round: &Round<'_>, thread: usize, provider: &Provider) {
    change(round, thread, format!("another version of {}", provider.id), || {
        let next = |state: State| State { version: provider.after(state.version), ..state };
        provider.ledger.change(next, |next| {
            round.providers.put(round.toolbay, slice::from_ref(&provider), next.version)
        })
    });
}

/// Tries a version that can't be used.
fn refuse(round: &Round<'_>, provider: &Provider, broken: &Path) -> Result<(), Surprise> {
    let sources = [broken.to_owned()];
    let report = round.toolbay.install(&sources, &operator(), RefreshOptions::default());
    let report = report.map_err(|error| Surprise::new("an installation", format!("{error:?}")))?;
    let refused = report.rejections.iter().any(|rejection| {
        rejection.provider.as_ref() == Some(&provider.id)
            && matches!(rejection.reason.code, "crashed" | "failed_before")
    });
    match refused && report.installed.is_empty() {
        true => Ok(()),
        false => {
            let found = format!("{:?} {:?}", report.installed, report.rejections);
            Err(Surprise::new("a version that is refused as crashed", found))
        }
    }
}

/// Switches providers off and on.
pub(crate) fn switch(round: &Round<'_>, thread: usize, mut rng: Rng) {
    while !round.is_over() {
        let provider = &round.providers.all[rng.usize(..round.providers.all.len())];
        for (enabled, switch) in [(false, Switch::Off), (true, Switch::On)] {
            let id = &provider.id;
            change(round, thread, format!("switching {id}, to be on: {enabled}"), || {
                provider.ledger.change(
                    |state| State { enabled, ..state },
                    |_| match round.toolbay.switch_provider(id, switch, &operator()) {
                        Ok(state) if state.enabled == enabled => Ok(()),
                        other => Err(Surprise::new("a switch", format!("{other:?}"))),
                    },
                )
            });
            round.pause(rng.u64(..40));
        }
        round.pause(rng.u64(..200));
    }
}

/// Refreshes, which changes nothing that is called; at times what failed is to be tried again, or what nobody uses is removed.
pub(crate) fn refresh(round: &Round<'_>, thread: usize, mut rng: Rng) {
    while !round.is_over() {
        let (retry, collect) = (rng.u8(..100) < 40, rng.u8(..100) < 10);
        change(round, thread, format!("a refresh, with everything tried again: {retry}"), || {
            let options = RefreshOptions::default().retry(retry);
            match round.toolbay.refresh_with(options) {
                Ok(report) => check_none("refreshed", &report.rejections),
                Err(error) => Err(Surprise::new("a refresh", format!("{error:?}"))),
            }
        });
        if collect {
            change(round, thread, "a collection of the store".to_owned(), || {
                let collected = round.toolbay.collect_store(false);
                collected
                    .map(drop)
                    .map_err(|error| Surprise::new("a collection", format!("{error:?}")))
            });
        }
        round.pause(rng.u64(100..1_000));
    }
}
