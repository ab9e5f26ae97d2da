//! Flows: the kinds of traffic, their shapes and limits.

use super::Factor;
use super::settings::{consumer_settings, producer_settings};
use super::topic::{RECORDS_MAX, record};
use crate::keys::{CONSUME, PRODUCE, SHAPE};
use crate::path::ROOTS;
use crate::plan::{
    ConsumeEnd, ConsumeFlow, FlowPlan, PartitionShare, ProduceFlow, RecordPlan, Shape, StartOffset,
};
use crate::reader::{Fields, Reader};
use crate::schedule::{RATE_MAX, RATE_MIN};
use crate::settings::GroupPlan;
use crate::tree::{Node, Value};
use crate::units;

/// Each has its own connections; more than this is not one machine's work.
const MEMBERS_MAX: u32 = 10_000;
const FLOWS_MAX: usize = 100;

pub(super) fn flows(
    reader: &mut Reader<'_>,
    node: &Node,
    factors: &[Factor],
) -> Option<Vec<FlowPlan>> {
    if let Value::List(items) = &node.value
        && items.len() > FLOWS_MAX
    {
        let what = format!("{} flows", items.len());
        reader.problem(node.place, what, format!("write at most {FLOWS_MAX}"));
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    let flows = reader.list(node, |reader, item| {
        let name = name(reader, item, &names);
        names.extend(name.clone());
        flow(reader, item, name, factors)
    })?;
    (!flows.is_empty()).then_some(flows)
}

/// The name is checked before the kind is known: other mistakes refer to it.
fn name(reader: &mut Reader<'_>, item: &Node, taken: &[String]) -> Option<String> {
    let name = item.get("name")?.as_text()?;
    let place = item.get("name")?.place;
    let fault = if taken.iter().any(|other| other == name) {
        "another flow has this name"
    } else if ROOTS.contains(&name) {
        "a path that starts with this word means something else"
    } else {
        return Some(name.to_owned());
    };
    reader.inside(".name", |reader| {
        reader.problem(place, fault, "choose another name")
    });
    None
}

fn flow(
    reader: &mut Reader<'_>,
    item: &Node,
    name: Option<String>,
    factors: &[Factor],
) -> Option<FlowPlan> {
    let Value::Map(_) = &item.value else {
        reader.wrong_type(item, "a flow: `name`, `kind` and what it does");
        return None;
    };
    let Some(kind) = item.get("kind") else {
        let cure = "add `kind: produce` or `kind: consume`";
        reader.problem(item.place, "`kind` is missing", cure);
        return None;
    };
    if kind.as_text() == Some("echo") {
        let cure = "write `produce` or `consume`";
        reader.inside(".kind", |reader| {
            reader.problem(kind.place, "echo flows are not supported yet", cure);
        });
        return None;
    }
    let kinds = [("produce", true), ("consume", false)];
    match reader.inside(".kind", |reader| reader.choice(kind, &kinds))? {
        true => produce(reader, item, name, factors).map(FlowPlan::Produce),
        false => consume(reader, item, name, factors).map(FlowPlan::Consume),
    }
}

fn produce(
    reader: &mut Reader<'_>,
    item: &Node,
    known_name: Option<String>,
    factors: &[Factor],
) -> Option<ProduceFlow> {
    let fields = reader.map(item, &PRODUCE)?;
    let name = reader.field(&fields, "name", Reader::name);
    let producers = members(reader, &fields, "producers");
    let shape = reader.field(&fields, "shape", shape);
    let record = reader.field(&fields, "record", record);
    let records_max = match (fields.get("records"), &record) {
        (None, _) => Some(None),
        (Some(_), Some(record)) => reader
            .field(&fields, "records", |reader, node| {
                records_max(reader, node, record)
            })
            .map(Some),
        (Some(_), None) => None,
    };
    let flow_name = known_name.as_deref().unwrap_or_default();
    let varied = |key: &str| {
        let path = format!("{flow_name}.{key}");
        factors.iter().any(|factor| factor.path == path)
    };
    let settings = reader.field(&fields, "settings", |reader, node| {
        producer_settings(reader, node, flow_name, &varied)
    });
    let skip_after = reader.field(&fields, "skip-after", |reader, node| {
        reader.time_ns(node, 1..=super::DAY_NS)
    });
    if shape == Some(Shape::Max) && fields.has("skip-after") && !varied("shape") {
        let what = "`skip-after` says nothing with `shape: max`";
        let cure = "remove it: without a schedule nothing is late";
        reader.problem_at(&fields, "skip-after", what, cure);
    }
    Some(ProduceFlow {
        name: name?,
        producers: producers?,
        shape: shape?,
        records_max: records_max?,
        record: record?,
        settings: settings?,
        skip_after_ns: skip_after?,
    })
}

fn members(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str) -> Option<u32> {
    reader.field(fields, key, |reader, node| {
        reader.count_u32(node, 1..=MEMBERS_MAX)
    })
}

/// A count, or a size that is divided by the size of a record.
fn records_max(reader: &mut Reader<'_>, node: &Node, record: &RecordPlan) -> Option<u64> {
    let is_size = node
        .as_text()
        .is_some_and(|text| units::bytes(text).is_ok());
    if !is_size {
        return reader.count(node, 1..=RECORDS_MAX);
    }
    let value_bytes = u64::from(record.value_bytes.max(1));
    let bytes = reader.bytes(node, 1..=u64::MAX)?;
    let records = bytes / value_bytes;
    if records == 0 {
        let what = "the size holds not even one record";
        reader.problem(node.place, what, "write a larger size, or a count");
        return None;
    }
    reader.within(node, records, 1..=RECORDS_MAX, |records| {
        format!("{records} records")
    })
}

fn shape(reader: &mut Reader<'_>, node: &Node) -> Option<Shape> {
    if let Some(text) = node.as_text() {
        if SHAPE.key(text).is_some() {
            let what = format!("`{text}` needs a rate");
            reader.problem(node.place, what, format!("write `{{{text}: 50k/s}}`"));
            return None;
        }
        if SHAPE.refusal(text).is_some() {
            let what = format!("shape `{text}` is not supported yet");
            reader.problem(node.place, what, "write `max`, `constant` or `poisson`");
            return None;
        }
        return reader.choice(node, &[("max", Shape::Max)]);
    }
    let fields = reader.map(node, &SHAPE)?;
    let constant = rate(reader, &fields, "constant");
    let poisson = rate(reader, &fields, "poisson");
    match (fields.has("constant"), fields.has("poisson")) {
        (true, false) => Some(Shape::Constant {
            per_second: constant?,
        }),
        (false, true) => Some(Shape::Poisson {
            per_second: poisson?,
        }),
        (true, true) => {
            reader.problem(node.place, "two shapes at once", "write one of them");
            None
        }
        (false, false) => {
            if matches!(&node.value, Value::Map(entries) if entries.is_empty()) {
                let cure = "write `max` or `{constant: 50k/s}`";
                reader.problem(node.place, "no shape is written here", cure);
            }
            None
        }
    }
}

fn rate(reader: &mut Reader<'_>, fields: &Fields<'_>, key: &str) -> Option<f64> {
    reader.field(fields, key, |reader, node| {
        let per_second = reader.quantity(node, "a rate, such as `50k/s`", units::rate)?;
        if (RATE_MIN..=RATE_MAX).contains(&per_second) {
            return Some(per_second);
        }
        let what = format!("{per_second} records a second is out of range");
        reader.problem(node.place, what, "write 0.001/s to 1G/s");
        None
    })
}

fn consume(
    reader: &mut Reader<'_>,
    item: &Node,
    known_name: Option<String>,
    factors: &[Factor],
) -> Option<ConsumeFlow> {
    let fields = reader.map(item, &CONSUME)?;
    let name = reader.field(&fields, "name", Reader::name);
    let consumers = members(reader, &fields, "consumers");
    let partitions = reader.field(&fields, "partitions", |reader, node| {
        let choices = [
            ("split", PartitionShare::Split),
            ("all", PartitionShare::All),
        ];
        reader.choice(node, &choices)
    });
    let from = reader.field(&fields, "from", |reader, node| {
        let choices = [
            ("earliest", StartOffset::Earliest),
            ("latest", StartOffset::Latest),
        ];
        reader.choice(node, &choices)
    });
    let records = match fields.get("records") {
        None => Some(ConsumeEnd::StageEnd),
        Some(_) => reader.field(&fields, "records", |reader, node| match node.as_text() {
            Some("all") => Some(ConsumeEnd::Backlog),
            _ => reader.count(node, 1..=RECORDS_MAX).map(ConsumeEnd::Count),
        }),
    };
    let flow_name = known_name.as_deref().unwrap_or_default();
    let label = reader.field(&fields, "group", |reader, node| match node.as_text() {
        Some("false") => Some(None),
        Some("true") => Some(Some(flow_name.to_owned())),
        _ => reader.name(node).map(Some),
    });
    let is_group = label.as_ref().is_some_and(Option::is_some);
    if is_group && partitions == Some(PartitionShare::All) {
        let what = "a group shares the partitions out: no member reads `all`";
        let cure = "write `partitions: split`, or a flow with a group for each";
        reader.problem_at(&fields, "partitions", what, cure);
    }
    let path = format!("{flow_name}.group");
    // Whoever switches the group off by `--set` need not take its settings out.
    let means_nothing = !fields.has("group") && factors.iter().all(|one| one.path != path);
    let settings = reader.field(&fields, "settings", |reader, node| {
        consumer_settings(reader, node, flow_name, means_nothing)
    });
    let (settings, group) = settings.unzip();
    let group = match (label?, group) {
        (Some(label), group) => Some(GroupPlan { label, ..group? }),
        (None, _) => None,
    };
    Some(ConsumeFlow {
        group,
        name: name?,
        consumers: consumers?,
        partitions: partitions?,
        from: from?,
        records: records?,
        settings: settings?,
    })
}
