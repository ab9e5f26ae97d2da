//! Between two trials: the cluster that runs is replaced if the next trial needs another one, or if it is broken.

use kgauge_results::run::EventKind;
use kgauge_scenario::Trial;

use crate::clusters::topics;
use crate::error::RunError;
use crate::mirror::Mirror;
use crate::observer::Activity;
use crate::processes;
use crate::session::Session;

/// Makes the running cluster one that the trial needs. Returns whether it was replaced.
pub(crate) fn fit_to(session: &mut Session<'_>, trial: &Trial) -> Result<bool, RunError> {
    let clusters = &session.clusters;
    let serves = !clusters.is_broken && clusters.needs.shares_with(&trial.cluster);
    if clusters.target().is_existing() || serves && session.death().is_none() {
        return Ok(false);
    }
    session.report(&Activity::ChangingCluster);
    // Its topics go with it.
    session.topics.forget();
    // A broken cluster has been reported already. Until the next one serves, there is none.
    let was_broken = std::mem::replace(&mut session.clusters.is_broken, true);
    let mirror = session.mirror.take().map(Mirror::stop);
    let target = session
        .target
        .take()
        .map(|old| old.stop().map_err(RunError::from));
    for ended in mirror.into_iter().chain(target) {
        if let (Err(error), false) = (ended, was_broken) {
            let text = error.to_string();
            session.event(None, EventKind::Warning { text });
        }
    }
    let target = session.clusters.start(&trial.cluster)?;
    let mirror = Mirror::start_for(&session.clusters, &target, &trial.cluster)?;
    let mut cluster = target.connect(session.stopping.load.clone())?;
    let facts = target.facts(&mut cluster)?;
    let brokers = u32::try_from(facts.brokers.len()).unwrap_or(u32::MAX);
    let started = EventKind::ClusterStarted {
        brokers,
        release: facts.version.clone(),
        settings: trial.cluster.config.clone(),
    };
    session.event(None, started);
    session.topics = topics(&target, &session.clusters.run_id)?;
    session.client = target.config().clone();
    session.target_processes = processes::own(target.processes());
    session.data_dirs = target.data_dirs();
    session.nodes = facts.brokers.len();
    session.cluster = cluster;
    session.target.put(target);
    session.mirror = mirror;
    session.clusters.is_broken = false;
    session.is_warm = false;
    Ok(true)
}
