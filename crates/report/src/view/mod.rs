//! What a report shows, in the order in which it is shown: the one model behind terminal and page.
//!
//! Everything here is ready to be written: sentences, figures with their intervals, and marks for
//! what a figure must not be read without. Texts are as they came from outside; each writer escapes
//! them. Only [`fill`] knows how a run folder is built.

pub(crate) mod fill;
mod flow;
mod heat;
mod machine;
mod picture;
mod time;

use kgauge_analyze::checkup::CheckupSummary;
use kgauge_analyze::summary::{
    AbSummary, CapacitySummary, GoalStatus, RunSummary, TrialSummary, TuneSummary,
};
use kgauge_scenario::StudyRef;

pub(crate) use flow::{Flow, Latency, SHOWN_PERCENTILES};
pub(crate) use heat::HeatMap;
pub(crate) use machine::{MachineLine, MachineTimeline};
pub(crate) use picture::{AnswerBar, AnswerPicture};
pub(crate) use time::{
    ChangeAt, FaultAt, FaultList, FlowTimeline, ProcessTimeline, Sweep, SweepFlow, Timeline,
    TimesAt,
};

pub(crate) use crate::text::published;
pub(crate) use crate::text::warning_kind::Severity;

/// The question that [`ReportView::partitions`] answers.
pub(crate) const PARTITIONS: &str = "How many partitions does a given rate need?";

/// A whole report.
#[derive(Debug, Clone)]
pub(crate) struct ReportView<'a> {
    /// Name of the study or scenario: `linkedin-2014`.
    pub(crate) title: String,
    /// What the study repeats, or what the scenario is about.
    pub(crate) about: Vec<String>,
    /// What it is compared with, for a study.
    pub(crate) study: Option<&'a StudyRef>,
    /// Which run, and which kgauge measured.
    pub(crate) summary: &'a RunSummary,
    /// Its folder, its times.
    pub(crate) run: RunView,
    /// Said before any figure: cut short, interrupted, failed sends, limited by the generator.
    pub(crate) notices: Vec<WarningView>,
    /// The target.
    pub(crate) target: TargetView,
    /// Acked records beside those on the brokers; none if nothing was written.
    pub(crate) count_check: Option<CountCheckView>,
    /// The check of every record; none without `verify`.
    pub(crate) verification: Option<CountCheckView>,
    /// The scenarios, in the order of the plan.
    pub(crate) scenarios: Vec<ScenarioView<'a>>,
    /// The capacities that searches found, one for each setting.
    pub(crate) capacities: &'a [CapacitySummary],
    /// The A/B test, if the run is one.
    pub(crate) ab: Option<&'a AbSummary>,
    /// The search for better settings, if the run made one.
    pub(crate) tune: Option<&'a TuneSummary>,
    /// The checkup, if the run is one.
    pub(crate) checkup: Option<&'a CheckupSummary>,
    /// How many partitions rates need, where the study asks it.
    pub(crate) partitions: Option<String>,
    /// Flows that several clients sent, side by side.
    pub(crate) drivers: Vec<DriverTable>,
    /// Verdicts over goals.
    pub(crate) verdicts: Vec<GoalView>,
    /// Warnings with their fixes.
    pub(crate) warnings: Vec<WarningView>,
    /// How much of what the machine can generate was used at most.
    pub(crate) headroom: String,
    /// What limited the trials, with the evidence where there is one trial.
    pub(crate) limits: Vec<String>,
    /// Rebalances and errors of consumer groups.
    pub(crate) groups: Vec<String>,
    /// What became of transactions, and which kind was spoken.
    pub(crate) transactions: Vec<String>,
    /// The agents that generated the load, a sentence each; empty without any.
    pub(crate) agents: Vec<String>,
    /// What became of copies on another cluster.
    pub(crate) mirrors: Vec<String>,
    /// What an acknowledgement meant in this run.
    pub(crate) acked: Vec<String>,
    /// Tables of facts: setup, settings, environment.
    pub(crate) sheets: Vec<Sheet>,
    /// Texts shown as they are: the scenario file.
    pub(crate) texts: Vec<Verbatim>,
    /// What was done to the target, repeat by repeat.
    pub(crate) faults: Vec<FaultList>,
    /// What happened during the run.
    pub(crate) events: Vec<EventView>,
    /// Commands that repeat the run or remake the report.
    pub(crate) commands: Vec<ReaderCommand>,
}

/// The run itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunView {
    /// Where the run folder is, as it was given; not in the page, which may move with it.
    pub(crate) folder: String,
    /// When it started, as text with its zone.
    pub(crate) started: String,
    /// How long it took.
    pub(crate) took: Option<String>,
    /// How long the brokers were warmed before anything was measured, and what that did; empty if they were not.
    pub(crate) warmed: String,
    /// How often and for how long each trial was measured, and what shared the machine: a clause each.
    pub(crate) conditions: Vec<String>,
}

/// What was under test.
#[derive(Debug, Clone, Default)]
pub(crate) struct TargetView {
    /// `embedded broker, 1 node` or `Apache Kafka 4.3.1, 3 brokers`.
    pub(crate) name: String,
    /// The sentence that names it.
    pub(crate) words: String,
    /// What the figures cannot be used for; empty for a real cluster.
    pub(crate) caution: String,
    /// Whether it is a real cluster, so that published figures compare with its own.
    pub(crate) is_kafka: bool,
    /// Cluster id, addresses, versions.
    pub(crate) facts: Vec<Fact>,
}

/// A name and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    /// The name.
    pub(crate) name: String,
    /// The value.
    pub(crate) value: String,
}

/// One question and what was measured to answer it.
#[derive(Debug, Clone)]
pub(crate) struct ScenarioView<'a> {
    /// Its name.
    pub(crate) name: String,
    /// What is varied, where it is one setting: `writers.record.size`.
    pub(crate) factor: Option<String>,
    /// The question; may be empty.
    pub(crate) question: String,
    /// The answer in a sentence or two.
    pub(crate) answer: String,
    /// The same beside a table.
    pub(crate) brief: BriefAnswer,
    /// What shows the answer at a glance.
    pub(crate) picture: AnswerPicture,
    /// One per combination of factors.
    pub(crate) trials: Vec<TrialView<'a>>,
    /// The curve over the one numeric factor, where there is one.
    pub(crate) sweep: Option<Sweep<'a>>,
}

/// An answer beside a table, which has the figures and what limited them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BriefAnswer {
    /// One or two sentences.
    Sentences(String),
    /// The figures answer nothing, for this reason.
    Doubt(&'static str),
}

/// Whether acked records are on the brokers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CountCheckView {
    /// Whether some trials were counted and none disagrees.
    pub(crate) is_good: bool,
    /// The result in a sentence.
    pub(crate) text: String,
}

/// One combination of factors.
#[derive(Debug, Clone)]
pub(crate) struct TrialView<'a> {
    /// Its figures.
    pub(crate) summary: &'a TrialSummary,
    /// Its name in the report: the factor values, or the scenario's name when nothing is varied.
    pub(crate) name: String,
    /// The same next to the scenario's name and factor: `10 B`.
    pub(crate) short: String,
    /// Unique in the report, for links: `trial-3`.
    pub(crate) id: String,
    /// Why there are no figures, if there are none.
    pub(crate) missing: Option<String>,
    /// Flows, in the order of the scenario.
    pub(crate) flows: Vec<Flow<'a>>,
    /// Curves over time of every repeat.
    pub(crate) timelines: Vec<Timeline>,
    /// How the times of each flow fell over time.
    pub(crate) heat: Vec<HeatMap>,
}

/// The clients that sent a flow under the same conditions.
#[derive(Debug, Clone)]
pub(crate) struct DriverTable {
    /// Which flow, under which conditions.
    pub(crate) title: String,
    /// A client each, every cell ready to be shown: client, records/s, p99, CPU, factor.
    pub(crate) rows: Vec<[String; 5]>,
    /// Sentences about them.
    pub(crate) sentences: Vec<String>,
}

impl DriverTable {
    /// What the cells of a row are.
    pub(crate) const COLUMNS: [&'static str; 5] =
        ["client", "records/s", "p99", "CPU/record", "CPU factor"];
}

/// Whether a goal held.
#[derive(Debug, Clone)]
pub(crate) struct GoalView {
    /// Its status.
    pub(crate) word: GoalStatus,
    /// The goal and what was measured.
    pub(crate) words: String,
}

/// A warning, with all places where it applies.
#[derive(Debug, Clone)]
pub(crate) struct WarningView {
    /// Its severity.
    pub(crate) level: Severity,
    /// The matter in one short sentence, with its place where that is short too.
    pub(crate) short: String,
    /// All of them in one line of a terminal, with how many there are and what helps; empty if the conditions of the
    /// run say it, or if it is about figures that are not shown at a glance.
    pub(crate) line: String,
    /// What the short sentence leaves unsaid: evidence and further places.
    pub(crate) evidence: Vec<WarningItem>,
    /// What is true of all items; may be empty.
    pub(crate) words: String,
    /// Where and what; at least one.
    pub(crate) items: Vec<WarningItem>,
    /// The fix; may be empty.
    pub(crate) remedy: String,
}

impl WarningView {
    /// Whether there is more than the short sentence and the fix.
    pub(crate) fn says_more(&self) -> bool {
        !self.evidence.is_empty()
    }
}

impl ReportView<'_> {
    /// All warnings, and the details of the notices at the top.
    pub(crate) fn to_mind(&self) -> impl Iterator<Item = &WarningView> {
        let notices = self.notices.iter().filter(|notice| notice.says_more());
        notices.chain(&self.warnings)
    }
}

/// One place of a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WarningItem {
    /// Trial and flow; empty for the whole run.
    pub(crate) place: String,
    /// What is the matter there.
    pub(crate) words: String,
}

/// What a table of facts is about: tables of one kind may be folded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SheetKind {
    /// The run, its machine and what was counted.
    Run,
    /// The settings of a scenario.
    Settings,
    /// The brokers.
    Brokers,
}

/// A table of facts.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    /// What it is about.
    pub(crate) kind: SheetKind,
    /// Its title.
    pub(crate) title: String,
    /// Its rows.
    pub(crate) facts: Vec<Fact>,
}

/// A text that is shown as it is.
#[derive(Debug, Clone)]
pub(crate) struct Verbatim {
    /// Its title.
    pub(crate) title: String,
    /// The text.
    pub(crate) text: String,
}

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) struct EventView {
    /// When, as text: `+12.3 s`.
    pub(crate) at: String,
    /// What.
    pub(crate) words: String,
}

/// A command for the reader.
#[derive(Debug, Clone)]
pub(crate) struct ReaderCommand {
    /// What it does, in one or two words.
    pub(crate) short: &'static str,
    /// What it does.
    pub(crate) purpose: String,
    /// The command line for a terminal, with this folder's path.
    pub(crate) line: String,
    /// The same for the page, which does not know the folder's path.
    pub(crate) line_anywhere: String,
}
