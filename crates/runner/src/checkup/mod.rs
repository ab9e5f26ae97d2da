//! A checkup in progress: the facts about its cluster, the parts that are left, and the guard over the cluster's
//! health.

mod lengths;
mod limits;
mod preview;
mod request;
mod scenarios;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use kgauge_analyze::search::ReadingKind;
use kgauge_analyze::summary::recorded_search;
use kgauge_client::{ClientConfig, Cluster, ClusterError};
use kgauge_observe::{ClusterWatch, HealthLimits, HealthTap, census};
use kgauge_report::text::checkup as words;
use kgauge_results::RunFolder;
use kgauge_results::run::{
    CheckupPart, CheckupRecord, ClusterCensus, HealthStop, LimitedLoad, SearchRecord, SkipCause,
    SkippedPart,
};
use kgauge_scenario::{Plan, RepeatStep, TargetKind, run_order};
use kgauge_target::TargetFacts;

use crate::error::{OrRunError, RunError};
use crate::fit::drop_unsupported;
use crate::question::{Question, ScenarioChanges};
use crate::session::Session;

use lengths::PartLengths;
use limits::{LimitBasis, RATE_MIN, setting};
use scenarios::ScenarioBasis;

pub use preview::CheckupPreview;
pub use request::CheckupRequest;

/// Of full speed, what is taken for the capacity if the search found no lower bound.
const FALLBACK_PART: f64 = 0.25;
/// How long the last look at the cluster may take.
const LAST_CENSUS_MAX: Duration = Duration::from_secs(10);

/// A checkup in progress.
pub(crate) struct ActiveCheckup {
    request: CheckupRequest,
    facts: TargetFacts,
    record: CheckupRecord,
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
    free_bytes: Option<u64>,
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
        },
    )?;
    let parts = CheckupPart::ALL.into_iter();
    let mut checkup = ActiveCheckup {
        request: request.clone(),
        facts: facts.clone(),
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

    /// The next part that fits into the budget and into the cluster.
    fn next_part(&mut self, capacity: Option<f64>) -> Option<CheckupPart> {
        let lengths = PartLengths::of(self.request.budget);
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

    fn text(&self, part: CheckupPart, capacity: f64, client_id: &str) -> String {
        let limits = &self.record.limits;
        let min_insync: Option<u32> = setting(&self.record.before, "min.insync.replicas");
        scenarios::text(
            part,
            &ScenarioBasis {
                goal: &self.request.goal,
                limits,
                lengths: PartLengths::of(self.request.budget),
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

/// The rate that keeps the goal, or what is taken for it; `None` if that is too small for shares of it.
fn capacity(plan: &Plan, record: &SearchRecord) -> Option<f64> {
    let run = record.searches.first()?;
    let search = plan.trials.get(run.trial as usize)?.search.as_ref()?;
    let found = recorded_search(run, search);
    let lower = found.and_then(|found| found.bounds(ReadingKind::Strict).lower);
    let rate = lower.or_else(|| run.start.map(|start| start.full_speed * FALLBACK_PART));
    // Shares of less would be the same rate.
    rate.filter(|rate| *rate >= RATE_MIN)
}

/// Adds the trials of the next part to the plan; none if all parts are done, or if this run is no checkup.
pub(crate) fn next_steps(
    session: &mut Session<'_>,
    plan: &mut Plan,
    record: &SearchRecord,
) -> Result<Vec<RepeatStep>, RunError> {
    let Some(mut checkup) = session.checkup.take() else {
        return Ok(Vec::new());
    };
    let steps = add_part(&mut checkup, session, plan, record);
    let written = session.folder.write_checkup(&checkup.record);
    session.checkup = Some(checkup);
    written.or_unwritable()?;
    steps
}

fn add_part(
    checkup: &mut ActiveCheckup,
    session: &mut Session<'_>,
    plan: &mut Plan,
    record: &SearchRecord,
) -> Result<Vec<RepeatStep>, RunError> {
    let capacity = capacity(plan, record);
    let Some(part) = checkup.next_part(capacity) else {
        return Ok(Vec::new());
    };
    let name = part.scenario();
    let text = checkup.text(part, capacity.unwrap_or(0.0), &session.client.client_id);
    let question = Question::of_text(name, &text, &ScenarioChanges::default());
    let question = question
        .map_err(|error| RunError::Defect(format!("scenario {name} of the checkup: {error}")))?;
    let first = plan.trials.len();
    for (index, mut trial) in question.trials.into_iter().enumerate() {
        trial.index = u32::try_from(first + index).unwrap_or(u32::MAX);
        plan.trials.push(trial);
    }
    drop_unsupported(plan, &checkup.facts, &mut session.cluster)?;
    session.folder.write_scenario(name, &text).or_unwritable()?;
    session.folder.write_plan(plan).or_unwritable()?;
    Ok(run_order(&plan.trials[first..], plan.seed))
}

/// Ends the guard, reads the cluster for the last time, and writes down what was found.
pub(crate) fn finish(session: &mut Session<'_>) -> Result<(), RunError> {
    let Some(mut checkup) = session.checkup.take() else {
        return Ok(());
    };
    if let Some(mut watch) = checkup.watch.take() {
        watch.end();
        checkup.record.round_trips = watch.round_trips();
    }
    if !session.stopping.is_wanted() && session.death().is_none() {
        session.cluster.set_time_limit(Some(LAST_CENSUS_MAX));
        checkup.record.after = census(&mut session.cluster).ok();
        session.cluster.set_time_limit(None);
    }
    session
        .folder
        .write_checkup(&checkup.record)
        .or_unwritable()
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
