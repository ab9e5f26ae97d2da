//! Produces to a running cluster and prints what a record cost the generator.
//!
//! `cargo run --release -p kgauge-load --example produce -- HOST:PORT|client.properties RECORDS
//! VALUE_BYTES BATCH_BYTES ACKS [RATE]`. `cargo xtask bench` calls it beside Kafka's own tool.

#![allow(clippy::print_stdout, reason = "an example talks to its user")]

mod setup;

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{Clock, LoadSetup, PreparedLoad};
use kgauge_results::SliceSink;
use kgauge_scenario::{Acks, Shape};

use setup::PARTITIONS;

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
    let acks = match acks.as_str() {
        "0" => Acks::None,
        "1" => Acks::Leader,
        _ => Acks::All,
    };
    let (value_bytes, batch_bytes) = (value_bytes.parse()?, batch_bytes.parse()?);
    let flow = setup::writers(records.parse()?, value_bytes, batch_bytes, acks, shape);
    let share = setup::share(flow);
    // A path leads to a client.properties, anything else is an address.
    let client = match std::path::Path::new(servers) {
        file if file.is_file() => ClientConfig::from_properties_file(file)?,
        _ => ClientConfig::from_servers(servers)?,
    };
    let mut cluster = Cluster::bootstrap(client.clone())?;
    let topic = format!("kgauge-example-{}", std::process::id());
    cluster.create_topic(&TopicSpec {
        name: topic.clone(),
        partitions: PARTITIONS as i32,
        replication_factor: 1,
        configs: Vec::new(),
    })?;
    let interrupt = Interrupt::new();
    let setup = LoadSetup {
        copy: None,
        verify: None,
        drivers: &[],
        share: &share,
        topic: &topic,
        also: &[],
        earliest: None,
        groups: &BTreeMap::new(),
        client: &client,
        sink: &|| SliceSink::memory().0,
        interrupt: &interrupt,
    };
    let load = PreparedLoad::prepare(&setup)?;
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
