//! Searches for the highest rate that keeps its goals, as planned: the flows that are scaled, the goals, the lengths.

use serde::{Deserialize, Serialize};

use crate::figure::Goal;
use crate::keys::flow::FlowPlan;
use crate::shape::Shape;

/// The goal that consumers do not fall behind.
pub(crate) const CONSUMERS_KEEP_UP: &str = "consumers keep up";
/// The goal that followers do not fall behind.
pub(crate) const FOLLOWERS_KEEP_UP: &str = "followers keep up";

/// A search for the highest rate that keeps its goals. The trial that has it runs at full speed: its rate is where the
/// search starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchPlan {
    /// The flows whose rate is searched; at least one.
    pub flows: Vec<SearchedFlow>,
    /// What every window has to keep; at least one.
    pub goals: Vec<SearchGoal>,
    /// How many goals at the end of that list are not in the scenario, because every search has them.
    pub added: u32,
    /// The distance of the two bounds at the end, as a share of the upper one.
    pub width: f64,
    /// The length of a window.
    pub window_ns: u64,
    /// How many windows a load at one of the bounds is measured for, and how many more confirm it.
    pub windows: u32,
    /// No load goes beyond: records per second of all searched flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_max: Option<f64>,
    /// The time of all searches of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_ns: Option<u64>,
}

impl SearchPlan {
    /// Loads that a usual search measures after its trial at full speed: to find and narrow the bounds, and for the
    /// curve.
    pub const LOADS_USUAL: u32 = 16;

    /// The windows of these loads. Both bounds are measured and confirmed for the whole duration; most other loads take
    /// one window.
    pub fn windows_usual(&self) -> u64 {
        u64::from(SearchPlan::LOADS_USUAL) + 3 * u64::from(self.windows)
    }

    /// The goals that somebody wrote, each once: one for several flows is in the plan once for each.
    pub fn written_goals(&self) -> Vec<&str> {
        let written = self.goals.len().saturating_sub(self.added as usize);
        let mut goals: Vec<&str> = Vec::new();
        for goal in self.goals.iter().take(written).map(SearchGoal::text) {
            if !goals.contains(&goal) {
                goals.push(goal);
            }
        }
        goals
    }
}

/// A flow whose rate is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchedFlow {
    /// Its name.
    pub name: String,
    /// Its share of the rate; all shares add up to 1.
    pub part: f64,
    /// Whether its records come as a Poisson process; otherwise in equal gaps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_poisson: bool,
}

/// What a window has to keep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchGoal {
    /// A figure stays within a limit.
    Figure(Goal),
    /// Consumers do not fall behind.
    ConsumersKeepUp,
    /// Followers do not fall behind.
    FollowersKeepUp,
    /// The records that are due are acked.
    RateKept,
}

impl SearchGoal {
    /// As it is written in a scenario.
    pub fn text(&self) -> &str {
        match self {
            SearchGoal::Figure(goal) => &goal.text,
            SearchGoal::ConsumersKeepUp => CONSUMERS_KEEP_UP,
            SearchGoal::FollowersKeepUp => FOLLOWERS_KEEP_UP,
            SearchGoal::RateKept => "the offered rate is reached",
        }
    }
}

impl SearchedFlow {
    /// Its shape when all searched flows together have this rate.
    pub(crate) fn shape_at(&self, rate: f64) -> Shape {
        let per_second = rate * self.part;
        match self.is_poisson {
            true => Shape::Poisson { per_second },
            false => Shape::Constant { per_second },
        }
    }
}

/// Why a planned search could not be run.
pub(crate) fn sound(search: &SearchPlan, flows: &[FlowPlan]) -> Result<(), String> {
    let writes = |searched: &SearchedFlow| {
        let mut flows = flows.iter().filter_map(FlowPlan::produces);
        searched.part > 0.0 && flows.any(|flow| flow.name == searched.name)
    };
    if search.flows.is_empty() || !search.flows.iter().all(writes) {
        return Err("a search of flows that do not write".to_owned());
    }
    let is_sound = search.windows >= 1 && search.window_ns >= 1 && search.width > 0.0;
    match is_sound && !search.goals.is_empty() {
        true => Ok(()),
        false => Err("a search without windows or goals".to_owned()),
    }
}
