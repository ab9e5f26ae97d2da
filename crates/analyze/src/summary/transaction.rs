//! What the summary says of transactions.

use schemars::JsonSchema;
use serde::Serialize;

use kgauge_results::run::TransactionProtocol;

/// The transactions of a flow, over all its repeats and stages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TransactionSummary {
    /// What its producers spoke with their coordinators: of all repeats, without those that are the same.
    pub protocols: Vec<TransactionProtocol>,
}
