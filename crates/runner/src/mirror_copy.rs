//! The copy of each repeat's topic on the second cluster of a run.

use std::time::{Duration, Instant};

use kgauge_client::Cluster;
use kgauge_load::{CopySetup, PreloadError};
use kgauge_results::run::{EventKind, FlowRecord, MirrorRecord, TargetNote};
use kgauge_scenario::{FlowPlan, Plan, Preload, Trial};

use crate::error::{OrRunError, RunError};
use crate::mirror::Mirror;
use crate::observer::Activity;
use crate::outages::preload_watched;
use crate::session::Session;

/// How long a replicator may take to find a new topic, and how long a copy may stop growing.
const COPY_TIME_MAX: Duration = Duration::from_secs(120);

/// The pause between two requests for the end offsets of the copy.
const LOOK: Duration = Duration::from_millis(50);

/// The copy of a repeat's topic.
#[derive(Debug, Clone)]
pub(crate) struct Copy {
    topic: String,
    /// Where it ended before the load.
    before: Vec<i64>,
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
    match preload_watched(session, trial, (topic, &probes), |_, _| {}) {
        Ok(_) => {}
        Err(PreloadError::Interrupted { .. }) => return Ok(None),
        Err(_) if session.stopping.is_wanted() => return Ok(None),
        Err(error) => return Err(RunError::cluster(error)),
    }
    // Its own topic has nothing in it but this run's: all of it has to be there.
    let written = session.cluster.end_offsets(topic).or_target_failed("")?;
    let written_records: i64 = written.iter().sum();
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
        if copied >= written_records {
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
        cached: true,
    })
}

fn not_copied(mirror: &Mirror, copy: &str, ends: &[i64]) -> String {
    let stays = match (mirror.is_ours, ends) {
        (false, [_, ..]) => "\n  the copy remains: kgauge deletes only what it created",
        _ => "",
    };
    let what = match ends {
        [] => format!("there is no topic {copy} at the destination"),
        _ => format!("topic {copy} at the destination lacks records"),
    };
    let waited = COPY_TIME_MAX.as_secs();
    let cure = match mirror.maker() {
        Some(maker) => format!("see {}\n{}", maker.log_file().display(), maker.last_words()),
        None => "check that your replicator runs, that it copies topics whose names begin with \
                 kgauge-, and how it names the copies (target.mirror.topic)"
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
    /// Takes one sample in the hold.
    pub(crate) fn sample(&mut self, behind: &[Option<u64>]) {
        self.most.resize(behind.len(), 0);
        for (most, records) in self.most.iter_mut().zip(behind) {
            *most = (*most).max(records.unwrap_or(0));
        }
    }
}

/// Records the state of the copy.
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
    // Brokers count records per topic, not per flow.
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

/// Deletes the copy of a topic that is deleted, where kgauge started the cluster. On an existing cluster the copy
/// stays, with a warning.
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
            "kept topic {} at the destination: kgauge deletes only what it created",
            copy.topic
        ),
    };
    session.remark(&text);
    session.event(None, EventKind::Warning { text });
}

/// Notes on the figures of trials with a second cluster.
pub(crate) fn note(plan: &Plan) -> Option<TargetNote> {
    let mirrored = plan
        .trials
        .iter()
        .filter(|trial| trial.cluster.mirror.is_some());
    let mut scenarios: Vec<String> = mirrored.map(|trial| trial.scenario.clone()).collect();
    scenarios.dedup();
    (!scenarios.is_empty()).then_some(TargetNote::Mirrored { scenarios })
}
