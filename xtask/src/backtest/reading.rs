//! What the run folder of a point has: the bounds of its capacity and the facts of its trials.

use std::path::Path;

use anyhow::{Context, Result, bail};
use kgauge_analyze::Summary;
use kgauge_analyze::sizing::{TrialFacts, trial_facts};
use kgauge_analyze::summary::{Bottleneck, CapacitySearch};
use kgauge_results::RunRead;
use kgauge_results::run::SearchEnd;

use super::points::BacktestPoint;
use crate::compare_check::setup_of;

/// A search that has ended.
pub(super) enum PointReading {
    /// It found the capacity.
    Measured(MeasuredPoint),
    /// It found none of the brokers; another one would not either.
    NoCapacity(&'static str),
}

/// A point that was measured.
pub(super) struct MeasuredPoint {
    pub(super) point: BacktestPoint,
    /// Bytes per second that every window sustained, and that some did not.
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) facts: Vec<TrialFacts>,
    /// The machine and the build.
    pub(super) setup: String,
}

/// Reads a run; an error if its search did not end, or has to be made again.
pub(super) fn read(out: &Path, point: BacktestPoint) -> Result<PointReading> {
    let run = RunRead::open(out)?;
    let summary = Summary::of(&run);
    let mut searches = summary.capacities.iter().flat_map(|one| &one.searches);
    let search = searches.next().context("the run has no search")?;
    let bytes = f64::from(point.record_bytes);
    Ok(match bounds(search)? {
        Ok([lower, upper]) => PointReading::Measured(MeasuredPoint {
            point,
            lower: lower * bytes,
            upper: upper * bytes,
            facts: trial_facts(&run, &summary),
            setup: setup_of(&serde_json::json!({
                "machine": summary.machine,
                "kgauge": summary.run.kgauge,
            })),
        }),
        Err(why) => PointReading::NoCapacity(why),
    })
}

/// Records per second, or why these are not the brokers'.
fn bounds(search: &CapacitySearch) -> Result<Result<[f64; 2], &'static str>> {
    match &search.end {
        None => bail!("the search did not end"),
        Some(SearchEnd::Void { cause }) => bail!("its loads were void: {cause:?}"),
        Some(SearchEnd::Found | SearchEnd::Budget) => {}
    }
    match search.bottleneck {
        Some(Bottleneck::OtherPrograms) => bail!("other programs took the CPU"),
        Some(Bottleneck::Hypervisor) => bail!("the hypervisor took the CPU"),
        Some(Bottleneck::Generator) => return Ok(Err("the load generator was the bottleneck")),
        _ => {}
    }
    let bounds = search.strict.lower.zip(search.strict.upper);
    let bounds = bounds.map(|(lower, upper)| [lower, upper]);
    Ok(bounds.ok_or("the search found no two bounds"))
}

#[cfg(test)]
mod tests {
    use super::super::points::points;
    use super::*;

    fn search(lower: Option<f64>, bottleneck: Option<Bottleneck>) -> CapacitySearch {
        let bounds = kgauge_analyze::search::CapacityBounds {
            lower,
            upper: Some(110.0),
        };
        CapacitySearch {
            repeat: 0,
            full_speed: None,
            strict: bounds,
            typical: bounds,
            typical_band: None,
            is_narrow: true,
            bottleneck,
            loads: Vec::new(),
            steps: Vec::new(),
            end: Some(SearchEnd::Found),
            took_s: 1.0,
        }
    }

    #[test]
    fn only_capacities_of_the_brokers_count() {
        let found = bounds(&search(Some(100.0), Some(Bottleneck::CpuLimit))).unwrap();
        assert_eq!(found, Ok([100.0, 110.0]));
        let limited = search(Some(100.0), Some(Bottleneck::Generator));
        assert!(bounds(&limited).unwrap().is_err());
        assert!(bounds(&search(None, None)).unwrap().is_err());
        // These are to be measured again.
        assert!(bounds(&search(Some(100.0), Some(Bottleneck::OtherPrograms))).is_err());
        let mut cut = search(Some(100.0), None);
        cut.end = None;
        assert!(bounds(&cut).is_err());
        assert!(read(Path::new("/nonexistent"), points()[0]).is_err());
    }
}
