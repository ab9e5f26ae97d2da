//! Tables of facts: where it ran, what was set, how the brokers counted.

use std::collections::BTreeMap;

use kgauge_analyze::summary::{Summary, TrialSummary};
use kgauge_results::RunRead;
use kgauge_results::run::{
    BrokerRecord, DiskBaseline, DiskWrites, Environment, EvidenceKind, KafkaStart, MachineRecord,
    RepeatKey,
};
use kgauge_scenario::{ConsumerSettings, ProducerSettings};
use serde_json::{Value, json};

use crate::format;
use crate::text::setting_names::{self, SettingText};
use crate::text::trial::name as trial_name;
use crate::view::{Fact, Sheet, SheetKind};

/// All sheets that have anything in them.
pub(super) fn all(run: &RunRead, summary: &Summary) -> Vec<Sheet> {
    let mut sheets = vec![sheet("Run", run_facts(summary))];
    sheets.extend(
        summary
            .machine
            .as_ref()
            .map(|machine| sheet("Machine", machine_facts(machine))),
    );
    sheets.extend(observing(run).map(|cost| sheet("Sampling overhead", vec![cost])));
    sheets.push(sheet("Records counted by the brokers", counted(summary)));
    sheets.push(sheet("Records by leader", led(summary)));
    sheets.push(sheet("Requests and batches", batching(summary)));
    let disk = run.environment.iter().filter_map(|one| one.disk.as_ref());
    sheets.extend(disk.map(disk_sheet));
    sheets.push(sheet("Generator", generator(summary)));
    sheets.extend(plan_sheets(run));
    let started = run
        .environment
        .iter()
        .filter_map(|environment| environment.target.started.as_ref());
    sheets.extend(started.map(started_sheet));
    sheets.extend(run.environment.iter().flat_map(broker_sheets));
    sheets.retain(|sheet| !sheet.facts.is_empty());
    sheets
}

/// The disk without Kafka.
fn disk_sheet(disk: &DiskBaseline) -> Sheet {
    let writes = |writes: &DiskWrites| {
        format!(
            "{} per second, {} MB/s, {} each",
            format::figure(writes.per_s),
            format::short(writes.bytes_per_s / 1e6),
            format::nanoseconds(writes.latency_ns_mean)
        )
    };
    sheet(
        "Disk baseline, bypassing the page cache",
        vec![
            fact("Random 4 KiB writes", writes(&disk.random_4k)),
            fact("Sequential 1 MiB writes", writes(&disk.sequential_1m)),
            fact("Measured by", &*disk.fio),
            fact("Directory", &*disk.path),
        ],
    )
}

fn sheet(title: &str, facts: Vec<Fact>) -> Sheet {
    Sheet {
        kind: SheetKind::Run,
        title: title.to_owned(),
        facts,
    }
}

fn sheet_of(kind: SheetKind, title: &str, facts: Vec<Fact>) -> Sheet {
    Sheet {
        kind,
        ..sheet(title, facts)
    }
}

fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact {
        name: name.to_owned(),
        value: value.into(),
    }
}

fn run_facts(summary: &Summary) -> Vec<Fact> {
    let run = &summary.run;
    let build = if run.kgauge.debug {
        " (debug build)"
    } else {
        ""
    };
    let mut facts = vec![
        fact("Run", &*run.run_id),
        fact("Status", run.status.as_str()),
        fact("Started", super::time_of_day(run.started_unix_ms)),
    ];
    facts.extend(
        run.ended_unix_ms
            .map(|ended| fact("Ended", super::time_of_day(ended))),
    );
    facts.push(fact("kgauge", format!("{}{build}", run.kgauge.version)));
    facts.extend(run.size.as_ref().map(|size| fact("Size", &**size)));
    facts.extend(run.seed.map(|seed| fact("Seed", seed.to_string())));
    facts
}

fn machine_facts(machine: &MachineRecord) -> Vec<Fact> {
    let text =
        |name: &str, value: &Option<String>| value.as_ref().map(|value| fact(name, &**value));
    [
        text("Host", &machine.host_name),
        text("Operating system", &machine.operating_system),
        text("Kernel", &machine.kernel),
        text("Architecture", &machine.architecture),
        text("Processor", &machine.cpu_model),
        machine
            .cpu_count
            .map(|count| fact("Cores", format::count(count.into()))),
        machine
            .memory_bytes
            .map(|bytes| fact("Memory", format::decimal_bytes(bytes as f64))),
        machine
            .reports_free_memory
            .then(|| fact("Free memory", "is returned to the host")),
        text("Clock source", &machine.clock_source),
        text("File system", &machine.file_system),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The cost of sampling machines and brokers, over all repeats; several threads may sample in one repeat.
fn observing(run: &RunRead) -> Option<Fact> {
    let mut repeats: BTreeMap<RepeatKey, (u64, u64, u64)> = BTreeMap::new();
    for line in &run.evidence {
        let (
            Some(key),
            EvidenceKind::Observing {
                looks,
                cpu_ns,
                span_ns,
            },
        ) = (line.repeat, &line.kind)
        else {
            continue;
        };
        let (of_looks, of_cpu, of_span) = repeats.entry(key).or_default();
        *of_looks = (*of_looks).max(*looks);
        *of_cpu = of_cpu.saturating_add(*cpu_ns);
        *of_span = (*of_span).max(*span_ns);
    }
    let sum =
        |of: fn(&(u64, u64, u64)) -> u64| repeats.values().map(of).fold(0, u64::saturating_add);
    let (looks, cpu_ns, span_ns) = (sum(|one| one.0), sum(|one| one.1), sum(|one| one.2));
    (span_ns > 0).then(|| {
        let part = cpu_ns as f64 / span_ns as f64;
        let cost = format!(
            "{} of a core, {} samples",
            format::percent(part),
            format::count(looks)
        );
        fact("Cost", cost)
    })
}

/// Who led the records that were written.
fn led(summary: &Summary) -> Vec<Fact> {
    let of_trial = |trial: &TrialSummary| -> Vec<Fact> {
        let line = |shares: &kgauge_analyze::summary::BrokerShares| {
            let broker = |share: &kgauge_analyze::summary::BrokerShare| {
                format!(
                    "broker {}: {} ({}, {})",
                    share.broker,
                    format::count(share.records),
                    format::percent(share.part),
                    format::counted(u64::from(share.partitions), "partition")
                )
            };
            let brokers: Vec<String> = shares.brokers.iter().map(broker).collect();
            let repeat = u64::from(shares.repeat) + 1;
            let name = format!("{}, repeat {repeat}", trial_name(trial));
            fact(&name, brokers.join(", "))
        };
        trial.broker_shares.iter().map(line).collect()
    };
    summary.trials.iter().flat_map(of_trial).collect()
}

/// Acked records and those in the brokers' logs.
fn counted(summary: &Summary) -> Vec<Fact> {
    let of_trial = |trial: &TrialSummary| -> Vec<Fact> {
        let line = |counted: &kgauge_analyze::summary::CountedOnBroker| {
            let on_broker = counted
                .on_broker
                .map_or("unknown".to_owned(), format::count);
            let word = match counted.agrees {
                Some(true) => "agrees",
                Some(false) => "DISAGREES",
                None => "undetermined",
            };
            let unknown = match counted.indeterminate {
                0 => String::new(),
                count => format!(", {} with unknown outcome", format::count(count)),
            };
            fact(
                &format!(
                    "{}, repeat {}",
                    trial_name(trial),
                    u64::from(counted.repeat) + 1
                ),
                format!(
                    "{} acked{unknown}, {on_broker} on the brokers: {word}",
                    format::count(counted.acked)
                ),
            )
        };
        trial.counted.iter().map(line).collect()
    };
    summary.trials.iter().flat_map(of_trial).collect()
}

fn batching(summary: &Summary) -> Vec<Fact> {
    let mut facts = Vec::new();
    for trial in &summary.trials {
        for flow in &trial.flows {
            let Some(batching) = &flow.batching else {
                continue;
            };
            let mut parts = vec![
                format!(
                    "{} requests/s",
                    format::figure(batching.requests_per_s.mean)
                ),
                format!(
                    "{} records per request",
                    format::short(batching.records_per_request)
                ),
            ];
            parts.extend(
                batching
                    .records_per_batch
                    .map(|records| format!("{} records per batch", format::short(records))),
            );
            parts.push(format!(
                "{} per request on the wire",
                format::decimal_bytes(batching.wire_bytes_per_request)
            ));
            parts.extend(
                batching
                    .empty_part
                    .map(|part| format!("{} of the fetches empty", format::percent(part))),
            );
            parts.extend(
                batching
                    .compression_ratio
                    .map(|ratio| format!("compression ratio {ratio:.2}")),
            );
            parts.extend(batching.behind.map(|behind| {
                format!(
                    "{} records behind on average, {} at most",
                    format::figure(behind.records_mean),
                    format::figure(behind.records_max)
                )
            }));
            facts.push(fact(
                &format!("{}, {}", trial_name(trial), flow.name),
                parts.join(", "),
            ));
        }
    }
    facts
}

/// The verdicts on the generator.
fn generator(summary: &Summary) -> Vec<Fact> {
    let evidence = |trial: &TrialSummary| {
        let text = crate::text::generator::evidence(trial).join(" ");
        (!text.is_empty()).then(|| fact(&trial_name(trial), text))
    };
    summary.trials.iter().filter_map(evidence).collect()
}

/// A trial's name and its settings.
type TrialSettings = (String, Vec<SettingText>);

/// The settings of each scenario, then what its trials have of their own. The plan is walked as
/// JSON, so that whatever it comes to hold is shown without a change here.
fn plan_sheets(run: &RunRead) -> Vec<Sheet> {
    let plan = run
        .plan
        .as_ref()
        .and_then(|plan| serde_json::to_value(plan).ok());
    let Some(trials) = plan
        .as_ref()
        .and_then(|plan| plan.get("trials")?.as_array())
    else {
        return Vec::new();
    };
    let text = |trial: &Value, key: &str| {
        trial
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let defaults = FlowDefaults::of_kafka();
    let mut scenarios: Vec<(String, Vec<TrialSettings>)> = Vec::new();
    for trial in trials {
        let (scenario, name) = (text(trial, "scenario"), text(trial, "name"));
        let entry = (name, plan_settings(trial, &defaults));
        match scenarios.iter_mut().find(|(known, _)| *known == scenario) {
            Some((_, trials)) => trials.push(entry),
            None => scenarios.push((scenario, vec![entry])),
        }
    }
    let sheet =
        |(scenario, trials): (String, Vec<TrialSettings>)| scenario_sheet(scenario, &trials);
    scenarios.into_iter().map(sheet).collect()
}

/// Settings that all trials share once, then those of each trial; changed settings come first.
fn scenario_sheet(scenario: String, trials: &[TrialSettings]) -> Sheet {
    let is_shared = |one: &SettingText| trials.iter().all(|(_, all)| all.contains(one));
    let first = trials.first().map_or(&[][..], |(_, settings)| settings);
    let mut shared: Vec<&SettingText> = first.iter().filter(|one| is_shared(one)).collect();
    shared.sort_by_key(|one| !one.is_changed);
    let mut facts: Vec<Fact> = shared
        .into_iter()
        .map(|one| fact(&one.name, &*one.value))
        .collect();
    for (trial, own) in trials {
        let own = own.iter().filter(|one| !is_shared(one));
        facts.extend(own.map(|own| fact(&format!("{trial}: {}", own.name), &*own.value)));
    }
    sheet_of(SheetKind::Settings, &scenario, facts)
}

fn plan_settings(trial: &Value, defaults: &FlowDefaults) -> Vec<SettingText> {
    let mut settings = Vec::new();
    for key in ["topic", "stages", "repeats"] {
        let value = trial.get(key).unwrap_or(&Value::Null);
        flat(key, value, &Value::Null, &mut settings);
    }
    let flows = trial.get("flows").and_then(Value::as_array);
    for flow in flows.into_iter().flatten() {
        // The producers of an echo flow are inside of it, with their name.
        let mut parts = [Some(flow), flow.get("produce")].into_iter().flatten();
        let name = parts.find_map(|part| part.get("name")?.as_str());
        let default = defaults.of(flow);
        flat(name.unwrap_or("flow"), flow, default, &mut settings);
    }
    settings
}

/// Kafka's defaults in the form of a plan's flows.
struct FlowDefaults {
    produce: Value,
    consume: Value,
    echo: Value,
}

impl FlowDefaults {
    fn of_kafka() -> FlowDefaults {
        let producer = without_name(serde_json::to_value(ProducerSettings::of_kafka()));
        let consumer = without_name(serde_json::to_value(ConsumerSettings::of_kafka()));
        FlowDefaults {
            produce: json!({"settings": producer}),
            consume: json!({"settings": consumer}),
            echo: json!({"produce": {"settings": producer}, "consumer_settings": consumer}),
        }
    }

    fn of(&self, flow: &Value) -> &Value {
        match flow.get("kind").and_then(Value::as_str) {
            Some("produce") => &self.produce,
            Some("consume") => &self.consume,
            Some("echo") => &self.echo,
            _ => &Value::Null,
        }
    }
}

/// Settings without `client.id`, which differs per flow.
fn without_name(settings: serde_json::Result<Value>) -> Value {
    let mut settings = settings.unwrap_or_default();
    if let Some(fields) = settings.as_object_mut() {
        fields.remove("client_id");
    }
    settings
}

/// Every leaf of a JSON value as a user writes it, next to the same of the defaults.
fn flat(path: &str, value: &Value, default: &Value, settings: &mut Vec<SettingText>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let default = default.get(key).unwrap_or(&Value::Null);
                flat(&format!("{path}.{key}"), value, default, settings);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                flat(&format!("{path}[{index}]"), value, &Value::Null, settings);
            }
        }
        Value::Null => {}
        value => settings.push(setting_names::setting(path, value, default)),
    }
}

/// How kgauge started Apache Kafka.
fn started_sheet(started: &KafkaStart) -> Sheet {
    let checked = if started.checked {
        "yes"
    } else {
        "no: kgauge is not tested against this release"
    };
    let mut facts = vec![
        fact("checked release", checked),
        fact("coordination", &*started.coordination),
        fact("Java", &*started.java),
        fact("Java flags", started.jvm.join(" ")),
        fact("client protocol", &*started.security),
    ];
    let ms =
        |name: &str, ms: Option<u64>| ms.map(|ms| fact(name, format!("{:.2} s", ms as f64 / 1e3)));
    facts.extend(ms("ports open after", started.ports_open_ms));
    facts.extend(ms("ready after", started.serves_ms));
    let asked = |(key, value): (&String, &String)| fact(&format!("requested: {key}"), &**value);
    facts.extend(started.settings.iter().map(asked));
    for (id, settings) in &started.broker_settings {
        let own = |(key, value): (&String, &String)| {
            fact(&format!("requested, broker {id}: {key}"), &**value)
        };
        facts.extend(settings.iter().map(own));
    }
    facts.retain(|fact| !fact.value.is_empty());
    sheet_of(SheetKind::Brokers, "Apache Kafka startup", facts)
}

/// The brokers' settings as they answered: those that all share once, then each broker's own.
fn broker_sheets(environment: &Environment) -> Vec<Sheet> {
    let brokers = &environment.target.brokers;
    let Some(first) = brokers.first() else {
        return Vec::new();
    };
    let shared = |name: &str, value: &str| {
        brokers
            .iter()
            .all(|broker| broker.settings.get(name).is_some_and(|own| own == value))
    };
    let all = first
        .settings
        .iter()
        .filter(|(name, value)| shared(name, value));
    let all = all.map(|(name, value)| fact(name, &**value)).collect();
    let own = |broker: &BrokerRecord| {
        let rack = broker.rack.as_ref().map(|rack| fact("rack", &**rack));
        let settings = broker
            .settings
            .iter()
            .filter(|(name, value)| !shared(name, value));
        let settings = settings.map(|(name, value)| fact(name, &**value));
        let mut facts = vec![fact("address", &*broker.address)];
        facts.extend(rack.into_iter().chain(settings));
        sheet_of(SheetKind::Brokers, &format!("Broker {}", broker.id), facts)
    };
    let mut sheets = vec![sheet_of(SheetKind::Brokers, "Settings of all brokers", all)];
    sheets.extend(brokers.iter().map(own));
    sheets
}
