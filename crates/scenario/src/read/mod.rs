//! From a tree to the parts of a trial: typed parsing of the whole scenario.

mod check;
mod faults;
mod flow;
mod goal;
mod group;
mod record;
mod settings;
mod shape;
mod target;
mod topic;

use crate::faults::FaultPlan;
use crate::figure::{Goal, PublishedValue};
use crate::keys::{ROOT, STAGES};
use crate::plan::{FlowPlan, Stages, TopicPlan};
use crate::problem::SourceLocation;
use crate::reader::ValueReader;
use crate::tree::YamlNode;
use crate::vary::FactorGroup;

pub(crate) use settings::{consumer_settings, producer_settings};
pub(crate) use target::TargetNeeds;

/// The contents of a scenario after its overrides have been applied.
#[derive(Clone, Debug)]
pub(crate) struct WrittenScenario {
    pub(crate) name: String,
    pub(crate) question: String,
    pub(crate) target: TargetNeeds,
    pub(crate) topic: TopicPlan,
    pub(crate) flows: Vec<FlowPlan>,
    pub(crate) stages: Stages,
    pub(crate) faults: Vec<ListItem<FaultPlan>>,
    pub(crate) repeats: u32,
    pub(crate) goals: Vec<ListItem<Goal>>,
    pub(crate) published: Vec<ListItem<ForTrial>>,
}

/// An item of a list and its place.
#[derive(Clone, Debug)]
pub(crate) struct ListItem<T> {
    pub(crate) item: T,
    pub(crate) place: SourceLocation,
    /// Position in the list, wrong items included.
    pub(crate) index: usize,
}

/// A published figure and the factors' values that it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct ForTrial {
    pub(crate) published: PublishedValue,
    pub(crate) factors: Vec<(String, String)>,
}

impl ForTrial {
    /// Whether it was published for a trial with these factors.
    pub(crate) fn belongs_to(&self, factors: &[(String, String)]) -> bool {
        self.factors.iter().all(|wanted| factors.contains(wanted))
    }
}

/// What a scenario varies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors<'a> {
    /// All of it.
    pub(crate) all: &'a [FactorGroup],
    /// What the file itself varies: published figures know no other.
    pub(crate) in_file: &'a [FactorGroup],
}

/// The longest that anything in a scenario may last: a day, in ns.
pub(crate) const DAY_NS: u64 = 24 * 3_600 * 1_000_000_000;
const REPEATS_MAX: u32 = 1_000;

/// Reads everything but `vary` and `sizes`, which have been applied to the tree already.
///
/// `None` only together with at least one problem.
pub(crate) fn written(
    reader: &mut ValueReader<'_>,
    tree: &YamlNode,
    factors: &Factors<'_>,
) -> Option<WrittenScenario> {
    let fields = reader.map(tree, &ROOT)?;
    reader.field(&fields, "kgauge", ValueReader::version);
    let name = reader.field(&fields, "name", ValueReader::name);
    let question = reader.field(&fields, "question", ValueReader::text);
    let target = reader.field(&fields, "target", target::target);
    let topic = reader.field(&fields, "topic", topic::topic);
    let stages = reader.field(&fields, "stages", stages);
    let flows = reader.field(&fields, "flows", |reader, node| {
        flow::flows(reader, node, factors.all, stages)
    });
    let faults = match fields.has("faults") {
        true => reader.field(&fields, "faults", faults::faults),
        false => Some(Vec::new()),
    };
    let repeats = reader.field(&fields, "repeats", |reader, node| {
        reader.count_u32(node, 1..=REPEATS_MAX)
    });
    let goals = match fields.has("goals") {
        true => reader.field(&fields, "goals", goal::goals),
        false => Some(Vec::new()),
    };
    let published = match fields.has("published") {
        true => reader.field(&fields, "published", |reader, node| {
            goal::published(reader, node, factors.in_file)
        }),
        false => Some(Vec::new()),
    };
    let written = WrittenScenario {
        name: name?,
        question: question?,
        target: target?,
        topic: topic?,
        flows: flows?,
        stages: stages?,
        faults: faults?,
        repeats: repeats?,
        goals: goals?,
        published: published?,
    };
    check::check(reader, tree, &written);
    Some(written)
}

fn stages(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Stages> {
    /// A hold shorter than this has no figure worth printing.
    const HOLD_NS_MIN: u64 = 100_000_000;
    let fields = reader.map(node, &STAGES)?;
    let warm_up = reader.field(&fields, "warm-up", |reader, node| {
        reader.time_ns(node, 0..=DAY_NS)
    });
    let limit = reader.field(&fields, "warm-up-limit", |reader, node| {
        reader.time_ns(node, 0..=DAY_NS)
    });
    let hold = reader.field(&fields, "hold", |reader, node| match node.as_text() {
        Some("none") => Some(None),
        _ => reader.time_ns(node, HOLD_NS_MIN..=DAY_NS).map(Some),
    });
    let drain = reader.field(&fields, "drain", |reader, node| {
        reader.time_ns(node, 0..=DAY_NS)
    });
    Some(Stages {
        warm_up_ns: warm_up?,
        warm_up_ns_max: limit?,
        hold_ns: hold?,
        drain_ns_max: drain?,
    })
}
