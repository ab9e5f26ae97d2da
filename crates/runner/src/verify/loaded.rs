//! A verified repeat after its load, and its ledgers.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use kgauge_load::{LoadOutcome, VerifySetup};
use kgauge_scenario::{Share, Trial};
use kgauge_verify::{LedgerError, LedgerReader};

use crate::prepared_topic::PreparedTopic;

/// What is known of a verified repeat before its records are read.
pub(crate) struct LoadedRepeat<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) share: &'a Share,
    pub(crate) topic: &'a PreparedTopic,
    /// The end of each partition before the load.
    pub(crate) before: &'a [i64],
    pub(crate) outcome: &'a LoadOutcome,
    pub(crate) setup: &'a VerifySetup,
    /// The start of the load, in milliseconds since 1970.
    pub(crate) started_unix_ms: u64,
}

/// The producers of the trial: the position of their flow, and their index in it.
pub(super) fn producers(trial: &Trial) -> impl Iterator<Item = (usize, u32)> {
    let flows = trial.flows.iter().enumerate();
    flows.flat_map(|(flow, plan)| {
        let count = plan.produces().map_or(0, |plan| plan.producers);
        (0..count).map(move |member| (flow, member))
    })
}

/// Opens a ledger.
pub(super) fn open(path: &Path) -> Result<LedgerReader<BufReader<File>>, LedgerError> {
    let file = File::open(path)?;
    LedgerReader::new(BufReader::with_capacity(1 << 20, file))
}
