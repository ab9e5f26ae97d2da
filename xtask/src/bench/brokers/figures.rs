//! From runs to tables: smallest, median and largest cost of a record, and how many times Apache
//! Kafka's is the embedded cluster's.

use std::fmt::Write as _;

use super::super::compare::BenchPlan;
use super::super::contender::{BATCH_BYTES, PARTITIONS, VALUE_BYTES};
use super::super::figures::BenchSpread;
use super::load::Cost;
use super::{CASES, Case};

/// The goal for the CPU cost per fetched record.
const GOAL_READ_NS: f64 = 20.0;

/// One run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BrokerRun {
    pub(super) round: u64,
    pub(super) case: Case,
    pub(super) is_embedded: bool,
    pub(super) produced: Cost,
    pub(super) consumed: Cost,
}

/// The tables, with what must be known beside them.
pub(super) fn summary(measured: &[BrokerRun], plan: BenchPlan) -> String {
    let mut out = format!(
        "{} rounds in alternating order, {} records of {VALUE_BYTES} B a run, both warm. batch.size \
         {BATCH_BYTES}, acks=all,\nidempotent, no compression, {PARTITIONS} partitions; one producer, then one \
         consumer, which starts at the beginning.\nCPU is that of all processes of the cluster together, in \
         clock ticks of 10 ms.\n",
        plan.rounds, plan.records
    );
    for case in CASES {
        let of_case = measured.iter().filter(|run| run.case == case);
        let of_case: Vec<BrokerRun> = of_case.copied().collect();
        let _ = write!(
            out,
            "\n{} node{}, replication {}\n{:<34}{:>9}{:>9}{:>9}{:>14}\n",
            case.nodes,
            if case.nodes == 1 { "" } else { "s" },
            case.nodes,
            "ns CPU a record",
            "min",
            "median",
            "max",
            "records/s"
        );
        let goal = format!(
            "goal: at most {:.0} ns, {:.0} times",
            case.goal_ns, case.goal_times
        );
        part(&mut out, &of_case, "written", |run| run.produced, &goal);
        let goal = format!("goal: at most {GOAL_READ_NS:.0} ns");
        part(&mut out, &of_case, "read", |run| run.consumed, &goal);
    }
    out
}

/// One line a part of a run.
pub(super) fn raw(measured: &[BrokerRun], records: u64) -> String {
    let mut out = "nodes,round,brokers,part,records,records_per_s,cpu_ns_per_record\n".to_owned();
    for run in measured {
        let brokers = if run.is_embedded { "embedded" } else { "kafka" };
        for (part, cost) in [("written", run.produced), ("read", run.consumed)] {
            let _ = writeln!(
                out,
                "{},{},{brokers},{part},{records},{:.0},{:.1}",
                run.case.nodes, run.round, cost.records_per_s, cost.cpu_ns_per_record
            );
        }
    }
    out
}

fn part(out: &mut String, runs: &[BrokerRun], what: &str, of: fn(&BrokerRun) -> Cost, goal: &str) {
    let mut medians = Vec::new();
    for (name, is_embedded) in [("embedded", true), ("Apache Kafka", false)] {
        let costs = || {
            let runs = runs.iter().filter(|run| run.is_embedded == is_embedded);
            runs.map(of)
        };
        let cpu = BenchSpread::of(costs().map(|cost| cost.cpu_ns_per_record).collect());
        let rate = BenchSpread::of(costs().map(|cost| cost.records_per_s).collect());
        let (Some(cpu), Some(rate)) = (cpu, rate) else {
            continue;
        };
        let name = format!("{what}, {name}");
        let _ = writeln!(
            out,
            "{name:<34}{:>9.1}{:>9.1}{:>9.1}{:>14.0}",
            cpu.min, cpu.median, cpu.max, rate.median
        );
        medians.push(cpu.median);
    }
    if let [embedded, kafka] = medians[..]
        && embedded > 0.0
    {
        let times = kafka / embedded;
        let _ = writeln!(
            out,
            "  Apache Kafka spends {times:.1} times as much ({goal})"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_that_of_medians() {
        let run = |is_embedded, ns| {
            let cost = Cost {
                cpu_ns_per_record: ns,
                records_per_s: 1.0,
            };
            BrokerRun {
                round: 1,
                case: CASES[0],
                is_embedded,
                produced: cost,
                consumed: cost,
            }
        };
        let runs = [
            run(true, 50.0),
            run(false, 100.0),
            run(false, 200.0),
            run(false, 900.0),
        ];
        let text = summary(&runs, BenchPlan::QUICK);
        assert!(
            text.contains("Apache Kafka spends 4.0 times as much (goal: at most 80 ns, 3 times)")
        );
        let raw = raw(&runs, 9);
        assert!(raw.contains("\n1,1,kafka,read,9,1,900.0\n"), "{raw}");
    }
}
