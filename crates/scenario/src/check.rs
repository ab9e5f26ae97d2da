//! Finds contradictions between parts that are each valid.

use kgauge_faults::{CutEnd, Fault};

use crate::answer::AnswerKind;
use crate::faults::{FaultNode, FaultStart};
use crate::figure::{FigureName, Goal, Metric};
use crate::flow_values::{ConsumeEnd, PartitionShare, StartOffset};
use crate::keys::flow::{ConsumeFlow, EchoFlow, FlowPlan, ProduceFlow};
use crate::keys::scenario::WrittenScenario;
use crate::path::place;
use crate::reader::ValueReader;
use crate::record_size::exceeded_limits;
use crate::settings::{Acks, Partitioner};
use crate::shape::Shape;
use crate::suggest::shorten;
use crate::tree::YamlNode;
use crate::value_kind::ListItem;

/// Reports every contradiction.
pub(crate) fn check(reader: &mut ValueReader<'_>, tree: &YamlNode, written: &WrittenScenario) {
    topic(reader, tree, written);
    for flow in &written.flows {
        match flow {
            FlowPlan::Produce(flow) => produce(reader, tree, written, flow),
            FlowPlan::Consume(flow) => consume(reader, tree, written, flow),
            FlowPlan::Echo(flow) => echo(reader, tree, written, flow),
        }
    }
    figures(reader, written);
    faults(reader, tree, written);
    mirror(reader, tree, written);
    answer(reader, tree, written);
}

/// Only a ratio is compared with something.
fn answer(reader: &mut ValueReader<'_>, tree: &YamlNode, written: &WrittenScenario) {
    let asks_else = written.asks.is_some_and(|kind| kind != AnswerKind::Effect);
    if written.against.is_some() && asks_else {
        let what = "only `asks: effect` compares with something";
        let at = tree
            .get("against")
            .map_or(tree.place, |against| against.place);
        let cure = "remove it, or write `asks: effect`";
        reader.inside("against", |reader| reader.problem(at, what, cure));
    }
}

/// A mirror needs a flow that reads the copy.
fn mirror(reader: &mut ValueReader<'_>, tree: &YamlNode, written: &WrittenScenario) {
    let reads = |flow: &FlowPlan| matches!(flow, FlowPlan::Echo(_));
    if written.target.mirror.is_some() && !written.flows.iter().any(reads) {
        let what = "no flow reads the copy";
        let cure = "add an echo flow: it writes to the target and reads the copy";
        note(reader, tree, "target.mirror", what, cure.to_owned());
    }
}

/// Faults must affect existing nodes while the load runs.
fn faults(reader: &mut ValueReader<'_>, tree: &YamlNode, written: &WrittenScenario) {
    let brokers = written.target.brokers;
    let stages = &written.stages;
    for ListItem { item, place, index } in &written.faults.listed {
        let fault = item;
        let mut note = |key: &str, what: String, cure: String| {
            let step = format!(".faults[{index}].{key}");
            reader.inside(&step, |reader| reader.problem(*place, what, cure));
        };
        let ends = match fault.kind {
            Fault::Cut {
                end: CutEnd::Node(number),
                ..
            } => Some(number),
            _ => None,
        };
        let struck = match fault.node {
            FaultNode::Number(number) => Some(number),
            FaultNode::Leader | FaultNode::Follower | FaultNode::Random | FaultNode::All => None,
        };
        for number in struck.into_iter().chain(ends) {
            if u32::from(number) > brokers {
                let what = format!("node {number} may not exist");
                note(
                    "node",
                    what,
                    format!("write `target: {{brokers: {number}}}`"),
                );
            }
        }
        if fault.node == FaultNode::Follower && written.topic.replication < 2 {
            let what = "with one replica there are no followers".to_owned();
            note(
                "node",
                what,
                "make `topic.replication` at least 2".to_owned(),
            );
        }
        let FaultStart::Hold(at_ns) = fault.at else {
            continue;
        };
        if at_ns < 0 && at_ns.unsigned_abs() > stages.warm_up_ns {
            let what = "the fault would begin before the load".to_owned();
            let cure = "make `stages.warm-up` longer, or write `at: start`".to_owned();
            note("at", what, cure);
        }
        let hold_ns = stages.hold_ns.and_then(|ns| i64::try_from(ns).ok());
        if hold_ns.is_some_and(|hold_ns| at_ns >= hold_ns) {
            let what = "the fault would begin after the hold".to_owned();
            note("at", what, "make `stages.hold` longer".to_owned());
        }
        if hold_ns.is_none() && fault.every_ns.is_some() {
            let what = "with `hold: none` the fault would repeat forever".to_owned();
            note("every", what, "give `stages.hold` a time".to_owned());
        }
    }
    random_faults(reader, tree, written);
}

/// Random faults need an end, and time for at least one.
fn random_faults(reader: &mut ValueReader<'_>, tree: &YamlNode, written: &WrittenScenario) {
    let Some(random) = &written.faults.random else {
        return;
    };
    let path = "faults.random.every";
    match written.stages.hold_ns {
        None => {
            let what = "with `hold: none` random faults would repeat forever";
            note(
                reader,
                tree,
                path,
                what,
                "give `stages.hold` a time".to_owned(),
            );
        }
        Some(hold_ns) if hold_ns <= random.every_ns => {
            let what = "the first fault would begin after the hold";
            let cure = "make `every` shorter, or `stages.hold` longer".to_owned();
            note(reader, tree, path, what, cure);
        }
        Some(_) => {}
    }
}

fn topic(reader: &mut ValueReader<'_>, tree: &YamlNode, written: &WrittenScenario) {
    let topic = &written.topic;
    if u32::from(topic.replication) > written.target.brokers {
        let what = format!(
            "{} replicas need at least that many brokers",
            topic.replication
        );
        let cure = format!("write `target: {{brokers: {}}}`", topic.replication);
        note(reader, tree, "topic.replication", what, cure);
    }
    let in_sync = topic
        .config
        .get("min.insync.replicas")
        .and_then(|text| text.parse().ok());
    if in_sync.is_some_and(|in_sync: u64| in_sync > u64::from(topic.replication)) {
        let path = "topic.config.min.insync.replicas";
        let what = "it is more than the number of replicas: no `acks: all` request could succeed";
        note(
            reader,
            tree,
            path,
            what,
            "make it at most `topic.replication`",
        );
    }
    let message_max = topic
        .config
        .get("max.message.bytes")
        .and_then(|text| text.parse().ok());
    let Some(message_max): Option<u64> = message_max else {
        return;
    };
    for flow in &written.flows {
        let Some(flow) = flow.produces() else {
            continue;
        };
        if u64::from(flow.settings.batch_bytes) > message_max {
            let path = "topic.config.max.message.bytes";
            let what = format!("batches of flow `{}` may be larger", flow.name);
            note(reader, tree, path, what, "make it at least `batch.size`");
        }
    }
}

fn produce(
    reader: &mut ValueReader<'_>,
    tree: &YamlNode,
    written: &WrittenScenario,
    flow: &ProduceFlow,
) {
    let size_path = format!("{}.record.size", flow.name);
    for (what, key) in exceeded_limits(&flow.record, &flow.settings) {
        let cure = format!(
            "make the record smaller or `{}.settings.{key}` larger",
            flow.name
        );
        note(reader, tree, &size_path, what, cure);
    }
    for refusal in flow.driver.refusals(flow) {
        let path = format!("{}.{}", flow.name, refusal.key);
        note(reader, tree, &path, refusal.what, refusal.cure);
    }
    if written.stages.hold_ns.is_none() && flow.records_max.is_none() {
        endless(reader, tree, &flow.name);
    }
    if let Partitioner::Partition(partition) = flow.settings.partitioner
        && partition >= written.topic.partitions
    {
        let path = format!("{}.settings.partitioner", flow.name);
        let what = format!("the topic has no partition {partition}");
        let cure = format!("write 0 to {}", written.topic.partitions - 1);
        note(reader, tree, &path, what, cure);
    }
}

/// Its records need room for timestamps and must come from kgauge.
fn echo(reader: &mut ValueReader<'_>, tree: &YamlNode, written: &WrittenScenario, flow: &EchoFlow) {
    produce(reader, tree, written, &flow.produce);
    let path = |key: &str| format!("{}.{key}", flow.produce.name);
    let record = &flow.produce.record;
    if record.value_bytes_min() < EchoFlow::VALUE_BYTES_MIN {
        let what = "each value of an echo flow contains timestamps";
        let cure = format!("make values at least {} B", EchoFlow::VALUE_BYTES_MIN);
        note(reader, tree, &path("record.size"), what, cure);
    }
    if record.file.is_some() || record.null_values > 0.0 {
        let what = "each value of an echo flow contains timestamps, so kgauge must generate it";
        let cure = "remove `file` and `null-values`";
        note(reader, tree, &path("record"), what, cure);
    }
    if flow.produce.settings.acks == Acks::None {
        let what = "an echo flow needs acks to separate produce time from fetch time";
        let cure = "write `acks: 1` or `all`";
        note(reader, tree, &path("settings.acks"), what, cure);
    }
    if flow.produce.transaction.is_some() && !flow.consumer_settings.read_committed {
        let what = "an echo flow with transactions must read only committed records";
        let cure = "write `consumer-settings: {isolation.level: read_committed}`";
        note(reader, tree, &path("transaction"), what, cure);
    }
    if flow.produce.transaction.is_some() && written.target.mirror.is_some() {
        let what = "a replicator also copies aborted records, and does not write in transactions";
        let cure = "remove `transaction`, or `target.mirror`";
        note(reader, tree, &path("transaction"), what, cure);
    }
    if flow.consumers > written.topic.partitions {
        let what = idle_consumers(flow.consumers, written);
        let cure = "write fewer consumers, or more partitions";
        note(reader, tree, &path("consumers"), what, cure);
    }
}

fn idle_consumers(consumers: u32, written: &WrittenScenario) -> String {
    format!(
        "{consumers} consumers cannot share {} partitions: some would read nothing",
        written.topic.partitions
    )
}

fn endless(reader: &mut ValueReader<'_>, tree: &YamlNode, flow: &str) {
    let what = format!("with `hold: none` flow `{flow}` never ends");
    note(
        reader,
        tree,
        "stages.hold",
        what,
        format!("set `{flow}.records`, or give `hold` a time"),
    );
}

fn consume(
    reader: &mut ValueReader<'_>,
    tree: &YamlNode,
    written: &WrittenScenario,
    flow: &ConsumeFlow,
) {
    let path = |key: &str| format!("{}.{key}", flow.name);
    alone_in_group(reader, tree, written, flow);
    // A group may have members to spare.
    let is_dealt = flow.partitions == PartitionShare::Split && flow.group.is_none();
    if is_dealt && flow.consumers > written.topic.partitions {
        let what = idle_consumers(flow.consumers, written);
        let cure = "write fewer consumers, more partitions, or `partitions: all`";
        note(reader, tree, &path("consumers"), what, cure);
    }
    let preloaded = written
        .topic
        .preload
        .as_ref()
        .map_or(0, |preload| preload.records);
    let produced = written.flows.iter().any(|flow| flow.produces().is_some());
    let readers = match flow.partitions {
        PartitionShare::All => u64::from(flow.consumers),
        PartitionShare::Split => u64::from(flow.groups),
    };
    let from_end = flow.from == StartOffset::Latest;
    let backlog = if from_end {
        0
    } else {
        preloaded.saturating_mul(readers)
    };
    match flow.records {
        ConsumeEnd::Backlog if backlog == 0 => {
            let what = "`records: all` reads only existing records, and there are none";
            let cure = "set `topic.preload` and `from: earliest`, or remove `records`";
            note(reader, tree, &path("records"), what, cure);
        }
        ConsumeEnd::Count(count) if !produced && count > backlog => {
            let what = format!("`records` is {count}, but only {backlog} records can be read");
            note(
                reader,
                tree,
                &path("records"),
                what,
                "make `topic.preload.records` larger",
            );
        }
        ConsumeEnd::StageEnd if written.stages.hold_ns.is_none() => {
            endless(reader, tree, &flow.name);
        }
        ConsumeEnd::StageEnd if !produced && backlog == 0 => {
            let what = "there is nothing to read";
            note(
                reader,
                tree,
                &path("from"),
                what,
                "set `topic.preload`, or add a produce flow",
            );
        }
        _ => {}
    }
}

/// Two flows in one group would take each other's partitions.
fn alone_in_group(
    reader: &mut ValueReader<'_>,
    tree: &YamlNode,
    written: &WrittenScenario,
    flow: &ConsumeFlow,
) {
    let Some(group) = &flow.group else { return };
    let is_same = |other: &&FlowPlan| match other {
        FlowPlan::Consume(other) => {
            let other = other.group.as_ref();
            other.is_some_and(|other| other.label == group.label)
        }
        FlowPlan::Produce(_) | FlowPlan::Echo(_) => false,
    };
    if written.flows.iter().filter(is_same).count() > 1 {
        let what = format!("several flows use the group `{}`", group.label);
        let path = format!("{}.group", flow.name);
        note(reader, tree, &path, what, "give each flow a separate group");
    }
}

/// Goals and published figures must refer to existing flows that have such a figure.
fn figures(reader: &mut ValueReader<'_>, written: &WrittenScenario) {
    for goal in &written.goals {
        // A search gives its flows a rate.
        let of_loop = || closed_loop(written, &goal.item).filter(|_| written.search.is_none());
        let fault = fault(written, &goal.item.figure).or_else(of_loop);
        figure(reader, "goals", goal, fault);
    }
    for published in &written.published {
        let fault = fault(written, &published.item.published.figure);
        figure(reader, "published", published, fault);
    }
}

/// What is wrong, and the fix.
pub(crate) type Contradiction = (String, String);

fn figure<T>(
    reader: &mut ValueReader<'_>,
    list: &str,
    listed: &ListItem<T>,
    fault: Option<Contradiction>,
) {
    let Some((what, cure)) = fault else { return };
    let step = format!(".{list}[{}]", listed.index);
    reader.inside(&step, |reader| reader.problem(listed.place, what, cure));
}

/// Returns the reason if a scenario does not have this figure.
pub(crate) fn fault(written: &WrittenScenario, figure: &FigureName) -> Option<Contradiction> {
    let metric = figure.metric;
    match written.flows.iter().find(|flow| flow.name() == figure.flow) {
        None => {
            let names: Vec<&str> = written.flows.iter().map(FlowPlan::name).collect();
            let what = format!("there is no flow `{}`", shorten(&figure.flow));
            Some((what, format!("the flows are: {}", names.join(", "))))
        }
        Some(FlowPlan::Consume(_)) if metric.needs_produce() => {
            let what = format!("a consume flow has no {metric}");
            let cure = "it has throughput and throughput.bytes; `kind: echo` measures end to end";
            Some((what, cure.to_owned()))
        }
        Some(FlowPlan::Produce(_)) if matches!(metric, Metric::EndToEnd(_)) => {
            let what = format!("a produce flow has no {metric}");
            let cure = "make it `kind: echo`, which reads back what it writes";
            Some((what, cure.to_owned()))
        }
        Some(_) => None,
    }
}

/// A goal cannot limit the latency of a closed loop, which does not measure the broker.
pub(crate) fn closed_loop(written: &WrittenScenario, goal: &Goal) -> Option<Contradiction> {
    let metric = goal.figure.metric;
    let flow = written
        .flows
        .iter()
        .find(|flow| flow.name() == goal.figure.flow)?;
    match flow.produces() {
        Some(flow) if flow.shape == Shape::Max && metric.is_time() => {
            let what = format!(
                "with `shape: max`, {metric} is buffer.memory divided by the throughput, not \
                 broker latency"
            );
            Some((
                what,
                "use a flow with a rate: `shape: {constant: 50k/s}`".to_owned(),
            ))
        }
        _ => None,
    }
}

/// Notes a contradiction at a path of the scenario.
pub(crate) fn note(
    reader: &mut ValueReader<'_>,
    tree: &YamlNode,
    path: &str,
    what: impl Into<String>,
    cure: impl Into<String>,
) {
    let at = place(tree, path);
    reader.inside(path, |reader| reader.problem(at, what, cure));
}
