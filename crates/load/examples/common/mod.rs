//! Plans for the examples: one flow on a topic of [`PARTITIONS`] partitions.

use std::collections::BTreeMap;

use kgauge_scenario::{
    Acks, Compression, CompressionCodec, FlowPlan, Partitioner, ProduceFlow, ProducerSettings,
    RecordPlan, Shape, Share, Stages, TopicPlan, Trial,
};

/// Partitions of every topic.
pub(crate) const PARTITIONS: u32 = 6;

/// The only agent's part of a plan with one flow, without warm-up.
pub(crate) fn share(flow: FlowPlan) -> Share {
    let trial = Trial {
        broker_config: BTreeMap::new(),
        index: 0,
        scenario: "example".into(),
        question: String::new(),
        name: String::new(),
        factors: Vec::new(),
        topic: TopicPlan {
            partitions: PARTITIONS,
            replication: 1,
            config: BTreeMap::new(),
            preload: None,
        },
        flows: vec![flow],
        stages: Stages {
            warm_up_ns: 0,
            hold_ns: None,
            drain_ns_max: 60_000_000_000,
        },
        faults: Vec::new(),
        repeats: 1,
        goals: Vec::new(),
        published: Vec::new(),
    };
    Share {
        run_id: "example".into(),
        agent_index: 0,
        agent_count: 1,
        trial,
        repeat: 0,
        seed: 1,
    }
}

/// One producer that sends so many records with values of one size.
pub(crate) fn writers(
    records: u64,
    value_bytes: u32,
    batch_bytes: u32,
    acks: Acks,
    shape: Shape,
) -> FlowPlan {
    FlowPlan::Produce(ProduceFlow {
        name: "writers".into(),
        producers: 1,
        shape,
        records_max: Some(records),
        record: RecordPlan { value_bytes },
        settings: settings(acks, batch_bytes),
        skip_after_ns: u64::MAX,
    })
}

fn settings(acks: Acks, batch_bytes: u32) -> ProducerSettings {
    const MS: u64 = 1_000_000;
    ProducerSettings {
        acks,
        batch_bytes,
        linger_ns: 5 * MS,
        buffer_bytes: 64 << 20,
        block_ns_max: 60_000 * MS,
        in_flight_max: 5,
        request_bytes_max: 1 << 20,
        compression: Compression {
            codec: CompressionCodec::None,
            level: None,
        },
        idempotence: acks == Acks::All,
        idempotence_asked: false,
        retries: i32::MAX as u32,
        retry_backoff_ns: 100 * MS,
        retry_backoff_ns_max: 1_000 * MS,
        delivery_timeout_ns: 120_000 * MS,
        request_timeout_ns: 30_000 * MS,
        partitioner: Partitioner::Sticky,
        send_buffer_bytes: None,
        receive_buffer_bytes: None,
        client_id: "kgauge-example".into(),
        metadata_age_ns_max: 300_000 * MS,
    }
}
