//! Transactions: what the load engine spoke, as the run folder says it.

use kgauge_client::transaction::TransactionKind;
use kgauge_results::run::TransactionProtocol;

/// What stands in the record of a flow.
pub(crate) fn spoken(kind: Option<TransactionKind>) -> Option<TransactionProtocol> {
    Some(match kind? {
        TransactionKind::First => TransactionProtocol::Kip98,
        TransactionKind::Second => TransactionProtocol::Kip890,
    })
}
