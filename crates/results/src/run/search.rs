//! `search.json`: the searches of a run for the highest rate that keeps its goals, load by load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The contents of `search.json`, written again after each load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchRecord {
    /// The searches that were started, in order.
    pub searches: Vec<SearchRun>,
}

impl SearchRecord {
    /// Whether a search ended before it had its bounds, so that more loads may find them.
    pub fn may_continue(&self) -> bool {
        let mut ends = self.searches.iter().filter_map(|one| one.end.as_ref());
        ends.any(SearchEnd::may_continue)
    }
}

/// One search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRun {
    /// Index of its trial at full speed; that trial of the plan has the goals and lengths.
    pub trial: u32,
    /// Which search of that trial, from 0: the repeat at full speed.
    pub repeat: u32,
    /// Where it starts; absent until full speed has been measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<SearchStart>,
    /// The measured loads, in order.
    pub loads: Vec<MeasuredLoad>,
    /// How it ended; absent while it goes on, and if it was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<SearchEnd>,
    /// The time that it has taken so far, including topics and waits.
    pub took_ns: u64,
}

/// Where a search starts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchStart {
    /// The rate at full speed, in records per second: all searched flows together, in their ratio.
    pub full_speed: f64,
    /// Whether the lower bound is confirmed before the upper one, which the run's seed decides.
    pub confirms_lower_first: bool,
}

/// One measurement of one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredLoad {
    /// Its trial in the plan.
    pub trial: u32,
    /// Offered records per second, all searched flows together.
    pub rate: f64,
    /// Why it was measured.
    pub reason: LoadReason,
    /// Its windows, in order.
    pub windows: Vec<JudgedWindow>,
    /// Acked records per second in the hold, all searched flows together.
    pub achieved: f64,
    /// Why its windows do not count, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<VoidCause>,
}

/// Why a load is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadReason {
    /// To find the neighbourhood of the bounds.
    Bracket,
    /// To move the bounds closer together.
    Narrow,
    /// To confirm a bound.
    Confirm,
    /// For the curve: a share of the lower bound, which moves no bound.
    Curve,
}

/// A window of a load's hold, judged against the goals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgedWindow {
    /// Its length in nanoseconds.
    pub length_ns: u64,
    /// It kept all goals.
    pub kept: bool,
    /// One for each goal of the search, in order.
    pub goals: Vec<GoalReading>,
}

/// One goal in one window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalReading {
    /// The window kept it.
    pub kept: bool,
    /// The measured value: nanoseconds, records, or the share of the rate or lag; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// Why a measurement of a load is void.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum VoidCause {
    /// Partitions of the topic got another leader in the hold.
    LeadersMoved {
        /// Their number.
        partitions: u32,
    },
    /// The load generator was the limit.
    Generator,
    /// Other programs used the machine's processors.
    OtherPrograms,
    /// The hypervisor took processors from this virtual machine.
    Hypervisor,
    /// The trial failed.
    Failed {
        /// In words.
        why: String,
    },
}

impl VoidCause {
    /// Measurements that are void this often in a row end a search or a test.
    pub const IN_A_ROW_MAX: usize = 3;

    /// A failed measurement.
    pub fn failed(why: impl Into<String>) -> VoidCause {
        VoidCause::Failed { why: why.into() }
    }
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum SearchEnd {
    /// Both bounds are close enough and confirmed, or the limits of the rate allow no other load.
    Found,
    /// Its time was over.
    Budget,
    /// One load was void several times in a row.
    Void {
        /// Why, the last time.
        cause: VoidCause,
    },
}

impl SearchEnd {
    /// Whether more loads may find what the search has not.
    pub fn may_continue(&self) -> bool {
        match self {
            SearchEnd::Found => false,
            SearchEnd::Budget | SearchEnd::Void { .. } => true,
        }
    }
}
