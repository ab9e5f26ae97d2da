//! Transactions: the protocol that the load engine used, as the run folder records it.

use kgauge_client::transaction::TransactionKind;
use kgauge_results::run::TransactionProtocol;

/// The transaction facts in the record of a flow.
pub(crate) fn spoken(kind: Option<TransactionKind>) -> Option<TransactionProtocol> {
    Some(match kind? {
        TransactionKind::First => TransactionProtocol::Kip98,
        TransactionKind::Second => TransactionProtocol::Kip890,
    })
}
