//! Flows: the kinds of traffic, their shapes and limits.

use super::record::record;
use super::settings::{consumer_settings, producer_settings};
use super::shape::shape;
pub(super) use super::topic::RECORDS_MAX;
use crate::driver::Driver;
use crate::keys::{CONSUME, DRIVER, ECHO, FROM, PRODUCE};
use crate::path::ROOTS;
use crate::plan::{
    ConsumeEnd, ConsumeFlow, EchoFlow, FlowPlan, PartitionShare, ProduceFlow, Stages, StartOffset,
    TransactionLength,
};
use crate::reader::{Fields, ValueReader, shorten};
use crate::record::RecordPlan;
use crate::settings::{GroupPlan, ProducerSettings};
use crate::shape::{Arrivals, Shape, Trace};
use crate::tree::{Value, YamlNode};
use crate::units;
use crate::vary::FactorGroup;

/// Each has its own connections; more than this is not one machine's work.
const MEMBERS_MAX: u32 = 10_000;
const FLOWS_MAX: usize = 100;

pub(super) fn flows(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    factors: &[FactorGroup],
    stages: Option<Stages>,
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
        flow(reader, item, name, factors, stages)
    })?;
    (!flows.is_empty()).then_some(flows)
}

/// The name is checked before the kind is known: other mistakes refer to it.
fn name(reader: &mut ValueReader<'_>, item: &YamlNode, taken: &[String]) -> Option<String> {
    let name = item.get("name")?.as_text()?;
    let place = item.get("name")?.place;
    let fault = if taken.iter().any(|other| other == name) {
        "another flow has this name"
    } else if ROOTS.contains(&name) {
        "this name is reserved: paths that start with it mean something else"
    } else {
        return Some(name.to_owned());
    };
    reader.inside(".name", |reader| {
        reader.problem(place, fault, "choose another name")
    });
    None
}

fn flow(
    reader: &mut ValueReader<'_>,
    item: &YamlNode,
    name: Option<String>,
    factors: &[FactorGroup],
    stages: Option<Stages>,
) -> Option<FlowPlan> {
    let Value::Map(_) = &item.value else {
        reader.wrong_type(item, "a flow with `name`, `kind` and further keys");
        return None;
    };
    let Some(kind) = item.get("kind") else {
        let cure = "add `kind: produce`, `kind: consume` or `kind: echo`";
        reader.problem(item.place, "`kind` is missing", cure);
        return None;
    };
    let kinds = [
        ("produce", FlowKind::Produce),
        ("consume", FlowKind::Consume),
        ("echo", FlowKind::Echo),
    ];
    match reader.inside(".kind", |reader| reader.choice(kind, &kinds))? {
        FlowKind::Produce => {
            let fields = reader.map(item, &PRODUCE)?;
            let driver = reader.field(&fields, "driver", driver);
            let mut flow = produce(reader, &fields, name, factors, stages)?;
            flow.driver = driver?;
            if flow.transaction.is_some() && !flow.driver.is_kgauge() {
                let what = "only kgauge's own engine supports transactions";
                let cure = "remove `transaction`, or `driver`";
                reader.problem_at(&fields, "transaction", what, cure);
                return None;
            }
            Some(FlowPlan::Produce(flow))
        }
        FlowKind::Consume => consume(reader, item, name, factors).map(FlowPlan::Consume),
        FlowKind::Echo => echo(reader, item, name, factors, stages).map(FlowPlan::Echo),
    }
}

/// What a flow does.
#[derive(Clone, Copy)]
enum FlowKind {
    Produce,
    Consume,
    Echo,
}

fn echo(
    reader: &mut ValueReader<'_>,
    item: &YamlNode,
    known_name: Option<String>,
    factors: &[FactorGroup],
    stages: Option<Stages>,
) -> Option<EchoFlow> {
    let fields = reader.map(item, &ECHO)?;
    let produce = produce(reader, &fields, known_name.clone(), factors, stages);
    let consumers = members(reader, &fields, "consumers");
    let flow_name = known_name.as_deref().unwrap_or_default();
    let settings = reader.field(&fields, "consumer-settings", |reader, node| {
        consumer_settings(reader, node, flow_name, true)
    });
    Some(EchoFlow {
        produce: produce?,
        consumers: consumers?,
        consumer_settings: settings?.0,
    })
}

/// What writes, in a produce flow or in an echo flow.
fn produce(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    known_name: Option<String>,
    factors: &[FactorGroup],
    stages: Option<Stages>,
) -> Option<ProduceFlow> {
    let name = reader.field(fields, "name", ValueReader::name);
    let producers = members(reader, fields, "producers");
    let shape = reader.field(fields, "shape", |reader, node| shape(reader, node, stages));
    let arrivals = reader.field(fields, "arrivals", |reader, node| {
        let choices = [("even", Arrivals::Even), ("poisson", Arrivals::Poisson)];
        reader.choice(node, &choices)
    });
    let record = reader.field(fields, "record", record);
    let records_max = match (fields.get("records"), &record) {
        (None, _) => Some(None),
        (Some(_), Some(record)) => reader
            .field(fields, "records", |reader, node| {
                records_max(reader, node, record)
            })
            .map(Some),
        (Some(_), None) => None,
    };
    let flow_name = known_name.as_deref().unwrap_or_default();
    let varied = |key: &str| {
        let path = format!("{flow_name}.{key}");
        factors.iter().any(|factor| factor.changes(&path))
    };
    let settings = reader.field(fields, "settings", |reader, node| {
        producer_settings(reader, node, flow_name, &varied)
    });
    let skip_after = reader.field(fields, "skip-after", |reader, node| {
        reader.time_ns(node, 1..=super::DAY_NS)
    });
    if shape == Some(Shape::Max) && fields.has("skip-after") && !varied("shape") {
        let what = "`skip-after` has no effect with `shape: max`";
        let cure = "remove it: without a schedule no record is late";
        reader.problem_at(fields, "skip-after", what, cure);
    }
    if let Some(shape) = &shape
        && fields.has("arrivals")
        && !varied("shape")
    {
        arrivals_fit(reader, fields, shape, arrivals);
    }
    let ends = shape
        .as_ref()
        .zip(stages)
        .and_then(|(shape, stages)| match shape {
            // Without any other end the trace's is the flow's.
            Shape::Replay { trace, .. } if stages.hold_ns.is_none() => Some(trace.records()),
            _ => None,
        });
    let transaction = transaction(reader, fields, settings.as_ref(), &varied);
    Some(ProduceFlow {
        transaction: transaction?,
        name: name?,
        driver: Driver::Kgauge,
        producers: producers?,
        shape: shape?,
        arrivals: arrivals?,
        records_max: records_max?.or(ends),
        record: record?,
        settings: settings?,
        skip_after_ns: skip_after?,
    })
}

/// When a producer commits, if it writes in transactions: `Some(None)` if it does not.
fn transaction(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    settings: Option<&ProducerSettings>,
    varied: &dyn Fn(&str) -> bool,
) -> Option<Option<TransactionLength>> {
    let is_named = settings.is_some_and(|settings| settings.transactional_id.is_some());
    if !fields.has("transaction") {
        if is_named && !varied("transaction") {
            let what = "`transactional.id` has no effect without transactions";
            let cure = "set a length, such as `transaction: 100 ms`, or remove the id";
            reader.problem_at(fields, "settings", what, cure);
        }
        return Some(None);
    }
    if settings.is_some_and(|settings| !settings.idempotence) {
        let what = "transactions need an idempotent producer";
        let cure = "write `acks: all`, and remove `enable.idempotence: false`";
        reader.problem_at(fields, "transaction", what, cure);
    }
    let length = reader.field(fields, "transaction", |reader, node| {
        let is_time = node
            .as_text()
            .is_some_and(|text| units::time_ns(text).is_ok());
        match is_time {
            true => reader
                .time_ns(node, 1_000_000..=super::DAY_NS)
                .map(TransactionLength::Ns),
            false => reader
                .count(node, 1..=RECORDS_MAX)
                .map(TransactionLength::Records),
        }
    });
    length.map(Some)
}

/// The client that sends: a word, or a release of the Java client.
fn driver(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Driver> {
    if node.as_text().is_some() {
        let known = [Driver::Kgauge, Driver::java(), Driver::Librdkafka];
        let choices = [("kgauge", 0), ("java", 1), ("librdkafka", 2)];
        let chosen: usize = reader.choice(node, &choices)?;
        return known.into_iter().nth(chosen);
    }
    let fields = reader.map(node, &DRIVER)?;
    reader.only(node, &fields)?;
    reader.field(&fields, "java", |reader, node| {
        let version = reader.scalar(node, "a release of kafka-clients")?;
        let is_part = |part: &&str| {
            (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        // Releases before 1.0 have four numbers.
        let parts: Vec<&str> = version.split('.').filter(is_part).collect();
        if parts.len() != 3 || parts[0] == "0" || version.split('.').count() != 3 {
            let what = format!(
                "`{}` is not a supported release of kafka-clients",
                shorten(version)
            );
            reader.problem(
                node.place,
                what,
                "write 1.0.0 or newer, as in `{java: 4.3.1}`",
            );
            return None;
        }
        Some(Driver::Java {
            version: version.to_owned(),
        })
    })
}

/// Some shapes leave nothing to choose.
fn arrivals_fit(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    shape: &Shape,
    arrivals: Option<Arrivals>,
) {
    let is_poisson = arrivals == Some(Arrivals::Poisson);
    let what = match shape {
        Shape::Max => "`arrivals` has no effect with `shape: max`",
        Shape::Poisson { .. } if !is_poisson => "`shape: poisson` always has Poisson arrivals",
        Shape::Replay {
            trace: Trace::Times(_),
            ..
        } if is_poisson => "the trace sets the time of each record",
        _ => return,
    };
    reader.problem_at(
        fields,
        "arrivals",
        what,
        "remove it, or choose another shape",
    );
}

fn members(reader: &mut ValueReader<'_>, fields: &Fields<'_>, key: &str) -> Option<u32> {
    reader.field(fields, key, |reader, node| {
        reader.count_u32(node, 1..=MEMBERS_MAX)
    })
}

/// A count, or a size that is divided by the size of a record.
fn records_max(reader: &mut ValueReader<'_>, node: &YamlNode, record: &RecordPlan) -> Option<u64> {
    let is_size = node
        .as_text()
        .is_some_and(|text| units::bytes(text).is_ok());
    if !is_size {
        return reader.count(node, 1..=RECORDS_MAX);
    }
    let bytes = reader.bytes(node, 1..=u64::MAX)?;
    let records = bytes / u64::from(record.value_bytes.max(1));
    if records == 0 {
        let what = "the size is smaller than one record";
        reader.problem(node.place, what, "write a larger size, or a count");
        return None;
    }
    reader.within(node, records, 1..=RECORDS_MAX, |records| {
        format!("{records} records")
    })
}

fn consume(
    reader: &mut ValueReader<'_>,
    item: &YamlNode,
    known_name: Option<String>,
    factors: &[FactorGroup],
) -> Option<ConsumeFlow> {
    let fields = reader.map(item, &CONSUME)?;
    let name = reader.field(&fields, "name", ValueReader::name);
    let consumers = members(reader, &fields, "consumers");
    let partitions = reader.field(&fields, "partitions", |reader, node| {
        let choices = [
            ("split", PartitionShare::Split),
            ("all", PartitionShare::All),
        ];
        reader.choice(node, &choices)
    });
    let groups = members(reader, &fields, "groups");
    let from = reader.field(&fields, "from", from);
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
        let what = "a group divides the partitions: no member reads all of them";
        let cure = "write `partitions: split`, or add one flow per group";
        reader.problem_at(&fields, "partitions", what, cure);
    }
    if !is_group && label.is_some() && groups.is_some_and(|groups| groups > 1) {
        let what = "`groups` needs consumers in a group";
        reader.problem_at(&fields, "groups", what, "add `group: true`, or remove it");
    }
    let path = format!("{flow_name}.group");
    // Whoever switches the group off by `--set` need not take its settings out.
    let means_nothing = !fields.has("group") && !factors.iter().any(|one| one.changes(&path));
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
        groups: groups?,
        name: name?,
        consumers: consumers?,
        partitions: partitions?,
        from: from?,
        records: records?,
        settings: settings?,
    })
}

/// Where reading starts: an end, an offset or a time.
fn from(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<StartOffset> {
    if node.as_text().is_some() {
        let choices = [
            ("earliest", StartOffset::Earliest),
            ("latest", StartOffset::Latest),
        ];
        return reader.choice(node, &choices);
    }
    let fields = reader.map(node, &FROM)?;
    let name = reader.only(node, &fields)?;
    reader.field(&fields, name, |reader, node| match name {
        "offset" => reader.count(node, 0..=RECORDS_MAX).map(StartOffset::Offset),
        "time" => reader
            .quantity(node, "a date and time", units::unix_ms)
            .map(StartOffset::TimestampMs),
        _ => reader.time_ns(node, 1..=u64::MAX).map(StartOffset::AgoNs),
    })
}
