//! Makes the summary of a run folder.

mod ab;
mod ack;
mod agents;
mod blame;
mod capacity;
mod drivers;
mod flow;
mod generator;
mod groups;
mod headroom;
mod health;
mod hold;
mod latency;
mod limit;
mod little;
mod mirrors;
mod outage;
mod partitions;
mod processors;
mod repeats;
mod shares;
mod steadiness;
mod transactions;
mod trial;
mod tune;
mod tune_elsewhere;
mod unreachable;
mod verdict;
mod warnings;
mod work;

pub use ab::{moved_leaders, of_record as ab_of_record, repeat_figure};
pub use capacity::{followers_behind, recorded_search, void_cause};
pub use steadiness::{WARM_FROM_NS, is_warm};

pub(super) use repeats::flow_repeats;

use super::{
    AbSummary, AbVerdict, CapacitySummary, CountedOnBroker, DefectSummary, GoalStatus,
    RepeatSummary, RunSummary, Status, StudySummary, Summary, TargetSummary, TrialSummary,
    TuneSummary, TuneVerdict, Warning, WarningKind,
};
use kgauge_results::folder::RunRead;
use kgauge_results::run::{
    AbEnd, Anomaly, AnomalyRecord, BuildRecord, RepeatOutcome, RunStatus, SearchEnd, TargetRecord,
    TuneEnd, UncheckedCause, VerificationRecord, VoidCause,
};
use kgauge_scenario::AbKind;

pub(super) fn summary(run: &RunRead) -> Summary {
    let target = target_summary(run);
    let mut trials = trial::trials(run);
    for trial in &mut trials {
        // What a search demands of its loads, it judges itself.
        if is_of_search(run, trial) {
            trial.warnings.retain(is_about_loss);
        }
        // Tests and searches for settings decide themselves how many repeats they need.
        if run.ab.is_some() || run.tune.is_some() {
            trial.warnings.retain(|warning| !is_about_repeats(warning));
        }
    }
    let capacities = capacity::capacities(run, &trials);
    let ab = ab::test(run);
    let tune = tune::search(run, &trials);
    let status = status_of(run, &trials, &capacities, (ab.as_ref(), tune.as_ref()));
    let defects = run.defects.iter().map(|defect| DefectSummary {
        file: defect.file.clone(),
        line: defect.line,
        what: defect.what.clone(),
    });
    Summary {
        format: Summary::FORMAT,
        run: run_summary(run),
        target,
        machine: run
            .environment
            .as_ref()
            .map(|environment| environment.machine.clone()),
        exit_status: exit_status(status),
        status,
        warnings: warnings::of_run(run, &trials),
        drivers: drivers::comparisons(run.plan.as_ref(), &trials),
        partitions_needed: partitions::needed(run, &trials),
        checkup: crate::checkup::summary(run, &trials, &capacities),
        trials,
        capacities,
        ab,
        tune,
        defects: defects.collect(),
    }
}

fn run_summary(run: &RunRead) -> RunSummary {
    let plan = run.plan.as_ref();
    RunSummary {
        run_id: run.head.run_id.clone(),
        name: run.head.label.name.clone(),
        kgauge: match &run.environment {
            Some(environment) => environment.kgauge.clone(),
            None => BuildRecord {
                version: run.head.kgauge_version.clone(),
                debug: false,
            },
        },
        command: run.head.command.clone(),
        started_unix_ms: run.head.started_unix_ms,
        ended_unix_ms: run.head.ended_unix_ms,
        status: run.status,
        why: run.head.why.clone(),
        seed: plan.map(|plan| plan.seed),
        size: plan.map(|plan| {
            let word = match plan.size {
                kgauge_scenario::Size::Quick => "quick",
                kgauge_scenario::Size::Default => "default",
                kgauge_scenario::Size::Full => "full",
            };
            word.to_owned()
        }),
        price_per_hour: run.head.price_per_hour,
        study: plan.and_then(|plan| {
            plan.study.as_ref().map(|study| StudySummary {
                name: study.name.clone(),
                title: study.title.clone(),
            })
        }),
    }
}

fn target_summary(run: &RunRead) -> TargetSummary {
    let target = run
        .environment
        .as_ref()
        .map(|environment| &environment.target);
    TargetSummary {
        kind: target.map(|target| target.kind),
        address: target.and_then(TargetRecord::address),
        version: target.and_then(|target| target.version.clone()),
        cluster_id: target.and_then(|target| target.cluster_id.clone()),
        brokers: target.and_then(|target| u32::try_from(target.brokers.len()).ok()),
        same_machine: target.and_then(|target| target.same_machine),
    }
}

fn status_of(
    run: &RunRead,
    trials: &[TrialSummary],
    capacities: &[CapacitySummary],
    (ab, tune): (Option<&AbSummary>, Option<&TuneSummary>),
) -> Status {
    match run.status {
        RunStatus::Running => return Status::Running,
        RunStatus::Failed => return Status::Failed,
        RunStatus::Interrupted => return Status::Interrupted,
        RunStatus::CutShort => return Status::CutShort,
        RunStatus::Complete => {}
    }
    let (searched, trials): (Vec<&TrialSummary>, Vec<&TrialSummary>) =
        trials.iter().partition(|trial| is_of_search(run, trial));
    let repeat_failed = trials.iter().any(|trial| {
        let missing = trial.repeats_measured < trial.repeats_planned;
        let failed =
            |outcome: &Option<RepeatOutcome>| matches!(outcome, Some(RepeatOutcome::Failed { .. }));
        missing || trial.repeats.iter().any(|repeat| failed(&repeat.outcome))
    });
    // A block whose repeat failed is void, and the test goes on.
    let is_test = ab.is_some() || tune.is_some();
    let is_given_up = ab.is_some_and(has_given_up) || tune.is_some_and(search_has_given_up);
    if repeat_failed && !is_test || is_given_up {
        Status::Failed
    } else if trials
        .iter()
        .chain(&searched)
        .any(|trial| has_anomaly(trial))
    {
        Status::AnomalyFound
    } else if trials.iter().any(|trial| records_went_wrong(trial))
        || searched.iter().any(|trial| records_are_missing(trial))
    {
        Status::SendsFailed
    } else if trials.iter().any(|trial| goal_missed(trial))
        || capacities.iter().any(no_rate_holds)
        || tune.is_some_and(condition_missed)
    {
        Status::GoalMissed
    } else if trials.iter().any(|trial| goal_undecided(trial))
        || capacities.iter().any(no_rate_is_known)
        || ab.is_some_and(has_no_answer)
        || tune.is_some_and(search_has_no_answer)
    {
        Status::GoalUndecided
    } else {
        Status::Good
    }
}

fn records_went_wrong(trial: &TrialSummary) -> bool {
    let flows = trial.flows.iter().any(|flow| {
        let records = &flow.records_all_stages;
        records.failed > 0
            || records.indeterminate > 0
            || records.unresolved != 0
            || records.corrupt > 0
            || work::has_failed(flow, trial.has_faults)
            || flow
                .mirror
                .as_ref()
                .is_some_and(|mirror| mirror.missing > 0)
    });
    flows || records_are_missing(trial)
}

/// The brokers do not have what was acked.
fn records_are_missing(trial: &TrialSummary) -> bool {
    let mut counted = trial.counted.iter();
    counted.any(|counted| counted.agrees == Some(false) && !is_explained(trial, counted))
}

/// Whether the check of every record knows each record that a count misses, and the settings permit it, or a bug is
/// known to do it. What could not be checked explains nothing.
fn is_explained(trial: &TrialSummary, counted: &CountedOnBroker) -> bool {
    let missing = counted.acked.saturating_sub(counted.on_broker.unwrap_or(0));
    let explains = |record: &VerificationRecord| {
        let of_records = |cause| cause != UncheckedCause::PollsIncomplete;
        let is_checked = !record.unchecked.iter().any(|one| of_records(one.cause));
        let lost = record.anomalies.iter();
        let lost = lost.filter(|one| one.anomaly == Anomaly::LostWrite);
        let lost: u64 = lost.map(|one| one.count).sum();
        let is_known = is_checked || missing > 0 && lost >= missing;
        is_known && record.forbidden().all(|one| is_expected(trial, one))
    };
    let mut of_repeat = trial.repeats.iter();
    of_repeat
        .find(|one| one.repeat == counted.repeat)
        .and_then(|one| one.verification.as_ref())
        .is_some_and(explains)
}

/// The check of every record found what the settings forbid, or not what it is known to find.
fn has_anomaly(trial: &TrialSummary) -> bool {
    let is_forbidden = |one: &AnomalyRecord| !is_expected(trial, one);
    let has_forbidden = trial
        .checks()
        .any(|record| record.forbidden().any(is_forbidden));
    let shows_known = |record: &VerificationRecord| {
        let mut found = record.anomalies.iter();
        found.any(|one| is_expected(trial, one))
    };
    // A repeat that was cut short may have ended before the bug could show itself. Without a check, it has not.
    let lacks_known = |repeat: &RepeatSummary| {
        let is_over = repeat.outcome.is_some();
        is_over && !repeat.verification.as_ref().is_some_and(shows_known)
    };
    let is_known = !trial.expected_anomalies.is_empty();
    has_forbidden || is_known && trial.repeats.iter().any(lacks_known)
}

/// Whether a bug is known to have this effect.
fn is_expected(trial: &TrialSummary, found: &AnomalyRecord) -> bool {
    trial.expected_anomalies.contains(&found.anomaly)
}

/// Whether a trial belongs to a search: it is meant to be overloaded, and judged by the search alone.
fn is_of_search(run: &RunRead, trial: &TrialSummary) -> bool {
    let plan = run.plan.as_ref();
    let trial = plan.and_then(|plan| plan.trials.get(trial.index as usize));
    trial.is_some_and(|trial| trial.search.is_some() || trial.load.is_some())
}

/// Whether a warning is about records that are not as they should be, or brokers that were away.
fn is_about_loss(warning: &Warning) -> bool {
    matches!(
        warning.kind(),
        WarningKind::CountsDisagree
            | WarningKind::CorruptRecords
            | WarningKind::CopyIncomplete
            | WarningKind::BrokerOutage
    )
}

/// Whether a warning is about too few repeats.
fn is_about_repeats(warning: &Warning) -> bool {
    matches!(
        warning.kind(),
        WarningKind::SingleRepeat | WarningKind::RepeatsMissing | WarningKind::WideInterval
    )
}

/// A search came to its end, and no rate keeps the goals.
fn no_rate_holds(capacity: &CapacitySummary) -> bool {
    capacity.searches.iter().any(|one| {
        let is_found = one.end == Some(SearchEnd::Found);
        is_found && one.strict.lower.is_none() && one.strict.upper.is_some()
    })
}

/// A search ended before it found a rate that keeps the goals.
fn no_rate_is_known(capacity: &CapacitySummary) -> bool {
    let mut searches = capacity.searches.iter();
    searches.any(|one| one.strict.lower.is_none()) && !no_rate_holds(capacity)
}

/// An A/B test ended because a side could not be measured.
fn has_given_up(test: &AbSummary) -> bool {
    let is_failed = |cause: &VoidCause| matches!(cause, VoidCause::Failed { .. });
    match &test.end {
        Some(AbEnd::Void { cause }) => is_failed(cause),
        Some(AbEnd::SideLost { .. }) => true,
        Some(AbEnd::Decided | AbEnd::Budget | AbEnd::Blocks) | None => false,
    }
}

/// An A/B test ended without an answer. One of equal sides only measures noise.
fn has_no_answer(test: &AbSummary) -> bool {
    test.kind != AbKind::Same && test.verdict == AbVerdict::Inconclusive
}

/// A search for better settings ended because nothing could be measured.
fn search_has_given_up(search: &TuneSummary) -> bool {
    matches!(
        search.end,
        Some(TuneEnd::Void {
            cause: VoidCause::Failed { .. }
        })
    )
}

/// The settings in force miss a condition.
fn condition_missed(search: &TuneSummary) -> bool {
    matches!(search.end, Some(TuneEnd::ConditionMissed { .. }))
}

/// A search for better settings has no answer: it was too short, or the settings in force could not be judged.
fn search_has_no_answer(search: &TuneSummary) -> bool {
    match search.verdict {
        TuneVerdict::Better | TuneVerdict::Worse | TuneVerdict::NothingHelps => false,
        TuneVerdict::ConditionBroken
        | TuneVerdict::ConditionOpen
        | TuneVerdict::FalseAlarm
        | TuneVerdict::Inconclusive
        | TuneVerdict::Refused => true,
    }
}

/// A goal without a figure is no success.
fn goal_missed(trial: &TrialSummary) -> bool {
    let missed = [GoalStatus::NotHeld, GoalStatus::NotMeasured];
    trial.goals.iter().any(|goal| missed.contains(&goal.word))
}

fn goal_undecided(trial: &TrialSummary) -> bool {
    let mut goals = trial.goals.iter();
    goals.any(|goal| goal.word == GoalStatus::Undecided)
}

fn exit_status(status: Status) -> u8 {
    match status {
        Status::Good | Status::Running => 0,
        Status::GoalMissed | Status::SendsFailed | Status::AnomalyFound => 1,
        Status::GoalUndecided => 2,
        Status::Failed | Status::CutShort => 3,
        Status::Interrupted => 130,
    }
}
