//! The ledgers that agents send, in the run folder as if this process had written them.

use std::collections::BTreeMap;

use kgauge_load::{LedgerFolder, LedgerName, LedgerOwner};
use kgauge_scenario::{FlowPlan, Trial};

use crate::protocol::LedgerChunk;

/// The ledgers of a repeat.
pub(super) struct ReceivedLedgers {
    folder: LedgerFolder,
    /// The agent that sends each.
    agents: BTreeMap<LedgerName, usize>,
    /// Some entries could not be written: whatever came later would follow a gap.
    is_broken: bool,
}

/// Why a chunk is not kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum LedgerKeepError {
    /// No agent sends such a chunk.
    #[error("it sent a ledger that is not its own: {0}")]
    Agent(String),
    /// The file cannot be written.
    #[error("cannot write the ledger {name}: {source}")]
    Folder {
        /// The ledger.
        name: LedgerName,
        /// The system's message.
        source: std::io::Error,
    },
}

impl ReceivedLedgers {
    pub(super) fn new(folder: LedgerFolder) -> Self {
        Self {
            folder,
            agents: BTreeMap::new(),
            is_broken: false,
        }
    }

    /// Keeps what an agent sent. Each client is on one agent, so each ledger comes from one.
    pub(super) fn keep(
        &mut self,
        agent: usize,
        content: &[u8],
        trial: &Trial,
    ) -> Result<(), LedgerKeepError> {
        let chunk = LedgerChunk::decode(content);
        let chunk = chunk.map_err(|error| LedgerKeepError::Agent(error.to_string()))?;
        let name = chunk.name;
        if !has_client(trial, name) || *self.agents.entry(name).or_insert(agent) != agent {
            return Err(LedgerKeepError::Agent(name.to_string()));
        }
        if self.is_broken {
            return Ok(());
        }
        let kept = self.folder.append(name, chunk.entries);
        kept.map_err(|source| {
            self.is_broken = true;
            LedgerKeepError::Folder { name, source }
        })
    }
}

/// Whether the trial has this client.
fn has_client(trial: &Trial, name: LedgerName) -> bool {
    let Some(plan) = trial.flows.get(name.flow) else {
        return false;
    };
    let clients = match (name.owner, plan) {
        (LedgerOwner::Producer, plan) => plan.produces().map_or(0, |plan| plan.producers),
        (LedgerOwner::Consumer, FlowPlan::Consume(plan)) => plan.consumers_all(),
        (LedgerOwner::Consumer, FlowPlan::Echo(plan)) => plan.consumers,
        (LedgerOwner::Consumer, FlowPlan::Produce(_)) => 0,
    };
    name.member < clients
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use kgauge_scenario::{Scenario, Size};

    use super::*;
    use crate::protocol::chunk_head;

    const SCENARIO: &str = "\
kgauge: 1
name: a
question: b
verify: true
topic: {partitions: 1}
flows:
  - {name: w, kind: produce, producers: 2, shape: {constant: 1k/s}, record: {size: 100 B}}
stages: {warm-up: 0 s, hold: 20 s}
";

    fn trial() -> Trial {
        let scenario = Scenario::parse("a.yaml", SCENARIO).unwrap();
        scenario.trials(Size::Default).remove(0)
    }

    #[test]
    fn a_ledger_comes_from_one_agent_and_belongs_to_a_client_of_the_trial() {
        let dir = tempfile::tempdir().unwrap();
        let trial = trial();
        let mut ledgers = ReceivedLedgers::new(LedgerFolder(dir.path().to_owned()));
        let chunk = |name, entries: &[u8]| [&chunk_head(name)[..], entries].concat();
        let first = LedgerName::of_producer(0, 0);
        for entries in [b"one", b"two"] {
            ledgers.keep(3, &chunk(first, entries), &trial).unwrap();
        }
        for (agent, content) in [
            (4, chunk(first, b"three")),
            (3, chunk(LedgerName::of_producer(0, 2), b"")),
            (3, chunk(LedgerName::of_producer(1, 0), b"")),
            (3, chunk(LedgerName::of_consumer(0, 0), b"")),
            (3, b"no head".to_vec()),
        ] {
            let refused = ledgers.keep(agent, &content, &trial).unwrap_err();
            assert!(matches!(refused, LedgerKeepError::Agent(_)), "{refused}");
        }
        let kept = std::fs::read(dir.path().join("flow0-producer0.ledger")).unwrap();
        assert_eq!(kept, b"onetwo");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn nothing_follows_entries_that_could_not_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("ledgers");
        let trial = trial();
        let mut ledgers = ReceivedLedgers::new(LedgerFolder(folder.clone()));
        let content = chunk_head(LedgerName::of_producer(0, 1));
        let failed = ledgers.keep(0, &content, &trial).unwrap_err();
        assert!(matches!(failed, LedgerKeepError::Folder { .. }), "{failed}");
        std::fs::create_dir(&folder).unwrap();
        ledgers.keep(0, &content, &trial).unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }
}
