//! A job of one of the producer tools.

use kgauge_scenario::RecordPlan;

use crate::properties::ToolProperties;
use crate::release::ToolRelease;

/// A call of one of the producer tools.
#[derive(Debug)]
pub(crate) struct ProducerJob {
    pub(crate) topic: String,
    pub(crate) records: u64,
    pub(crate) record: RecordPlan,
    /// The size of all values, if they have one size.
    pub(crate) value_bytes: Option<u64>,
    /// Records per second; `None` is full speed.
    pub(crate) rate: Option<f64>,
    pub(crate) warm_up: u64,
    pub(crate) interval_ms: u64,
    pub(crate) properties: ToolProperties,
    pub(crate) producers: u32,
    /// The length of each transaction, with transactions.
    pub(crate) transaction_ms: Option<u64>,
    pub(crate) print_metrics: bool,
    pub(crate) zero_on_failures: bool,
    pub(crate) as_of: ToolRelease,
}

impl ProducerJob {
    /// One producer at full speed.
    pub(crate) fn new(
        topic: &str,
        records: u64,
        record: RecordPlan,
        properties: ToolProperties,
        as_of: ToolRelease,
    ) -> ProducerJob {
        ProducerJob {
            topic: topic.to_owned(),
            records,
            record,
            value_bytes: None,
            rate: None,
            warm_up: 0,
            interval_ms: 5_000,
            properties,
            producers: 1,
            transaction_ms: None,
            print_metrics: false,
            zero_on_failures: false,
            as_of,
        }
    }
}
