//! The events of a run in progress, for a terminal, a live page or a test.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use kgauge_analyze::search::CapacityBounds;
use kgauge_analyze::summary::AbSummary;
use kgauge_load::LoadProgress;
use kgauge_results::Slice;
use kgauge_results::folder::LineTap;
use kgauge_results::run::{Event, Evidence, MeasuredLoad, RepeatKey, RepeatOutcome, TuneRecord};
use kgauge_scenario::format::{compact, decimal_bytes};
use kgauge_scenario::{Plan, Trial};

use crate::error::RunError;
use crate::time_estimate::TimeEstimate;

/// Watches a run. The run's thread calls it between two samples of the load, so it must return quickly.
pub trait Observer {
    /// Something happened.
    fn observe(&mut self, event: &RunEvent<'_>);

    /// The callbacks for recordings, on the threads that write the run folder. Called once per run.
    fn taps(&mut self) -> RunTaps {
        RunTaps::default()
    }
}

/// An observer that ignores everything.
#[derive(Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn observe(&mut self, _: &RunEvent<'_>) {}
}

/// Sees the slices of a repeat.
pub type RepeatTap = Arc<dyn Fn(RepeatKey, &Slice) + Send + Sync>;

/// Callbacks for what goes to the run folder, on whichever thread writes it.
#[derive(Default)]
pub struct RunTaps {
    /// Sees evidence and events.
    pub lines: Option<(LineTap<Evidence>, LineTap<Event>)>,
    /// Sees slices.
    pub slices: Option<RepeatTap>,
}

/// What a run reports.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// A sentence that the user should see; more lines of it are indented.
    Remark(&'a str),
    /// The target is ready, the plan is made, the folder is open.
    Announced(&'a Announcement<'a>),
    /// The run turns to the next repeat.
    StepBegins(RunStep<'a>),
    /// What the run does between loads.
    Activity(&'a Activity),
    /// A repeat's folder is open.
    RepeatBegins(RepeatKey),
    /// The progress of the load of a repeat, ten times per second.
    Progress(&'a RepeatView<'a>),
    /// A broker stopped answering, or answers again: a sentence without a capital.
    Outage(&'a str),
    /// The load of a repeat is over, and all of its slices are written.
    RepeatEnds {
        /// Which repeat.
        key: RepeatKey,
        /// Whether it is complete.
        outcome: &'a RepeatOutcome,
    },
    /// A search has judged a load.
    LoadJudged(&'a LoadJudgement<'a>),
    /// An A/B test has completed a block: its state.
    PairMeasured(&'a AbSummary),
    /// A search for better settings begins its last phase.
    TunePhaseBegins(&'a TuneRecord),
    /// A search for better settings has measured the last measurement of its last phase.
    TuneMeasured(&'a TuneRecord),
    /// A trial was given up; the others go on.
    TrialFailed {
        /// Scenario and trial.
        name: &'a str,
        /// The first line of the error.
        why: &'a str,
    },
    /// No more repeats; the run cleans up.
    Closing {
        /// Why it is not complete, if so.
        error: Option<&'a RunError>,
    },
    /// Everything is stopped and written.
    Closed,
}

/// What a run will do.
#[derive(Debug)]
pub struct Announcement<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What is left to do, in order.
    pub steps: &'a [RepeatKey],
    /// The run folder.
    pub dir: &'a Path,
    /// Whether an interrupted run goes on.
    pub is_resumed: bool,
    /// How long it should take.
    pub planned: TimeEstimate,
    /// Whether parts are added to the plan while it runs, within that time.
    pub is_checkup: bool,
}

/// Which repeat of a run it is.
#[derive(Debug, Clone, Copy)]
pub struct RunStep<'a> {
    /// The trial.
    pub trial: &'a Trial,
    /// The repeat.
    pub step: RepeatKey,
    /// Its position among what is left to do, from 0.
    pub index: usize,
    /// How many are left to do; unknown in a search.
    pub count: Option<usize>,
}

/// The progress of the load of a repeat.
#[derive(Debug)]
pub struct RepeatView<'a> {
    /// What the load engine reports.
    pub load: &'a LoadProgress,
    /// The trial.
    pub trial: &'a Trial,
    /// When the hold begins, as far as is known.
    pub hold_start_ns: u64,
    /// Whether the warm-up goes on until the load is steady.
    pub is_warm_up_open: bool,
}

/// A load of a search, judged.
#[derive(Debug)]
pub struct LoadJudgement<'a> {
    /// The load and its windows.
    pub load: &'a MeasuredLoad,
    /// The bounds of the strict reading so far.
    pub strict: CapacityBounds,
}

/// What a run does between loads.
#[derive(Debug, Clone, PartialEq)]
pub enum Activity {
    /// Starts the target, or connects to it, before the run is announced.
    StartingTarget {
        /// The user's text.
        target: String,
        /// Whether it is an existing cluster.
        is_existing: bool,
    },
    /// Measures the disk alone, before the run is announced.
    MeasuringDisk,
    /// Stops a cluster and starts another one.
    ChangingCluster,
    /// Measures what this machine can generate.
    MeasuringCeiling,
    /// Begins to warm new brokers.
    WarmingBegins,
    /// Warms new brokers.
    Warming {
        /// For how long so far.
        elapsed_s: u64,
        /// For how long at most.
        limit_s: u64,
        /// The rate of the last second.
        records_per_s: f64,
        /// The part of the brokers' CPU time that their compilers used in it, if that is known.
        compiling: Option<f64>,
    },
    /// Writes the preload of the topic.
    Preloading {
        /// Records written so far.
        acked: u64,
        /// Records of the whole preload.
        records: u64,
    },
    /// Waits until the replicator copies a new topic.
    AwaitingReplicator,
    /// Reads all records back.
    Verifying {
        /// The partition that is read, from 0.
        partition: u32,
        /// How many there are.
        partitions: u32,
        /// Records of earlier partitions.
        records: u64,
        /// Bytes so far.
        bytes: u64,
    },
    /// Waits until all brokers are up and all replicas in sync.
    Recovering {
        /// What it waits for first.
        missing: String,
    },
    /// Waits until the page cache has written the data of the previous load.
    Settling {
        /// Bytes that are still to be written.
        bytes: u64,
    },
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StartingTarget {
                target,
                is_existing: false,
            } => write!(f, "starting {target}"),
            Self::StartingTarget { target, .. } => write!(f, "connecting to {target}"),
            Self::MeasuringDisk => f.write_str("measuring the disk alone with fio"),
            Self::ChangingCluster => f.write_str("starting another cluster"),
            Self::MeasuringCeiling => f.write_str("measuring this machine's ceiling"),
            Self::WarmingBegins => f.write_str("warming the brokers, for about a minute"),
            Self::Warming {
                elapsed_s,
                limit_s,
                records_per_s,
                compiling,
            } => {
                let rate = compact(*records_per_s);
                write!(
                    f,
                    "warming the brokers {elapsed_s} of at most {limit_s} s · {rate}/s"
                )?;
                // Smaller parts are rounded to zero.
                match compiling.map(|part| (100.0 * part).round()) {
                    Some(percent) if percent >= 1.0 => {
                        write!(f, " · {percent} % of their CPU time compiles")
                    }
                    _ => Ok(()),
                }
            }
            Self::Preloading { acked, records } => write!(
                f,
                "preload {} of {} records",
                compact(*acked as f64),
                compact(*records as f64)
            ),
            Self::AwaitingReplicator => f.write_str("waiting for the replicator"),
            Self::Verifying {
                partition,
                partitions,
                records,
                bytes,
            } => write!(
                f,
                "verifying partition {} of {partitions}: {records} records of earlier ones, {} read",
                partition + 1,
                decimal_bytes(*bytes as f64)
            ),
            Self::Recovering { missing } => {
                write!(f, "waiting for the cluster to recover: {missing}")
            }
            Self::Settling { bytes } => write!(
                f,
                "waiting until {} of dirty pages are written",
                decimal_bytes(*bytes as f64)
            ),
        }
    }
}
