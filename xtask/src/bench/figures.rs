//! From runs to a table: smallest, median and largest of every figure, and the ratio of medians.

use std::fmt::Write as _;
use std::time::Duration;

use super::compare::{BenchPlan, ComparedRun};
use super::contender::{
    BATCH_BYTES, BUFFER_BYTES, BenchAcks, Contender, LINGER_MS, PARTITIONS, VALUE_BYTES,
};

/// Of a few figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BenchSpread {
    pub(super) min: f64,
    pub(super) median: f64,
    pub(super) max: f64,
}

impl BenchSpread {
    /// None of no figure.
    pub(super) fn of(mut figures: Vec<f64>) -> Option<BenchSpread> {
        figures.sort_by(f64::total_cmp);
        let middle = figures.len() / 2;
        let upper = *figures.get(middle)?;
        let median = if figures.len() % 2 == 1 {
            upper
        } else {
            (figures[middle - 1] + upper) / 2.0
        };
        Some(BenchSpread {
            min: figures[0],
            median,
            max: figures[figures.len() - 1],
        })
    }
}

/// Below it a Java process is mostly busy with starting and with compiling itself.
const RECORDS_FEW: u64 = 1_000_000;

/// The tables for both `acks`, with what must be known beside them.
pub(super) fn summary(measured: &[ComparedRun], plan: BenchPlan) -> String {
    let mut out = format!(
        "{} rounds, each contender {} records of {VALUE_BYTES} B a round, in alternating order.\n\
         batch.size {BATCH_BYTES}, linger.ms {LINGER_MS}, buffer.memory {BUFFER_BYTES}, no \
         compression, {PARTITIONS} partitions,\none broker. Idempotent with acks=all only, as by \
         Kafka's defaults. All records were counted on the broker.\n",
        plan.rounds, plan.records
    );
    if plan.records < RECORDS_FEW {
        out.push_str(
            "So few records show that it works, and no more: Java is busy with starting and with \
             compiling itself.\n",
        );
    }
    for acks in BenchAcks::EACH {
        let of_acks = measured.iter().filter(|run| run.acks == acks);
        let of_acks: Vec<&ComparedRun> = of_acks.collect();
        let _ = write!(out, "\nacks={}\n{}", acks.word(), table(&of_acks));
    }
    out.push_str(
        "\nCPU is that of the whole process from start to end, in clock ticks of 10 ms, starting \
         included;\n\"load threads\" is the engine's own count, without starting and without \
         making payloads beforehand.\nThe tool makes a random payload for each record; with \
         --payload-file it takes one of 1,000.\n",
    );
    out
}

fn table(runs: &[&ComparedRun]) -> String {
    let mut out = format!(
        "{:<42}{:>9}{:>9}{:>9}{:>14}\n",
        "ns CPU a record", "min", "median", "max", "records/s"
    );
    for contender in Contender::EACH {
        let counted = || counted(runs, contender).map(|run| run.ran);
        let cpu = BenchSpread::of(counted().map(|ran| ran.cpu_ns_per_record()).collect());
        let rate = BenchSpread::of(counted().map(|ran| ran.records_per_s).collect());
        line(&mut out, contender.words(), cpu, rate);
        let threads = counted().filter_map(|ran| ran.threads_ns_per_record);
        if let Some(threads) = BenchSpread::of(threads.collect()) {
            line(&mut out, "  its load threads", Some(threads), None);
        }
    }
    out.push_str(&ratios(runs));
    out
}

/// The runs of a contender that figures are made of: all but the one that shows what starting costs.
fn counted<'a>(
    runs: &'a [&'a ComparedRun],
    contender: Contender,
) -> impl Iterator<Item = &'a ComparedRun> {
    let of_contender = runs.iter().copied();
    of_contender.filter(move |run| run.contender == contender && run.round > 0)
}

/// How many times the CPU of the engine each contender takes, by medians; once of the whole process
/// and once with the CPU of its start taken off, which says what longer runs would come to.
fn ratios(runs: &[&ComparedRun]) -> String {
    let start = |contender| {
        let start = runs
            .iter()
            .find(|run| run.contender == contender && run.round == 0);
        start.map(|run| run.ran.cpu)
    };
    let median = |contender, off: Duration| {
        let figures = counted(runs, contender).map(|run| run.ran.cpu_ns_per_record_less(off));
        BenchSpread::of(figures.collect()).map(|figures| figures.median)
    };
    let mut out = format!(
        "\n{:<42}{:>14}{:>20}{:>17}\n",
        "times the CPU of the engine (medians)",
        "whole process",
        "start taken off",
        "the start alone"
    );
    for contender in Contender::EACH {
        let ratio = |off: &dyn Fn(Contender) -> Option<Duration>| {
            let own = median(contender, off(contender)?)?;
            let engine = median(Contender::Engine, off(Contender::Engine)?)?;
            (engine > 0.0).then_some(own / engine)
        };
        let text = |ratio: Option<f64>| ratio.map_or("unknown".to_owned(), |it| format!("{it:.1}"));
        let seconds = start(contender).map_or(0.0, |cpu| cpu.as_secs_f64());
        let _ = writeln!(
            out,
            "{:<42}{:>14}{:>20}{:>15.2} s",
            contender.words(),
            text(ratio(&|_| Some(Duration::ZERO))),
            text(ratio(&start)),
            seconds
        );
    }
    out
}

fn line(out: &mut String, name: &str, cpu: Option<BenchSpread>, rate: Option<BenchSpread>) {
    let _ = write!(out, "{name:<42}");
    if let Some(cpu) = cpu {
        let _ = write!(out, "{:>9.1}{:>9.1}{:>9.1}", cpu.min, cpu.median, cpu.max);
    }
    if let Some(rate) = rate {
        let _ = write!(out, "{:>14.0}", rate.median);
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contender::ContenderRun;

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        let spread = BenchSpread::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((spread.min, spread.median, spread.max), (1.0, 2.5, 4.0));
        assert_eq!(BenchSpread::of(vec![5.0, 1.0, 2.0]).unwrap().median, 2.0);
        assert_eq!(BenchSpread::of(Vec::new()), None);
    }

    #[test]
    fn ratios_are_those_of_medians_with_the_start_and_without() {
        let run = |contender, round, cpu_ms| ComparedRun {
            acks: BenchAcks::All,
            round,
            place: 1,
            contender,
            ran: ContenderRun {
                records: 1_000_000,
                records_per_s: 1.0,
                cpu: Duration::from_millis(cpu_ms),
                threads_ns_per_record: None,
            },
        };
        let runs = [
            run(Contender::Engine, 0, 10),
            run(Contender::Engine, 1, 50),
            run(Contender::Tool, 0, 1_000),
            run(Contender::Tool, 1, 2_000),
            run(Contender::Tool, 2, 2_200),
            run(Contender::Tool, 3, 9_000),
        ];
        let text = ratios(&runs.iter().collect::<Vec<_>>());
        let cells = |line: usize| -> Vec<&str> {
            let line = text.lines().nth(line).unwrap();
            line.split_whitespace().rev().collect()
        };
        // 2,200 / 50, and (2,200 - 1,000) / (50 - 10)
        assert_eq!(cells(3)[..4], ["s", "1.00", "30.0", "44.0"]);
        assert_eq!(cells(4)[2..4], ["unknown", "unknown"]);
    }
}
