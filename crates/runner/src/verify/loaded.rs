//! A verified repeat after its load, and its ledgers.

use std::fs::File;
use std::io::{BufReader, ErrorKind};

use kgauge_load::{LedgerFolder, LedgerName, LoadOutcome};
use kgauge_results::run::AgentRecord;
use kgauge_scenario::{Share, Trial};
use kgauge_verify::{ENTRY_BYTES, LedgerError, LedgerReader};

use crate::prepared_topic::PreparedTopic;

/// What is known of a verified repeat before its records are read.
pub(crate) struct LoadedRepeat<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) share: &'a Share,
    pub(crate) topic: &'a PreparedTopic,
    /// The end of each partition before the load.
    pub(crate) before: &'a [i64],
    pub(crate) outcome: &'a LoadOutcome,
    /// The agents that generated the load, if it was not this process.
    pub(crate) agents: &'a [AgentRecord],
    pub(crate) ledgers: &'a LedgerFolder,
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

impl LoadedRepeat<'_> {
    /// Opens a ledger; `None` if nothing of it was written, because its process or its agent was lost before.
    pub(super) fn open(
        &self,
        name: LedgerName,
    ) -> Result<Option<LedgerReader<BufReader<File>>>, LedgerError> {
        let file = match File::open(self.ledgers.path(name)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if file.metadata()?.len() < ENTRY_BYTES as u64 {
            return Ok(None);
        }
        LedgerReader::new(BufReader::with_capacity(1 << 20, file)).map(Some)
    }
}
