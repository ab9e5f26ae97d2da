//! Faults: start, node, action and duration.

use super::{DAY_NS, ListItem};
use crate::faults::{
    CapacityPlan, CapacityUnit, CutDirection, CutEnd, DelayPlan, DropPoint, FaultKind, FaultNode,
    FaultPlan, FaultStart, RequestFault,
};
use crate::keys::{CUT, DELAY, ERROR_NAMES, FAULT, FAULT_APIS};
use crate::reader::{Fields, ValueReader, shorten};
use crate::suggest::nearest;
use crate::tree::{Value, YamlNode};
use crate::units;

/// The possible actions of an entry; each entry has exactly one.
const ACTIONS: [&str; 12] = [
    "stop",
    "kill",
    "crash",
    "restart",
    "pause",
    "cut",
    "delay",
    "stall",
    "fail",
    "drop",
    "capacity",
    "disk-full",
];
const CLOCK: &str = "clock-offset";

/// More than a file system has.
const BYTES_MAX: u64 = 1 << 60;
const NS_PER_MS: u64 = 1_000_000;

pub(super) fn faults(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
) -> Option<Vec<ListItem<FaultPlan>>> {
    super::goal::listed(reader, node, fault)
}

fn fault(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<FaultPlan> {
    let fields = reader.map(node, &FAULT)?;
    let at = reader.field(&fields, "at", moment);
    let every = optional(reader, &fields, "every", time);
    let whom = reader.field(&fields, "node", fault_node);
    let action = the_action(reader, node, &fields);
    let kind = action.and_then(|action| kind(reader, &fields, action));
    let length = action.and_then(|action| length(reader, &fields, action));
    if let Some(action) = action {
        check_company(reader, &fields, action);
    }
    let plan = FaultPlan {
        at: at?,
        every_ns: every?,
        node: whom?,
        kind: kind?,
        for_ns: length?,
    };
    check_every(reader, &fields, &plan);
    check_cut(reader, &fields, &plan);
    Some(plan)
}

/// A key that may be absent: `Some(None)` then, `None` when it is wrong.
fn optional<T>(
    reader: &mut ValueReader<'_>,
    fields: &Fields<'_>,
    name: &str,
    read: impl FnOnce(&mut ValueReader<'_>, &YamlNode) -> Option<T>,
) -> Option<Option<T>> {
    match fields.has(name) {
        true => reader.field(fields, name, read).map(Some),
        false => Some(None),
    }
}

fn time(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<u64> {
    reader.time_ns(node, 1..=DAY_NS)
}

fn moment(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<FaultStart> {
    match node.as_text() {
        Some("start") => Some(FaultStart::Start),
        _ => signed(reader, node).map(FaultStart::Hold),
    }
}

/// A time, or with `-` before it a negative one.
fn signed(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<i64> {
    let text = reader.scalar(node, "a time such as `3 s` or `-500 ms`")?;
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest.trim_start()),
        None => (1, text),
    };
    let ns = reader.quantity(
        &YamlNode::scalar(node.place, text),
        "a time",
        units::time_ns,
    )?;
    let ns = reader.within(node, ns, 0..=DAY_NS, |ns| units::Time(ns).to_string())?;
    i64::try_from(ns).ok().map(|ns| sign * ns)
}

fn fault_node(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<FaultNode> {
    let words = [
        ("leader", FaultNode::Leader),
        ("follower", FaultNode::Follower),
        ("random", FaultNode::Random),
        ("all", FaultNode::All),
    ];
    match number(node) {
        Some(number) => Some(FaultNode::Number(number)),
        None => {
            let cure = "write a node number from 1, `leader`, `follower`, `random` or `all`";
            word(reader, node, &words, cure)
        }
    }
}

fn cut_end(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<CutEnd> {
    let words = [
        ("nodes", CutEnd::Nodes),
        ("controller", CutEnd::Controller),
        ("others", CutEnd::Others),
    ];
    match number(node) {
        Some(number) => Some(CutEnd::Node(number)),
        None => {
            let cure = "write a node number from 1, `nodes` (all other nodes), `controller`, or \
                `others` (both)";
            word(reader, node, &words, cure)
        }
    }
}

fn number(node: &YamlNode) -> Option<u16> {
    let number = node.as_text()?.parse().ok()?;
    (number >= 1).then_some(number)
}

fn word<T: Copy>(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    words: &[(&str, T)],
    cure: &str,
) -> Option<T> {
    let text = reader.scalar(node, "a word or a number")?;
    let found = words.iter().find(|(name, _)| *name == text);
    if found.is_none() {
        let what = format!("invalid value `{}`", shorten(text));
        reader.problem(node.place, what, cure);
    }
    found.map(|(_, value)| *value)
}

/// Returns the only action of the entry.
fn the_action(
    reader: &mut ValueReader<'_>,
    node: &YamlNode,
    fields: &Fields<'_>,
) -> Option<&'static str> {
    let all = || ACTIONS.into_iter().chain([CLOCK]);
    let written: Vec<&'static str> = all().filter(|action| fields.has(action)).collect();
    match written.as_slice() {
        [one] => Some(one),
        [] => {
            let all: Vec<&str> = all().collect();
            let cure = format!("add one of: {}", all.join(", "));
            reader.problem(node.place, "the fault has no action", cure);
            None
        }
        [_, second, ..] => {
            let what = format!("an entry has one action, not {}", written.join(" and "));
            reader.problem_at(fields, second, what, "write one entry per action");
            None
        }
    }
}

fn kind(reader: &mut ValueReader<'_>, fields: &Fields<'_>, action: &str) -> Option<FaultKind> {
    let requests = |reader: &mut ValueReader<'_>, what: Option<RequestFault>| {
        let api = optional(reader, fields, "api", api);
        let times = optional(reader, fields, "times", |reader, node| {
            reader.count_u32(node, 1..=u32::MAX)
        });
        Some(FaultKind::Requests {
            api: api?,
            times: times?,
            what: what?,
        })
    };
    let flag = |reader: &mut ValueReader<'_>, kind: FaultKind| {
        reader.field(fields, action, |reader, node| {
            reader.choice(node, &[("true", ())])
        })?;
        Some(kind)
    };
    match action {
        "stop" => flag(reader, FaultKind::Stop),
        "kill" => flag(reader, FaultKind::Kill),
        "crash" => flag(reader, FaultKind::Crash),
        "restart" => flag(reader, FaultKind::Restart),
        "pause" => flag(reader, FaultKind::Pause),
        "cut" => reader.field(fields, action, cut),
        "disk-full" => {
            let after_bytes =
                reader.field(fields, action, |reader, node| match node.as_text() {
                    Some("true") => Some(0),
                    _ => reader.bytes(node, 0..=BYTES_MAX),
                })?;
            Some(FaultKind::DiskFull { after_bytes })
        }
        CLOCK => reader.field(fields, action, clock_offset),
        "delay" => {
            let delay = reader.field(fields, action, delay);
            requests(reader, delay.map(RequestFault::Delay))
        }
        "stall" => {
            let stall = reader.field(fields, action, time);
            requests(
                reader,
                stall.map(|length_ns| RequestFault::Stall { length_ns }),
            )
        }
        "fail" => {
            let error = reader.field(fields, action, error_name);
            requests(reader, error.map(|error| RequestFault::Fail { error }))
        }
        "drop" => {
            let moments = [("before", DropPoint::Before), ("after", DropPoint::After)];
            let moment = reader.field(fields, action, |reader, node| reader.choice(node, &moments));
            requests(reader, moment.map(RequestFault::Drop))
        }
        _ => {
            let capacity = capacity(reader, fields);
            requests(reader, capacity.map(RequestFault::Capacity))
        }
    }
}

fn api(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<String> {
    let choices: Vec<(&str, &str)> = FAULT_APIS.iter().map(|api| (*api, *api)).collect();
    reader.choice(node, &choices).map(str::to_owned)
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
    reader.problem(node.place, what, cure);
    None
}

fn cut(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<FaultKind> {
    let fields = reader.map(node, &CUT)?;
    let directions = [
        ("with", CutDirection::With),
        ("to", CutDirection::To),
        ("from", CutDirection::From),
    ];
    let written: Vec<_> = directions
        .into_iter()
        .filter(|(name, _)| fields.has(name))
        .collect();
    let [(name, direction)] = written.as_slice() else {
        let cure = "write one of `with` (both ways), `to`, `from`: `cut: {with: others}`";
        reader.problem(node.place, "a cut has one direction and one end", cure);
        return None;
    };
    let end = reader.field(&fields, name, cut_end)?;
    Some(FaultKind::Cut {
        direction: *direction,
        end,
    })
}

fn clock_offset(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<FaultKind> {
    let ns = signed(reader, node)?;
    if ns == 0 || !ns.unsigned_abs().is_multiple_of(NS_PER_MS) {
        let what = "Kafka's clocks have millisecond resolution";
        reader.problem(node.place, what, "write at least `1 ms`, or `-1 ms`");
        return None;
    }
    let ahead_ms = ns / NS_PER_MS as i64;
    Some(FaultKind::ClockOffset { ahead_ms })
}

fn delay(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<DelayPlan> {
    if !matches!(node.value, Value::Map(_)) {
        return time(reader, node).map(DelayPlan::Constant);
    }
    let fields = reader.map(node, &DELAY)?;
    let names = ["uniform", "exponential", "quantiles"];
    let written: Vec<&str> = names.into_iter().filter(|name| fields.has(name)).collect();
    match written.as_slice() {
        ["uniform"] => reader.field(&fields, "uniform", uniform),
        ["exponential"] => {
            let mean_ns = reader.field(&fields, "exponential", time)?;
            Some(DelayPlan::Exponential { mean_ns })
        }
        ["quantiles"] => reader.field(&fields, "quantiles", quantiles),
        _ => {
            let cure = "write a time, or one of `uniform`, `exponential`, `quantiles`";
            reader.problem(node.place, "a delay has one distribution", cure);
            None
        }
    }
}

fn uniform(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<DelayPlan> {
    let times = reader.list(node, |reader, node| reader.time_ns(node, 0..=DAY_NS))?;
    match times.as_slice() {
        [low_ns, high_ns] if low_ns <= high_ns => Some(DelayPlan::Uniform {
            low_ns: *low_ns,
            high_ns: *high_ns,
        }),
        _ => {
            let cure = "write the minimum and the maximum: `[1 ms, 5 ms]`";
            reader.problem(node.place, "expected two times in ascending order", cure);
            None
        }
    }
}

fn quantiles(reader: &mut ValueReader<'_>, node: &YamlNode) -> Option<DelayPlan> {
    let wanted = "quantiles with times: `{p0: 1 ms, p50: 3 ms, p100: 9 ms}`";
    let Value::Map(entries) = &node.value else {
        reader.wrong_type(node, wanted);
        return None;
    };
    let mut points: Vec<(u32, u64)> = Vec::new();
    for entry in entries {
        let Some(part) = part(&entry.key) else {
            let what = format!("`{}` is not a quantile", shorten(&entry.key));
            reader.problem(entry.place, what, format!("write {wanted}"));
            return None;
        };
        let step = format!(".{}", entry.key);
        let ns = reader.inside(&step, |reader| reader.time_ns(&entry.node, 0..=DAY_NS))?;
        points.push((part, ns));
    }
    points.sort_unstable();
    let ends = points.first().map(|(part, _)| *part) == Some(0)
        && points.last().map(|(part, _)| *part) == Some(WHOLE);
    let rises = points
        .windows(2)
        .all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
    if !ends || !rises {
        let what = "these quantiles do not form a distribution";
        reader.problem(
            node.place,
            what,
            "begin with `p0`, end with `p100`, and never decrease",
        );
        return None;
    }
    Some(DelayPlan::Quantiles(points))
}

const WHOLE: u32 = 1_000_000;

/// `p99.9` as parts in a million.
fn part(key: &str) -> Option<u32> {
    let percent: f64 = key.strip_prefix('p')?.parse().ok()?;
    let parts = percent * 10_000.0;
    let is_exact = (parts - parts.round()).abs() < 1e-6;
    ((0.0..=f64::from(WHOLE)).contains(&parts) && is_exact).then_some(parts.round() as u32)
}

fn capacity(reader: &mut ValueReader<'_>, fields: &Fields<'_>) -> Option<CapacityPlan> {
    let (unit, per_second) = reader.field(fields, "capacity", |reader, node| {
        let text = reader.scalar(node, "a rate such as `50 MB/s` or `100k/s`")?;
        let text = shorten(text);
        let rate = match units::byte_rate(&text) {
            Ok(rate) => Ok((CapacityUnit::Bytes, rate)),
            Err(_) => units::rate(&text).map(|rate| (CapacityUnit::Records, rate)),
        };
        let cure = "write bytes or records per second: `50 MB/s`, `100k/s`";
        match rate {
            Ok((unit, rate)) if (1.0..=1e15).contains(&rate) => Some((unit, rate.round() as u64)),
            Ok(_) => {
                reader.problem(
                    node.place,
                    "the capacity is below 1 per second or far too high",
                    cure,
                );
                None
            }
            Err(_) => {
                let what = format!("`{text}` is not a capacity");
                reader.problem(node.place, what, cure);
                None
            }
        }
    })?;
    let burst = optional(reader, fields, "burst", |reader, node| match unit {
        CapacityUnit::Bytes => reader.bytes(node, 0..=BYTES_MAX),
        CapacityUnit::Records => reader.count(node, 0..=BYTES_MAX),
    })?;
    Some(CapacityPlan {
        unit,
        per_second,
        burst,
    })
}

/// How long it lasts: `for`, or `restart-after` of a node that is down.
fn length(reader: &mut ValueReader<'_>, fields: &Fields<'_>, action: &str) -> Option<Option<u64>> {
    let (key, other) = match action {
        "stop" | "kill" | "crash" => ("restart-after", "for"),
        _ => ("for", "restart-after"),
    };
    if fields.has(other) {
        let what = format!("`{other}` has no effect on `{action}`");
        reader.problem_at(fields, other, what, format!("write `{key}`, or remove it"));
        return None;
    }
    optional(reader, fields, key, time)
}

/// Reports keys that have no effect on the action.
fn check_company(reader: &mut ValueReader<'_>, fields: &Fields<'_>, action: &str) {
    let allowed: &[&str] = match action {
        "delay" | "drop" | "fail" => &["api", "times", "for"],
        "stall" => &["api"],
        "capacity" => &["api", "burst", "for"],
        "restart" => &[],
        "stop" | "kill" | "crash" => &["restart-after"],
        _ => &["for"],
    };
    for key in ["api", "times", "burst"] {
        if fields.has(key) && !allowed.contains(&key) {
            let what = format!("`{key}` has no effect on `{action}`");
            reader.problem_at(fields, key, what, "remove it");
        }
    }
    if fields.has("for") && matches!(action, "stall" | "restart") {
        let what = format!("`for` has no effect on `{action}`");
        reader.problem_at(fields, "for", what, "remove it");
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
        (FaultKind::Restart, _) => 0,
        (FaultKind::Requests { what, .. }, _) if matches!(what, RequestFault::Stall { .. }) => {
            match what {
                RequestFault::Stall { length_ns } => *length_ns,
                _ => 0,
            }
        }
        (_, Some(ns)) => ns,
        (kind, None) => {
            let key = match kind {
                FaultKind::Stop | FaultKind::Kill | FaultKind::Crash => "restart-after",
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

fn check_cut(reader: &mut ValueReader<'_>, fields: &Fields<'_>, plan: &FaultPlan) {
    if let (FaultNode::Number(number), FaultKind::Cut { end, .. }) = (plan.node, &plan.kind)
        && *end == CutEnd::Node(number)
    {
        let what = "a node cannot be cut off from itself";
        reader.problem_at(fields, "cut", what, "name another node");
    }
}
