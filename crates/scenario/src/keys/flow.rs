//! Flows: the kinds of traffic, with their keys.

use serde::{Deserialize, Serialize};

use super::consumer::{ConsumerMap, ConsumerSettings, GroupPlan};
use super::producer::ProducerSettings;
use super::record::RecordKeys;
use super::shape::shape;
use crate::driver::Driver;
use crate::flow_values::{ConsumeEnd, PartitionShare, StartOffset, TransactionLength};
use crate::key_definition::{ValueForm, refuse};
use crate::key_map::key_map;
use crate::reader::{Fields, KeyMap, ValueReader};
use crate::record::RecordPlan;
use crate::shape::{Arrivals, Shape, Trace};
use crate::suggest::shorten;
use crate::tree::{Value, YamlNode};
use crate::units;
use crate::value_kind::{
    DAY_NS, RECORDS_MAX, ValueKind, count, length, map, name, size, time, words,
};

/// The first words of paths that do not start with a flow's name, and so no names of flows.
pub(crate) const PATH_ROOTS: &[&str] = &[
    "topic", "stages", "target", "repeats", "search", "verify", "faults", "finds",
];

/// Each has its own connections; more than this is not one machine's work.
const MEMBERS_MAX: u64 = 10_000;
const FLOWS_MAX: usize = 100;

key_map! {
    map DrivenKeys, "Produce flow" -> ProduceFlow, made by produce_flow,
    shares [ProduceFlow],
    refuses [
        refuse(&["consumers", "from", "partitions"], "it is a key of consume flows"),
        refuse(&["topic"], "not supported yet"),
    ]
    {
        /// The client that sends: kgauge's own engine, Kafka's Java client, or librdkafka. Each producer of the last
        /// two runs in a separate process and gets the same records at the same times. `java` is kafka-clients 4.3.1.
        let driver: Driver = "driver" ["kgauge"], ValueKind::new(ValueForm::Words(
            vec!["kgauge", "java", "librdkafka"]), driver).or_map::<DriverKeys>();
    }
}

key_map! {
    /// Producers that write to the trial's topic.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct ProduceFlow, ProduceKeys, "What produces", checked by check_producers,
    and {
        /// The client that sends.
        #[serde(default, skip_serializing_if = "Driver::is_kgauge")]
        pub driver: Driver;
        /// The flow, all producers together, ends its hold stage after this many records.
        pub records_max: Option<u64>;
    }
    {
        /// Unique in the scenario; the first part of paths and figures (`writers.throughput`).
        pub name: String = "name" [required], name();
        /// `produce` writes, `consume` reads, `echo` writes and reads the same records back.
        let _kind: FlowKind = "kind" [required], words(&KINDS);
        /// Number of producers, each with its own buffer and connections, like separate applications.
        pub producers: u32 = "producers" ["1"], count(1..=MEMBERS_MAX);
        /// The rate of the whole flow over time. No default: the meaning of a latency depends on whether the loop is
        /// closed (`max`) or open.
        pub shape: Shape = "shape" [required], shape();
        /// How records are spaced around the shape's rate: `even`, or `poisson` (independently, as from many sources).
        /// `shape: {poisson: RATE}` implies `poisson`.
        pub #[serde(default, skip_serializing_if = "Arrivals::is_even")]
            arrivals: Arrivals = "arrivals" ["even"],
            words(&[("even", Arrivals::Even), ("poisson", Arrivals::Poisson)]);
        /// The total number of records of all producers in the hold. A size is divided by the record size.
        let amount: Option<Amount> = "records" [optional "until the stage ends"], amount();
        /// The contents of each record.
        pub record: RecordPlan = "record" [required], map::<RecordKeys>();
        /// Producer settings, by their Kafka names.
        pub settings: ProducerSettings = "settings" [all_defaults], map::<ProducerSettings>();
        /// Length of each producer's transactions, in records or as a time. At the end of each transaction the producer
        /// flushes, waits for acks and commits, like `commitTransaction`. Needs `acks: all`, idempotence and Kafka
        /// 0.11; the embedded cluster does not support transactions.
        pub #[serde(default, skip_serializing_if = "Option::is_none")]
            transaction: Option<TransactionLength> = "transaction" [optional "no transactions"],
            transaction_length();
        /// Records delayed by more than this are skipped, and counted as skipped. 30 s is longer than a broker restart
        /// and short enough that a run ends. Has no effect with `shape: max`.
        pub skip_after_ns: u64 = "skip-after" ["30 s"], length();
    }
}

key_map! {
    one_of DriverKeys, "Driver" -> Driver, otherwise ValueReader::not_one_key {
        /// The kafka-clients release of Kafka's Java client, 1.0.0 or newer.
        "java" => ValueKind::new(ValueForm::Text, java_release);
    }
}

key_map! {
    /// Consumers that read the trial's topic: assigned partitions, or as members of one group.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct ConsumeFlow, ConsumeKeys, "Consume flow", checked by check_consumers,
    refuses [
        refuse(&["producers", "shape", "record", "skip-after"], "it is a key of produce flows"),
        refuse(&["topic", "driver", "drivers"], "not supported yet"),
        refuse(&["lag"], "it is a result, not a setting: the report shows the lag of each flow"),
    ],
    and {
        /// Kafka's consumer settings, every one resolved.
        pub settings: ConsumerSettings;
        /// The consumers are members of one group, which divides the partitions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub group: Option<GroupPlan>;
    }
    {
        /// Unique in the scenario; the first part of paths and figures (`writers.throughput`).
        pub name: String = "name" [required], name();
        /// `produce` writes, `consume` reads, `echo` writes and reads the same records back.
        let _kind: FlowKind = "kind" [required], words(&KINDS);
        /// Number of consumers, each with its own connections, like separate applications.
        pub consumers: u32 = "consumers" ["1"], count(1..=MEMBERS_MAX);
        /// `split` divides the partitions among the consumers, as in one group. With `all`, every consumer reads every
        /// partition, like consumers in separate groups.
        pub partitions: PartitionShare = "partitions" ["split"],
            words(&[("split", PartitionShare::Split), ("all", PartitionShare::All)]);
        /// `true` makes the consumers members of one consumer group, which assigns the partitions as for Kafka's own
        /// consumers. A name replaces the flow's name at the end of the `group.id`. kgauge puts the run's id before it
        /// and deletes the group at the end. Measurement starts once all members have joined. Needs Kafka 0.9.
        let label: Option<String> = "group" ["false"],
            ValueKind::new(ValueForm::Any(vec![ValueForm::Flag, ValueForm::Name]), group_label);
        /// With `group`: the number of groups, each with `consumers` members. Each group reads the whole topic, like
        /// several applications. Their figures are added.
        pub #[serde(default = "one", skip_serializing_if = "is_one")]
            groups: u32 = "groups" ["1"], count(1..=MEMBERS_MAX);
        /// Where reading starts; in a group, only if no offset is committed (Kafka's `auto.offset.reset`). `earliest`
        /// misses nothing. If an offset or a time does not exist, reading starts at the nearer end.
        pub from: StartOffset = "from" ["earliest"], words(&ENDS).or_map::<FromKeys>();
        /// `all` ends the flow at the end offsets that the topic had when the flow started. A count is the total number
        /// of records of all consumers.
        pub records: ConsumeEnd = "records" [absent "until the stage ends", |_| ConsumeEnd::StageEnd],
            count(1..=RECORDS_MAX).map(ConsumeEnd::Count).or_word("all", ConsumeEnd::Backlog);
        /// Consumer settings, by their Kafka names.
        let client: (ConsumerSettings, GroupPlan) = "settings" [all_defaults], map::<ConsumerMap>();
    }
}

key_map! {
    /// Producers, and consumers that read their records back: the way from end to end.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct EchoFlow, EchoKeys, "Echo flow", checked by read_producers,
    shares [ProduceFlow],
    refuses [
        refuse(
            &["from", "partitions", "group", "groups"],
            "an echo flow reads back its own records, from all partitions",
        ),
        refuse(&["topic", "drivers", "driver"], "not supported yet"),
    ],
    and {
        /// The producers; their flow's name is the name of this flow.
        pub produce: ProduceFlow;
    }
    {
        /// Number of consumers that read back, each with its own connections. The partitions are divided among them, as
        /// in one group.
        pub consumers: u32 = "consumers" ["1"], count(1..=MEMBERS_MAX);
        /// Consumer settings, by their Kafka names, except those of groups. With `transaction`,
        /// `isolation.level: read_committed` is required.
        pub consumer_settings: ConsumerSettings = "consumer-settings" [all_defaults],
            map::<ConsumerMap>().map(|(settings, _)| settings);
    }
}

key_map! {
    one_of FromKeys, "From" -> StartOffset, otherwise ValueReader::not_one_key {
        /// This offset in every partition.
        "offset" => count(0..=RECORDS_MAX).map(StartOffset::Offset);
        /// The first record at or after this time: `2026-01-31T08:00:00Z`, or milliseconds since 1970. Needs Kafka
        /// 0.10.1.
        "time" => ValueKind::new(ValueForm::Text, |reader, node| {
            reader.quantity(node, "a date and time", units::unix_ms).map(StartOffset::TimestampMs)
        });
        /// The first record that is at most this old when the flow starts. Needs Kafka 0.10.1.
        "ago" => time(1..=u64::MAX).map(StartOffset::AgoNs);
    }
}

/// What a flow does.
#[derive(Clone, Copy, Debug)]
enum FlowKind {
    Produce,
    Consume,
    Echo,
}

const KINDS: [(&str, FlowKind); 3] = [
    ("produce", FlowKind::Produce),
    ("consume", FlowKind::Consume),
    ("echo", FlowKind::Echo),
];

const ENDS: [(&str, StartOffset); 2] = [
    ("earliest", StartOffset::Earliest),
    ("latest", StartOffset::Latest),
];

/// The keys of a kind of flow.
pub(crate) fn keys_of(kind: &str) -> Option<&'static crate::key_definition::ScenarioKeys> {
    match kind {
        "produce" => Some(DrivenKeys::KEYS),
        "consume" => Some(ConsumeFlow::KEYS),
        "echo" => Some(EchoFlow::KEYS),
        _ => None,
    }
}

/// One kind of traffic.
#[allow(clippy::large_enum_variant, reason = "a plan holds a handful of flows")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowPlan {
    /// Producers with equal settings.
    Produce(ProduceFlow),
    /// Consumers with equal settings.
    Consume(ConsumeFlow),
    /// Producers, and consumers that read back what these write.
    Echo(EchoFlow),
}

/// The list of flows.
pub(super) fn flows() -> ValueKind<Vec<FlowPlan>> {
    let form = ValueForm::Flows([DrivenKeys::KEYS, ConsumeFlow::KEYS, EchoFlow::KEYS]);
    ValueKind::new(form, |reader, node| {
        if let Value::List(items) = &node.value
            && items.len() > FLOWS_MAX
        {
            let what = format!("{} flows", items.len());
            return reader.refuse(node.place, what, format!("write at most {FLOWS_MAX}"));
        }
        let mut names: Vec<String> = Vec::new();
        let flows = reader.list(node, |reader, item| {
            let name = unique_name(reader, item, &names);
            names.extend(name.clone());
            reader.scope.flow = name.unwrap_or_default();
            flow(reader, item)
        })?;
        (!flows.is_empty()).then_some(flows)
    })
}

/// The name is checked before the kind is known: other mistakes refer to it.
fn unique_name(reader: &mut ValueReader<'_>, item: &YamlNode, taken: &[String]) -> Option<String> {
    let node = item.get("name")?;
    let name = node.as_text()?;
    let what = if taken.iter().any(|other| other == name) {
        "another flow has this name"
    } else if PATH_ROOTS.contains(&name) {
        "this name is reserved: paths that start with it mean something else"
    } else {
        return Some(name.to_owned());
    };
    reader.inside(".name", |reader| {
        reader.refuse(node.place, what, "choose another name")
    })
}

fn flow(reader: &mut ValueReader<'_>, item: &YamlNode) -> Option<FlowPlan> {
    let Value::Map(_) = &item.value else {
        reader.wrong_type(item, "a flow with `name`, `kind` and further keys");
        return None;
    };
    let Some(kind) = item.get("kind") else {
        let cure = "add `kind: produce`, `kind: consume` or `kind: echo`";
        return reader.refuse(item.place, "`kind` is missing", cure);
    };
    let kind = reader.inside(".kind", |reader| reader.choice(kind, &KINDS))?;
    // Settings of members may stay when `--set` or `vary` switches the group off.
    let has_group = item.get("group").is_some() || reader.scope.is_varied("group");
    reader.scope.in_group = has_group && matches!(kind, FlowKind::Consume);
    match kind {
        FlowKind::Produce => DrivenKeys::read_map(reader, item).map(FlowPlan::Produce),
        FlowKind::Consume => ConsumeFlow::read_map(reader, item).map(FlowPlan::Consume),
        FlowKind::Echo => EchoFlow::read_map(reader, item).map(FlowPlan::Echo),
    }
}

fn produce_flow(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: DrivenKeys,
) -> Option<ProduceFlow> {
    let flow = ProduceFlow::read_keys(reader, fields)?;
    let driver = read.driver?;
    if flow.transaction.is_some() && !driver.is_kgauge() {
        let what = "only kgauge's own engine supports transactions";
        let cure = "remove `transaction`, or `driver`";
        reader.problem_at(fields, "transaction", what, cure);
        return None;
    }
    Some(ProduceFlow { driver, ..flow })
}

fn read_producers(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: &mut EchoKeys) {
    read.produce = ProduceFlow::read_keys(reader, fields);
}

fn check_producers(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: &mut ProduceKeys) {
    read.driver = Some(Driver::Kgauge);
    if let Some(shape) = &read.shape
        && !reader.scope.is_varied("shape")
    {
        if *shape == Shape::Max && fields.has("skip-after") {
            let what = "`skip-after` has no effect with `shape: max`";
            let cure = "remove it: without a schedule no record is late";
            reader.problem_at(fields, "skip-after", what, cure);
        }
        if fields.has("arrivals") {
            arrivals_fit(reader, fields, shape, read.arrivals);
        }
    }
    read.records_max = records_max(reader, fields, read);
    let settings = read.settings.as_ref();
    if fields.has("transaction") {
        if settings.is_some_and(|settings| !settings.idempotence) {
            let what = "transactions need an idempotent producer";
            let cure = "write `acks: all`, and remove `enable.idempotence: false`";
            reader.problem_at(fields, "transaction", what, cure);
        }
    } else if settings.is_some_and(|settings| settings.transactional_id.is_some())
        && !reader.scope.is_varied("transaction")
    {
        let what = "`transactional.id` has no effect without transactions";
        let cure = "set a length, such as `transaction: 100 ms`, or remove the id";
        reader.problem_at(fields, "settings", what, cure);
    }
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
    let cure = "remove it, or choose another shape";
    reader.problem_at(fields, "arrivals", what, cure);
}

/// A number of records as it is written.
#[derive(Clone, Copy, Debug)]
enum Amount {
    Records(u64),
    /// To be divided by the size of a record.
    Bytes(u64),
}

fn amount() -> ValueKind<Amount> {
    let (records, bytes) = (count(1..=RECORDS_MAX), size(1..=u64::MAX));
    let forms = vec![ValueForm::Count, ValueForm::Size];
    ValueKind::new(ValueForm::Any(forms), move |reader, node| {
        let is_size = node
            .as_text()
            .is_some_and(|text| units::bytes(text).is_ok());
        match is_size {
            true => bytes.read(reader, node).map(Amount::Bytes),
            false => records.read(reader, node).map(Amount::Records),
        }
    })
}

/// How many records end the flow: `Some(None)` where only the stage ends it.
#[allow(
    clippy::option_option,
    reason = "the outer one tells whether the value is right"
)]
fn records_max(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: &ProduceKeys,
) -> Option<Option<u64>> {
    let bytes = match read.amount? {
        Some(Amount::Records(records)) => return Some(Some(records)),
        Some(Amount::Bytes(bytes)) => bytes,
        // Without any other end, the end of the trace is the end of the flow.
        None => match (&read.shape, reader.scope.hold_ns) {
            (Some(Shape::Replay { trace, .. }), Some(None)) => return Some(Some(trace.records())),
            _ => return Some(None),
        },
    };
    let records = bytes / u64::from(read.record.as_ref()?.value_bytes.max(1));
    let (what, cure) = match records {
        0 => (
            "the size is smaller than one record".to_owned(),
            "write a larger size, or a count".to_owned(),
        ),
        1..=RECORDS_MAX => return Some(Some(records)),
        _ => (
            format!("{records} records is out of range"),
            format!("write 1 records to {RECORDS_MAX} records"),
        ),
    };
    reader.problem_at(fields, "records", what, cure);
    None
}

/// Records, or a time.
fn transaction_length() -> ValueKind<TransactionLength> {
    let (records, length) = (count(1..=RECORDS_MAX), time(1_000_000..=DAY_NS));
    let forms = vec![ValueForm::Count, ValueForm::Time];
    ValueKind::new(ValueForm::Any(forms), move |reader, node| {
        let is_time = node
            .as_text()
            .is_some_and(|text| units::time_ns(text).is_ok());
        match is_time {
            true => length.read(reader, node).map(TransactionLength::Ns),
            false => records.read(reader, node).map(TransactionLength::Records),
        }
    })
}

fn driver(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Driver> {
    match reader.choice(node, &[("kgauge", 0), ("java", 1), ("librdkafka", 2)])? {
        0 => Some(Driver::Kgauge),
        1 => Some(Driver::java()),
        _ => Some(Driver::Librdkafka),
    }
}

fn java_release(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Driver> {
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
        return reader.refuse(
            node.place,
            what,
            "write 1.0.0 or newer, as in `{java: 4.3.1}`",
        );
    }
    let version = version.to_owned();
    Some(Driver::Java { version })
}

/// `Some(None)` without a group.
#[allow(
    clippy::option_option,
    reason = "the outer one tells whether the value is right"
)]
fn group_label(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<Option<String>> {
    match node.as_text() {
        Some("false") => Some(None),
        Some("true") => Some(Some(reader.scope.flow.clone())),
        _ => reader.name(node).map(Some),
    }
}

fn check_consumers(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: &mut ConsumeKeys) {
    match &read.label {
        Some(Some(_)) if read.partitions == Some(PartitionShare::All) => {
            let what = "a group divides the partitions: no member reads all of them";
            let cure = "write `partitions: split`, or add one flow per group";
            reader.problem_at(fields, "partitions", what, cure);
        }
        Some(None) if read.groups.is_some_and(|groups| groups > 1) => {
            let what = "`groups` needs consumers in a group";
            reader.problem_at(fields, "groups", what, "add `group: true`, or remove it");
        }
        _ => {}
    }
    let (settings, group) = read.client.take().unzip();
    read.settings = settings;
    read.group = match (read.label.take(), group) {
        (Some(Some(label)), Some(group)) => Some(Some(GroupPlan { label, ..group })),
        (Some(None), _) => Some(None),
        _ => None,
    };
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it so.
fn is_one(count: &u32) -> bool {
    *count == 1
}
