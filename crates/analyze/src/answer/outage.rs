//! For how long nothing was acked after a node fault, over the repeats of each trial.

use schemars::JsonSchema;
use serde::Serialize;

use crate::statistics::Spread;
use crate::summary::TrialSummary;

/// What a node fault did to a trial, over its repeats. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OutageAnswer {
    /// The trial, by its index in the plan.
    pub trial: u32,
    /// The time without acks after the fault: the mean, with its interval over the repeats; 0 where acks never stopped
    /// for a whole second.
    pub without_acks_ns: Spread,
    /// False if its end is only known to the second in some repeat.
    pub is_exact: bool,
    /// Repeats in which acks did not come back.
    pub not_recovered: u32,
    /// From the fault until new leaders; null if leaders did not move in every repeat.
    pub new_leaders_ns: Option<Spread>,
    /// The longest response of a record that was due from the second of the fault on, in any repeat; null if none was
    /// acked.
    pub longest_response_ns: Option<u64>,
}

/// The trials in which a fault was recorded; `None` if there are none.
pub(super) fn answers(trials: &[&TrialSummary]) -> Option<Vec<OutageAnswer>> {
    let answers: Vec<OutageAnswer> = trials.iter().filter_map(|trial| answer(trial)).collect();
    (!answers.is_empty()).then_some(answers)
}

/// `None` if no fault was recorded.
fn answer(trial: &TrialSummary) -> Option<OutageAnswer> {
    let outages = &trial.outages;
    let lengths = outages.iter().map(|one| one.without_acks_ns);
    let leaders = outages.iter().map(|one| one.new_leaders_ns);
    let leaders: Option<Vec<u64>> = leaders.collect();
    let not_recovered = outages.iter().filter(|one| !one.has_recovered).count();
    Some(OutageAnswer {
        trial: trial.index,
        without_acks_ns: spread(&lengths.collect::<Vec<u64>>())?,
        is_exact: outages.iter().all(|one| one.is_exact),
        not_recovered: u32::try_from(not_recovered).unwrap_or(u32::MAX),
        new_leaders_ns: leaders.and_then(|leaders| spread(&leaders)),
        longest_response_ns: outages
            .iter()
            .filter_map(|one| one.longest_response_ns)
            .max(),
    })
}

/// With the interval of a time.
fn spread(times: &[u64]) -> Option<Spread> {
    let times: Vec<f64> = times.iter().map(|ns| *ns as f64).collect();
    let mean = Spread::of(&times)?.mean;
    Spread::of_time(&times, mean)
}
