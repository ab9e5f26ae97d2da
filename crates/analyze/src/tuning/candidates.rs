//! Which settings are tried: those of the table, of a preset, or the user's own.

use kgauge_results::run::{LeftOutCause, LeftOutSetting, TuneChoice};
use kgauge_scenario::{
    SettingScope, Trial, TuneGoal, TunePlan, TunePreset, TuneSetting, TuneValue,
};

use super::in_force::InForce;
use super::table::{self, KnownSetting, SETTINGS, SINCE, SettingUser, Values};

/// The trial with changes, or why scenario or target refuse them.
pub type ChangedTrial<'a> = dyn Fn(&[(String, String)]) -> Result<Trial, LeftOutCause> + 'a;

/// A preset of durability promises what a smaller cluster cannot keep.
const DURABLE_BROKERS: u32 = 3;

/// Chooses the settings to try, in the order of the table. The caller adds what it knows of the second load.
pub fn choose(plan: &TunePlan, now: &InForce<'_>, changed: &ChangedTrial<'_>) -> TuneChoice {
    let offered: Vec<Result<TuneSetting, LeftOutSetting>> = match (plan.preset, plan.own.as_slice())
    {
        (Some(preset), _) => {
            let settings = table::preset(preset).iter();
            let offered = settings.map(|setting| of_preset(plan, now, preset, *setting));
            offered.collect()
        }
        (None, []) => SETTINGS
            .iter()
            .map(|known| of_table(plan, now, known))
            .collect(),
        (None, own) => own.iter().map(|one| of_user(plan, now, one)).collect(),
    };
    let mut choice = TuneChoice::default();
    // The settings of a preset change together, so each is checked together with those before it.
    let mut before: Vec<(String, String)> = Vec::new();
    for offer in offered {
        match offer.and_then(|setting| accepted(setting, &before, now, changed)) {
            Ok(setting) => {
                let values = setting.values.iter().filter(|_| plan.preset.is_some());
                before.extend(values.flat_map(|value| value.changes.clone()));
                choice.settings.push(setting);
            }
            Err(left_out) => choice.left_out.push(left_out),
        }
    }
    choice
}

/// The setting with the values that the scenario and the target accept, as properties have them.
fn accepted(
    setting: TuneSetting,
    before: &[(String, String)],
    now: &InForce<'_>,
    changed: &ChangedTrial<'_>,
) -> Result<TuneSetting, LeftOutSetting> {
    let mut cause = LeftOutCause::InForce;
    let mut values = Vec::new();
    for value in &setting.values {
        match changed(&[before, value.changes.as_slice()].concat()) {
            Ok(trial) => {
                let then = InForce {
                    trial: &trial,
                    ..*now
                };
                let in_properties = |(path, text): &(String, String)| {
                    let text = then.value(path).unwrap_or_else(|| text.clone());
                    (path.clone(), text)
                };
                let changes = value.changes.iter().map(in_properties).collect();
                values.push(TuneValue::of(changes));
            }
            Err(why) => cause = why,
        }
    }
    match values.is_empty() {
        false => Ok(TuneSetting { values, ..setting }),
        true => Err(LeftOutSetting {
            name: setting.name,
            scope: setting.scope,
            cause,
        }),
    }
}

/// Why a setting of this place is not tried, whatever it does.
fn out_of_bounds(plan: &TunePlan, now: &InForce<'_>, path: &str) -> Option<LeftOutCause> {
    let (scope, _) = TuneSetting::place_of(path);
    if !plan.scopes.contains(&scope) {
        return Some(LeftOutCause::Scope);
    }
    if TuneSetting::is_of_durability(path) && !plan.durability_may_change {
        return Some(LeftOutCause::Durability);
    }
    let is_others = scope == SettingScope::Broker && !now.owns_brokers;
    is_others.then_some(LeftOutCause::Target)
}

/// One of the user's own settings.
fn of_user(
    plan: &TunePlan,
    now: &InForce<'_>,
    setting: &TuneSetting,
) -> Result<TuneSetting, LeftOutSetting> {
    let changes = setting.values.iter().flat_map(|value| &value.changes);
    let mut causes = changes.filter_map(|(path, _)| out_of_bounds(plan, now, path));
    if let Some(cause) = causes.next() {
        return Err(LeftOutSetting {
            name: setting.name.clone(),
            scope: setting.scope,
            cause,
        });
    }
    let first = setting.values.first().and_then(|one| one.changes.first());
    Ok(TuneSetting {
        today: first.and_then(|(path, _)| now.value(path)),
        ..setting.clone()
    })
}

/// Why a setting of the table is not tried, whatever its values.
fn left_out(plan: &TunePlan, now: &InForce<'_>, known: &KnownSetting) -> Option<LeftOutCause> {
    if now.users(known.user).is_empty() {
        return Some(LeftOutCause::Unused);
    }
    if let Some(cause) = out_of_bounds(plan, now, known.path) {
        return Some(cause);
    }
    let decides_order = ["topic.partitions", "partitioner"].contains(&known.name);
    // Several requests in flight keep their order only with idempotence.
    let reorders = known.name.starts_with("max.in.flight") && !now.is_idempotent();
    if reorders || (decides_order && now.has_keys()) {
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
        return refused(LeftOutCause::OtherGoal);
    };
    let today = now.value(known.path);
    if today.is_none() && matches!(values, Values::Times(_)) {
        return refused(LeftOutCause::Unknown);
    }
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
    let value = |text| TuneValue::of(changes(now, known.path, known.user, text));
    Ok(TuneSetting {
        name: known.name.to_owned(),
        scope: known.scope,
        today,
        values: texts.into_iter().map(value).collect(),
    })
}

/// The changes that set a value: one, or one for each flow that has the setting.
fn changes(
    now: &InForce<'_>,
    path: &str,
    user: SettingUser,
    text: String,
) -> Vec<(String, String)> {
    let (scope, name) = TuneSetting::place_of(path);
    match (scope, now.users(user).as_slice()) {
        (SettingScope::Client, flows @ [_, _, ..]) => flows
            .iter()
            .map(|flow| (format!("{flow}.settings.{name}"), text.clone()))
            .collect(),
        _ => vec![(path.to_owned(), text)],
    }
}

/// A preset's setting, unless it is in force already or the user does not allow it.
fn of_preset(
    plan: &TunePlan,
    now: &InForce<'_>,
    preset: TunePreset,
    (path, text): (&str, &str),
) -> Result<TuneSetting, LeftOutSetting> {
    let (scope, name) = TuneSetting::place_of(path);
    let user = table::user_of(name);
    let today = now.value(path);
    let is_too_small = preset == TunePreset::Durability
        && scope == SettingScope::Topic
        && now.broker_count < DURABLE_BROKERS;
    let cause = if now.users(user).is_empty() {
        Some(LeftOutCause::Unused)
    } else if is_too_small {
        Some(LeftOutCause::Brokers {
            needed: DURABLE_BROKERS,
        })
    } else if today.as_deref() == Some(text) {
        Some(LeftOutCause::InForce)
    } else {
        out_of_bounds(plan, now, path)
    };
    match cause {
        None => Ok(TuneSetting {
            name: name.to_owned(),
            scope,
            today,
            values: vec![TuneValue::of(changes(now, path, user, text.to_owned()))],
        }),
        Some(cause) => Err(LeftOutSetting {
            name: name.to_owned(),
            scope,
            cause,
        }),
    }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use kgauge_scenario::{Scenario, Size, TuneOptions};

    use super::*;
    use crate::summary::{Bottleneck, LimitVerdict};

    const SCENARIO: &str = "kgauge: 1\nname: s\nquestion: Q?\ntarget: {brokers: 3}\n\
                            topic: {partitions: 2, replication: 3}\n\
                            flows: [{name: w, kind: produce, shape: max, record: {size: 1 kB}}]\n\
                            stages: {hold: 5 s}\n";

    fn limit(word: Bottleneck, candidates: &[Bottleneck]) -> LimitVerdict {
        LimitVerdict {
            word,
            evidence: Vec::new(),
            candidates: candidates.to_vec(),
            faults: 0,
            outage: None,
            idle_flow: None,
        }
    }

    /// What is tried of a scenario on a cluster of three brokers that kgauge started, unless `change` says otherwise.
    fn choice_of(
        text: &str,
        options: &TuneOptions,
        limit: &LimitVerdict,
        change: impl Fn(&mut InForce<'_>),
    ) -> TuneChoice {
        let scenario = Scenario::parse("s.yaml", text).unwrap();
        let trial = scenario.trials(Size::Default).remove(0);
        let plan = TunePlan::new(options, &trial).unwrap();
        let brokers = BTreeMap::from([("num.replica.fetchers".to_owned(), "1".to_owned())]);
        let mut now = InForce {
            trial: &trial,
            brokers: &brokers,
            broker_count: 3,
            release: Some((4, 3)),
            owns_brokers: true,
            limit: Some(limit),
        };
        change(&mut now);
        let changed = |changes: &[(String, String)]| -> Result<Trial, LeftOutCause> {
            let mut scenario = scenario.clone();
            let set = scenario.set_all(changes);
            set.map_err(|error| LeftOutCause::Refused {
                why: error.to_string(),
            })?;
            Ok(scenario.trials(Size::Default).remove(0))
        };
        choose(&plan, &now, &changed)
    }

    fn choice(options: &TuneOptions, word: Bottleneck) -> TuneChoice {
        choice_of(SCENARIO, options, &limit(word, &[]), |_| {})
    }

    /// Names of settings with their values: `linger.ms=20 100`.
    fn tried(choice: &TuneChoice) -> Vec<String> {
        let settings = choice.settings.iter();
        let text = |setting: &TuneSetting| {
            let values: Vec<&str> = setting.values.iter().map(|one| one.text.as_str()).collect();
            format!("{}={}", setting.name, values.join(" "))
        };
        settings.map(text).collect()
    }

    fn cause<'a>(choice: &'a TuneChoice, name: &str) -> Option<&'a LeftOutCause> {
        let mut left_out = choice.left_out.iter();
        let found = left_out.find(|one| one.name == name);
        found.map(|one| &one.cause)
    }

    #[test]
    fn the_bottleneck_decides_which_settings_are_tried() {
        let choice = choice(&TuneOptions::default(), Bottleneck::Disk);
        let expected = [
            "batch.size=131072 65536 524288",
            "linger.ms=20 100",
            "compression.type=lz4 zstd",
        ];
        assert_eq!(tried(&choice), expected);
        assert_eq!(choice.settings[1].today.as_deref(), Some("5"));
        for (name, expected) in [
            ("buffer.memory", LeftOutCause::OtherBottleneck),
            ("topic.partitions", LeftOutCause::OtherBottleneck),
            ("acks", LeftOutCause::Durability),
            ("fetch.min.bytes", LeftOutCause::Unused),
            ("partitioner", LeftOutCause::InForce),
            // The brokers do not report it, so it has no multiple.
            ("num.io.threads", LeftOutCause::Unknown),
        ] {
            assert_eq!(cause(&choice, name), Some(&expected), "{name}");
        }
    }

    #[test]
    fn candidates_of_an_undecided_bottleneck_narrow_the_search_too() {
        let of = |candidates: &[Bottleneck]| {
            let limit = limit(Bottleneck::Undecided, candidates);
            let choice = choice_of(SCENARIO, &TuneOptions::default(), &limit, |_| {});
            tried(&choice).len()
        };
        let only = choice(&TuneOptions::default(), Bottleneck::Disk);
        assert_eq!(of(&[Bottleneck::Disk]), tried(&only).len());
        assert!(of(&[]) > tried(&only).len(), "nothing is known of it");
    }

    #[test]
    fn a_release_has_the_values_that_it_knows() {
        let old = choice_of(
            SCENARIO,
            &TuneOptions::default(),
            &limit(Bottleneck::NetworkCard, &[]),
            |now| now.release = Some((2, 0)),
        );
        assert!(tried(&old).contains(&"compression.type=lz4".to_owned()));
        let unknown = choice_of(
            SCENARIO,
            &TuneOptions::default(),
            &limit(Bottleneck::NetworkCard, &[]),
            |now| now.release = None,
        );
        assert!(tried(&unknown).contains(&"compression.type=lz4 zstd".to_owned()));
    }

    #[test]
    fn order_and_brokers_of_others_stay() {
        let keyed = SCENARIO.replace("{size: 1 kB}", "{size: 1 kB, key: {uniform: {keys: 10}}}");
        let of_others = choice_of(
            &keyed,
            &TuneOptions::default(),
            &limit(Bottleneck::Replication, &[]),
            |now| now.owns_brokers = false,
        );
        assert_eq!(
            cause(&of_others, "topic.partitions"),
            Some(&LeftOutCause::Keys)
        );
        assert_eq!(
            cause(&of_others, "num.replica.fetchers"),
            Some(&LeftOutCause::Target)
        );
        let client = TuneOptions {
            scopes: vec![SettingScope::Client],
            ..TuneOptions::default()
        };
        let choice = choice(&client, Bottleneck::Replication);
        let scope = Some(&LeftOutCause::Scope);
        assert_eq!(cause(&choice, "num.replica.fetchers"), scope);
    }

    #[test]
    fn the_users_values_are_shown_as_properties_have_them() {
        let candidate = |path: &str, value: &str| vec![(path.to_owned(), value.to_owned())];
        let options = TuneOptions {
            candidates: vec![
                candidate("batch.size", "64 KiB"),
                candidate("linger.ms", "20 ms"),
                candidate("linger.ms", "a while"),
                candidate("w.settings.nonsense", "1"),
            ],
            ..TuneOptions::default()
        };
        let choice = choice(&options, Bottleneck::Load);
        assert_eq!(tried(&choice), ["batch.size=65536", "linger.ms=20"]);
        assert_eq!(choice.settings[0].today.as_deref(), Some("16384"));
        let refused = matches!(
            cause(&choice, "nonsense"),
            Some(LeftOutCause::Refused { .. })
        );
        assert!(refused, "{:?}", choice.left_out);
    }

    #[test]
    fn a_setting_of_several_flows_changes_in_all_of_them() {
        let two = SCENARIO.replace(
            "flows: [",
            "flows: [{name: v, kind: produce, shape: max, record: {size: 1 kB}}, ",
        );
        let choice = choice_of(
            &two,
            &TuneOptions::default(),
            &limit(Bottleneck::Disk, &[]),
            |_| {},
        );
        let batch = &choice.settings[0].values[0];
        assert_eq!(batch.text, "131072");
        let paths: Vec<&str> = batch
            .changes
            .iter()
            .map(|(path, _)| path.as_str())
            .collect();
        assert_eq!(paths, ["v.settings.batch.size", "w.settings.batch.size"]);
    }

    #[test]
    fn a_preset_is_checked_as_a_whole_and_needs_its_brokers() {
        let text = SCENARIO
            .replace("replication: 3", "replication: 1")
            .replace("record:", "settings: {acks: 1}, record:");
        let options = TuneOptions {
            preset: Some(TunePreset::Durability),
            durability_may_change: true,
            ..TuneOptions::default()
        };
        let load = limit(Bottleneck::Load, &[]);
        let three = choice_of(&text, &options, &load, |_| {});
        let expected = [
            "acks=all",
            "enable.idempotence=true",
            "topic.replication=3",
            "min.insync.replicas=2",
            "unclean.leader.election.enable=false",
        ];
        assert_eq!(tried(&three), expected);
        let in_flight = cause(&three, "max.in.flight.requests.per.connection");
        assert_eq!(in_flight, Some(&LeftOutCause::InForce));
        let one = choice_of(&text, &options, &load, |now| now.broker_count = 1);
        assert_eq!(tried(&one), expected[..2]);
        let needed = Some(&LeftOutCause::Brokers { needed: 3 });
        assert_eq!(cause(&one, "topic.replication"), needed);
    }
}
