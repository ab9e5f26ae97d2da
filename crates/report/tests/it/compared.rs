//! Runs to compare: one made folder, read again for each of them, with other targets and figures.

use kgauge_analyze::statistics::Spread;
use kgauge_analyze::summary::Status;
use kgauge_analyze::{Comparison, RunToCompare, Summary, compare};
use kgauge_results::run::TargetKind;
use kgauge_results::{RunRead, TimeKind};

/// One run of a comparison.
pub(crate) struct Compared {
    pub(crate) run: RunRead,
    pub(crate) summary: Summary,
}

/// The run of `folder` as if `target` had been so many times as fast.
pub(crate) fn of(
    folder: &RunRead,
    kind: TargetKind,
    version: Option<&str>,
    factor: f64,
) -> Compared {
    let mut run = RunRead::open(&folder.dir).unwrap();
    run.head.run_id = format!(
        "20260301-120000-{}",
        version.unwrap_or("none").replace('.', "")
    );
    run.head.command = vec!["kgauge".to_owned()];
    let target = &mut run.environment.as_mut().unwrap().target;
    target.kind = kind;
    target.version = version.map(str::to_owned);
    let mut summary = Summary::of(&run);
    for trial in &mut summary.trials {
        for cpu in trial.cpu.target_ns_per_record.iter_mut() {
            *cpu = times(cpu, 1.0 / factor);
        }
        for published in &mut trial.published {
            published.ratio = published.ratio.map(|ratio| ratio * factor);
        }
        for flow in &mut trial.flows {
            if let Some(throughput) = &mut flow.throughput {
                throughput.records_per_s = times(&throughput.records_per_s, factor);
                throughput.logical_bytes_per_s = times(&throughput.logical_bytes_per_s, factor);
                let wire = throughput.wire_bytes_per_s.take();
                throughput.wire_bytes_per_s = wire.map(|wire| times(&wire, factor));
            }
            if let Some(response) = flow.latencies.get_mut(TimeKind::Response) {
                for percentile in &mut response.percentiles {
                    percentile.value_ns = (percentile.value_ns as f64 / factor) as u64;
                    let repeats = percentile.over_repeats.take();
                    percentile.over_repeats = repeats.map(|spread| times(&spread, 1.0 / factor));
                }
            }
        }
    }
    Compared { run, summary }
}

fn times(spread: &Spread, factor: f64) -> Spread {
    spread.times(factor).unwrap()
}

/// So many releases of Apache Kafka, each as fast as it says.
pub(crate) fn releases(folder: &RunRead, releases: &[(&str, f64)]) -> Vec<Compared> {
    let each = releases.iter();
    each.map(|(version, factor)| of(folder, TargetKind::Kafka, Some(version), *factor))
        .collect()
}

/// The seven that are checked.
pub(crate) const SEVEN: [(&str, f64); 7] = [
    ("0.8.2.2", 1.0),
    ("0.10.1.0", 1.01),
    ("1.0.2", 1.2),
    ("2.8.2", 1.5),
    ("3.9.1", 0.8),
    ("4.1.1", 2.25),
    ("4.3.1", 6.4),
];

/// Marks a run as killed in the middle.
pub(crate) fn killed(mut run: Compared) -> Compared {
    run.summary.run.status = kgauge_results::run::RunStatus::CutShort;
    run.summary.status = Status::CutShort;
    let last = run.summary.trials.last_mut().unwrap();
    last.flows.clear();
    last.repeats.clear();
    run
}

pub(crate) fn comparison(runs: &[Compared]) -> Comparison {
    let runs = runs.iter().map(|one| RunToCompare {
        run: &one.run,
        summary: &one.summary,
    });
    compare(&runs.collect::<Vec<_>>(), 0).unwrap()
}
