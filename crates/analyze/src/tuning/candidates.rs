//! Which settings are tried: those of the table, of a preset, or the user's own.

use kgauge_results::run::{LeftOutCause, LeftOutSetting, TuneChoice};
use kgauge_scenario::{
    SettingScope, Trial, TuneGoal, TunePlan, TunePreset, TuneSetting, TuneValue,
};

use super::in_force::InForce;
use super::table::{self, KnownSetting, SETTINGS, SINCE, SettingUser, Values};

/// The trial with changes, or why scenario or target refuse them.
pub type ChangedTrial<'a> = dyn FnMut(&[(String, String)]) -> Result<Trial, LeftOutCause> + 'a;

/// A preset of durability promises what a smaller cluster cannot keep.
const DURABLE_BROKERS: u32 = 3;

/// Chooses the settings to try, in the order of the table. The caller adds what it knows of the second load.
pub fn choose(plan: &TunePlan, now: &InForce<'_>, changed: &mut ChangedTrial<'_>) -> TuneChoice {
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
    for offer in offered {
        match offer {
            Ok(setting) => add(&mut choice, setting, (plan, now), changed),
            Err(left_out) => choice.left_out.push(left_out),
        }
    }
    choice
}

/// Adds a setting with the values that are accepted. The others are left out, each with its cause.
fn add(
    choice: &mut TuneChoice,
    setting: TuneSetting,
    known: (&TunePlan, &InForce<'_>),
    changed: &mut ChangedTrial<'_>,
) {
    let mut values = Vec::new();
    let mut refused = Vec::new();
    for value in &setting.values {
        match accepted(value, choice, known, changed) {
            Ok(value) => values.push(value),
            Err(cause) => refused.push((value.text.as_str(), cause)),
        }
    }
    let left_out = |name: String, cause: LeftOutCause| LeftOutSetting {
        name,
        scope: setting.scope,
        cause,
    };
    let refused = refused.into_iter();
    if values.is_empty() {
        let cause = refused.map(|(_, cause)| cause).next();
        let cause = cause.unwrap_or(LeftOutCause::InForce);
        choice.left_out.push(left_out(setting.name.clone(), cause));
        return;
    }
    let refused = refused.map(|(text, cause)| left_out(format!("{}={text}", setting.name), cause));
    choice.left_out.extend(refused);
    choice.settings.push(TuneSetting { values, ..setting });
}

/// The value as properties have it, if the release, the target and the scenario accept it, also with the settings
/// before it: those of a preset change together, and searches measure combinations.
fn accepted(
    value: &TuneValue,
    choice: &TuneChoice,
    (plan, now): (&TunePlan, &InForce<'_>),
    changed: &mut ChangedTrial<'_>,
) -> Result<TuneValue, LeftOutCause> {
    let mut changes = value.changes.iter();
    if let Some((major, minor)) = changes.find_map(|(path, text)| too_new(now, path, text)) {
        return Err(LeftOutCause::Release {
            since: format!("{major}.{minor}"),
        });
    }
    let first_values = choice.settings.iter().filter_map(|one| one.values.first());
    let mut together: Vec<(String, String)> =
        first_values.flat_map(|one| one.changes.clone()).collect();
    together.extend(value.changes.clone());
    let trial = match plan.preset {
        Some(_) => changed(&together)?,
        None => changed(&value.changes)?,
    };
    if !now.owns_topic && trial.topic != now.trial.topic {
        return Err(LeftOutCause::Target);
    }
    if plan.preset.is_none() {
        for setting in &choice.settings {
            for other in &setting.values {
                let both = [other.changes.as_slice(), value.changes.as_slice()].concat();
                let with = |cause| refused_with(&format!("{}={}", setting.name, other.text), cause);
                changed(&both).map_err(with)?;
            }
        }
        changed(&together).map_err(|cause| refused_with("the other settings", cause))?;
    }
    let then = InForce {
        trial: &trial,
        ..*now
    };
    let in_properties = |(path, text): &(String, String)| {
        let text = then.value(path).unwrap_or_else(|| text.clone());
        (path.clone(), text)
    };
    let changes = value.changes.iter().map(in_properties).collect();
    Ok(TuneValue::of(changes))
}

fn refused_with(others: &str, cause: LeftOutCause) -> LeftOutCause {
    match cause {
        LeftOutCause::Refused { why } => LeftOutCause::Refused {
            why: format!("together with {others}: {why}"),
        },
        cause => cause,
    }
}

/// The first release that has a value, if the cluster's is older.
fn too_new(now: &InForce<'_>, path: &str, text: &str) -> Option<(u32, u32)> {
    let (_, name) = TuneSetting::place_of(path);
    let mut known = SINCE.iter();
    let found = known.find(|(of, value, _)| *of == name && *value == text.trim());
    let first = found.map(|(_, _, first)| *first);
    first.filter(|first| !now.has(*first))
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
    let texts = texts(values, today.as_deref());
    if texts.is_empty() {
        return refused(LeftOutCause::InForce);
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

#[cfg(test)]
mod tests;
