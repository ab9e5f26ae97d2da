//! The keys of a scenario.

use super::faults::{WrittenFaults, faults};
use super::figures::{PublishedForTrial, PublishedKeys, goal_text};
use super::flow::{FlowPlan, flows};
use super::search::WrittenSearch;
use super::stages::Stages;
use super::target::TargetNeeds;
use super::topic::TopicPlan;
use crate::anomaly_names::ANOMALY_NAMES;
use crate::answer::{AnswerKind, Comparand};
use crate::figure::Goal;
use crate::key_definition::{ValueForm, refuse};
use crate::key_map::key_map;
use crate::problem::SourceLocation;
use crate::reader::{Fields, KeyMap, ValueReader};
use crate::suggest::shorten;
use crate::value_kind::{
    ListItem, ValueKind, count, flag, list, map, name, one_of_names, placed_list, text, version,
    words,
};

const REPEATS_MAX: u64 = 1_000;

key_map! {
    /// The contents of a scenario after its overrides have been applied.
    #[derive(Clone, Debug)]
    pub(crate) struct WrittenScenario, RootKeys, "Scenario",
    refuses [refuse(&["hosts", "include", "servers"], "not supported yet")]
    {
        /// Version of this file format. Required, so that no later format can be misread.
        let _version: () = "kgauge" [required], version();
        /// The scenario's name in tables and files; in a study, also the file name.
        pub name: String = "name" [required], name();
        /// The question that the run answers, in one sentence. Every report shows it above the figures.
        pub question: String = "question" [required], text();
        /// Requirements and settings of the cluster. `--target` selects the cluster.
        pub target: TargetNeeds = "target" [all_defaults], map::<TargetNeeds>();
        /// The topic. Each repeat creates a new one.
        pub topic: TopicPlan = "topic" [required], map::<TopicPlan>();
        /// The length of each stage of a run.
        pub stages: Stages = "stages" [all_defaults], stages();
        /// The traffic: one or more flows, which run concurrently.
        pub flows: Vec<FlowPlan> = "flows" [required], flows();
        /// Failures to inject while the load runs, such as crashed nodes or stalled requests. See
        /// [the guide to faults](faults.md).
        pub faults: WrittenFaults = "faults" [absent "no faults", |_| WrittenFaults::default()],
            faults();
        /// Whether every record is identified, and all of them are read back after the load and compared with their
        /// acks. See [the guide to verification](verify.md).
        pub verify: bool = "verify" ["false"], flag();
        /// Classes of anomalies that verification is known to find, such as `[lost-write]`, for scenarios about a bug.
        /// Each trial must find at least one of them, and nothing else that its settings forbid; then it has succeeded.
        pub finds: Vec<String> = "finds" [absent "no anomaly is expected", |_| Vec::new()],
            list(one_of_names(ANOMALY_NAMES));
        /// Factors: paths with lists of values; every combination is a trial. Or
        /// [one change at a time, or listed combinations](#vary).
        let _vary: Option<()> = "vary" [optional "one trial"], applied_before(ValueForm::Vary);
        /// The number of runs of each trial. 3 is the smallest number with a useful spread. With `search`, the number
        /// of searches; 1 if it is absent.
        pub repeats: u32 = "repeats" ["3"], count(1..=REPEATS_MAX);
        /// The kind of [answer](#answers) that the question asks for.
        pub asks: Option<AnswerKind> = "asks" [optional "depends on the trials"],
            words(&AnswerKind::NAMES);
        /// What `effect` compares with: another scenario of the study, a value such as `writers.settings.acks=1`, or
        /// both as `SCENARIO/PATH=VALUE`.
        pub against: Option<Comparand> = "against" [optional "the first trial"],
            text().then(comparand);
        /// Conditions, such as `writers.latency.p99 <= 20 ms`. A missed goal gives exit status 1.
        pub goals: Vec<ListItem<Goal>> = "goals" [absent "no goals", |_| Vec::new()],
            placed_list(goal_text());
        /// A search for the highest rate that keeps its goals, as `kgauge capacity` makes it. See
        /// [the guide to capacity](capacity.md).
        pub search: Option<WrittenSearch> = "search" [optional "no search"], map::<WrittenSearch>();
        /// Changes for `--quick` and `--full`.
        let _sizes: Option<()> = "sizes" [optional "all sizes are the same"],
            applied_before(ValueForm::Map(SizesKeys::KEYS));
        /// Published figures for the same question, which reports show next to the measured ones.
        pub published: Vec<ListItem<PublishedForTrial>> = "published"
            [absent "no comparison", |_| Vec::new()], placed_list(map::<PublishedKeys>());
    }
}

key_map! {
    map SizesKeys, "Sizes" -> (), made by no_value,
    refuses [refuse(&["default"], "the values outside `sizes` are the default size")]
    {
        /// Changes for `--quick`: a first look.
        let _quick: Option<()> = "quick" [optional "as default"], applied_before(ValueForm::Paths);
        /// Changes for `--full`: as published.
        let _full: Option<()> = "full" [optional "as default"], applied_before(ValueForm::Paths);
    }
}

fn no_value(_: &mut ValueReader<'_>, _: &Fields<'_>, _: SizesKeys) -> Option<()> {
    Some(())
}

/// What trials are compared with. A factor of this scenario must have the value; the study checks other scenarios.
fn comparand(
    reader: &mut ValueReader<'_>,
    place: SourceLocation,
    text: String,
) -> Option<Comparand> {
    let Some(comparand) = Comparand::parse(&text) else {
        let what = format!("`{}` names nothing to compare with", shorten(&text));
        let cure =
            "write a scenario of the study, or a path and a value: `writers.settings.acks=1`";
        return reader.refuse(place, what, cure);
    };
    if let (None, Some((path, value))) = (&comparand.scenario, &comparand.factor) {
        let known = reader.scope.factors.iter().find(|(known, _)| known == path);
        let Some((_, values)) = known else {
            let what = format!("`{}` is not varied", shorten(path));
            return reader.refuse(place, what, "use a path listed in `vary`");
        };
        if !values.contains(value) {
            let what = format!("`{path}` is never {}", shorten(value));
            let cure = format!("write one of: {}", shorten(&values.join(", ")));
            return reader.refuse(place, what, cure);
        }
    }
    Some(comparand)
}

/// What is applied to the tree before it is read.
fn applied_before(form: ValueForm) -> ValueKind<()> {
    ValueKind::new(form, |_, _| Some(()))
}

/// The stages come before the flows, some of which last as long as the hold.
fn stages() -> ValueKind<Stages> {
    ValueKind::new(ValueForm::Map(Stages::KEYS), |reader, node| {
        let stages = Stages::read_map(reader, node)?;
        reader.scope.hold_ns = Some(stages.hold_ns);
        Some(stages)
    })
}
