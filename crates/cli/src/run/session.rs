//! What all parts of a run share: the target, the folder, the topics that were made, the way to stop.

use std::path::PathBuf;
use std::sync::Arc;

use kgauge_client::{ClientConfig, Cluster};
use kgauge_load::DriverProgram;
use kgauge_observe::{UserSpeed, WatchedProcess};
use kgauge_results::RunFolder;
use kgauge_results::run::{EventKind, RepeatKey};
use kgauge_scenario::{Driver, TargetKind};
use kgauge_target::TopicGuard;

use super::ceilings::Ceilings;
use super::clusters::Clusters;
use super::disk_space::DiskGuard;
use super::metrics::MetricsAddress;
use super::mirror::Mirror;
use super::repeat::event;
use super::shared::SharedTarget;
use crate::interrupt::StopRequests;
use crate::live::LiveRunState;
use crate::progress::ProgressLine;

/// How the brokers looked at the end of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClusterHealth {
    /// All answered.
    Sound,
    /// Connections were lost, or a broker did not answer.
    Doubtful,
    /// No partition had a leader that answers.
    Gone,
}

/// A run that is going on.
pub(crate) struct Session {
    pub(crate) target: SharedTarget,
    /// The second cluster, where the trial wants one.
    pub(super) mirror: Option<Mirror>,
    /// What starts the next one.
    pub(super) clusters: Clusters,
    /// What kind of target it is.
    pub(crate) kind: TargetKind,
    /// How it is reached.
    pub(crate) client: ClientConfig,
    /// How many brokers it has.
    pub(crate) nodes: usize,
    pub(crate) cluster: Cluster,
    pub(crate) folder: RunFolder,
    pub(crate) topics: TopicGuard,
    pub(crate) stopping: StopRequests,
    pub(crate) progress: ProgressLine,
    /// Where the run shows itself, if anybody can see it.
    pub(crate) board: Option<Arc<LiveRunState>>,
    pub(crate) keep: bool,
    /// The brokers have had load of the trials' kind.
    pub(super) is_warm: bool,
    /// Brokers are asked about the run's topic while trials run.
    pub(crate) asks_brokers: bool,
    /// The target's processes on this machine.
    pub(crate) target_processes: Vec<WatchedProcess>,
    /// The folders on this machine with its data.
    pub(crate) data_dirs: Vec<PathBuf>,
    /// Keeps their disks from getting full.
    pub(super) disk_guard: DiskGuard,
    /// How fast network interfaces are, as the user says.
    pub(crate) speeds: Vec<UserSpeed>,
    /// Where brokers tell their metrics, as the user says.
    pub(super) metrics: Vec<MetricsAddress>,
    /// The programs of other clients that flows name.
    pub(crate) drivers: Vec<(Driver, DriverProgram)>,
    /// What its flows do at full speed.
    pub(crate) ceilings: Ceilings,
    /// How often this run was resumed: part of the names of topics, since an earlier attempt may have left some.
    pub(crate) attempt: u32,
    /// How the brokers looked at the end of the last load.
    pub(super) health: ClusterHealth,
    /// The topic that the user allowed to be used as it is.
    pub(crate) existing_topic: Option<String>,
}

impl Session {
    /// Keeps an event. A folder that takes none any more ends the run through its slices.
    pub(crate) fn event(&self, at: Option<(RepeatKey, u64)>, kind: EventKind) {
        let _ = self.folder.events().write(&event(at, kind));
    }

    /// A label for what the run makes on the cluster: an earlier attempt may have left its own.
    pub(crate) fn label(&self, label: &str) -> String {
        match self.attempt {
            0 => label.to_owned(),
            attempt => format!("{label}-again-{attempt}"),
        }
    }

    /// Why no load can go on: the target is gone, or its disks would be full.
    pub(crate) fn target_trouble(&self) -> Option<String> {
        let disk = || self.disk_guard.check(&self.data_dirs);
        self.death().or_else(disk)
    }

    /// The words of a target that is gone. While something is done to it, it is not looked at.
    pub(crate) fn death(&self) -> Option<String> {
        let mirror = || self.mirror.as_ref().and_then(Mirror::death);
        self.target.death().or_else(mirror)
    }
}
