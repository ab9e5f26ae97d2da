//! A checkup in progress: the facts about its cluster, the parts that are left, and the guard over the cluster's
//! health.

mod lengths;
mod limits;
mod preview;
mod request;
mod scenarios;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use kgauge_client::{ClientConfig, Cluster, ClusterError};
use kgauge_observe::{ClusterWatch, HealthLimits, HealthTap, census};
use kgauge_report::text::checkup as words;
use kgauge_results::RunFolder;
use kgauge_results::run::{
    CheckupPart, CheckupRecord, ClusterCensus, HealthStop, LimitedLoad, SkipCause, SkippedPart,
};
use kgauge_scenario::TargetKind;
use kgauge_target::TargetFacts;

use crate::error::{OrRunError, RunError};

use lengths::PartLengths;
use limits::{LimitBasis, setting};

pub(crate) use limits::RATE_MIN;
use scenarios::ScenarioBasis;

pub use preview::CheckupPreview;
pub use request::{CheckupRequest, CheckupTexts};

/// A checkup in progress.
pub(crate) struct ActiveCheckup {
    request: CheckupRequest,
    /// What is known of the target.
    pub(crate) facts: TargetFacts,
    /// Whether kgauge can drop records from the brokers' page cache.
    reads_disk: bool,
    /// What is found so far.
    pub(crate) record: CheckupRecord,
    /// The parts that are left, after the first.
    parts: VecDeque<CheckupPart>,
    started: Instant,
    watch: Option<ClusterWatch>,
    /// Whether others use the cluster, so that its health matters more than the figures.
    is_guarded: bool,
}

/// Reads the facts about the cluster and decides the limits, before anything is created.
///
/// # Errors
/// The cluster cannot be read, its topics could not be deleted, or there is too little disk for any load.
pub(crate) fn begin(
    request: &CheckupRequest,
    cluster: &mut Cluster,
    facts: &TargetFacts,
    (free_bytes, reads_disk): (Option<u64>, bool),
) -> Result<ActiveCheckup, RunError> {
    let before = census(cluster).map_err(|error| unreadable(&error))?;
    check_deletion(&before)?;
    let limits = limits::limits(
        request,
        LimitBasis {
            census: &before,
            kind: facts.kind,
            same_machine: facts.same_machine == Some(true),
            free_bytes,
            reads_disk,
        },
    )?;
    let parts = CheckupPart::ALL.into_iter();
    let mut checkup = ActiveCheckup {
        request: request.clone(),
        facts: facts.clone(),
        reads_disk,
        record: CheckupRecord {
            goal: request.goal.clone(),
            limits,
            before,
            after: None,
            round_trips: Vec::new(),
            skipped: Vec::new(),
            limited_loads: Vec::new(),
            stop: None,
        },
        parts: parts.filter(|part| *part != CheckupPart::Idle).collect(),
        started: Instant::now(),
        watch: None,
        is_guarded: facts.kind == TargetKind::Existing,
    };
    if checkup.is_guarded {
        checkup.leave_out_loads();
    }
    Ok(checkup)
}

fn unreadable(error: &ClusterError) -> RunError {
    match error.is_interruption() {
        true => RunError::interrupted("stopped before the checkup began"),
        false => RunError::cluster(format!("{error}\n  {}", error.fix())),
    }
}

/// Topics that cannot be deleted would stay.
fn check_deletion(census: &ClusterCensus) -> Result<(), RunError> {
    let is_disabled = setting::<bool>(census, "delete.topic.enable") == Some(false);
    match is_disabled {
        true => Err(RunError::cluster(
            "the cluster does not allow the deletion of topics, so those of the checkup would stay\n  \
             set delete.topic.enable=true on the brokers, or read the facts only: --dry-run",
        )),
        false => Ok(()),
    }
}

impl ActiveCheckup {
    /// Leaves all parts out if the cluster is not healthy before any load.
    fn leave_out_loads(&mut self) {
        self.record.stop = ill_before(&self.record.before);
        if self.may_load() {
            return;
        }
        let parts = CheckupPart::ALL.into_iter();
        let skipped = parts.map(|part| SkippedPart {
            part,
            why: SkipCause::Unhealthy,
        });
        self.record.skipped = skipped.collect();
        self.parts.clear();
    }

    /// Whether loads may run: nothing is wrong with the cluster.
    pub(crate) fn may_load(&self) -> bool {
        self.record.stop.is_none()
    }

    /// Writes down what is known, and starts the guard if loads may run.
    pub(crate) fn open(
        &mut self,
        client: &ClientConfig,
        folder: &RunFolder,
    ) -> Result<(), RunError> {
        folder.write_checkup(&self.record).or_unwritable()?;
        if !self.may_load() {
            return Ok(());
        }
        let limits = self.is_guarded.then_some(HealthLimits::DEFAULT);
        let watch = ClusterWatch::start(client.clone(), limits, &self.record.before);
        let watch = watch.map_err(|error| {
            RunError::system("cannot start the thread that watches the cluster", &error)
        })?;
        self.watch = Some(watch);
        Ok(())
    }

    /// What it will do, as shown before it begins.
    pub(crate) fn announcement(&self) -> String {
        match &self.record.stop {
            Some(stop) => words::no_load(stop),
            None => words::announcement(&self.record.before, &self.record.limits, self.is_guarded),
        }
    }

    /// A load of this trial begins, or has ended.
    pub(crate) fn set_trial(&self, trial: Option<u32>) {
        if let Some(watch) = &self.watch {
            watch.set_trial(trial);
        }
    }

    /// Takes the evidence of loads.
    pub(crate) fn tap(&self) -> Option<HealthTap> {
        self.watch.as_ref().map(ClusterWatch::tap)
    }

    fn stop_cause(&self) -> Option<HealthStop> {
        self.watch.as_ref()?.stop_cause()
    }

    /// Why no load may go on, as a message.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.stop_cause().map(|stop| words::stop_message(&stop))
    }

    /// Whether a load was too much for a broker, and nothing else is wrong.
    pub(crate) fn was_too_much(&self) -> bool {
        matches!(self.stop_cause(), Some(HealthStop::HandlersBusy { .. }))
    }

    /// Notes a load of the search that was too much, so that the search can go on below it.
    pub(crate) fn note_too_much(&mut self, trial: u32) {
        if let Some(cause) = self.stop_cause() {
            self.record.limited_loads.push(LimitedLoad { trial, cause });
        }
        self.forget_stop();
    }

    /// Forgets a sign that came too late to end its load.
    pub(crate) fn forget_stop(&self) {
        if let Some(watch) = &self.watch {
            watch.forget_stop();
        }
    }

    /// Whether the health of the cluster ended the load for good.
    pub(crate) fn is_over(&mut self) -> bool {
        let stop = self.stop_cause();
        if let Some(stop) = stop {
            self.record.stop.get_or_insert(stop);
            self.parts.clear();
        }
        self.record.stop.is_some()
    }

    /// Ends the guard.
    pub(crate) fn end_watch(&mut self) {
        if let Some(mut watch) = self.watch.take() {
            watch.end();
            self.record.round_trips = watch.round_trips();
        }
    }

    fn lengths(&self) -> PartLengths {
        PartLengths::of(self.request.budget, self.reads_disk)
    }

    /// The next part that fits into the budget and into the cluster.
    pub(crate) fn next_part(&mut self, capacity: Option<f64>) -> Option<CheckupPart> {
        let lengths = self.lengths();
        while let Some(part) = self.parts.pop_front() {
            let needed = Duration::from_secs(lengths.seconds(part));
            let brokers = self.facts.brokers.len();
            let why = if part != CheckupPart::Capacity && capacity.is_none() {
                SkipCause::NoRate
            } else if matches!(part, CheckupPart::Acks | CheckupPart::Replication) && brokers < 2 {
                SkipCause::OneBroker
            } else if self.started.elapsed() + needed > self.request.budget {
                SkipCause::Budget
            } else {
                return Some(part);
            };
            self.record.skipped.push(SkippedPart { part, why });
        }
        None
    }

    /// The scenario of a part.
    pub(crate) fn text(&self, part: CheckupPart, capacity: f64, client_id: &str) -> String {
        let limits = &self.record.limits;
        let min_insync: Option<u32> = setting(&self.record.before, "min.insync.replicas");
        scenarios::text(
            part,
            &ScenarioBasis {
                goal: &self.request.goal,
                limits,
                lengths: self.lengths(),
                producers: self.request.producers,
                brokers: u32::try_from(self.facts.brokers.len()).unwrap_or(u32::MAX),
                client_id,
                min_insync: min_insync
                    .filter(|least| *least > u32::from(limits.replication))
                    .map(|_| u32::from(limits.replication)),
                capacity,
            },
        )
    }
}

/// What is wrong with a cluster before any load.
fn ill_before(census: &ClusterCensus) -> Option<HealthStop> {
    if census.offline > 0 {
        return Some(HealthStop::Offline {
            partitions: census.offline,
            before: census.offline,
        });
    }
    if census.under_replicated > 0 {
        return Some(HealthStop::UnderReplicated {
            partitions: census.under_replicated,
            before: census.under_replicated,
        });
    }
    HealthLimits::DEFAULT.full_disk(census)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_problem_before_any_load_is_the_one_that_counts() {
        let mut census = ClusterCensus::default();
        assert_eq!(ill_before(&census), None);
        census.under_replicated = 3;
        let expected = HealthStop::UnderReplicated {
            partitions: 3,
            before: 3,
        };
        assert_eq!(ill_before(&census), Some(expected));
        census.offline = 1;
        assert!(matches!(
            ill_before(&census),
            Some(HealthStop::Offline { .. })
        ));
    }

    #[test]
    fn a_cluster_that_cannot_delete_topics_gets_none() {
        let broker = |value: &str| ClusterCensus {
            brokers: vec![kgauge_results::run::BrokerCensus {
                settings: [("delete.topic.enable".to_owned(), value.to_owned())].into(),
                ..Default::default()
            }],
            ..ClusterCensus::default()
        };
        assert!(check_deletion(&broker("true")).is_ok());
        assert!(check_deletion(&ClusterCensus::default()).is_ok());
        assert!(check_deletion(&broker("false")).is_err());
    }
}
