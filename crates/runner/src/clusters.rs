//! The clusters of a run, one after the other: trials may want different ones, and a broken one is replaced.

use std::path::PathBuf;

use kgauge_results::RunFolder;
use kgauge_scenario::{ClosedLoopPace, ClusterNeeds, Trial};
use kgauge_target::{FileReuse, StartSetup, Target, TopicGuard};

use crate::error::{OrRunError, RunError};
use crate::host::TargetContext;
use crate::request::RunRequest;
use crate::run_target::RunTarget;
use crate::stop::StopRequests;

/// What the names of the folders of clusters' data begin with.
pub(crate) const TARGET_DATA: &str = "target-data";

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
    pub(crate) needs: ClusterNeeds,
    /// What was done to the one that runs cannot be undone: the next trial gets another.
    pub(crate) is_broken: bool,
    /// How many were started.
    pub(crate) started: u32,
}

impl<'a> Clusters<'a> {
    /// None was started so far.
    pub(crate) fn new(
        request: &'a RunRequest<'a>,
        folder: &RunFolder,
        run_id: &str,
        seed: u64,
    ) -> Self {
        Self {
            request,
            run_id: run_id.to_owned(),
            dir: folder.dir().to_owned(),
            seed,
            attempt: folder.head().resumed_unix_ms.len(),
            needs: ClusterNeeds::default(),
            is_broken: false,
            started: 0,
        }
    }

    /// What all of them are, but for the needs of single trials.
    pub(crate) fn target(&self) -> &'a RunTarget {
        self.request.target
    }

    /// The way to stop the run.
    pub(crate) fn stop(&self) -> &StopRequests {
        &self.request.stop
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
            file_reuse: Some(self.file_reuse()),
            log_dir: &self.dir,
            seed: self.seed,
        })
    }

    /// An embedded cluster uses the files of removed logs again. Where free memory goes back to the hypervisor, files
    /// for the largest repeat are made first.
    fn file_reuse(&self) -> FileReuse {
        let stored = |trial: &Trial| {
            trial
                .bytes_written_max(ClosedLoopPace::ASSUMED)
                .stored_bytes
        };
        let largest = self.request.question.trials.iter().map(stored).max();
        let machine = kgauge_observe::machine_record(&self.dir);
        FileReuse {
            prepared_bytes: largest.filter(|_| machine.reports_free_memory).unwrap_or(0),
        }
    }
}

/// A guard for what the run makes on a cluster.
pub(crate) fn topics(target: &Target, run_id: &str) -> Result<TopicGuard, RunError> {
    let topics = TopicGuard::new(target.config().clone(), run_id).or_bad_input()?;
    Ok(match target {
        Target::Kafka(kafka) => topics.with_tool(kafka.topic_tool()),
        Target::Embedded(_) | Target::Existing(_) => topics,
    })
}
