//! Runs the flows of a scenario file on a running cluster and prints the cost to the generator as one
//! line of JSON.
//!
//! `cargo run --release -p kgauge-load --example flow -- HOST:PORT SCENARIO.yaml`. `cargo xtask bench
//! speed` runs it next to other load generators.

#![allow(clippy::print_stdout, reason = "an example talks to its user")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use kgauge_client::admin::TopicSpec;
use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{Clock, LoadSetup, PreparedLoad, Totals, preload};
use kgauge_results::recorder::MemorySlices;
use kgauge_results::{Histogram, Quantile, SliceSink, Stage, TimeKind};
use kgauge_scenario::{Scenario, Share, Size, Trial};
use rustix::time::{ClockId, clock_gettime};

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [servers, path] = arguments.as_slice() else {
        return Err("give HOST:PORT SCENARIO.yaml".into());
    };
    let trial = trial_of(path)?;
    let client = ClientConfig::from_servers(servers)?;
    let mut cluster = Cluster::bootstrap(client.clone())?;
    let topic = format!("kgauge-example-{}", std::process::id());
    cluster.create_topic(&new_topic(&trial, &topic)?)?;
    let interrupt = Interrupt::new();
    let share = Share::of_trial(trial, 1);
    let plan = &share.trial.topic;
    if let Some(preload_plan) = &plan.preload {
        preload(&topic, plan, preload_plan, &client, &interrupt, |_| {})?;
    }
    let sinks = RefCell::new(Vec::<MemorySlices>::new());
    let sink = || {
        let (sink, slices) = SliceSink::memory();
        sinks.borrow_mut().push(slices);
        sink
    };
    let load = PreparedLoad::prepare(&LoadSetup {
        copy: None,
        verify: None,
        drivers: &[],
        share: &share,
        topic: &topic,
        also: &[],
        earliest: None,
        groups: &BTreeMap::new(),
        client: &client,
        sink: &sink,
        interrupt: &interrupt,
    })?;
    let (start, before_ns) = (Instant::now(), process_cpu_ns());
    let outcome = load.run(Clock::start(), |progress| {
        for incident in &progress.incidents {
            println!("{}", incident.what);
        }
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu_ns = process_cpu_ns() - before_ns;
    let (mut lag, mut requests) = (Histogram::new(), 0);
    for mut slice in sinks.borrow().iter().flat_map(MemorySlices::take) {
        slice.settle();
        requests += slice.counts.requests + slice.counts.fetches;
        if slice.key.stage == Stage::Hold {
            lag.add(slice.times(TimeKind::Lag));
        }
    }
    let totals = outcome.flows.iter().map(|flow| flow.totals);
    let totals = totals.fold(Totals::default(), |sum, more| sum.plus(&more));
    let ends: i64 = cluster.end_offsets(&topic)?.iter().sum();
    cluster.delete_topic(&topic)?;
    let records = totals.acked.max(totals.consumed);
    let workers_ns: u64 = outcome.worker_hold_cpu_ns.iter().sum();
    let spun_ns: u64 = outcome.worker_hold_spun_ns.iter().sum();
    println!(
        "{{\"acked\": {}, \"consumed\": {}, \"on_broker\": {ends}, \"seconds\": {seconds:.6}, \
         \"cpu_ns\": {cpu_ns}, \"hold_cpu_ns\": {workers_ns}, \"hold_spun_ns\": {spun_ns}, \"records\": {records}, \"requests\": {requests}, \
         \"lag_p50_ns\": {}, \"lag_p99_ns\": {}, \"lag_max_ns\": {}, \"skipped\": {}, \"memory_bytes\": {}}}",
        totals.acked,
        totals.consumed,
        lag.value_ns_at(Quantile::P50).unwrap_or(0),
        lag.value_ns_at(Quantile::P99).unwrap_or(0),
        lag.max_ns().unwrap_or(0),
        totals.skipped,
        memory_bytes_max()?,
    );
    Ok(())
}

fn trial_of(path: &str) -> Result<Trial, Failure> {
    let text = std::fs::read_to_string(Path::new(path))?;
    let scenario = Scenario::parse(path, &text)?;
    let trial = scenario.trials(Size::Default).into_iter().next();
    Ok(trial.ok_or("no trial")?)
}

fn new_topic(trial: &Trial, name: &str) -> Result<TopicSpec, Failure> {
    let plan = &trial.topic;
    let configs = plan.config.iter();
    Ok(TopicSpec {
        name: name.to_owned(),
        partitions: i32::try_from(plan.partitions)?,
        replication_factor: i16::try_from(plan.replication)?,
        configs: configs
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    })
}

/// CPU of all threads of this process so far.
fn process_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// The most memory that this process ever had (`VmHWM` in proc_pid_status(5)).
fn memory_bytes_max() -> Result<u64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kib.ok_or("no VmHWM")?.trim().parse::<u64>()? * 1024)
}
