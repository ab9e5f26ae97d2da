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
        let mut trial = self.clone();
        let factor = ("load".to_owned(), format!("{}/s", format::figure(rate)));
        trial.factors.push(factor);
        trial.name = trial_name(&trial.factors);
        trial.index = index;
        trial.repeats = 1;
        trial.search = None;
        trial.load = Some(rate);
        // A load that is too much is never steady.
        trial.stages.warm_up_ns_max = 0;
        trial.stages.hold_ns = Some(search.window_ns.saturating_mul(u64::from(windows.max(1))));
        for (flow, searched) in searched_flows(&mut trial.flows, search) {
            flow.shape = searched.shape_at(rate);
        }
        Some(trial)
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
