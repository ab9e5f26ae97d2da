//! The keys of `faults`: failures that a scenario injects into its cluster.

use kgauge_faults::{
    CapacityPlan, CapacityUnit, CutDirection, CutEnd, DelayPlan, DropPoint, Fault, FlushFault,
    RequestFault,
};

use super::kafka_names::{ERROR_NAMES, FAULT_APIS};
use crate::faults::{FaultNode, FaultPlan, FaultStart};
use crate::key_definition::ValueForm;
use crate::key_map::key_map;
use crate::random_faults::{RandomFaultKind, RandomFaults};
use crate::reader::{Fields, KeyMap, ValueReader};
use crate::suggest::{nearest, shorten};
use crate::tree::{Value, YamlNode};
use crate::units;
use crate::value_kind::{
    DAY_NS, ListItem, NS_PER_MS, ValueKind, count, fraction, length, list, map, one_of_names,
    only_true, placed_list, signed_time, size, time, words,
};

/// More than a file system has.
const BYTES_MAX: u64 = 1 << 60;
const UNTIL_THE_END: &str = "until the repeat ends";
const NOT_DONE: &str = "–";

/// The faults of a scenario as they are written: listed, or drawn from a seed.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenFaults {
    pub(crate) listed: Vec<ListItem<FaultPlan>>,
    pub(crate) random: Option<RandomFaults>,
}

impl WrittenFaults {
    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.random.is_none()
    }

    /// The faults of a hold, on a cluster with this many brokers.
    pub(crate) fn plans(self, hold_ns: Option<u64>, brokers: u32) -> Vec<FaultPlan> {
        let random = self.random.zip(hold_ns);
        let random = random.map(|(random, hold_ns)| random.plans(hold_ns, brokers));
        let listed = self.listed.into_iter().map(|one| one.item);
        listed.chain(random.unwrap_or_default()).collect()
    }
}

/// A list of faults, or a map with `random`.
pub(crate) fn faults() -> ValueKind<WrittenFaults> {
    let listed = placed_list(map::<FaultKeys>());
    let forms = vec![
        ValueForm::List(Box::new(ValueForm::Map(FaultKeys::KEYS))),
        ValueForm::Map(DrawnFaultsKeys::KEYS),
    ];
    ValueKind::new(ValueForm::Any(forms), move |reader, node| {
        if let Value::Map(_) = &node.value {
            return DrawnFaultsKeys::read_map(reader, node);
        }
        let listed = listed.read(reader, node)?;
        Some(WrittenFaults {
            listed,
            random: None,
        })
    })
}

key_map! {
    map DrawnFaultsKeys, "Drawn faults" -> WrittenFaults, made by drawn_faults {
        /// Faults drawn from a seed, one after the other.
        let random: RandomFaults = "random" [required], map::<RandomFaultsKeys>();
    }
}

key_map! {
    map RandomFaultsKeys, "Random faults" -> RandomFaults, made by random_faults {
        /// Determines kinds, nodes and lengths. Every repeat has the same faults.
        let seed: u64 = "seed" ["1"], count(0..=u64::MAX);
        /// What to draw from: the keys of a fault from `stop` to `clock-offset`, except `fail` and `capacity`. A kind
        /// may be listed twice to be drawn more often.
        let kinds: Option<Vec<RandomFaultKind>> = "kinds" [optional "`[kill, crash, pause, cut]`"],
            list(words(&RandomFaultKind::NAMES));
        /// The time from one fault to the next; the first one begins that long after the start of the hold. A fault
        /// lasts 10 % to 40 % of it.
        let every_ns: u64 = "every" ["20 s"], time(NS_PER_MS * 100..=DAY_NS);
    }
}

fn drawn_faults(
    _: &mut ValueReader<'_>,
    _: &Fields<'_>,
    read: DrawnFaultsKeys,
) -> Option<WrittenFaults> {
    Some(WrittenFaults {
        listed: Vec::new(),
        random: Some(read.random?),
    })
}

fn random_faults(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    read: RandomFaultsKeys,
) -> Option<RandomFaults> {
    if let Some(Some(kinds)) = &read.kinds
        && kinds.is_empty()
    {
        let cure = "name at least one kind, or remove `kinds`";
        reader.problem_at(fields, "kinds", "there is nothing to draw from", cure);
        return None;
    }
    Some(RandomFaults {
        seed: read.seed?,
        kinds: read
            .kinds?
            .unwrap_or_else(|| RandomFaultKind::USUAL.to_vec()),
        every_ns: read.every_ns?,
    })
}

key_map! {
    map FaultKeys, "Fault" -> FaultPlan, made by fault {
        /// When the fault begins, relative to the start of the hold; a time with `-` is before it. `start` means with
        /// the load, before the warm-up.
        let at: FaultStart = "at" [required],
            signed_time().map(FaultStart::Hold).or_word("start", FaultStart::Start);
        /// The interval at which the fault is repeated until the hold ends.
        let every: Option<u64> = "every" [optional "once"], length();
        /// Which node is affected. `leader` leads partition 0 of the topic when the fault begins, `follower` has a
        /// replica of it and is not the leader. `random` is drawn each time from the seed.
        let node: FaultNode = "node" [required], number_or(
            FaultNode::Number,
            &NODES,
            "write a node number from 1, `leader`, `follower`, `random` or `all`",
        );
        /// How long the fault lasts. After a full disk, space is freed and the node starts again.
        let length: Option<u64> = "for" [optional UNTIL_THE_END], length();
        /// The node shuts down cleanly: its partitions move to other leaders first.
        let stop: Option<()> = "stop" [optional NOT_DONE], only_true();
        /// The node's process is killed, as by `kill -9`. Data it has written survives.
        let kill: Option<()> = "kill" [optional NOT_DONE], only_true();
        /// The node's machine fails: data that was not flushed is lost.
        let crash: Option<()> = "crash" [optional NOT_DONE], only_true();
        /// The node shuts down cleanly if it is running, and starts again at once.
        let restart: Option<()> = "restart" [optional NOT_DONE], only_true();
        /// The node hangs: it keeps its connections but does not respond.
        let pause: Option<()> = "pause" [optional NOT_DONE], only_true();
        /// How long a stopped, killed or crashed node stays down.
        let restart_after: Option<u64> = "restart-after" [optional UNTIL_THE_END], length();
        /// Messages between the node and others are lost. Others are members of the cluster, or `clients`.
        let cut: Option<Fault> = "cut" [optional NOT_DONE], map::<CutKeys>();
        /// The API whose requests `delay`, `stall`, `fail`, `drop` and `capacity` affect. `fail` requires it.
        /// `capacity` accepts `produce` or `fetch`; without `api` it limits both together.
        let api: Option<String> = "api" [optional "requests of all APIs"], one_of_names(FAULT_APIS);
        /// The number of requests per node that `delay`, `fail` and `drop` affect.
        let times: Option<u32> = "times" [optional "all requests"], count(1..=u64::from(u32::MAX));
        /// The delay of each request: a fixed time, or one drawn from a distribution.
        let delay: Option<DelayPlan> = "delay" [optional NOT_DONE],
            length().map(DelayPlan::Constant).or_map::<DelayKeys>();
        /// How long requests are held from the start of the fault before they are served.
        let stall: Option<u64> = "stall" [optional NOT_DONE], length();
        /// Requests are rejected with this Kafka error. Embedded cluster only.
        let fail: Option<String> = "fail" [optional NOT_DONE],
            ValueKind::new(ValueForm::ErrorName(ERROR_NAMES), error_name);
        /// The connection closes without a response, `before` or `after` the request is processed.
        let drop: Option<DropPoint> = "drop" [optional NOT_DONE],
            words(&[("before", DropPoint::Before), ("after", DropPoint::After)]);
        /// The maximum rate in bytes or records per second. Responses are delayed to enforce it; unlike with a quota,
        /// clients are not notified. Embedded cluster only.
        let capacity: Option<CapacityPlan> = "capacity" [optional NOT_DONE],
            ValueKind::new(ValueForm::Any(vec![ValueForm::Rate, ValueForm::ByteRate]), capacity);
        /// The amount that `capacity` lets through at once after idle time. The default keeps the rate of each second
        /// within 1 %.
        let _burst: Option<()> = "burst" [optional "`capacity` for 10 ms"], ValueKind::new(
            ValueForm::Any(vec![ValueForm::Count, ValueForm::Size]), |_, _| Some(()));
        /// How much `capacity` varies, at most 50 %: each second has a rate drawn evenly within this share on either
        /// side.
        let noise: Option<u32> = "noise" [optional "0"], noise();
        /// Flushes (`fsync`) of the node's data `fail`, and the node stops as Kafka does, or each takes that much
        /// longer. Apache Kafka only.
        let flush: Option<FlushFault> = "flush" [optional NOT_DONE],
            length().map(|length_ns| FlushFault::Delay { length_ns }).or_word("fail", FlushFault::Fail);
        /// The node's disk is full at once (`true`) or after this many more bytes. The node stops, as Kafka does.
        let disk_full: Option<u64> = "disk-full" [optional NOT_DONE],
            size(0..=BYTES_MAX).or_word("true", 0);
        /// How far the node's wall clock is ahead, or behind with `-`, in whole milliseconds.
        let clock_offset: Option<i64> = "clock-offset" [optional NOT_DONE], clock_offset();
    }
}

key_map! {
    one_of CutKeys, "Cut" -> Fault, otherwise not_one_cut {
        /// Messages in both directions. One of the three keys is required.
        "with" => cut_end().map(|end| cut(CutDirection::With, end));
        /// Messages from the node to the other end.
        "to" => cut_end().map(|end| cut(CutDirection::To, end));
        /// Messages from the other end to the node.
        "from" => cut_end().map(|end| cut(CutDirection::From, end));
    }
}

key_map! {
    one_of DelayKeys, "Delay" -> DelayPlan, otherwise not_one_delay {
        /// The minimum and the maximum, with all values between equally likely. One of the three keys is required.
        "uniform" => uniform();
        /// The mean of an exponential distribution.
        "exponential" => length().map(|mean_ns| DelayPlan::Exponential { mean_ns });
        /// A measured distribution, from `p0` to `p100`: `{p0: 1 ms, p50: 3 ms, p99.9: 40 ms, p100: 2 s}`. Values
        /// between are interpolated linearly.
        "quantiles" => ValueKind::new(ValueForm::Quantiles, quantiles);
    }
}

const NODES: [(&str, FaultNode); 4] = [
    ("leader", FaultNode::Leader),
    ("follower", FaultNode::Follower),
    ("random", FaultNode::Random),
    ("all", FaultNode::All),
];

const CUT_ENDS: [(&str, CutEnd); 4] = [
    ("nodes", CutEnd::Nodes),
    ("controller", CutEnd::Controller),
    ("others", CutEnd::Others),
    ("clients", CutEnd::Clients),
];

fn fault(reader: &mut ValueReader<'_>, fields: &Fields<'_>, read: FaultKeys) -> Option<FaultPlan> {
    let actions = actions(&read);
    let written: Vec<&'static str> = actions
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| fields.has(name))
        .collect();
    let action = match written.as_slice() {
        [one] => *one,
        [] => {
            let all: Vec<&str> = actions.iter().map(|(name, _)| *name).collect();
            let cure = format!("add one of: {}", all.join(", "));
            return reader.refuse(fields.map_place, "the fault has no action", cure);
        }
        [_, second, ..] => {
            let what = format!("an entry has one action, not {}", written.join(" and "));
            reader.problem_at(fields, second, what, "write one entry per action");
            return None;
        }
    };
    let kind = actions
        .into_iter()
        .find_map(|(name, kind)| kind.filter(|_| name == action));
    let noise_millionths = read.noise.flatten().unwrap_or(0);
    let kind = kind.map(|kind| with_burst(reader, fields, kind, noise_millionths));
    check_company(reader, fields, action);
    let plan = FaultPlan {
        at: read.at?,
        every_ns: read.every?,
        node: read.node?,
        kind: kind??,
        for_ns: match action {
            "stop" | "kill" | "crash" => read.restart_after?,
            _ => read.length?,
        },
    };
    check_every(reader, fields, &plan);
    if let (FaultNode::Number(number), Fault::Cut { end, .. }) = (plan.node, &plan.kind)
        && *end == CutEnd::Node(number)
    {
        let what = "a node cannot be cut off from itself";
        reader.problem_at(fields, "cut", what, "name another node");
    }
    Some(plan)
}

/// The possible actions of an entry, and what those that are written mean.
fn actions(read: &FaultKeys) -> [(&'static str, Option<Fault>); 14] {
    let requests = |what: RequestFault| {
        Some(Fault::Requests {
            api: read.api.clone()?,
            times: read.times?,
            what,
        })
    };
    let given = |flag: Option<Option<()>>, kind: Fault| flag.flatten().map(|()| kind);
    let delay = read.delay.clone().flatten().map(RequestFault::Delay);
    let stall = read.stall.flatten();
    let fail = read.fail.clone().flatten();
    [
        ("stop", given(read.stop, Fault::Stop)),
        ("kill", given(read.kill, Fault::Kill)),
        ("crash", given(read.crash, Fault::Crash)),
        ("restart", given(read.restart, Fault::Restart)),
        ("pause", given(read.pause, Fault::Pause)),
        ("cut", read.cut.clone().flatten()),
        ("delay", delay.and_then(requests)),
        (
            "stall",
            stall.and_then(|length_ns| requests(RequestFault::Stall { length_ns })),
        ),
        (
            "fail",
            fail.and_then(|error| requests(RequestFault::Fail { error })),
        ),
        (
            "drop",
            read.drop
                .flatten()
                .map(RequestFault::Drop)
                .and_then(requests),
        ),
        (
            "capacity",
            read.capacity
                .flatten()
                .map(RequestFault::Capacity)
                .and_then(requests),
        ),
        ("flush", read.flush.flatten().map(Fault::Flush)),
        (
            "disk-full",
            read.disk_full
                .flatten()
                .map(|after_bytes| Fault::DiskFull { after_bytes }),
        ),
        (
            "clock-offset",
            read.clock_offset
                .flatten()
                .map(|ahead_ms| Fault::ClockOffset { ahead_ms }),
        ),
    ]
}

/// The burst of a capacity, in the capacity's unit, and its noise.
fn with_burst(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    mut kind: Fault,
    noise_millionths: u32,
) -> Option<Fault> {
    if let Fault::Requests { what, .. } = &mut kind
        && let RequestFault::Capacity(capacity) = what
    {
        let amount = match capacity.unit {
            CapacityUnit::Bytes => size(0..=BYTES_MAX),
            CapacityUnit::Records => count(0..=BYTES_MAX),
        };
        capacity.burst = reader.optional(fields, "burst", amount)?;
        capacity.noise_millionths = noise_millionths;
    }
    Some(kind)
}

/// A number from 1, or a word.
fn number_or<T: Copy>(
    numbered: fn(u16) -> T,
    choices: &'static [(&'static str, T)],
    cure: &'static str,
) -> ValueKind<T> {
    let names = choices.iter().map(|(name, _)| *name).collect();
    let forms = vec![ValueForm::NodeNumber, ValueForm::Words(names)];
    ValueKind::new(ValueForm::Any(forms), move |reader, node| {
        let text = reader.scalar(node, "a word or a number")?;
        let number = text.parse().ok().filter(|number| *number >= 1);
        let word = choices.iter().find(|(name, _)| *name == text);
        match number.map(numbered).or(word.map(|(_, value)| *value)) {
            Some(value) => Some(value),
            None => reader.refuse(
                node.place,
                format!("invalid value `{}`", shorten(text)),
                cure,
            ),
        }
    })
}

fn cut_end() -> ValueKind<CutEnd> {
    let cure = "write a node number from 1, `nodes` (all other nodes), `controller`, `others` \
                (both), or `clients`";
    number_or(CutEnd::Node, &CUT_ENDS, cure)
}

fn cut(direction: CutDirection, end: CutEnd) -> Fault {
    Fault::Cut { direction, end }
}

fn not_one_cut(reader: &mut ValueReader<'_>, fields: &Fields<'_>) {
    let cure = "write one of `with` (both ways), `to`, `from`: `cut: {with: others}`";
    let what = "a cut has one direction and one end";
    reader.problem(fields.map_place, what, cure);
}

fn not_one_delay(reader: &mut ValueReader<'_>, fields: &Fields<'_>) {
    let cure = "write a time, or one of `uniform`, `exponential`, `quantiles`";
    reader.problem(fields.map_place, "a delay has one distribution", cure);
}

fn error_name(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<String> {
    let text = reader.scalar(node, "the name of an error")?;
    if ERROR_NAMES.contains(&text) {
        return Some(text.to_owned());
    }
    let upper = text.to_ascii_uppercase();
    let cure = match nearest(&upper, ERROR_NAMES.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write the name of a Kafka error, such as `NOT_LEADER_OR_FOLLOWER`".into(),
    };
    let what = format!("`{}` is not a Kafka error", shorten(text));
    reader.refuse(node.place, what, cure)
}

fn clock_offset() -> ValueKind<i64> {
    signed_time().then(|reader, place, ns| {
        if ns == 0 || !ns.unsigned_abs().is_multiple_of(NS_PER_MS) {
            let what = "Kafka's clocks have millisecond resolution";
            return reader.refuse(place, what, "write at least `1 ms`, or `-1 ms`");
        }
        Some(ns / NS_PER_MS as i64)
    })
}

fn uniform() -> ValueKind<DelayPlan> {
    let times = list(time(0..=DAY_NS));
    let delay = times.then(|reader, place, times| match times.as_slice() {
        [low_ns, high_ns] if low_ns <= high_ns => Some(DelayPlan::Uniform {
            low_ns: *low_ns,
            high_ns: *high_ns,
        }),
        _ => {
            let cure = "write the minimum and the maximum: `[1 ms, 5 ms]`";
            reader.refuse(place, "expected two times in ascending order", cure)
        }
    });
    delay.shown_as(ValueForm::Times)
}

fn quantiles(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<DelayPlan> {
    let expected = "quantiles with times: `{p0: 1 ms, p50: 3 ms, p100: 9 ms}`";
    let Value::Map(entries) = &node.value else {
        reader.wrong_type(node, expected);
        return None;
    };
    let mut points: Vec<(u32, u64)> = Vec::new();
    for entry in entries {
        let Some(part) = parts_in_million(&entry.key) else {
            let what = format!("`{}` is not a quantile", shorten(&entry.key));
            return reader.refuse(entry.place, what, format!("write {expected}"));
        };
        let step = format!(".{}", entry.key);
        let ns = reader.inside(&step, |reader| reader.time_ns(&entry.node, 0..=DAY_NS))?;
        points.push((part, ns));
    }
    points.sort_unstable();
    let delay = DelayPlan::Quantiles(points);
    if !delay.is_sound() {
        let what = "these quantiles do not form a distribution";
        let cure = "begin with `p0`, end with `p100`, and never decrease";
        return reader.refuse(node.place, what, cure);
    }
    Some(delay)
}

const WHOLE: u32 = 1_000_000;

/// The quantile of `p99.9`.
fn parts_in_million(key: &str) -> Option<u32> {
    let percent: f64 = key.strip_prefix('p')?.parse().ok()?;
    let parts = percent * 10_000.0;
    let is_exact = (parts - parts.round()).abs() < 1e-6;
    ((0.0..=f64::from(WHOLE)).contains(&parts) && is_exact).then_some(parts.round() as u32)
}

fn capacity(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<CapacityPlan> {
    let text = shorten(reader.scalar(node, "a rate such as `50 MB/s` or `100k/s`")?);
    let rate = match units::byte_rate(&text) {
        Ok(rate) => Ok((CapacityUnit::Bytes, rate)),
        Err(_) => units::rate(&text).map(|rate| (CapacityUnit::Records, rate)),
    };
    let what = match rate {
        Ok((unit, rate)) if (1.0..=1e15).contains(&rate) => {
            return Some(CapacityPlan {
                unit,
                per_second: rate.round() as u64,
                burst: None,
                noise_millionths: 0,
            });
        }
        Ok(_) => "the capacity is below 1 per second or far too high".to_owned(),
        Err(_) => format!("`{text}` is not a capacity"),
    };
    let cure = "write bytes or records per second: `50 MB/s`, `100k/s`";
    reader.refuse(node.place, what, cure)
}

/// The noise of a capacity, in millionths.
fn noise() -> ValueKind<u32> {
    const NOISE_MAX: f64 = 0.5;
    fraction().then(|reader, place, noise| {
        if (0.0..=NOISE_MAX).contains(&noise) {
            return Some((noise * f64::from(WHOLE)).round() as u32);
        }
        let what = format!("{noise} is out of range");
        reader.refuse(place, what, "write 0 % to 50 %")
    })
}

/// Reports keys that have no effect on the action.
fn check_company(reader: &mut ValueReader<'_>, fields: &Fields<'_>, action: &str) {
    let allowed: &[&str] = match action {
        "delay" | "drop" | "fail" => &["api", "times", "for"],
        "stall" => &["api"],
        "capacity" => &["api", "burst", "noise", "for"],
        "restart" => &[],
        "stop" | "kill" | "crash" => &["restart-after"],
        _ => &["for"],
    };
    for key in ["api", "times", "burst", "noise", "for", "restart-after"] {
        if fields.has(key) && !allowed.contains(&key) {
            let what = format!("`{key}` has no effect on `{action}`");
            let cure = match key {
                "for" if allowed.contains(&"restart-after") => {
                    "write `restart-after`, or remove it"
                }
                "restart-after" => "write `for`, or remove it",
                _ => "remove it",
            };
            reader.problem_at(fields, key, what, cure);
        }
    }
    let api = fields.get("api").and_then(YamlNode::as_text);
    let cannot_fail = [
        "api-versions",
        "describe-cluster",
        "describe-configs",
        "describe-log-dirs",
        "describe-topic-partitions",
        "list-groups",
    ];
    match (action, api) {
        ("fail", None) => {
            let cure = "add `api`, such as `api: produce`";
            reader.problem_at(fields, "fail", "`fail` needs an API", cure);
        }
        ("fail", Some(api)) if cannot_fail.contains(&api) => {
            let what = format!("responses to {api} have no error that clients check");
            reader.problem_at(fields, "api", what, "use `drop`, `delay` or `stall`");
        }
        ("capacity", Some(api)) if !matches!(api, "produce" | "fetch") => {
            let what = format!("requests of {api} carry no records");
            let cure = "write `api: produce`, `api: fetch`, or no `api` for both together";
            reader.problem_at(fields, "api", what, cure);
        }
        _ => {}
    }
}

/// A repeated fault must end before it begins again.
fn check_every(reader: &mut ValueReader<'_>, fields: &Fields<'_>, plan: &FaultPlan) {
    let Some(every_ns) = plan.every_ns else {
        return;
    };
    let lasts_ns = match (&plan.kind, plan.for_ns) {
        (Fault::Restart, _) => 0,
        (
            Fault::Requests {
                what: RequestFault::Stall { length_ns },
                ..
            },
            _,
        ) => *length_ns,
        (_, Some(ns)) => ns,
        (kind, None) => {
            let key = match kind {
                Fault::Stop | Fault::Kill | Fault::Crash => "restart-after",
                _ => "for",
            };
            let what = "a repeated fault needs an end";
            reader.problem_at(fields, "every", what, format!("add `{key}`"));
            return;
        }
    };
    if lasts_ns >= every_ns {
        let what = "the fault would begin again before it ends";
        let cure = format!("make `every` longer than {}", units::Time(lasts_ns));
        reader.problem_at(fields, "every", what, cure);
    }
}
