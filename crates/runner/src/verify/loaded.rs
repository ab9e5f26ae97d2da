//! A verified repeat after its load, and its ledgers.

use std::fs::File;
use std::io::{BufReader, ErrorKind};

use kgauge_client::Interrupt;
use kgauge_load::{LedgerFolder, LedgerName, LoadOutcome};
use kgauge_results::run::AgentRecord;
use kgauge_scenario::{FlowPlan, Share, Trial};
use kgauge_verify::{ENTRY_BYTES, LedgerError, LedgerKind, LedgerReader};

use crate::prepared_topic::PreparedTopic;
use crate::stop::StopRequests;

/// What is known of a verified repeat before its records are read.
pub(crate) struct LoadedRepeat<'a> {
    pub(crate) trial: &'a Trial,
    pub(crate) share: &'a Share,
    pub(crate) topic: &'a PreparedTopic,
    /// The end of each partition before the load.
    pub(crate) before: &'a [i64],
    /// How the load ended; `None` if the repeat was cut short.
    pub(crate) outcome: Option<&'a LoadOutcome>,
    /// A broker was away during the load, or may have been.
    pub(crate) had_outage: bool,
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

/// Whether some flow writes in transactions.
pub(super) fn reads_committed(trial: &Trial) -> bool {
    let mut flows = trial.flows.iter().filter_map(FlowPlan::produces);
    flows.any(|flow| flow.transaction.is_some())
}

/// A ledger of a repeat.
pub(super) type LedgerFile = LedgerReader<BufReader<File>>;

/// Opens a ledger; `None` if nothing of it was written, because its process or its agent was lost before.
pub(super) fn open(
    ledgers: &LedgerFolder,
    name: LedgerName,
) -> Result<Option<LedgerFile>, LedgerError> {
    let file = match File::open(ledgers.path(name)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if file.metadata()?.len() < ENTRY_BYTES as u64 {
        return Ok(None);
    }
    LedgerReader::new(BufReader::with_capacity(1 << 20, file)).map(Some)
}

/// Whose ledgers the producers of a flow write.
pub(super) fn ledger_kind(trial: &Trial, flow: usize) -> LedgerKind {
    match trial.flows.get(flow).and_then(FlowPlan::produces) {
        Some(plan) if !plan.driver.is_kgauge() => LedgerKind::Driven,
        Some(plan) if plan.transaction.is_some() => LedgerKind::Transactional,
        _ => LedgerKind::Plain,
    }
}

impl LoadedRepeat<'_> {
    /// Whether nothing of the target can be read.
    pub(super) fn is_target_gone(&self) -> bool {
        self.outcome.is_some_and(|outcome| outcome.is_target_gone)
    }

    /// What ends the check. That of a repeat that was cut short can be made again by the next attempt.
    pub(super) fn interrupt<'s>(&self, stopping: &'s StopRequests) -> &'s Interrupt {
        match self.outcome {
            Some(_) => &stopping.all,
            None => &stopping.load,
        }
    }

    /// Opens a ledger, as [`open`] does.
    pub(super) fn open(&self, name: LedgerName) -> Result<Option<LedgerFile>, LedgerError> {
        let ledger = open(self.ledgers, name)?;
        Ok(match self.outcome {
            Some(_) => ledger,
            None => ledger.map(LedgerReader::until_damage),
        })
    }
}
