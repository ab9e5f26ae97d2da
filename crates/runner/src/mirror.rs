//! The second cluster of a run, what copies to it, and the copy of each repeat's topic there.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kgauge_client::{ClientConfig, Cluster, Interrupt};
use kgauge_load::{CopySetup, PreloadError, preload};
use kgauge_observe::WatchedProcess;
use kgauge_results::run::{EventKind, FlowRecord, MirrorRecord, Subject};
use kgauge_scenario::{ClusterNeeds, FlowPlan, MirrorNeeds, Plan, Preload, Replicator, Trial};
use kgauge_target::kafka::{KafkaSetup, MirrorEnd, MirrorMaker, MirrorSetup};
use kgauge_target::{Target, TargetSpec};

use crate::clusters::Clusters;
use crate::cpu::CpuTrack;
use crate::error::{OrRunError, RunError, with_fix};
use crate::host::TARGET_LOGS;
use crate::observer::Activity;
use crate::processes;
use crate::session::Session;
use crate::shared::SharedTarget;
use crate::stop::StopRequests;

/// How long a replicator may take to find a new topic, and between two looks at a copy that grows.
const COPY_TIME_MAX: Duration = Duration::from_secs(120);

/// How often the copy is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Replicas of a copy, if the destination has brokers enough: Kafka's usual number.
const REPLICATION_MAX: u32 = 3;

/// The second cluster, and what copies to it.
pub(crate) struct Mirror {
    /// Ends before the clusters do.
    maker: Option<Mutex<MirrorMaker>>,
    destination: SharedTarget,
    client: ClientConfig,
    cluster: Cluster,
    needs: MirrorNeeds,
    /// Whether kgauge started the destination, and may delete copies on it.
    is_ours: bool,
    /// Whether the replicator had not brought everything of the last repeat.
    is_lagging: bool,
}

/// The copy of a repeat's topic.
#[derive(Debug, Clone)]
pub(crate) struct Copy {
    topic: String,
    /// Where it ended before the load.
    before: Vec<i64>,
}

impl Mirror {
    /// Starts the destination, if it is kgauge's to start, and MirrorMaker, if that is to copy.
    pub(crate) fn start(
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

    fn maker(&self) -> Option<MutexGuard<'_, MirrorMaker>> {
        let maker = self.maker.as_ref()?;
        Some(maker.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The words of whichever of them is gone.
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

    /// From now on questions to the destination end with this.
    pub(crate) fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.cluster.set_interrupt(interrupt);
    }

    /// Looks at what the replicator uses, if it is kgauge's.
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

    fn replicator(&self) -> String {
        match self.needs.replicator {
            Replicator::MirrorMaker2 => "MirrorMaker 2 (4.3.1)".to_owned(),
            Replicator::None => "the user's replicator".to_owned(),
        }
    }
}

/// Kafka's usual number of replicas, where there are brokers enough.
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

/// Writes a record to each partition of a new topic, and waits until the replicator has brought them all:
/// from then on the load is not measured against its start. `None` when the user stopped it.
pub(crate) fn await_copy(
    session: &mut Session<'_>,
    trial: &Trial,
    topic: &str,
) -> Result<Option<Copy>, RunError> {
    let Some(mirror) = &mut session.mirror else {
        return Ok(None);
    };
    let copy = mirror.needs.copy_of(topic);
    let ends = |cluster: &mut Cluster| cluster.end_offsets(&copy).unwrap_or_default();
    let before: i64 = ends(&mut mirror.cluster).iter().sum();
    let Some(probes) = probes(trial) else {
        return Ok(None);
    };
    session.report(&Activity::AwaitingReplicator);
    let interrupt = session.stopping.load.clone();
    let wrote = preload(
        topic,
        &trial.topic,
        &probes,
        &session.client,
        &interrupt,
        |_| {},
    );
    match wrote {
        Ok(_) => {}
        Err(PreloadError::Interrupted { .. }) => return Ok(None),
        Err(_) if session.stopping.is_wanted() => return Ok(None),
        Err(error) => return Err(RunError::cluster(error)),
    }
    // Its own topic has nothing in it but this run's: all of it has to be there.
    let written = session.cluster.end_offsets(topic).or_target_failed("")?;
    let wanted: i64 = written.iter().sum();
    let (mut seen, mut since) = (before, Instant::now());
    loop {
        if session.stopping.is_wanted() {
            return Ok(None);
        }
        if let Some(death) = session.death() {
            return Err(RunError::cluster(death));
        }
        let Some(mirror) = &mut session.mirror else {
            return Ok(None);
        };
        // A copy that is not there yet has no ends.
        let ends = ends(&mut mirror.cluster);
        let copied: i64 = ends.iter().sum();
        if copied >= wanted {
            return Ok(Some(Copy {
                topic: copy,
                before: ends,
            }));
        }
        if copied > seen {
            (seen, since) = (copied, Instant::now());
        }
        if since.elapsed() >= COPY_TIME_MAX {
            let words = not_copied(mirror, &copy, &ends);
            return Err(RunError::cluster(words));
        }
        std::thread::sleep(LOOK);
    }
}

/// A record for each partition, like those of the flow that is read back.
fn probes(trial: &Trial) -> Option<Preload> {
    let record = trial.flows.iter().find_map(|flow| match flow {
        FlowPlan::Echo(flow) => Some(flow.produce.record.clone()),
        FlowPlan::Produce(_) | FlowPlan::Consume(_) => None,
    });
    Some(Preload {
        records: u64::from(trial.topic.partitions),
        record: record?,
    })
}

fn not_copied(mirror: &Mirror, copy: &str, ends: &[i64]) -> String {
    let stays = match (mirror.is_ours, ends) {
        (false, [_, ..]) => "\n  the copy stays there: kgauge deletes only what it has made",
        _ => "",
    };
    let what = match ends {
        [] => format!("there is no topic {copy} at the destination"),
        _ => format!("topic {copy} at the destination lacks records"),
    };
    let waited = COPY_TIME_MAX.as_secs();
    let cure = match mirror.maker() {
        Some(maker) => format!("look into {}\n{}", maker.log_file().display(), maker.last_words()),
        None => "see that your replicator runs, that it takes topics whose names begin with kgauge-, and what it \
                 calls their copies (target.mirror.topic)"
            .to_owned(),
    };
    format!("{what}, and none came for {waited} s\n  {cure}{stays}")
}

impl Copy {
    /// Where echo flows read.
    pub(crate) fn setup<'a>(&'a self, mirror: &'a Mirror) -> CopySetup<'a> {
        CopySetup {
            topic: &self.topic,
            client: &mirror.client,
        }
    }
}

/// How far echo flows were behind what they wrote at most, for each flow of a trial.
#[derive(Debug, Default, Clone)]
pub(crate) struct EchoDelay {
    most: Vec<u64>,
}

impl EchoDelay {
    /// Looks once, in the hold.
    pub(crate) fn sample(&mut self, behind: &[Option<u64>]) {
        self.most.resize(behind.len(), 0);
        for (most, records) in self.most.iter_mut().zip(behind) {
            *most = (*most).max(records.unwrap_or(0));
        }
    }
}

/// Writes down what became of the copy.
pub(crate) fn record(
    session: &mut Session<'_>,
    copy: Option<&Copy>,
    outcome: &kgauge_load::LoadOutcome,
    seen: (&EchoDelay, Option<u64>),
    flows: &mut [FlowRecord],
) {
    let (Some(copy), Some(mirror)) = (copy, &mut session.mirror) else {
        return;
    };
    let (behind, replicator_cpu_ns) = seen;
    let is_alone = outcome
        .flows
        .iter()
        .filter(|flow| flow.totals.acked > 0)
        .count()
        <= 1;
    let missing: u64 = outcome
        .flows
        .iter()
        .filter_map(|flow| flow.copy)
        .map(|one| one.missing)
        .sum();
    // It holds records for the copy still, and would write them into a topic of that name.
    mirror.is_lagging = missing > 0;
    let after = mirror.cluster.end_offsets(&copy.topic).ok();
    // What several flows wrote is not told apart by its brokers.
    let counted = after.filter(|_| is_alone).and_then(|after| {
        let grown = after.iter().sum::<i64>() - copy.before.iter().sum::<i64>();
        u64::try_from(grown).ok()
    });
    for (index, (flow, record)) in outcome.flows.iter().zip(flows).enumerate() {
        let Some(tally) = flow.copy else { continue };
        record.mirror = Some(MirrorRecord {
            replicator: mirror.replicator(),
            topic: copy.topic.clone(),
            acked: flow.totals.acked,
            missing: tally.missing,
            doubled: tally.doubled,
            unsure: flow.totals.failed + flow.totals.indeterminate,
            counted,
            behind_records_max: behind.most.get(index).copied().unwrap_or_default(),
            caught_up_ns: (tally.missing == 0)
                .then(|| tally.last_read_ns.saturating_sub(outcome.hold_end_ns)),
            replicator_cpu_ns,
        });
    }
}

/// Deletes the copy of a topic that is deleted, where kgauge started the cluster. On somebody else's it stays,
/// and that is said.
pub(crate) fn delete(session: &mut Session<'_>, copy: &Copy) {
    let Some(mirror) = &mut session.mirror else {
        return;
    };
    // It goes with its cluster.
    if mirror.is_ours && mirror.is_lagging {
        return;
    }
    let text = match mirror.is_ours {
        true => match mirror.cluster.delete_topic(&copy.topic) {
            Ok(()) => return,
            Err(error) => error.to_string(),
        },
        false => format!(
            "topic {} stays at the destination: kgauge deletes only what it has made",
            copy.topic
        ),
    };
    session.remark(&text);
    session.event(None, EventKind::Warning { text });
}

/// What a reader of the figures must know of trials with a second cluster.
pub(crate) fn note(plan: &Plan) -> Option<String> {
    let mirrored = plan
        .trials
        .iter()
        .filter(|trial| trial.cluster.mirror.is_some());
    let mut names: Vec<&str> = mirrored.map(|trial| trial.scenario.as_str()).collect();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!(
            "In {} echo flows write to the target and read the copy that a replicator makes on a second cluster: their \
             end-to-end times are those of the way through both.",
            names.join(", ")
        )
    })
}
