//! The settings in force, and which of the table's are tried.

use std::collections::BTreeMap;

use kgauge_results::run::{LeftOutCause, LeftOutSetting, TuneChoice};
use kgauge_scenario::{
    FlowPlan, Partitioner, SettingScope, Trial, TuneGoal, TunePlan, TuneSetting, TuneValue,
};

use super::procedure::SCREENED_BY;
use super::table::{self, KnownSetting, SETTINGS, SettingUser, Values};
use super::{design, table::SINCE};
use crate::summary::Bottleneck;

/// What is known when candidates are chosen.
#[derive(Clone, Copy, Debug)]
pub struct InForce<'a> {
    /// The trial with today's settings.
    pub trial: &'a Trial,
    /// The settings that brokers report.
    pub brokers: &'a BTreeMap<String, String>,
    /// The number of brokers.
    pub broker_count: u32,
    /// The release: major and minor.
    pub release: Option<(u32, u32)>,
    /// Whether kgauge starts the brokers, and so can change them.
    pub owns_brokers: bool,
    /// What limits the trial.
    pub bottleneck: Bottleneck,
}

/// Chooses the settings to try, in the order of the table. `refusal` checks a value against scenario and target. The
/// caller adds what it knows of the second load.
pub fn choose(
    plan: &TunePlan,
    now: &InForce<'_>,
    refusal: &dyn Fn(&TuneValue) -> Option<LeftOutCause>,
) -> TuneChoice {
    let mut choice = TuneChoice::default();
    let offered: Vec<Result<TuneSetting, LeftOutSetting>> = match (plan.preset, plan.own.as_slice())
    {
        (Some(preset), _) => of_preset(plan, now, table::preset(preset)),
        (None, []) => SETTINGS
            .iter()
            .map(|known| of_table(plan, now, known))
            .collect(),
        (None, own) => own
            .iter()
            .map(|one| Ok(with_today(now, one.clone())))
            .collect(),
    };
    for offer in offered {
        match offer.and_then(|setting| without_refused(setting, refusal)) {
            Ok(setting) => choice.settings.push(setting),
            Err(left_out) => choice.left_out.push(left_out),
        }
    }
    choice
}

/// Leaves out what the budget has no time to screen. `step_ns` is the time of a measurement.
pub fn fit_to_budget(plan: &TunePlan, choice: &mut TuneChoice, took_ns: u64, step_ns: u64) {
    if plan.preset.is_some() {
        return;
    }
    let left_ns = SCREENED_BY * plan.budget_ns as f64 - took_ns as f64;
    let measures = (left_ns / step_ns.max(1) as f64).max(0.0) as usize;
    let fits = |count: &usize| *count == 1 || 2 * design::rows_for(*count) <= measures;
    let most = choice.settings.len().min(design::SCREENED_MAX);
    let count = (1..=most).rev().find(fits).unwrap_or(0);
    for setting in choice.settings.split_off(count) {
        choice.left_out.push(LeftOutSetting {
            name: setting.name,
            scope: setting.scope,
            cause: LeftOutCause::Budget,
        });
    }
}

fn without_refused(
    mut setting: TuneSetting,
    refusal: &dyn Fn(&TuneValue) -> Option<LeftOutCause>,
) -> Result<TuneSetting, LeftOutSetting> {
    let mut cause = LeftOutCause::InForce;
    setting.values.retain(|value| match refusal(value) {
        None => true,
        Some(why) => {
            cause = why;
            false
        }
    });
    match setting.values.is_empty() {
        false => Ok(setting),
        true => Err(LeftOutSetting {
            name: setting.name,
            scope: setting.scope,
            cause,
        }),
    }
}

fn with_today(now: &InForce<'_>, mut setting: TuneSetting) -> TuneSetting {
    let first = setting
        .values
        .first()
        .and_then(|value| value.changes.first());
    setting.today = first.and_then(|(path, _)| now.value(path));
    setting
}

/// Why a setting is not tried, whatever its values.
fn left_out(plan: &TunePlan, now: &InForce<'_>, known: &KnownSetting) -> Option<LeftOutCause> {
    let has_reader = || now.trial.flows.iter().any(|flow| flow.produces().is_none());
    let sends = || now.trial.flows.iter().any(|flow| flow.produces().is_some());
    let is_used = match known.user {
        SettingUser::Producers => sends(),
        // A path without a flow's name means producers if both have the setting; these have not.
        SettingUser::Consumers => has_reader(),
        SettingUser::All => true,
        SettingUser::Replicas => now.trial.topic.replication > 1,
    };
    let is_protected = TuneSetting::is_of_durability(known.path);
    if !is_used {
        return Some(LeftOutCause::OtherBottleneck);
    }
    if !plan.scopes.contains(&known.scope) {
        return Some(LeftOutCause::Scope);
    }
    if is_protected && !plan.durability_may_change {
        return Some(LeftOutCause::Durability);
    }
    if known.scope == SettingScope::Broker && !now.owns_brokers {
        return Some(LeftOutCause::Target);
    }
    let decides_order = ["topic.partitions", "partitioner"].contains(&known.name);
    if decides_order && now.has_keys() {
        return Some(LeftOutCause::Keys);
    }
    // Five requests in flight keep their order only with idempotence.
    let reorders = known.name.starts_with("max.in.flight") && !now.is_idempotent();
    if reorders {
        return Some(LeftOutCause::Keys);
    }
    (!now.may_act(known)).then_some(LeftOutCause::OtherBottleneck)
}

fn of_table(
    plan: &TunePlan,
    now: &InForce<'_>,
    known: &KnownSetting,
) -> Result<TuneSetting, LeftOutSetting> {
    let refused = |cause| {
        Err(LeftOutSetting {
            name: known.name.to_owned(),
            scope: known.scope,
            cause,
        })
    };
    if let Some(cause) = left_out(plan, now, known) {
        return refused(cause);
    }
    let Some(values) = moves(known, plan.goal) else {
        return refused(LeftOutCause::OtherBottleneck);
    };
    let today = now.value(known.path);
    let (texts, too_new): (Vec<String>, Vec<String>) = texts(values, today.as_deref())
        .into_iter()
        .partition(|text| since(known.name, text).is_none_or(|first| now.has(first)));
    if texts.is_empty() {
        let newer = too_new.first().and_then(|text| since(known.name, text));
        return refused(match newer {
            Some((major, minor)) => LeftOutCause::Release {
                since: format!("{major}.{minor}"),
            },
            None => LeftOutCause::InForce,
        });
    }
    Ok(TuneSetting {
        name: known.name.to_owned(),
        scope: known.scope,
        today,
        values: texts
            .into_iter()
            .map(|text| value(known.path, text))
            .collect(),
    })
}

fn value(path: &str, text: String) -> TuneValue {
    TuneValue {
        changes: vec![(path.to_owned(), text.clone())],
        text,
    }
}

/// A preset's settings, without those that are in force already and those that the user does not allow.
fn of_preset(
    plan: &TunePlan,
    now: &InForce<'_>,
    settings: &[(&str, &str)],
) -> Vec<Result<TuneSetting, LeftOutSetting>> {
    let of_one = |(path, text): &(&str, &str)| {
        let (scope, name) = TuneSetting::place_of(path);
        let refused = |cause| LeftOutSetting {
            name: name.to_owned(),
            scope,
            cause,
        };
        if TuneSetting::is_of_durability(path) && !plan.durability_may_change {
            return Err(refused(LeftOutCause::Durability));
        }
        if !plan.scopes.contains(&scope) {
            return Err(refused(LeftOutCause::Scope));
        }
        if scope == SettingScope::Broker && !now.owns_brokers {
            return Err(refused(LeftOutCause::Target));
        }
        let reads = table::known(name).is_some_and(|one| one.user == SettingUser::Consumers);
        if reads && now.trial.flows.iter().all(|flow| flow.produces().is_some()) {
            return Err(refused(LeftOutCause::OtherBottleneck));
        }
        // A small cluster has fewer replicas to give.
        let text = match *path {
            "topic.replication" => now.broker_count.min(3).to_string(),
            _ => (*text).to_owned(),
        };
        let today = now.value(path);
        if today.as_deref() == Some(&text) {
            return Err(refused(LeftOutCause::InForce));
        }
        Ok(TuneSetting {
            name: name.to_owned(),
            scope,
            today,
            values: vec![value(path, text)],
        })
    };
    settings.iter().map(of_one).collect()
}

fn moves(known: &KnownSetting, goal: TuneGoal) -> Option<Values> {
    let mut moves = known.moves.iter();
    moves.find(|(of, _)| *of == goal).map(|(_, values)| *values)
}

/// The values that differ from today's in the right direction.
fn texts(values: Values, today: Option<&str>) -> Vec<String> {
    let number = today.and_then(|text| text.parse::<u64>().ok());
    match values {
        Values::Above(list) => {
            let above = list
                .iter()
                .filter(|one| number.is_none_or(|now| **one > now));
            above.map(u64::to_string).collect()
        }
        Values::Below(list) => {
            let below = list
                .iter()
                .filter(|one| number.is_none_or(|now| **one < now));
            below.map(u64::to_string).collect()
        }
        Values::Times(list) => number.map_or_else(Vec::new, |now| {
            list.iter()
                .map(|times| (now.max(1) * times).to_string())
                .collect()
        }),
        Values::Words(list) => {
            let others = list.iter().filter(|word| Some(**word) != today);
            others.map(|word| (*word).to_owned()).collect()
        }
    }
}

fn since(name: &str, text: &str) -> Option<(u32, u32)> {
    let mut known = SINCE.iter();
    let found = known.find(|(of, value, _)| *of == name && *value == text);
    found.map(|(_, _, first)| *first)
}

impl InForce<'_> {
    fn has(&self, first: (u32, u32)) -> bool {
        self.release.is_none_or(|release| release >= first)
    }

    /// Whether a setting acts on the bottleneck, as far as that is known.
    fn may_act(&self, known: &KnownSetting) -> bool {
        let is_unknown = matches!(
            self.bottleneck,
            Bottleneck::Undecided | Bottleneck::Target | Bottleneck::OtherPrograms
        );
        is_unknown || known.acts_on.contains(&self.bottleneck)
    }

    fn has_keys(&self) -> bool {
        let mut sends = self.trial.flows.iter().filter_map(FlowPlan::produces);
        sends.any(|flow| flow.record.key.is_some())
    }

    fn is_idempotent(&self) -> bool {
        let mut sends = self.trial.flows.iter().filter_map(FlowPlan::produces);
        sends.all(|flow| flow.settings.idempotence)
    }

    /// The value in force of a path's setting, as properties have it; `None` if unknown.
    fn value(&self, path: &str) -> Option<String> {
        let (scope, name) = TuneSetting::place_of(path);
        match (scope, path) {
            (SettingScope::Broker, _) => {
                let planned = self.trial.cluster.config.get(name);
                planned.or_else(|| self.brokers.get(name)).cloned()
            }
            (SettingScope::Topic, "topic.partitions") => {
                Some(self.trial.topic.partitions.to_string())
            }
            (SettingScope::Topic, "topic.replication") => {
                Some(self.trial.topic.replication.to_string())
            }
            (SettingScope::Topic, _) => self.trial.topic.config.get(name).cloned(),
            (SettingScope::Client, _) => self.client_value(name),
        }
    }

    fn client_value(&self, name: &str) -> Option<String> {
        let mut sends = self.trial.flows.iter().filter_map(FlowPlan::produces);
        let sent = sends.next().and_then(|flow| {
            let settings = &flow.settings;
            Some(match name {
                "batch.size" => settings.batch_bytes.to_string(),
                "linger.ms" => (settings.linger_ns / 1_000_000).to_string(),
                "compression.type" => settings.compression.codec.name().to_owned(),
                "buffer.memory" => settings.buffer_bytes.to_string(),
                "max.request.size" => settings.request_bytes_max.to_string(),
                "max.in.flight.requests.per.connection" => settings.in_flight_max.to_string(),
                "send.buffer.bytes" => settings.send_buffer_bytes?.to_string(),
                "enable.idempotence" => settings.idempotence.to_string(),
                "acks" => match settings.acks.wire() {
                    -1 => "all".to_owned(),
                    acks => acks.to_string(),
                },
                "partitioner" => match settings.partitioner {
                    Partitioner::Sticky => "sticky".to_owned(),
                    Partitioner::RoundRobin => "round-robin".to_owned(),
                    Partitioner::Partition(_) | Partitioner::Broker(_) => return None,
                },
                _ => return None,
            })
        });
        sent.or_else(|| {
            let mut reads = self.trial.flows.iter();
            let settings = reads.find_map(|flow| match flow {
                FlowPlan::Consume(flow) => Some(&flow.settings),
                FlowPlan::Echo(_) | FlowPlan::Produce(_) => None,
            })?;
            match name {
                "fetch.min.bytes" => Some(settings.fetch_bytes_min.to_string()),
                "max.partition.fetch.bytes" => Some(settings.partition_fetch_bytes_max.to_string()),
                _ => None,
            }
        })
    }
}
