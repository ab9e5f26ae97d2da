//! Apache Kafka with half a core, searched three times, and with a whole one.

use anyhow::{Context, Result};

use super::CheckedSearches;
use super::runs::{FoundCapacity, SearchJob, search_all};
use crate::say::print_line;

/// Searches with half a core.
const SEARCHES: usize = 3;
/// How close the bounds come. Searches agree if no lower bound differs from another by more than both widths.
const WIDTH: f64 = 0.05;
/// What a whole core takes, of what half a core takes.
const TWICE: std::ops::Range<f64> = 1.6..2.5;

/// Runs the part. True if the searches agree, a whole core takes about twice as much, and the CPU limit is named.
pub(super) fn check(options: &CheckedSearches) -> Result<bool> {
    let binary = options.program.kgauge()?;
    let half = (1..).take(SEARCHES);
    let half = half.map(|number| job(&format!("half-{number}"), "0.5", number));
    let jobs: Vec<SearchJob> = half.chain([job("whole", "1", 1)]).collect();
    let found: Result<Vec<FoundCapacity>> = search_all(&binary, &jobs, 1)?.into_iter().collect();
    let found = found?;
    let lowers: Option<Vec<f64>> = found.iter().map(|found| found.strict.lower).collect();
    let lowers = lowers.context("a search found no lower bound")?;
    for (job, found) in jobs.iter().zip(&found) {
        print_line(&format!(
            "{} on {}: strict {}, typical {}, {} loads ({} void), {:.0} s; bottleneck {}",
            job.name,
            job.target,
            found.strict.text(),
            found.typical.text(),
            found.steps.len(),
            found.void_loads(),
            found.took_s,
            bottleneck(found)
        ));
    }
    let (halves, whole) = lowers.split_at(SEARCHES);
    let least = halves.iter().copied().fold(f64::INFINITY, f64::min);
    let most = halves.iter().copied().fold(0.0, f64::max);
    let ratio = whole[0] / (halves.iter().sum::<f64>() / SEARCHES as f64);
    let agree = 1.0 - least / most <= 2.0 * WIDTH;
    let named = found.iter().all(|found| bottleneck(found).contains("cpu"));
    print_line(&format!(
        "half a core: {least:.0} to {most:.0} ({:.1} % apart, {} at most); a whole core takes {ratio:.2} times as much",
        100.0 * (1.0 - least / most),
        2.0 * WIDTH * 100.0
    ));
    Ok(agree && named && TWICE.contains(&ratio))
}

fn bottleneck(found: &FoundCapacity) -> String {
    let bottleneck = found.bottleneck.as_ref();
    bottleneck.map_or("none".to_owned(), ToString::to_string)
}

fn job(name: &str, cpu: &str, seed: u32) -> SearchJob {
    let scenario = format!(
        "kgauge: 1\nname: kafka-capacity\nquestion: What does the broker take?\ntopic: {{partitions: 4}}\nflows:\n\
         \x20 - {{name: writers, kind: produce, shape: max, producers: 2, record: {{size: 100 B}}, settings: {{acks: all, linger.ms: 5}}}}\n\
         stages: {{warm-up: 5 s}}\n\
         search: {{goals: [p99 <= 250 ms], window: 5 s, duration: 30 s, width: {:.0} %}}\n",
        WIDTH * 100.0
    );
    SearchJob {
        name: name.to_owned(),
        scenario,
        target: format!("kafka:4.3.1,cpu={cpu},heap=512M"),
        seed,
    }
}
