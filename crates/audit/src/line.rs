//! A line of output, its position, and the command that printed it.

use crate::context::Context;
use crate::distribution::PublishedTimes;
use crate::finding::FindingLocation;
use crate::omb::OmbResult;
use crate::producer::ProducerLine;
use crate::rate::Rate;
use crate::rdkafka::RdkafkaLine;

/// The content of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum ParsedLine {
    /// `kafka-producer-perf-test`: a summary or a window.
    Producer(ProducerLine),
    /// `kafka-consumer-perf-test`.
    Consumer,
    /// `rdkafka_performance`.
    Rdkafka(RdkafkaLine),
    /// A result of OpenMessaging Benchmark.
    Omb(OmbResult),
    /// A rate in prose.
    Rate(Rate),
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedLine {
    /// Its position.
    pub place: FindingLocation,
    /// The line as written, without indentation; empty for a file that is one result.
    pub text: String,
    /// Its content.
    pub content: ParsedLine,
    /// The nearest command before it, even for other records: its settings were probably the same.
    pub nearby: Option<Context>,
}

impl AuditedLine {
    /// The command that may have printed it: the nearest one, if its records have about this size.
    pub fn context(&self) -> Option<&Context> {
        let ParsedLine::Producer(line) = &self.content else {
            return None;
        };
        self.nearby.as_ref().filter(|context| {
            let sizes = context.record_bytes.zip(line.record_bytes());
            sizes.is_none_or(|(configured, measured)| {
                (measured / configured as f64 - 1.0).abs() < 0.03
            })
        })
    }

    /// Its content, if it is a producer's summary.
    pub(crate) fn summary(&self) -> Option<&ProducerLine> {
        match &self.content {
            ParsedLine::Producer(line) if line.percentiles_ms.is_some() => Some(line),
            _ => None,
        }
    }

    /// The distributions in it.
    pub(crate) fn distributions(&self) -> Vec<PublishedTimes> {
        match &self.content {
            ParsedLine::Omb(result) => result.latencies().cloned().collect(),
            _ => self
                .summary()
                .and_then(ProducerLine::latency)
                .into_iter()
                .collect(),
        }
    }

    /// The sent bytes per second, in 2^20.
    pub(crate) fn sent_mib_per_s(&self) -> Option<f64> {
        match &self.content {
            ParsedLine::Producer(line) => Some(line.mib_per_s),
            ParsedLine::Rate(rate) => Some(rate.mib_per_s),
            ParsedLine::Rdkafka(line) => Some(line.mb_per_s * 1e6 / 1_048_576.0),
            ParsedLine::Omb(result) => {
                let most = result.publish_rates.iter().copied().fold(0.0, f64::max);
                Some(most * result.message_bytes? / 1_048_576.0)
            }
            ParsedLine::Consumer => None,
        }
    }
}
