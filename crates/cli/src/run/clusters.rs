//! The clusters of a run, one after the other: trials may want different ones, and a broken one is replaced.

use std::path::{Path, PathBuf};

use kgauge_results::run::EventKind;
use kgauge_scenario::{ClusterNeeds, Trial};
use kgauge_target::{StartSetup, Target, TargetSpec, TopicGuard};

use super::mirror::Mirror;
use super::processes;
use super::session::Session;
use super::targets::NamedTarget;
use crate::exit::OrStop;
use crate::interrupt::StopRequests;
use crate::targets::{self, TargetContext, failed};

/// What the names of the folders of clusters' data begin with.
const TARGET_DATA: &str = "target-data";

/// Starts a run's clusters.
pub(crate) struct Clusters {
    pub(super) target: NamedTarget,
    pub(super) run_id: String,
    /// The run folder: data and logs of the clusters lie there.
    pub(super) dir: PathBuf,
    pub(super) keep: bool,
    pub(super) seed: u64,
    /// How often the run was resumed.
    pub(super) attempt: usize,
    /// What the one that runs was started for.
    pub(super) needs: ClusterNeeds,
    /// What was done to the one that runs cannot be undone: the next trial gets another.
    pub(super) is_broken: bool,
    /// How many were started.
    pub(super) started: u32,
}

impl Clusters {
    /// Starts the cluster that a trial wants.
    pub(super) fn start(
        &mut self,
        needs: &ClusterNeeds,
        stopping: &StopRequests,
    ) -> anyhow::Result<Target> {
        let spec = self.target.spec_for(needs)?;
        self.started += 1;
        let setup = self.setup(None)?;
        let target = Target::start(&spec, &setup, &stopping.load).map_err(failed)?;
        self.needs = needs.clone();
        Ok(target)
    }

    /// The setup of the cluster that was started last, or of something beside it.
    pub(super) fn setup(&self, beside: Option<&str>) -> anyhow::Result<StartSetup> {
        // The first one has the plain names; a run that goes on shares none with what it was cut off in.
        let number = match (self.attempt, self.started) {
            (0, ..=1) => String::new(),
            (0, started) => format!("-{started}"),
            (attempt, started) => format!("-again-{attempt}-{started}"),
        };
        let beside = beside.map_or_else(String::new, |beside| format!("-{beside}"));
        let (name, data) = (
            format!("{}{number}{beside}", self.run_id),
            format!("{TARGET_DATA}{number}{beside}"),
        );
        targets::setup(&TargetContext {
            name: &name,
            data_dir: &self.dir.join(data),
            keep_data: self.keep,
            log_dir: &self.dir,
            seed: self.seed,
        })
    }

    /// The second cluster that a trial wants, and what copies to it.
    pub(super) fn mirror(
        &self,
        source: &Target,
        needs: &ClusterNeeds,
        stopping: &StopRequests,
    ) -> anyhow::Result<Option<Mirror>> {
        let wanted = needs.mirror.as_ref();
        wanted
            .map(|wanted| Mirror::start(self, source, (wanted, needs), stopping))
            .transpose()
    }

    fn are_ours(&self) -> bool {
        !matches!(self.target.spec, TargetSpec::Existing(_))
    }
}

/// Removes the data of clusters that a killed run has left in its folder.
pub(super) fn remove_left_data(dir: &Path) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(TARGET_DATA) {
            // What cannot be removed only takes room.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Sees to it that the cluster that runs is one that the trial wants. True when that is another than before.
pub(super) fn fit_to(session: &mut Session, trial: &Trial) -> anyhow::Result<bool> {
    let clusters = &session.clusters;
    let serves = !clusters.is_broken && clusters.needs.shares_with(&trial.cluster);
    if !clusters.are_ours() || serves && session.death().is_none() {
        return Ok(false);
    }
    session
        .progress
        .report("another cluster for the next trial");
    // Its topics go with it.
    session.topics.forget();
    // Of a broken one it has been said already; and until the next one serves, there is none.
    let was_broken = std::mem::replace(&mut session.clusters.is_broken, true);
    let mirror = session.mirror.take().map(Mirror::stop);
    let target = session.target.take().map(|old| old.stop().map_err(failed));
    for ended in mirror.into_iter().chain(target) {
        if let (Err(error), false) = (ended, was_broken) {
            let text = error.to_string();
            session.event(None, EventKind::Warning { text });
        }
    }
    let target = session.clusters.start(&trial.cluster, &session.stopping)?;
    let mirror = session
        .clusters
        .mirror(&target, &trial.cluster, &session.stopping)?;
    let mut cluster = target
        .connect(session.stopping.load.clone())
        .map_err(failed)?;
    let facts = target.facts(&mut cluster).map_err(failed)?;
    let brokers = u32::try_from(facts.brokers.len()).unwrap_or(u32::MAX);
    let settings = trial.cluster.config.clone();
    session.event(None, EventKind::ClusterStarted { brokers, settings });
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

/// A guard for what the run makes on a cluster.
pub(super) fn topics(target: &Target, run_id: &str) -> anyhow::Result<TopicGuard> {
    let topics = TopicGuard::new(target.config().clone(), run_id).or_bad_input()?;
    Ok(match target {
        Target::Kafka(kafka) => topics.with_tool(kafka.topic_tool()),
        _ => topics,
    })
}
