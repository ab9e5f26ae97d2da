//! `cargo xtask bench speed`: what the load engine must reach, each mark beside other load generators
//! on the same real Kafka, in alternating runs.

pub(crate) mod bare;
mod peers;
mod rows;

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::json;

use super::compare::BenchPlan;
use super::figures::BenchSpread;
use super::machine::BenchMachine;
use super::proof::ProofRecord;
use super::{BenchOptions, machine, proof};
use crate::built;
use crate::folders::{root, temporary_in};
use crate::kafka::{self, KafkaBroker, RELEASE, Tools};
use crate::say::{print_line, remark};
use peers::PeerPrograms;

/// One measured figure of one run.
#[derive(Debug, Clone)]
pub(super) struct BenchFigure {
    /// Of which row of the table.
    row: &'static str,
    who: &'static str,
    round: u64,
    value: f64,
}

/// What a row says: whose figure, and what is asked of it.
#[derive(Debug, Clone)]
pub(super) struct SpeedRow {
    name: &'static str,
    unit: &'static str,
    /// kgauge's figure must be at most this.
    at_most: Option<f64>,
    /// The peers, and how many times better than each kgauge must be.
    times: &'static [(&'static str, f64)],
    /// More is better.
    is_rate: bool,
}

/// All that was measured.
#[derive(Debug, Default)]
pub(super) struct SpeedFigures {
    figures: Vec<BenchFigure>,
}

impl SpeedFigures {
    fn add(&mut self, row: &'static str, who: &'static str, round: u64, value: f64) {
        remark(&format!("{row}: {who}: {value:.1}"));
        self.figures.push(BenchFigure {
            row,
            who,
            round,
            value,
        });
    }

    /// The figures of a load generator in a row.
    fn of(&self, row: &str, who: &str) -> Option<BenchSpread> {
        let figures = self.figures.iter();
        let of_both = figures.filter(|figure| figure.row == row && figure.who == who);
        BenchSpread::of(of_both.map(|figure| figure.value).collect())
    }
}

/// Runs it all and prints the table.
pub(super) fn run(options: &BenchOptions) -> Result<()> {
    let plan = options.plan();
    let engine = built::example("kgauge-load", "flow")?;
    let kgauge = built::kgauge()?;
    let release = kafka::tools(RELEASE)?;
    let machine = machine::facts()?;
    let work = temporary_in(&root().join("target/bench"))?;
    let broker = KafkaBroker::start(&work.path().join("broker"))?;
    let tools = Tools {
        release: &release,
        servers: broker.servers(),
        alive: &|| broker.check(),
    };
    let peers = PeerPrograms::new(&engine, &tools, work.path())?;
    let mut measured = SpeedFigures::default();
    rows::run(&peers, &kgauge, plan, &mut measured)?;
    let mut printed = format!("Apache Kafka {RELEASE} on the same machine; {machine}\n\n");
    printed.push_str(&table(&measured));
    for missing in &peers.missing {
        let _ = writeln!(printed, "{missing}");
    }
    print_line(&printed);
    if options.record {
        keep(&machine, plan, &measured, &printed)?;
    }
    Ok(())
}

fn keep(
    machine: &BenchMachine,
    plan: BenchPlan,
    measured: &SpeedFigures,
    printed: &str,
) -> Result<()> {
    let mut raw = "row,who,round,value\n".to_owned();
    for figure in &measured.figures {
        let _ = writeln!(
            raw,
            "{},{},{},{:.3}",
            figure.row, figure.who, figure.round, figure.value
        );
    }
    let kept = ProofRecord {
        title: "What the load engine reaches",
        setup: json!({
            "command": "cargo xtask bench speed",
            "machine": machine,
            "kafka": RELEASE,
            "rounds": plan.rounds,
            "records": plan.records,
        }),
        raw,
        printed,
    };
    let folder = proof::keep(machine, &kept)?;
    print_line(&format!("recorded in {}", folder.display()));
    Ok(())
}

/// A line for each row and each of its peers; every mark with its word.
fn table(measured: &SpeedFigures) -> String {
    let mut text = format!(
        "{:<44} {:<18} {:>30}  {}\n",
        "least/median/largest", "who", "figure", "asked"
    );
    for row in rows::ROWS {
        let Some(ours) = measured.of(row.name, rows::KGAUGE) else {
            continue;
        };
        let asked = row.at_most.map_or_else(String::new, |limit| {
            let word = if ours.median <= limit {
                "held"
            } else {
                "MISSED"
            };
            format!("at most {limit} {}: {word}", row.unit)
        });
        let _ = writeln!(
            text,
            "{:<44} {:<18} {:>30}  {asked}",
            row.name,
            rows::KGAUGE,
            figure(ours, row.unit)
        );
        for &(who, goal) in row.times {
            let Some(theirs) = measured.of(row.name, who) else {
                continue;
            };
            let ratio = ours.median / theirs.median;
            let times = if row.is_rate { ratio } else { 1.0 / ratio };
            let asked = if goal == 0.0 {
                // Nothing is asked: the figure says what there is to reach.
                format!("{ratio:.1} times less")
            } else if times >= goal {
                format!("{goal} times: {times:.1}, held")
            } else {
                format!("{goal} times: {times:.1}, MISSED")
            };
            let _ = writeln!(
                text,
                "{:<44} {who:<18} {:>30}  {asked}",
                "",
                figure(theirs, row.unit)
            );
        }
    }
    text
}

fn figure(of: BenchSpread, unit: &str) -> String {
    let BenchSpread { min, median, max } = of;
    let digits = if median < 100.0 { 1 } else { 0 };
    format!("{min:.digits$}/{median:.digits$}/{max:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_judged_by_the_median() {
        let mut measured = SpeedFigures::default();
        let row = rows::ROWS[0].name;
        for (round, value) in [(1, 50.0), (2, 55.0), (3, 900.0)] {
            measured.add(row, rows::KGAUGE, round, value);
        }
        measured.add(row, "franz-go", 1, 110.0);
        let text = table(&measured);
        assert!(text.contains("50.0/55.0/900.0 ns"), "{text}");
        assert!(text.contains("at most 60 ns: held"), "{text}");
        assert!(text.contains("4 times: 2.0, MISSED"), "{text}");
    }
}
