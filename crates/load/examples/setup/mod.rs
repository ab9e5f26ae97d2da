//! Plans for the examples: one flow on a topic of [`PARTITIONS`] partitions.

use kgauge_scenario::{
    Acks, FlowPlan, KeyChoice, KeyPlan, ProduceFlow, ProducerSettings, RecordPlan, Shape, Share,
    Stages, TopicPlan,
};

/// Partitions of every topic.
pub(crate) const PARTITIONS: u32 = 6;

/// The only agent's part of a plan with one flow, without warm-up.
pub(crate) fn share(flow: FlowPlan) -> Share {
    let stages = Stages {
        warm_up_ns: 0,
        warm_up_ns_max: 0,
        hold_ns: None,
        drain_ns_max: 60_000_000_000,
    };
    Share::of_flows(vec![flow], TopicPlan::of_partitions(PARTITIONS), stages, 1)
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
        shape,
        records_max: Some(records),
        settings: settings(acks, batch_bytes),
        ..ProduceFlow::of_records("writers", record(value_bytes))
    })
}

fn settings(acks: Acks, batch_bytes: u32) -> ProducerSettings {
    ProducerSettings {
        acks,
        batch_bytes,
        buffer_bytes: 64 << 20,
        idempotence: acks == Acks::All,
        client_id: "kgauge-example".into(),
        ..ProducerSettings::default()
    }
}

/// Values of one size; with `KEYS=n` in the environment each has a key of 16 bytes, one of so many.
fn record(value_bytes: u32) -> RecordPlan {
    let keys = std::env::var("KEYS").ok();
    RecordPlan {
        key: keys.and_then(|keys| keys.parse().ok()).map(|keys| KeyPlan {
            key_bytes: 16,
            keys: Some(keys),
            choice: KeyChoice::Uniform,
        }),
        ..RecordPlan::of_values(value_bytes)
    }
}
