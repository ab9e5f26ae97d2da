//! `cargo xtask bench brokers`: what a record costs the nodes of the embedded cluster and what it costs
//! Apache Kafka's brokers, with kgauge's engine as the load of both, in alternating runs; and what
//! an idle embedded cluster costs.

mod figures;
mod load;
mod served;
mod still;

use anyhow::Result;
use serde_json::{Value, json};

use super::compare::BenchPlan;
use super::contender::{BATCH_BYTES, PARTITIONS, VALUE_BYTES};
use super::machine::BenchMachine;
use super::proof::ProofRecord;
use super::{BenchOptions, machine, proof};
use crate::built;
use crate::folders::{root, temporary_in};
use crate::kafka::RELEASE;
use crate::say::{print_line, remark};
use figures::BrokerRun;
use load::Loader;
use served::ServedCluster;

/// Records that warm both up, Java's compiler above all; they are not counted.
const WARM_UP_RECORDS: u64 = 10_000_000;

/// One comparison: an embedded cluster, and Apache Kafka with as many brokers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Case {
    pub(super) nodes: u32,
    /// The goals for a record that is written: the factor below Apache Kafka's CPU cost, and the most nanoseconds.
    pub(super) goal_times: f64,
    pub(super) goal_ns: f64,
}

const CASES: [Case; 2] = [
    Case {
        nodes: 1,
        goal_times: 3.0,
        goal_ns: 80.0,
    },
    Case {
        nodes: 3,
        goal_times: 8.0,
        goal_ns: 250.0,
    },
];

/// Runs it all and prints the tables.
pub(super) fn run(options: &BenchOptions) -> Result<()> {
    let plan = options.plan();
    let loader = Loader {
        program: built::example("kgauge-load", "cost")?,
        records: plan.records,
    };
    let kgauge = built::kgauge()?;
    let machine = machine::facts()?;
    let work = temporary_in(&root().join("target/bench"))?;
    let still = still::sample(&kgauge, work.path())?;
    let mut measured = Vec::new();
    for case in CASES {
        let embedded = format!("embedded:{}", case.nodes);
        let kafka = format!("kafka:{RELEASE},brokers={}", case.nodes);
        let served = [
            ServedCluster::start(&kgauge, work.path(), &embedded)?,
            ServedCluster::start(&kgauge, work.path(), &kafka)?,
        ];
        for one in &served {
            remark(&format!("{}: warming up", one.target));
            let warm_up = Loader {
                records: WARM_UP_RECORDS.min(plan.records * 4),
                ..loader.clone()
            };
            warm_up.run(one, case.nodes)?;
        }
        for round in 1..=plan.rounds {
            let first = usize::try_from(round % 2)?;
            for place in [first, 1 - first] {
                let one = &served[place];
                let [produced, consumed] = loader.run(one, case.nodes)?;
                remark(&format!(
                    "round {round}: {}: {:.0} ns CPU a record written, {:.1} read",
                    one.target, produced.cpu_ns_per_record, consumed.cpu_ns_per_record
                ));
                measured.push(BrokerRun {
                    round,
                    case,
                    is_embedded: place == 0,
                    produced,
                    consumed,
                });
            }
        }
        for one in served {
            one.end()?;
        }
    }
    let printed = format!(
        "Apache Kafka {RELEASE} and the embedded cluster, both started by kgauge; {machine}\n\n{}\n{still}",
        figures::summary(&measured, plan)
    );
    print_line(&printed);
    if options.record {
        let kept = ProofRecord {
            title: "What a record costs the brokers",
            setup: setup(&machine, plan),
            raw: figures::raw(&measured, plan.records),
            printed: &printed,
        };
        let folder = proof::keep(&machine, &kept)?;
        print_line(&format!("recorded in {}", folder.display()));
    }
    Ok(())
}

fn setup(machine: &BenchMachine, plan: BenchPlan) -> Value {
    json!({
        "command": "cargo xtask bench brokers",
        "machine": machine,
        "kafka": {
            "release": RELEASE,
            "nodes": CASES.map(|case| case.nodes),
            "where": "on the same machine, loopback",
            "settings": "as kgauge starts it",
        },
        "rounds": plan.rounds,
        "records_per_run": plan.records,
        "value_bytes": VALUE_BYTES,
        "topic": {"partitions": PARTITIONS, "replication": "as many as nodes"},
        "producer": {"batch.size": BATCH_BYTES, "acks": "all", "enable.idempotence": true},
    })
}
