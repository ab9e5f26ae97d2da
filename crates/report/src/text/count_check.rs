//! Whether acked records are on the brokers.

use kgauge_analyze::answer::{CountCheck, RecordMismatch, UncountedCause};
use kgauge_analyze::summary::Summary;

use super::trial;
use crate::format;

/// Places of mismatches that are named.
const PLACES_MAX: usize = 3;

/// The check in a sentence: `All 45,104 acked records are on the brokers (14 of 14 trials).`
pub fn sentence(check: &CountCheck, summary: &Summary) -> String {
    let trials = match check.trials {
        1 => String::new(),
        trials => format!(" ({} of {trials} trials)", check.trials_counted),
    };
    let uncounted = uncounted(check);
    if check.trials_counted == 0 {
        return format!("Records on the brokers were not counted: {uncounted}.");
    }
    let uncounted = match uncounted.is_empty() {
        true => String::new(),
        false => format!(" Not counted: {uncounted}."),
    };
    format!(
        "{}{trials}.{uncounted}",
        format::capital(&counted(check, summary))
    )
}

/// The same as a clause, without the number of trials.
pub(crate) fn clause(check: &CountCheck, summary: &Summary) -> String {
    match check.trials_counted {
        0 => format!("records not counted: {}", uncounted(check)),
        _ if check.uncounted.is_empty() => counted(check, summary),
        _ => {
            let counted = counted(check, summary);
            format!("{counted}; not counted: {}", uncounted(check))
        }
    }
}

/// Of the trials that could be counted.
fn counted(check: &CountCheck, summary: &Summary) -> String {
    let acked = format::counted(check.acked, "acked record");
    if check.is_proof() {
        return match check.acked {
            1 => "the only acked record is on the brokers".to_owned(),
            _ => format!("all {acked} are on the brokers"),
        };
    }
    if check.is_good() {
        let mut repeats = summary.trials.iter().flat_map(|trial| &trial.repeats);
        let fix = match repeats.any(|one| one.verification.is_some()) {
            true => "",
            false => ": use --verify",
        };
        return format!(
            "at least {} of {acked} are on the brokers (after retries and unknown outcomes a count cannot prove \
             more{fix})",
            format::count(check.acked.saturating_sub(check.possibly_missing))
        );
    }
    let mut clauses = Vec::new();
    if !check.missing.is_empty() {
        clauses.push(format!(
            "{} of {acked} are missing on the brokers ({})",
            format::count(check.records_missing()),
            places(&check.missing, summary)
        ));
    }
    if !check.extra.is_empty() {
        clauses.push(format!(
            "{} on the brokers beyond those acked, such as duplicates ({})",
            format::counted(check.records_extra(), "record"),
            places(&check.extra, summary)
        ));
    }
    clauses.join("; ")
}

/// `sync-replication, repeat 2: 12`.
fn places(mismatches: &[RecordMismatch], summary: &Summary) -> String {
    let place = |mismatch: &RecordMismatch| {
        let mut trials = summary.trials.iter();
        let trial = trials.find(|trial| trial.index == mismatch.trial);
        let name = trial.map_or_else(String::new, trial::name);
        let repeat = u64::from(mismatch.repeat) + 1;
        format!(
            "{name}, repeat {repeat}: {}",
            format::count(mismatch.records)
        )
    };
    format::few(
        &mismatches.iter().map(place).collect::<Vec<_>>(),
        PLACES_MAX,
    )
}

/// `2 trials (acks=0), 1 trial (end offsets unknown)`.
fn uncounted(check: &CountCheck) -> String {
    let causes = [
        (UncountedCause::AcksNone, "acks=0"),
        (UncountedCause::NotComplete, "not complete"),
        (UncountedCause::OffsetsUnknown, "end offsets unknown"),
        (
            UncountedCause::OtherClient,
            "a client that does not report retries",
        ),
        (UncountedCause::AgentLost, "an agent was lost"),
    ];
    let of_cause = |(cause, why): (UncountedCause, &str)| {
        let trials = check.uncounted.iter().filter(|one| one.cause == cause);
        let trials = trials.count() as u64;
        (trials > 0).then(|| format!("{} ({why})", format::counted(trials, "trial")))
    };
    let clauses: Vec<String> = causes.into_iter().filter_map(of_cause).collect();
    clauses.join(", ")
}
