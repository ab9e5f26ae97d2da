//! Checks before a run whether the disks have space for what it will write.

use std::path::{Path, PathBuf};

use kgauge_client::Cluster;
use kgauge_scenario::format::binary_bytes;
use kgauge_scenario::{ClosedLoopPace, Plan, Replicator, Trial};
use kgauge_target::{DiskSpace, Target, free_bytes};

use crate::error::{OrRunError, RunError};

/// Checks the target's disks, and the one under the run folder.
///
/// The volume of a closed loop without a record count is only bounded, by far more than most machines write. If
/// [`DiskGuard`] watches the target's disks during the load, that bound does not refuse the run.
pub(crate) fn check_disks(
    target: &Target,
    cluster: &mut Cluster,
    plan: &Plan,
    dir: &Path,
    (keep, is_watched): (bool, bool),
) -> Result<Vec<DiskSpace>, RunError> {
    let bytes = bytes_in_all(plan, keep, is_watched);
    let disks = target.disks(cluster).or_target_failed("")?;
    let has_search = plan.trials.iter().any(|trial| trial.search.is_some());
    let cure = match has_search {
        true => "limit the rate (--max-rate), shorten the windows (--window), or free some space",
        false => "shorten the run (--quick, --set stages.hold='5 s'), or free some space",
    };
    kgauge_target::check_disks(&disks, bytes)
        .map_err(|error| RunError::cluster(format!("{error}\n  {cure}")))?;
    /// Slices of a long run stay below this.
    const RESULTS_BYTES: u64 = 64 << 20;
    let free = free_bytes(dir).or_unwritable()?;
    if free < RESULTS_BYTES {
        let words = format!(
            "only {} MiB are free under {}; results need {} MiB",
            free >> 20,
            dir.display(),
            RESULTS_BYTES >> 20
        );
        return Err(RunError::input(words));
    }
    Ok(disks)
}

/// Checks the disks before a load of a search: its rate was not known when the run began.
pub(crate) fn check_load(disks: &[DiskSpace], load: &Trial) -> Result<(), RunError> {
    kgauge_target::check_disks(disks, bytes_known(load, false)).map_err(|error| {
        let cure = "free some space and continue with --resume, or limit the rate (--max-rate)";
        RunError::cluster(format!("{error}\n  {cure}"))
    })
}

/// The most bytes of a plan that are on the disks at any time.
fn bytes_in_all(plan: &Plan, keep: bool, is_watched: bool) -> u64 {
    let trials = plan.trials.iter().flat_map(|trial| {
        let search = trial.search.as_ref();
        let is_limited = search.is_some_and(|search| search.rate_max.is_some());
        // At full speed, the assumed volume says more than most targets do; `check_load` knows the rate.
        let loads = match keep {
            true => trial.usual_loads(),
            false => trial.longest_load(),
        };
        [Some(trial.clone()), loads.filter(|_| is_limited)]
    });
    let each = trials.flatten().map(|trial| {
        let bytes = bytes_known(&trial, is_watched);
        // The copy lies beside it, where kgauge starts that cluster too.
        let mirror = trial.cluster.mirror.as_ref();
        let is_ours = mirror.is_some_and(|one| one.replicator == Replicator::MirrorMaker2);
        let copies = u64::from(is_ours);
        let bytes = bytes.saturating_mul(1 + copies);
        match keep {
            true => bytes.saturating_mul(u64::from(trial.repeats)),
            false => bytes,
        }
    });
    // Topics are deleted after each trial, so that only the largest counts, unless they are kept.
    match keep {
        true => each.fold(0, u64::saturating_add),
        false => each.max().unwrap_or(0),
    }
}

/// The most that one repeat writes, without assumed volumes if the disks are watched.
fn bytes_known(trial: &Trial, is_watched: bool) -> u64 {
    let most = trial.bytes_written_max(ClosedLoopPace::ASSUMED);
    match is_watched && most.is_assumed {
        true => trial.bytes_written_max(ClosedLoopPace::NONE).stored_bytes,
        false => most.stored_bytes,
    }
}

/// Ends a load before it fills a disk of this machine, on which the target's data lies.
#[derive(Debug, Default)]
pub(crate) struct DiskGuard {
    /// What stays free of each disk.
    spare_bytes: u64,
}

/// More than a load writes between the sample that ends it and its end: a second at the rate of
/// [`ClosedLoopPace::ASSUMED`].
const SPARE_BYTES: u64 = 2 << 30;

/// Where what a run writes is known before, the same part of what is free is left alone.
const SPARE_PART: u64 = 20;

impl DiskGuard {
    /// Computes the reserve from the current free space, so that several trials together cannot use it up.
    pub(crate) fn of(dirs: &[PathBuf]) -> Self {
        let free = dirs.iter().filter_map(|dir| free_bytes(dir).ok()).min();
        Self {
            spare_bytes: free.map_or(0, spare_bytes),
        }
    }

    /// Why the load has to end, if it has to.
    pub(crate) fn check(&self, dirs: &[PathBuf]) -> Option<String> {
        dirs.iter().find_map(|dir| {
            let free = free_bytes(dir).ok()?;
            (free < self.spare_bytes).then(|| {
                format!(
                    "stopped the load to keep the disk from filling: {} are left under {}; write \
                     less (--set stages.hold='5 s', records for the flows, a topic's \
                     retention.bytes), or free some space",
                    binary_bytes(free),
                    dir.display(),
                )
            })
        })
    }
}

/// The reserve of a disk with this much free space.
fn spare_bytes(free: u64) -> u64 {
    (free / SPARE_PART).max(SPARE_BYTES).min(free / 2)
}

#[cfg(test)]
mod tests {
    use kgauge_scenario::{ClusterFacts, Scenario, Size, TargetKind};

    use super::*;

    fn bytes(flow: &str, is_watched: bool) -> u64 {
        let text = format!(
            "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 6}}\nflows:\n  \
             - {{name: w, kind: produce, record: {{size: 1 kB}}, {flow}}}\n\
             stages: {{warm-up: 0 s, hold: 60 s}}\n"
        );
        let scenario = Scenario::parse("a.yaml", &text).unwrap();
        bytes_known(&scenario.trials(Size::Default)[0], is_watched)
    }

    #[test]
    fn what_is_only_assumed_is_left_to_the_guard() {
        // 2 GB/s for 60 s.
        assert!(bytes("shape: max", false) > 120_000_000_000);
        assert!(bytes("shape: max", true) < 10_000);
        // What is known must fit in any case: 6,000,000 and 60,000 records of 1 kB.
        assert!(bytes("shape: max, records: 6M", true) > 6_000_000_000);
        assert!(bytes("shape: {constant: 1k/s}", true) > 60_000_000);
    }

    #[test]
    fn a_search_needs_room_for_its_longest_load_or_for_all_that_are_kept() {
        let bytes = |keep: bool, search: &str| {
            let text = format!(
                "kgauge: 1\nname: a\nquestion: b\ntopic: {{partitions: 6}}\nflows:\n  \
                 - {{name: w, kind: produce, record: {{size: 1 kB}}, shape: max}}\n\
                 stages: {{warm-up: 2 s, warm-up-limit: 2 s}}\nrepeats: 1\n\
                 search: {{goals: [p99 <= 20 ms], {search}}}\n"
            );
            let scenario = Scenario::parse("a.yaml", &text).unwrap();
            let plan = Plan {
                format: Plan::FORMAT,
                run_id: "r1".to_owned(),
                seed: 1,
                size: Size::Default,
                study: None,
                cluster: ClusterFacts {
                    cluster_id: "abc".to_owned(),
                    brokers: 1,
                    kind: TargetKind::Embedded,
                    version: None,
                },
                trials: scenario.trials(Size::Default),
                ab: None,
                tune: None,
            };
            bytes_in_all(&plan, keep, true) as f64
        };
        // 62 s at 10 MB/s, with at most 30 % for heads and indexes.
        let longest = bytes(false, "max-rate: 10k/s");
        assert!((1.0..1.3).contains(&(longest / 620e6)), "{longest}");
        // All loads: 12 s and 16 times 23.25 s.
        let kept = bytes(true, "max-rate: 10k/s");
        assert!((1.0..1.3).contains(&(kept / 3_840e6)), "{kept}");
        assert!(bytes(false, "width: 2 %") < 10_000.0);
    }

    #[test]
    fn a_twentieth_is_spared_but_2_gib_at_least_and_half_at_most() {
        const GIB: u64 = 1 << 30;
        assert_eq!(spare_bytes(100 * GIB), 5 * GIB);
        assert_eq!(spare_bytes(40 * GIB), 2 * GIB);
        assert_eq!(spare_bytes(10 * GIB), 2 * GIB);
        assert_eq!(spare_bytes(3 * GIB), 3 * GIB / 2);
        assert_eq!(spare_bytes(0), 0);
    }

    #[test]
    fn a_disk_with_less_than_the_spare_ends_a_load() {
        let dir = tempfile::tempdir().unwrap();
        let dirs = [dir.path().to_owned()];
        assert!(DiskGuard::of(&dirs).spare_bytes > 0);
        assert_eq!(DiskGuard::default().check(&dirs), None);
        assert_eq!(DiskGuard::of(&[]).check(&[]), None);
        let full = DiskGuard {
            spare_bytes: u64::MAX,
        };
        let why = full.check(&dirs).unwrap();
        assert!(why.contains("keep the disk from filling"), "{why}");
    }
}
