//! The clusters of a run, one after the other: trials may want different ones, and a broken one is replaced.

use std::path::{Path, PathBuf};

use kgauge_results::run::EventKind;
use kgauge_scenario::{ClusterNeeds, Trial};
use kgauge_target::{StartSetup, Target, TopicGuard};

use crate::error::{OrRunError, RunError};
use crate::host::TargetContext;
use crate::mirror::Mirror;
use crate::observer::Activity;
use crate::open_run::OpenRun;
use crate::processes;
use crate::request::RunRequest;
use crate::run_target::RunTarget;
use crate::session::Session;

/// What the names of the folders of clusters' data begin with.
const TARGET_DATA: &str = "target-data";

/// Starts a run's clusters.
pub(crate) struct Clusters<'a> {
    request: &'a RunRequest<'a>,
    pub(crate) run_id: String,
    /// The run folder: data and logs of the clusters lie there.
    pub(crate) dir: PathBuf,
    seed: u64,
    /// How often the run was resumed.
    pub(crate) attempt: usize,
    /// What the one that runs was started for.
    needs: ClusterNeeds,
    /// What was done to the one that runs cannot be undone: the next trial gets another.
    pub(crate) is_broken: bool,
    /// How many were started.
    pub(crate) started: u32,
}

impl<'a> Clusters<'a> {
    /// None was started so far.
    pub(crate) fn new(request: &'a RunRequest<'a>, opened: &OpenRun) -> Self {
        Self {
            request,
            run_id: opened.run_id.clone(),
            dir: opened.folder.dir().to_owned(),
            seed: opened.number,
            attempt: opened.folder.head().resumed_unix_ms.len(),
            needs: ClusterNeeds::default(),
            is_broken: false,
            started: 0,
        }
    }

    /// What all of them are, but for the needs of single trials.
    pub(crate) fn target(&self) -> &'a RunTarget {
        self.request.target
    }

    /// Starts the cluster that a trial wants.
    pub(crate) fn start(&mut self, needs: &ClusterNeeds) -> Result<Target, RunError> {
        let spec = self.target().spec_for(needs)?;
        self.started += 1;
        let setup = self.setup(None);
        let target = Target::start(&spec, &setup, &self.request.stop.load)?;
        self.needs = needs.clone();
        Ok(target)
    }

    /// The setup of the cluster that was started last, or of something beside it.
    pub(crate) fn setup(&self, beside: Option<&str>) -> StartSetup {
        // The first one has the plain names; a run that goes on shares none with what it was cut off in.
        let number = match (self.attempt, self.started) {
            (0, ..=1) => String::new(),
            (0, started) => format!("-{started}"),
            (attempt, started) => format!("-again-{attempt}-{started}"),
        };
        let beside = beside.map_or_else(String::new, |beside| format!("-{beside}"));
        self.request.host.start_setup(&TargetContext {
            name: &format!("{}{number}{beside}", self.run_id),
            data_dir: &self.dir.join(format!("{TARGET_DATA}{number}{beside}")),
            keep_data: self.request.keeps_data,
            log_dir: &self.dir,
            seed: self.seed,
        })
    }

    /// The second cluster that a trial wants, and what copies to it.
    pub(crate) fn mirror(
        &self,
        source: &Target,
        needs: &ClusterNeeds,
    ) -> Result<Option<Mirror>, RunError> {
        let wanted = needs.mirror.as_ref();
        wanted
            .map(|wanted| Mirror::start(self, source, (wanted, needs), &self.request.stop))
            .transpose()
    }
}

/// Removes the data of clusters that a killed run has left in its folder.
pub(crate) fn remove_left_data(dir: &Path) {
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
pub(crate) fn fit_to(session: &mut Session<'_>, trial: &Trial) -> Result<bool, RunError> {
    let clusters = &session.clusters;
    let serves = !clusters.is_broken && clusters.needs.shares_with(&trial.cluster);
    if clusters.target().is_existing() || serves && session.death().is_none() {
        return Ok(false);
    }
    session.report(&Activity::ChangingCluster);
    // Its topics go with it.
    session.topics.forget();
    // Of a broken one it has been said already; and until the next one serves, there is none.
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
    let mirror = session.clusters.mirror(&target, &trial.cluster)?;
    let mut cluster = target.connect(session.stopping.load.clone())?;
    let facts = target.facts(&mut cluster)?;
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
pub(crate) fn topics(target: &Target, run_id: &str) -> Result<TopicGuard, RunError> {
    let topics = TopicGuard::new(target.config().clone(), run_id).or_bad_input()?;
    Ok(match target {
        Target::Kafka(kafka) => topics.with_tool(kafka.topic_tool()),
        _ => topics,
    })
}
