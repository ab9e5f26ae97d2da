//! The second cluster of a run, and what copies to it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_observe::WatchedProcess;
use kgauge_results::run::Subject;
use kgauge_scenario::{ClusterNeeds, MirrorNeeds, Replicator};
use kgauge_target::kafka::{KafkaSetup, MirrorEnd, MirrorMaker, MirrorSetup};
use kgauge_target::{Target, TargetSpec};

use crate::clusters::Clusters;
use crate::error::{OrRunError, RunError, with_fix};
use crate::host::TARGET_LOGS;
use crate::processes;
use crate::shared::SharedTarget;
use crate::stop::StopRequests;
use kgauge_observe::CpuTrack;

/// Replicas of a copy, if the destination has enough brokers: Kafka's usual number.
const REPLICATION_MAX: u32 = 3;

/// The second cluster, and what copies to it.
pub(crate) struct Mirror {
    /// Ends before the clusters do.
    maker: Option<Mutex<MirrorMaker>>,
    destination: SharedTarget,
    pub(crate) client: ClientConfig,
    pub(crate) cluster: Cluster,
    pub(crate) needs: MirrorNeeds,
    /// Whether kgauge started the destination, and may delete copies on it.
    pub(crate) is_ours: bool,
    /// Whether the copy of the last repeat was incomplete.
    pub(crate) is_lagging: bool,
}

impl Mirror {
    /// Starts the mirror that a trial on this cluster needs, if any.
    pub(crate) fn start_for(
        clusters: &Clusters<'_>,
        source: &Target,
        needs: &ClusterNeeds,
    ) -> Result<Option<Mirror>, RunError> {
        let start = |mirror| Mirror::start(clusters, source, (mirror, needs), clusters.stop());
        needs.mirror.as_ref().map(start).transpose()
    }

    /// Starts the destination, if it is kgauge's to start, and MirrorMaker, if that is to copy.
    fn start(
        clusters: &Clusters<'_>,
        source: &Target,
        (needs, of_target): (&MirrorNeeds, &ClusterNeeds),
        stopping: &StopRequests,
    ) -> Result<Mirror, RunError> {
        let mut spec = clusters.target().destination_for(needs, of_target)?;
        spec.without_metrics();
        let mut setup = clusters.setup(Some("destination"));
        let logs = clusters.dir.join(TARGET_LOGS);
        setup.kafka.log_dir = logs.join("destination");
        setup.embedded.log_file = clusters.dir.join("destination.log");
        let destination = Target::start(&spec, &setup, &stopping.load)?;
        let mut cluster = destination.connect(stopping.load.clone())?;
        cluster.refresh(&[]).or_target_failed("")?;
        let maker = match needs.replicator {
            Replicator::None => None,
            Replicator::MirrorMaker2 => {
                let setup = KafkaSetup {
                    log_dir: logs,
                    ..clusters.setup(Some("mirror")).kafka
                };
                let ends = (source, &destination);
                let brokers = (
                    clusters.target().spec_for(of_target)?.brokers(),
                    u32::try_from(cluster.metadata().brokers.len()).ok(),
                );
                Some(maker(clusters, ends, brokers, needs, &setup, stopping)?)
            }
        };
        Ok(Mirror {
            maker: maker.map(Mutex::new),
            client: destination.config().clone(),
            cluster,
            needs: needs.clone(),
            is_ours: !matches!(spec, TargetSpec::Existing(_)),
            destination: SharedTarget::new(destination),
            is_lagging: false,
        })
    }

    pub(crate) fn maker(&self) -> Option<MutexGuard<'_, MirrorMaker>> {
        let maker = self.maker.as_ref()?;
        Some(maker.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The message of the one that has ended.
    pub(crate) fn death(&self) -> Option<String> {
        let of_maker = self.maker().and_then(|mut maker| maker.check().err());
        let of_maker = of_maker.map(|error| with_fix(&error, error.fix()));
        of_maker.or_else(|| self.destination.death())
    }

    /// The processes of both.
    pub(crate) fn processes(&self) -> Vec<WatchedProcess> {
        let maker = self.maker().map(|maker| WatchedProcess {
            pid: maker.pid(),
            subject: Subject::Process {
                name: "MirrorMaker".to_owned(),
            },
        });
        let mut processes = processes::of_destination(self.destination.processes());
        processes.extend(maker);
        processes
    }

    /// From now on, requests to the destination end with this stop request.
    pub(crate) fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.cluster.set_interrupt(interrupt);
    }

    /// Samples the replicator's CPU time, if kgauge started it.
    pub(crate) fn cpu_track(&self) -> CpuTrack {
        CpuTrack::of(self.maker().map(|maker| maker.pid()))
    }

    /// Ends the replicator, then its destination.
    pub(crate) fn stop(mut self) -> Result<(), RunError> {
        drop(self.maker.take());
        match self.destination.take() {
            Some(destination) => Ok(destination.stop()?),
            None => Ok(()),
        }
    }

    pub(crate) fn replicator(&self) -> String {
        match self.needs.replicator {
            Replicator::MirrorMaker2 => "MirrorMaker 2 (4.3.1)".to_owned(),
            Replicator::None => "the user's replicator".to_owned(),
        }
    }
}

/// Kafka's usual number of replicas, if there are enough brokers.
fn replicas(brokers: Option<u32>) -> u16 {
    let brokers = brokers.unwrap_or(1).clamp(1, REPLICATION_MAX);
    u16::try_from(brokers).unwrap_or(1)
}

fn maker(
    clusters: &Clusters<'_>,
    (source, destination): (&Target, &Target),
    brokers: (Option<u32>, Option<u32>),
    needs: &MirrorNeeds,
    setup: &KafkaSetup,
    stopping: &StopRequests,
) -> Result<MirrorMaker, RunError> {
    fn end(target: &Target) -> MirrorEnd<'_> {
        MirrorEnd {
            config: target.config(),
            client_properties: target.client_properties(),
        }
    }
    let started = MirrorMaker::start(
        &MirrorSetup {
            source: end(source),
            destination: end(destination),
            prefix: needs.prefix(),
            topics: &format!("kgauge-{}-.*", clusters.run_id),
            source_replication: replicas(brokers.0),
            replication: replicas(brokers.1),
            settings: &needs.settings,
            setup,
        },
        &stopping.load,
    );
    started.map_err(|error| RunError::Target(error.into()))
}
