//! Is there disk enough for what will be written? Asked before, because a full disk is a bad end.

use std::path::Path;

use kgauge_client::Cluster;
use kgauge_scenario::{ClosedLoopPace, Plan, Replicator};
use kgauge_target::{Room, Target};

use crate::exit::{ExitStatus, OrStop, stop};

/// Checks the target's disks, and the one under the run folder.
pub(crate) fn check_room(
    target: &Target,
    cluster: &mut Cluster,
    plan: &Plan,
    dir: &Path,
    keep: bool,
) -> anyhow::Result<Vec<Room>> {
    let each = plan.trials.iter().map(|trial| {
        let bytes = trial
            .bytes_written_max(ClosedLoopPace::ASSUMED)
            .stored_bytes;
        // The copy lies beside it, where kgauge starts that cluster too.
        let mirror = trial.cluster.mirror.as_ref();
        let is_ours = mirror.is_some_and(|one| one.replicator == Replicator::MirrorMaker2);
        let copies = u64::from(is_ours);
        let bytes = bytes.saturating_mul(1 + copies);
        if keep {
            bytes.saturating_mul(u64::from(trial.repeats))
        } else {
            bytes
        }
    });
    // Topics are deleted after each trial, so that only the largest counts, unless they are kept.
    let bytes = if keep {
        each.fold(0, u64::saturating_add)
    } else {
        each.max().unwrap_or(0)
    };
    let rooms = target.rooms(cluster).or_target_failed("")?;
    kgauge_target::check_room(&rooms, bytes).map_err(|error| {
        let cure = "shorten the run (--quick, --set stages.hold='5 s'), or free some space";
        stop(ExitStatus::TargetFailed, format!("{error}\n  {cure}"))
    })?;
    /// Slices of a long run stay below this.
    const RESULTS_BYTES: u64 = 64 << 20;
    let free = kgauge_target::free_bytes(dir).or_failed()?;
    if free < RESULTS_BYTES {
        let words = format!(
            "only {} MiB are free under {}; results need {} MiB",
            free >> 20,
            dir.display(),
            RESULTS_BYTES >> 20
        );
        return Err(stop(ExitStatus::Failed, words));
    }
    Ok(rooms)
}
