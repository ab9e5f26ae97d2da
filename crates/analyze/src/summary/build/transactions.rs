//! Which kind of transactions a flow used.

use super::hold::MeasuredRepeats;
use crate::summary::TransactionSummary;
use kgauge_results::run::TransactionProtocol;

/// The transactions of a flow, over all its repeats.
pub(super) fn transactions(
    index: u16,
    measured: &MeasuredRepeats<'_>,
) -> Option<TransactionSummary> {
    let protocols = measured.attempts.iter().filter_map(|repeat| {
        let record = repeat.record.as_ref()?;
        record.flows.get(usize::from(index))?.transactions
    });
    let mut protocols: Vec<TransactionProtocol> = protocols.collect();
    protocols.sort_unstable();
    protocols.dedup();
    (!protocols.is_empty()).then_some(TransactionSummary { protocols })
}
