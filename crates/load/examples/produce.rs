//! Produces to a running cluster and prints what a record cost the generator.
//!
//! `cargo run --release -p kgauge-load --example produce -- HOST:PORT|client.properties RECORDS
//! VALUE_BYTES BATCH_BYTES ACKS [RATE]`. `cargo xtask bench` calls it beside Kafka's own tool.

#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use kgauge_client::admin::NewTopic;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{Clock, Load, LoadSetup};
use kgauge_results::SliceSink;
use kgauge_scenario::{
    Acks, Compression, CompressionCodec, FlowPlan, Partitioner, ProduceFlow, ProducerSettings,
    RecordPlan, Shape, Share, Stages, TopicPlan, Trial,
};

const PARTITIONS: u32 = 6;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [servers, records, value_bytes, batch_bytes, acks, rate @ ..] = arguments.as_slice() else {
        return Err("give HOST:PORT RECORDS VALUE_BYTES BATCH_BYTES ACKS [RATE]".into());
    };
    let shape = match rate.first() {
        Some(rate) => Shape::Constant {
            per_second: rate.parse()?,
        },
        None => Shape::Max,
    };
    let share = share(
        records.parse()?,
        value_bytes.parse()?,
        batch_bytes.parse()?,
        acks,
        shape,
    );
    // A path leads to a client.properties, anything else is an address.
    let client = match std::path::Path::new(servers) {
        file if file.is_file() => ClientConfig::from_properties_file(file)?,
        _ => ClientConfig::from_servers(servers)?,
    };
    let mut cluster = Cluster::bootstrap(client.clone())?;
    let topic = format!("kgauge-example-{}", std::process::id());
    cluster.create_topic(&NewTopic {
        name: topic.clone(),
        partitions: PARTITIONS as i32,
        replication_factor: 1,
        configs: Vec::new(),
    })?;
    let interrupt = Interrupt::new();
    let setup = LoadSetup {
        share: &share,
        topic: &topic,
        earliest: None,
        groups: &std::collections::BTreeMap::new(),
        client: &client,
        sink: &|| SliceSink::memory().0,
        interrupt: &interrupt,
    };
    let load = Load::prepare(&setup)?;
    let start = Instant::now();
    let outcome = load.run(Clock::start(), |progress| {
        for incident in &progress.incidents {
            println!("{}", incident.what);
        }
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let totals = outcome.flows[0].totals;
    let cpu_ns: u64 = outcome.worker_hold_cpu_ns.iter().sum();
    let ends: i64 = cluster.end_offsets(&topic)?.iter().sum();
    cluster.delete_topic(&topic)?;
    println!(
        "{} records acked in {seconds:.3} s, {:.0} records/s, {:.1} ns CPU a record; the broker \
         counts {ends}; failed {}, indeterminate {}",
        totals.acked,
        totals.acked as f64 / seconds,
        cpu_ns as f64 / totals.acked.max(1) as f64,
        totals.failed,
        totals.indeterminate,
    );
    Ok(())
}

fn share(records: u64, value_bytes: u32, batch_bytes: u32, acks: &str, shape: Shape) -> Share {
    let acks = match acks {
        "0" => Acks::None,
        "1" => Acks::Leader,
        _ => Acks::All,
    };
    let flow = ProduceFlow {
        name: "writers".into(),
        producers: 1,
        shape,
        records_max: Some(records),
        record: RecordPlan { value_bytes },
        settings: settings(acks, batch_bytes),
        skip_after_ns: u64::MAX,
    };
    let trial = Trial {
        broker_config: Default::default(),
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
        flows: vec![FlowPlan::Produce(flow)],
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
    let run_id = "example".into();
    Share {
        run_id,
        agent_index: 0,
        agent_count: 1,
        trial,
        repeat: 0,
        seed: 1,
    }
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
