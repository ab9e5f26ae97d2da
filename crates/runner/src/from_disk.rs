//! Records that consumers read from disk: they leave the page cache after the preload.

use std::path::PathBuf;

use kgauge_scenario::Plan;
use kgauge_target::{drop_from_page_cache, is_on_disk};

use crate::error::{RunError, with_fix};
use crate::session::Session;

const FIX: &str = "remove topic.preload.cached, or run kgauge on the brokers' machine, with their \
                   data on a disk";

/// Refuses a plan that reads from disk where kgauge cannot see to that.
pub(crate) fn check(to_run: &Plan, data_dirs: &[PathBuf]) -> Result<(), RunError> {
    let trials = to_run.trials.iter();
    let mut preloads = trials.filter_map(|trial| trial.topic.preload.as_ref());
    match preloads.all(|preload| preload.cached) || is_on_disk(data_dirs) {
        true => Ok(()),
        false => Err(RunError::input(with_fix(
            &"topic.preload.cached: the brokers' data is not on a disk of this machine, or is not \
              readable here",
            FIX,
        ))),
    }
}

/// Drops a topic's records from the page cache.
pub(crate) fn leave_cache(session: &Session<'_>, topic: &str) -> Result<(), RunError> {
    let dropped = drop_from_page_cache(&session.data_dirs, topic).map_err(|error| {
        let what = format!("cannot drop topic {topic} from the page cache: {error}");
        RunError::System(with_fix(&what, FIX))
    })?;
    match dropped {
        0 => Err(RunError::cluster(with_fix(
            &format!("topic.preload.cached: no data of topic {topic} is on this machine"),
            FIX,
        ))),
        _ => Ok(()),
    }
}
