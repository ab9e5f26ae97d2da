//! What a flow's transactions were, and what became of them.

use super::hold::MeasuredRepeats;
use crate::summary::{RecordCounts, TransactionSummary, words};
use kgauge_results::run::TransactionProtocol;

/// The transactions of a flow, over all its repeats.
pub(super) fn transactions(
    index: u16,
    measured: &MeasuredRepeats<'_>,
    all: &RecordCounts,
) -> Option<TransactionSummary> {
    let spoken = measured.begun.iter().filter_map(|repeat| {
        let record = repeat.record.as_ref()?;
        record.flows.get(usize::from(index))?.transactions
    });
    let mut protocols: Vec<TransactionProtocol> = spoken.collect();
    protocols.sort_unstable();
    protocols.dedup();
    if protocols.is_empty() {
        return None;
    }
    let sentence = sentence(&protocols, all);
    Some(TransactionSummary {
        protocols,
        sentence,
    })
}

fn sentence(protocols: &[TransactionProtocol], all: &RecordCounts) -> String {
    let spoken = match protocols {
        [one] => one.words().to_owned(),
        _ => {
            let words: Vec<_> = protocols.iter().map(|one| one.words()).collect();
            format!("different between repeats: {}", words.join("; "))
        }
    };
    let aborted = match all.transactions_aborted {
        0 => "none aborted".to_owned(),
        aborted => format!(
            "{} aborted, with {} already acked",
            words::counted(aborted, "transaction"),
            words::counted(all.aborted, "record")
        ),
    };
    format!(
        "{} committed, {aborted}; protocol: {spoken}",
        words::counted(all.transactions, "transaction"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_became_of_them_and_what_was_spoken() {
        let mut all = RecordCounts {
            transactions: 41,
            ..RecordCounts::default()
        };
        let both = [TransactionProtocol::Kip98, TransactionProtocol::Kip890];
        assert_eq!(
            sentence(&both[1..], &all),
            "41 transactions committed, none aborted; protocol: version 2 (KIP-890, \
             transaction.version 2): partitions join when written to, and each end gives a new \
             epoch"
        );
        (all.transactions_aborted, all.aborted) = (1, 250);
        let told = sentence(&both[..1], &all);
        assert!(told.starts_with(
            "41 transactions committed, 1 transaction aborted, with 250 records already acked"
        ));
        assert!(told.contains("version 1 (KIP-98)"), "{told}");
        assert!(sentence(&both, &all).contains("different between repeats"));
    }
}
