//! The summary of a search for the highest rate that keeps its goals.

use kgauge_results::run::{LoadReason, SearchEnd, VoidCause};
use schemars::JsonSchema;
use serde::Serialize;

use super::factor::Factor;
use super::limit::Bottleneck;
use crate::search::CapacityBounds;
use crate::statistics::{Interval, Spread};

/// The capacity of one combination of settings.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CapacitySummary {
    /// Index of the trial at full speed.
    pub trial: u32,
    /// The scenario.
    pub scenario: String,
    /// Empty if nothing varies, otherwise like `writers.settings.linger.ms=5`.
    pub name: String,
    /// The varied settings.
    pub factors: Vec<Factor>,
    /// The flows whose rate was searched. Rates are of all of them together.
    pub flows: Vec<String>,
    /// What every window had to keep, as written.
    pub goals: Vec<String>,
    /// What every window of any search has to keep.
    pub added_goals: Vec<String>,
    /// The figure of the first goal that limits a time, such as `writers.latency.p99`; absent if none does. `value_ns`
    /// of loads and windows is this figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// The limit of that goal in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_ns: Option<f64>,
    /// How close the bounds were to come, as a share of the upper one.
    pub width: f64,
    /// The length of a window in seconds.
    pub window_s: f64,
    /// Mean size of a record's key, value and headers in bytes, to turn records into bytes; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_bytes: Option<f64>,
    /// The settings that the capacity depends on most.
    pub setup: CapacitySetup,
    /// The searches, in order.
    pub searches: Vec<CapacitySearch>,
    /// The strict lower bounds of several searches; absent with fewer than two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_searches: Option<Spread>,
}

/// Settings of the topic and of the first searched flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CapacitySetup {
    /// Partitions of the topic.
    pub partitions: u32,
    /// Replicas of each.
    pub replication_factor: u16,
    /// Producers of all searched flows.
    pub producers: u32,
    /// Kafka's `acks`: `0`, `1` or `all`.
    pub acks: String,
    /// Kafka's `compression.type`.
    pub compression: String,
}

/// One search.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CapacitySearch {
    /// From 0.
    pub repeat: u32,
    /// Records per second at full speed; null until measured.
    pub full_speed: Option<f64>,
    /// Every window keeps the goals.
    pub strict: CapacityBounds,
    /// At least half of the time keeps the goals.
    pub typical: CapacityBounds,
    /// Where half of the windows break the goals: a 95 % credible interval from all windows together. Absent unless
    /// some windows kept the goals and others broke them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical_band: Option<Interval>,
    /// Whether the strict bounds are as close as they had to be.
    pub is_narrow: bool,
    /// The bottleneck at the upper bound; absent if there is no upper bound or nothing was measured there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck: Option<Bottleneck>,
    /// The loads, by rising rate.
    pub loads: Vec<CapacityLoad>,
    /// The measurements, in order.
    pub steps: Vec<CapacityStep>,
    /// How it ended; null while it goes on, and if it was interrupted.
    pub end: Option<SearchEnd>,
    /// The time that it took, in seconds.
    pub took_s: f64,
}

/// One load of a search, all its measurements together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CapacityLoad {
    /// Offered records per second.
    pub rate: f64,
    /// How it compares with the goals, by the strict reading at the final duration.
    pub held: LoadVerdict,
    /// Its windows that count, in order.
    pub windows: Vec<CapacityWindow>,
    /// The median of the windows' figure, in nanoseconds; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_ns: Option<f64>,
    /// The goals that windows broke, as written, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_goals: Vec<String>,
    /// The one that most windows broke; absent if none did, or if the load was ended because a broker was too busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broke_most: Option<BrokenGoal>,
    /// Index of the trial that measured it last.
    pub trial: u32,
}

/// A goal that windows of a load broke.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BrokenGoal {
    /// As written.
    pub goal: String,
    /// The figure that it limits, such as `writers.latency.p99`; absent unless that is a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// The median of that figure over the windows that broke the goal, in nanoseconds; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_ns: Option<f64>,
}

/// What a load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadVerdict {
    /// The goals hold.
    Held,
    /// They do not.
    Broke,
    /// It was not measured for long enough.
    Undecided,
}

/// One window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CapacityWindow {
    /// It kept all goals.
    pub kept: bool,
    /// The figure in nanoseconds; null if there is none.
    pub value_ns: Option<f64>,
}

/// One measurement of a load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CapacityStep {
    /// Its trial.
    pub trial: u32,
    /// Offered records per second.
    pub rate: f64,
    /// Why it was measured.
    pub reason: LoadReason,
    /// Number of its windows.
    pub windows: u32,
    /// The number of them that broke a goal.
    pub broken: u32,
    /// The median of their figure, in nanoseconds; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_ns: Option<f64>,
    /// Why its windows do not count; absent if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<VoidCause>,
    /// The strict bounds so far. The lower one may be of fewer windows than the search needs in the end.
    pub strict: CapacityBounds,
}

impl CapacitySummary {
    /// The goals that somebody wrote, each once: one for several flows is in the plan once for each.
    pub fn written_goals(&self) -> Vec<&str> {
        let mut goals: Vec<&str> = Vec::new();
        for goal in &self.goals {
            if !goals.contains(&goal.as_str()) {
                goals.push(goal);
            }
        }
        goals
    }
}

impl CapacitySearch {
    /// The number of measurements, and of those that do not count. Full speed is one of them.
    pub fn trials(&self) -> (usize, usize) {
        let void = self.steps.iter().filter(|step| step.void.is_some());
        let full_speed = usize::from(self.full_speed.is_some());
        (self.steps.len() + full_speed, void.count())
    }

    /// The highest rate that has kept the goals so far, in fewer windows than a lower bound needs. `None` if the search
    /// has a lower bound, or came to its end without one.
    pub fn unconfirmed(&self) -> Option<f64> {
        let is_open = self.strict.lower.is_none() && self.end != Some(SearchEnd::Found);
        let last = self.steps.last().filter(|_| is_open)?;
        last.strict.lower
    }

    /// The load at a rate.
    pub fn load_at(&self, rate: f64) -> Option<&CapacityLoad> {
        self.loads.iter().find(|load| load.rate == rate)
    }
}

impl CapacityLoad {
    /// The number of windows that broke a goal.
    pub fn broken(&self) -> usize {
        self.windows.iter().filter(|window| !window.kept).count()
    }
}
