//! Writes records to a running cluster and reads them again, and stops at gates, so that somebody else
//! can look at what the brokers have spent meanwhile.
//!
//! `cargo run --release -p kgauge-load --example cost -- HOST:PORT RECORDS VALUE_BYTES BATCH_BYTES
//! REPLICATION`. Before and after each part it prints a line and waits for one. `cargo xtask bench
//! brokers` calls it.

#![allow(clippy::print_stdout, reason = "an example talks to its user")]

mod setup;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::BufRead;
use std::time::{Duration, Instant};

use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{Clock, LoadSetup, PreparedLoad};
use kgauge_results::SliceSink;
use kgauge_scenario::{
    Acks, ConsumeEnd, ConsumeFlow, ConsumerSettings, FlowPlan, PartitionShare, Shape, StartOffset,
};

use setup::PARTITIONS;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [servers, records, value_bytes, batch_bytes, replication] = arguments.as_slice() else {
        return Err("give HOST:PORT RECORDS VALUE_BYTES BATCH_BYTES REPLICATION".into());
    };
    let (records, value_bytes, batch_bytes) =
        (records.parse()?, value_bytes.parse()?, batch_bytes.parse()?);
    let client = ClientConfig::from_servers(servers)?;
    let mut cluster = Cluster::bootstrap(client.clone())?;
    let topic = format!("kgauge-example-{}", std::process::id());
    cluster.create_topic(&TopicSpec {
        name: topic.clone(),
        partitions: PARTITIONS as i32,
        replication_factor: replication.parse()?,
        configs: Vec::new(),
    })?;
    let writers = setup::writers(records, value_bytes, batch_bytes, Acks::All, Shape::Max);
    for (part, flow) in [("produce", writers), ("consume", readers())] {
        gate(&format!("before {part}"))?;
        let (done, took) = run(&client, &topic, flow)?;
        if done != records {
            return Err(format!("{part}: {done} of {records} records").into());
        }
        gate(&format!("after {part} {:.6}", took.as_secs_f64()))?;
    }
    cluster.delete_topic(&topic)?;
    Ok(())
}

/// Says where it is and waits for a line.
fn gate(place: &str) -> Result<(), Failure> {
    println!("{place}");
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line)? {
        0 => Err("nobody opens the gates".into()),
        _ => Ok(()),
    }
}

/// Runs one flow to its end: records that were acked or read, and how long it took.
fn run(client: &ClientConfig, topic: &str, flow: FlowPlan) -> Result<(u64, Duration), Failure> {
    let share = setup::share(flow);
    let interrupt = Interrupt::new();
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
        sink: &|| SliceSink::memory().0,
        interrupt: &interrupt,
    };
    let load = PreparedLoad::prepare(&setup)?;
    let start = Instant::now();
    let outcome = load.run(Clock::start(), |_| {})?;
    let took = start.elapsed();
    let totals = &outcome.flows[0].totals;
    Ok((totals.acked.max(totals.consumed), took))
}

/// One consumer of everything, with Kafka's defaults.
fn readers() -> FlowPlan {
    FlowPlan::Consume(ConsumeFlow {
        name: "readers".into(),
        consumers: 1,
        partitions: PartitionShare::Split,
        from: StartOffset::Earliest,
        records: ConsumeEnd::Backlog,
        settings: ConsumerSettings {
            client_id: "kgauge-example".into(),
            ..ConsumerSettings::default()
        },
        group: None,
        groups: 1,
    })
}
