//! From runs to a table: smallest, median and largest of every figure, and the ratio of medians.

use std::fmt::Write as _;

use super::compare::{Measured, Plan};
use super::contender::{
    Acks, BATCH_BYTES, BUFFER_BYTES, Contender, LINGER_MS, PARTITIONS, VALUE_BYTES,
};

/// Of a few figures.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

impl Spread {
    /// None of no figure.
    fn of(mut figures: Vec<f64>) -> Option<Spread> {
        figures.sort_by(f64::total_cmp);
        let middle = figures.len() / 2;
        let upper = *figures.get(middle)?;
        let median = if figures.len() % 2 == 1 {
            upper
        } else {
            (figures[middle - 1] + upper) / 2.0
        };
        Some(Spread {
            min: figures[0],
            median,
            max: figures[figures.len() - 1],
        })
    }
}

/// The tables for both `acks`, with what must be known beside them.
pub(super) fn summary(measured: &[Measured], plan: Plan) -> String {
    let mut out = format!(
        "{} rounds, each contender {} records of {VALUE_BYTES} B a round, in alternating order.\n\
         batch.size {BATCH_BYTES}, linger.ms {LINGER_MS}, buffer.memory {BUFFER_BYTES}, no \
         compression, {PARTITIONS} partitions,\none broker. Idempotent with acks=all only, as by \
         Kafka's defaults. All records were counted on the broker.\n",
        plan.rounds, plan.records
    );
    for acks in Acks::EACH {
        let of_acks = measured.iter().filter(|run| run.acks == acks);
        let of_acks: Vec<&Measured> = of_acks.collect();
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

fn table(runs: &[&Measured]) -> String {
    let mut out = format!(
        "{:<42}{:>9}{:>9}{:>9}{:>14}\n",
        "ns CPU a record", "min", "median", "max", "records/s"
    );
    let mut medians = [None; Contender::EACH.len()];
    for (contender, median) in Contender::EACH.into_iter().zip(&mut medians) {
        let counted = || {
            let runs = runs.iter().filter(move |run| run.contender == contender);
            runs.filter(|run| run.round > 0).map(|run| run.ran)
        };
        let cpu = Spread::of(counted().map(|ran| ran.cpu_ns_per_record()).collect());
        let rate = Spread::of(counted().map(|ran| ran.records_per_s).collect());
        line(&mut out, contender.words(), cpu, rate);
        let threads = counted().filter_map(|ran| ran.threads_ns_per_record);
        if let Some(threads) = Spread::of(threads.collect()) {
            line(&mut out, "  its load threads", Some(threads), None);
        }
        *median = cpu.map(|cpu| cpu.median);
    }
    let [engine, tool, ready] = medians;
    let ratio = |of: Option<f64>| match (of, engine) {
        (Some(of), Some(engine)) if engine > 0.0 => format!("{:.1}", of / engine),
        _ => "unknown".to_owned(),
    };
    let _ = writeln!(
        out,
        "ratio of medians: the tool costs {} times as much, {} times with --payload-file",
        ratio(tool),
        ratio(ready)
    );
    let starts = runs.iter().filter(|run| run.round == 0);
    for run in starts {
        let _ = writeln!(
            out,
            "starting alone ({} records): {} {:.2} s CPU",
            run.ran.records,
            run.contender.words(),
            run.ran.cpu.as_secs_f64()
        );
    }
    out
}

fn line(out: &mut String, name: &str, cpu: Option<Spread>, rate: Option<Spread>) {
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
    use std::time::Duration;

    use super::*;
    use crate::bench::contender::Ran;

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        let spread = Spread::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((spread.min, spread.median, spread.max), (1.0, 2.5, 4.0));
        assert_eq!(Spread::of(vec![5.0, 1.0, 2.0]).unwrap().median, 2.0);
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn the_ratio_is_that_of_the_medians_without_the_start() {
        let run = |contender, round, cpu_ms| Measured {
            acks: Acks::All,
            round,
            place: 1,
            contender,
            ran: Ran {
                records: 1_000_000,
                records_per_s: 1.0,
                cpu: Duration::from_millis(cpu_ms),
                threads_ns_per_record: None,
            },
        };
        let runs = [
            run(Contender::Engine, 0, 9_000),
            run(Contender::Engine, 1, 50),
            run(Contender::Tool, 1, 2_000),
            run(Contender::ToolReadyPayloads, 1, 1_600),
        ];
        let table = table(&runs.iter().collect::<Vec<_>>());
        assert!(
            table.contains("costs 40.0 times as much, 32.0 times"),
            "{table}"
        );
    }
}
