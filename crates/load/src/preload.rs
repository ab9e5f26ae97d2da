//! Fills a topic before a trial with records for consumers.

use std::collections::BTreeMap;

use kgauge_client::{ClientConfig, Interrupt};
use kgauge_results::SliceSink;
use kgauge_scenario::{
    FlowPlan, Partitioner, Preload, ProduceFlow, ProducerSettings, Share, Stages, TopicPlan,
};

use crate::clock::Clock;
use crate::load_setup::{LoadSetup, PrepareError};
use crate::prepare::PreparedLoad;
use crate::run::{LoadError, LoadOutcome, LoadProgress};

/// A preload without responses gives up after this time.
const DRAIN_NS_MAX: u64 = 60_000_000_000;

/// Why a topic could not be filled.
#[derive(Debug, thiserror::Error)]
pub enum PreloadError {
    /// The load could not start.
    #[error("cannot fill topic {topic}: {error}")]
    Prepare {
        /// The topic.
        topic: String,
        /// The cause.
        error: PrepareError,
    },
    /// The load failed.
    #[error("cannot fill topic {topic}: {error}")]
    Load {
        /// The topic.
        topic: String,
        /// The cause.
        error: LoadError,
    },
    /// Not every record was acked.
    #[error("topic {topic} was filled with only {acked} of {records} records; the others failed")]
    Short {
        /// The topic.
        topic: String,
        /// Records in the topic.
        acked: u64,
        /// Records in the plan.
        records: u64,
    },
    /// The user interrupted.
    #[error("filling topic {topic} was interrupted")]
    Interrupted {
        /// The topic.
        topic: String,
    },
}

/// Writes a preload's records as fast as the cluster accepts them, evenly over the partitions.
///
/// The producer has Kafka's defaults (16 KiB batches, acks=all, idempotent), so that batches look like an
/// application's, except that it uses the partitions in turn.
pub fn preload(
    topic: &str,
    plan: &TopicPlan,
    preload: &Preload,
    client: &ClientConfig,
    interrupt: &Interrupt,
    on_progress: impl FnMut(&LoadProgress),
) -> Result<LoadOutcome, PreloadError> {
    let share = share_of(plan, preload);
    // These samples are not needed: the receiver is dropped with the load.
    let discard = || SliceSink::memory().0;
    let setup = LoadSetup {
        copy: None,
        verify: None,
        drivers: &[],
        share: &share,
        topic,
        also: &[],
        earliest: None,
        groups: &BTreeMap::new(),
        client,
        sink: &discard,
        interrupt,
    };
    let topic = topic.to_owned();
    let load = PreparedLoad::prepare(&setup).map_err(|error| PreloadError::Prepare {
        topic: topic.clone(),
        error,
    })?;
    let outcome = load
        .run(Clock::start(), on_progress)
        .map_err(|error| PreloadError::Load {
            topic: topic.clone(),
            error,
        })?;
    if outcome.interrupted {
        return Err(PreloadError::Interrupted { topic });
    }
    let acked = outcome.flows.iter().map(|flow| flow.totals.acked).sum();
    if acked == preload.records {
        Ok(outcome)
    } else {
        Err(PreloadError::Short {
            topic,
            acked,
            records: preload.records,
        })
    }
}

/// Kafka 4.3's defaults, except for the partitioner.
fn settings() -> ProducerSettings {
    ProducerSettings {
        partitioner: Partitioner::RoundRobin,
        client_id: "kgauge-preload".to_owned(),
        ..ProducerSettings::default()
    }
}

/// The flow that writes it.
pub(crate) fn flow_of(preload: &Preload) -> ProduceFlow {
    ProduceFlow {
        records_max: Some(preload.records),
        settings: settings(),
        ..ProduceFlow::of_records("preload", preload.record.clone())
    }
}

fn share_of(plan: &TopicPlan, preload: &Preload) -> Share {
    let topic = TopicPlan {
        config: BTreeMap::new(),
        preload: None,
        ..plan.clone()
    };
    let stages = Stages {
        warm_up_ns: 0,
        warm_up_ns_max: 0,
        hold_ns: None,
        drain_ns_max: DRAIN_NS_MAX,
    };
    Share::of_flows(vec![FlowPlan::Produce(flow_of(preload))], topic, stages, 0)
}
