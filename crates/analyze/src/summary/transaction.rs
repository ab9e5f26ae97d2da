//! The summary of transactions.

use schemars::JsonSchema;
use serde::Serialize;

use kgauge_results::run::TransactionProtocol;

/// The transactions of a flow, over all its repeats and stages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransactionSummary {
    /// The transaction protocols of its producers, over all repeats, without duplicates.
    pub protocols: Vec<TransactionProtocol>,
}
