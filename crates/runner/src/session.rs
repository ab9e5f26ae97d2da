//! What all parts of a run share: the target, the folder, the created topics, the stop requests.

use std::path::PathBuf;

use kgauge_client::{ClientConfig, Cluster};
use kgauge_load::{Ceilings, DriverProgram};
use kgauge_observe::WatchedProcess;
use kgauge_results::RunFolder;
use kgauge_results::run::{EventKind, RepeatKey, SearchRecord};
use kgauge_scenario::{Driver, TargetKind, Trial};
use kgauge_target::{TopicGuard, TopicWish};

use crate::checkup::ActiveCheckup;
use crate::clusters::Clusters;
use crate::disk_space::DiskGuard;
use crate::error::{OrRunError, RunError, with_fix};
use crate::events::event;
use crate::metrics::MetricsAddress;
use crate::mirror::Mirror;
use crate::observer::{Activity, Observer, RepeatTap, RunEvent};
use crate::request::RunRequest;
use crate::shared::SharedTarget;
use crate::shared_pool::SharedPool;
use crate::stop::StopRequests;

/// The state of the brokers at the end of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterHealth {
    /// All answered.
    Sound,
    /// Connections were lost, or a broker did not answer.
    Doubtful,
    /// No partition had a leader that answers.
    Gone,
}

/// A run in progress.
pub(crate) struct Session<'a> {
    pub(crate) request: &'a RunRequest<'a>,
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) folder: &'a mut RunFolder,
    /// Sees the slices of repeats.
    pub(crate) slice_tap: Option<RepeatTap>,
    pub(crate) stopping: StopRequests,
    pub(crate) target: SharedTarget,
    /// The kind of the target.
    pub(crate) kind: TargetKind,
    /// The connection settings of the target.
    pub(crate) client: ClientConfig,
    /// How many brokers it has.
    pub(crate) nodes: usize,
    pub(crate) cluster: Cluster,
    /// The second cluster, where the trial wants one.
    pub(crate) mirror: Option<Mirror>,
    /// Starts the next cluster.
    pub(crate) clusters: Clusters<'a>,
    pub(crate) topics: TopicGuard,
    /// Whether the brokers have had load of the trials' kind.
    pub(crate) is_warm: bool,
    /// The target's processes on this machine.
    pub(crate) target_processes: Vec<WatchedProcess>,
    /// The folders on this machine with its data.
    pub(crate) data_dirs: Vec<PathBuf>,
    /// Keeps their disks from getting full.
    pub(crate) disk_guard: DiskGuard,
    /// Metrics endpoints that the user named.
    pub(crate) metrics: Vec<MetricsAddress>,
    /// The programs of other clients that flows name.
    pub(crate) drivers: Vec<(Driver, DriverProgram)>,
    /// The processes that generate the load; none: this one.
    pub(crate) agents: Option<SharedPool>,
    /// What the flows do at full speed.
    pub(crate) ceilings: Ceilings,
    /// The state of the brokers at the end of the last load.
    pub(crate) health: ClusterHealth,
    /// The checkup that the run makes, if it is one.
    pub(crate) checkup: Option<ActiveCheckup>,
}

impl Session<'_> {
    /// Reports a remark for the user to the observer.
    pub(crate) fn remark(&mut self, message: &str) {
        self.observer.observe(&RunEvent::Remark(message));
    }

    /// Reports an activity between loads to the observer.
    pub(crate) fn report(&mut self, activity: &Activity) {
        self.observer.observe(&RunEvent::Activity(activity));
    }

    /// Records an event. If the folder cannot be written any more, its slices end the run.
    pub(crate) fn event(&self, at: Option<(RepeatKey, u64)>, kind: EventKind) {
        let _ = self.folder.events().write(&event(at, kind));
    }

    /// Keeps what the searches have found so far.
    pub(crate) fn write_search(&self, record: &SearchRecord) -> Result<(), RunError> {
        self.folder.write_search(record).or_unwritable()
    }

    /// A label for what the run makes on the cluster: an earlier attempt may have left its own.
    pub(crate) fn label(&self, label: &str) -> String {
        match self.clusters.attempt {
            0 => label.to_owned(),
            attempt => format!("{label}-again-{attempt}"),
        }
    }

    /// Creates a topic like that of a trial. `more` is a setting that only this one gets.
    pub(crate) fn create_topic(
        &mut self,
        label: &str,
        trial: &Trial,
        more: Option<(&str, String)>,
    ) -> Result<String, RunError> {
        let mut configs: Vec<(String, String)> = trial.topic.config.clone().into_iter().collect();
        configs.extend(more.map(|(key, value)| (key.to_owned(), value)));
        let wish = TopicWish {
            label: self.label(label),
            partitions: i32::try_from(trial.topic.partitions).unwrap_or(i32::MAX),
            replication_factor: i16::try_from(trial.topic.replication).unwrap_or(i16::MAX),
            configs,
        };
        let made = self.topics.create(&mut self.cluster, &wish);
        made.map_err(|error| {
            let words = with_fix(&error, error.fix());
            RunError::cluster(self.death().unwrap_or(words))
        })
    }

    /// Why no load can go on: the target is gone, its disks would be full, or a cluster of others is not healthy.
    pub(crate) fn target_trouble(&self) -> Option<String> {
        let disk = || self.disk_guard.check(&self.data_dirs);
        let health = || self.checkup.as_ref().and_then(ActiveCheckup::trouble);
        self.death().or_else(disk).or_else(health)
    }

    /// The message of a target that has ended. Not checked while a fault is being injected.
    pub(crate) fn death(&self) -> Option<String> {
        let mirror = || self.mirror.as_ref().and_then(Mirror::death);
        self.target.death().or_else(mirror)
    }
}
