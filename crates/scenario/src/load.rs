//! The trials of a search: one at full speed, and one for each load.

use crate::format;
use crate::keys::flow::{FlowPlan, ProduceFlow};
use crate::plan::Trial;
use crate::search::{SearchPlan, SearchedFlow};
use crate::shape::{Arrivals, Shape};
use crate::vary;

impl Trial {
    /// This trial at one load of its search, measured for so many windows; `None` if it has no search.
    pub fn at_load(&self, index: u32, rate: f64, windows: u32) -> Option<Trial> {
        let search = self.search.as_ref()?;
        let hold_ns = search.window_ns.saturating_mul(windows.max(1).into());
        let mut trial = self.as_load(hold_ns);
        let factor = ("load".to_owned(), format!("{}/s", format::figure(rate)));
        trial.factors.push(factor);
        trial.name = trial_name(&trial.factors);
        trial.index = index;
        trial.repeats = 1;
        trial.load = Some(rate);
        for (flow, searched) in searched_flows(&mut trial.flows, search) {
            flow.shape = searched.shape_at(rate);
        }
        Some(trial)
    }

    /// The longest load of this trial's search, at the highest rate that is allowed; `None` if it has no search.
    pub fn longest_load(&self) -> Option<Trial> {
        let search = self.search.as_ref()?;
        let hold_ns = search.window_ns.saturating_mul(search.windows.into());
        Some(self.as_load(hold_ns))
    }

    /// The loads of a usual search of this trial as one trial: its repeats are their number, its hold is their mean.
    /// A budget limits their number. `None` if the trial has no search.
    pub fn usual_loads(&self) -> Option<Trial> {
        let search = self.search.as_ref()?;
        let windows_ns = search.window_ns.saturating_mul(search.windows_usual());
        let mut trial = self.as_load(windows_ns / u64::from(SearchPlan::LOADS_USUAL));
        let loads = SearchPlan::LOADS_USUAL.saturating_mul(self.repeats);
        let load_ns = trial.stages.hold_ns? + trial.stages.warm_up_ns;
        let in_budget = search.budget_ns.map(|budget_ns| budget_ns / load_ns.max(1));
        let in_budget =
            in_budget.map_or(u32::MAX, |loads| u32::try_from(loads).unwrap_or(u32::MAX));
        trial.repeats = loads.min(in_budget);
        Some(trial)
    }

    /// This trial as a load, which has no search and a fixed warm-up.
    fn as_load(&self, hold_ns: u64) -> Trial {
        let mut trial = self.clone();
        trial.search = None;
        // A load that is too much is never steady.
        trial.stages.warm_up_ns_max = 0;
        trial.stages.hold_ns = Some(hold_ns);
        trial
    }
}

/// Makes a trial with a search the one that starts it: one window at full speed, or at the highest rate that is
/// allowed.
pub(crate) fn at_full_speed(trial: &mut Trial) {
    let Some(search) = &trial.search else {
        return;
    };
    trial.stages.hold_ns = Some(search.window_ns);
    // The search judges its own goals.
    trial.goals.clear();
    for (flow, searched) in searched_flows(&mut trial.flows, search) {
        let limited = search.rate_max.map(|rate| searched.shape_at(rate));
        flow.shape = limited.unwrap_or(Shape::Max);
        flow.arrivals = Arrivals::Even;
    }
}

/// The flows of a trial that its search scales.
fn searched_flows<'a>(
    flows: &'a mut [FlowPlan],
    search: &'a SearchPlan,
) -> impl Iterator<Item = (&'a mut ProduceFlow, &'a SearchedFlow)> {
    let writes = flows.iter_mut().filter_map(FlowPlan::produces_mut);
    writes.filter_map(move |flow| {
        let mut searched = search.flows.iter();
        let searched = searched.find(|one| one.name == flow.name)?;
        Some((flow, searched))
    })
}

/// The name of a trial with these factors.
pub(crate) fn trial_name(factors: &[(String, String)]) -> String {
    let parts: Vec<String> = factors
        .iter()
        .map(|(path, value)| match path.as_str() {
            vary::ONE_AT_A_TIME | vary::LISTED => value.clone(),
            path => format!("{path}={value}"),
        })
        .collect();
    parts.join(", ")
}
