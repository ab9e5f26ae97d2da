//! CPU time of the generator per record with and without `--verify`, in pairs of runs whose order alternates.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kgauge_analyze::statistics::Spread;

use super::verified_run::CheckedRun;
use crate::kgauge::Kgauge;
use crate::say::{print_line, remark};

/// A record may cost this many times as much.
const RATIO_MAX: f64 = 1.25;

/// No run takes longer.
const TIME_MAX: Duration = Duration::from_secs(300);

const WRITERS: &str = "{name: writers, kind: produce, producers: 2, shape: {constant: 200k/s}, record: {size: 100 B}, \
                       settings: {acks: all}}";
const READERS: &str = "{name: readers, kind: consume, consumers: 2}";

/// Runs the part.
pub(super) fn check(kgauge: &Kgauge<'_>, pairs: u32) -> Result<bool> {
    let loads: [(&str, &[&str]); 2] = [
        ("writers", &[WRITERS]),
        ("writers-and-readers", &[WRITERS, READERS]),
    ];
    let mut is_good = true;
    for (name, flows) in loads {
        let (mut plain, mut verified) = (Vec::new(), Vec::new());
        for pair in 0..pairs {
            for is_second in [false, true] {
                let is_verified = is_second == pair.is_multiple_of(2);
                let cost_ns = cost_ns(kgauge, (name, flows), is_verified)?;
                let what = if is_verified { "verified" } else { "plain" };
                remark(&format!("{name}, pair {pair}, {what}: {cost_ns:.1} ns"));
                match is_verified {
                    true => verified.push(cost_ns),
                    false => plain.push(cost_ns),
                }
            }
        }
        is_good &= print_ratio(name, &plain, &verified)?;
    }
    Ok(is_good)
}

/// CPU time of the load threads per record acked or read.
fn cost_ns(kgauge: &Kgauge<'_>, (name, flows): (&str, &[&str]), is_verified: bool) -> Result<f64> {
    let flows: String = flows.iter().map(|flow| format!("  - {flow}\n")).collect();
    let scenario = format!(
        "kgauge: 1\nname: cost\nquestion: What does a record cost?\ntopic: {{partitions: 8}}\nflows:\n{flows}stages: \
         {{warm-up: 2 s, warm-up-limit: 2 s, hold: 10 s}}\nrepeats: 1\n"
    );
    let arguments: &[&str] = match is_verified {
        true => &["--target", "embedded", "--verify"],
        false => &["--target", "embedded"],
    };
    let run = CheckedRun::of(kgauge, (name, &scenario), arguments, TIME_MAX)?;
    ensure!(run.summary["exit_status"] == 0, "{name} failed");
    let cost_ns = &run.summary["trials"][0]["cpu"]["generator_threads_ns_per_record"]["mean"];
    cost_ns
        .as_f64()
        .context("the summary has no CPU time per record")
}

/// Prints the ratio of the sides with its interval. True if it is small enough.
fn print_ratio(name: &str, plain: &[f64], verified: &[f64]) -> Result<bool> {
    let pairs = plain.iter().zip(verified);
    let logs = pairs.map(|(plain, verified)| (verified / plain).ln());
    let logs: Vec<f64> = logs.collect();
    let spread = Spread::of(&logs).context("a run took no CPU time")?;
    let interval = spread.ci95.context("one pair has no interval")?;
    let mean = |costs: &[f64]| Spread::of(costs).map_or(f64::NAN, |costs| costs.mean);
    let ratio = spread.mean.exp();
    print_line(&format!(
        "{name}: {:.1} ns per record, verified {:.1} ns; ratio {ratio:.3}, 95 % interval {:.3} to {:.3}, {} pairs",
        mean(plain),
        mean(verified),
        interval.low.exp(),
        interval.high.exp(),
        logs.len()
    ));
    Ok(ratio <= RATIO_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_more_is_allowed() {
        assert!(print_ratio("a", &[100.0, 110.0], &[124.0, 137.0]).unwrap());
        assert!(!print_ratio("a", &[100.0, 110.0], &[126.0, 138.0]).unwrap());
        assert!(print_ratio("a", &[100.0, 0.0], &[126.0, 138.0]).is_err());
    }
}
