//! The capacities that the searches of a run found: their recorded loads, read as the search itself reads them.

use kgauge_results::folder::RunRead;
use kgauge_results::run::{
    GoalReading, JudgedWindow, LoadReason, MeasuredLoad, RepeatKey, SearchRun, VoidCause,
};
use kgauge_scenario::{FlowPlan, Goal, ProduceFlow, SearchGoal, SearchPlan, Trial};

use super::ab::moved_leaders;
use super::ack::acks_value;
use crate::search::{GoalWindow, LoadClass, ReadingKind, Search, SearchSettings, typical_band};
use crate::series::wire_hold;
use crate::statistics::{Spread, median};
use crate::summary::capacity::{
    BrokenGoal, CapacityLoad, CapacitySearch, CapacitySetup, CapacityStep, CapacitySummary,
    CapacityWindow, LoadVerdict,
};
use crate::summary::{Bottleneck, Factor, LatenessCause, TrialSummary};

const NS_PER_S: f64 = 1e9;

/// The rate below which nothing is searched: one record per second.
const RATE_MIN: f64 = 1.0;
/// The rate above which nothing is searched, as in schedules.
const RATE_MAX: f64 = kgauge_scenario::RATE_MAX;

/// One for each trial with a search.
pub(super) fn capacities(run: &RunRead, trials: &[TrialSummary]) -> Vec<CapacitySummary> {
    let (Some(plan), Some(record)) = (&run.plan, &run.search) else {
        return Vec::new();
    };
    let searched = plan.trials.iter().filter_map(|trial| {
        let search = trial.search.as_ref()?;
        let searches = record.searches.iter();
        let searches: Vec<CapacitySearch> = searches
            .filter(|one| one.trial == trial.index)
            .map(|one| of_search(one, search, trials))
            .collect();
        (!searches.is_empty()).then(|| summary(trial, search, searches))
    });
    searched.collect()
}

fn summary(trial: &Trial, search: &SearchPlan, searches: Vec<CapacitySearch>) -> CapacitySummary {
    let lower = searches.iter().filter_map(|one| one.strict.lower);
    let lower: Vec<f64> = lower.collect();
    let timed = timed_goal(search).map(|(_, goal)| goal);
    let written = search.goals.len().saturating_sub(search.added as usize);
    let factors = trial.factors.iter().map(|(path, value)| Factor {
        path: path.clone(),
        value: value.clone(),
    });
    CapacitySummary {
        trial: trial.index,
        scenario: trial.scenario.clone(),
        name: trial.name.clone(),
        factors: factors.collect(),
        flows: search.flows.iter().map(|flow| flow.name.clone()).collect(),
        goals: texts(&search.goals[..written]),
        added_goals: texts(&search.goals[written..]),
        figure: timed.map(|goal| goal.figure.to_string()),
        limit_ns: timed.map(|goal| goal.value),
        width: search.width,
        window_s: search.window_ns as f64 / NS_PER_S,
        record_bytes: record_bytes(trial, search),
        setup: setup(trial, search),
        over_searches: Spread::of(&lower).filter(|_| lower.len() > 1),
        searches,
    }
}

fn setup(trial: &Trial, search: &SearchPlan) -> CapacitySetup {
    let is_searched = |flow: &&ProduceFlow| {
        let mut searched = search.flows.iter();
        searched.any(|one| one.name == flow.name)
    };
    let flows = trial.flows.iter().filter_map(FlowPlan::produces);
    let flows: Vec<&ProduceFlow> = flows.filter(is_searched).collect();
    let settings = flows.first().map(|flow| &flow.settings);
    let acks = settings.map(|settings| acks_value(settings.acks));
    let codec = settings.map(|settings| settings.compression.codec.name());
    CapacitySetup {
        partitions: trial.topic.partitions,
        replication_factor: trial.topic.replication,
        producers: flows.iter().map(|flow| flow.producers).sum(),
        acks: acks.unwrap_or_default().to_owned(),
        compression: codec.unwrap_or_default().to_owned(),
    }
}

fn texts(goals: &[SearchGoal]) -> Vec<String> {
    goals.iter().map(|goal| goal.text().to_owned()).collect()
}

/// The mean size of a record of the searched flows.
fn record_bytes(trial: &Trial, search: &SearchPlan) -> Option<f64> {
    let of_flow = |name: &str| {
        let mut flows = trial.flows.iter().filter_map(FlowPlan::produces);
        let flow = flows.find(|flow| flow.name == name)?;
        Some(flow.record.logical_bytes_mean())
    };
    let parts = search
        .flows
        .iter()
        .map(|flow| Some(of_flow(&flow.name)? * flow.part));
    parts.sum()
}

/// The first goal that limits a time, and its position.
fn timed_goal(search: &SearchPlan) -> Option<(usize, &Goal)> {
    let mut goals = search.goals.iter().enumerate();
    goals.find_map(|(index, goal)| Some((index, timed(goal)?)))
}

/// A goal that limits a time.
fn timed(goal: &SearchGoal) -> Option<&Goal> {
    match goal {
        SearchGoal::Figure(goal) => Some(goal).filter(|goal| goal.figure.metric.is_time()),
        SearchGoal::ConsumersKeepUp | SearchGoal::FollowersKeepUp | SearchGoal::RateKept => None,
    }
}

fn of_search(run: &SearchRun, plan: &SearchPlan, trials: &[TrialSummary]) -> CapacitySearch {
    let mut steps = Vec::new();
    let timed = timed_goal(plan).map(|(index, _)| index);
    let mut search = search_of(run, plan);
    if let Some(search) = &mut search {
        for load in &run.loads {
            replay(search, load);
            let broken = load.windows.iter().filter(|window| !window.kept).count();
            let values = load.windows.iter();
            let values = values.filter_map(|window| window.goals.get(timed?)?.value);
            steps.push(CapacityStep {
                trial: load.trial,
                rate: load.rate,
                reason: load.reason,
                windows: count(load.windows.len()),
                broken: count(broken),
                value_ns: median(values.collect()),
                void: load.void.clone(),
                strict: search.bounds_so_far(),
            });
        }
    }
    let bounds = |kind: ReadingKind| {
        let bounds = search.as_ref().map(|search| search.bounds(kind));
        bounds.unwrap_or_default()
    };
    let strict = bounds(ReadingKind::Strict);
    CapacitySearch {
        repeat: run.repeat,
        full_speed: run.start.map(|start| start.full_speed),
        strict,
        typical: bounds(ReadingKind::Typical),
        typical_band: search
            .as_ref()
            .and_then(|search| typical_band(search.loads())),
        is_narrow: strict.is_within(plan.width),
        bottleneck: strict
            .upper
            .and_then(|upper| bottleneck_at(upper, run, trials)),
        loads: loads(run, plan, search.as_ref()),
        steps,
        end: run.end.clone(),
        took_s: run.took_ns as f64 / NS_PER_S,
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The bottleneck when the target broke the goals: the verdict of the last trial there that has one.
fn bottleneck_at(rate: f64, run: &SearchRun, trials: &[TrialSummary]) -> Option<Bottleneck> {
    let at_rate = |load: &&MeasuredLoad| load.rate == rate && load.void.is_none();
    let mut verdicts = run.loads.iter().rev().filter(at_rate).filter_map(|load| {
        let trial = trials.iter().find(|trial| trial.index == load.trial)?;
        trial.limit.as_ref().map(|limit| limit.word)
    });
    let first = verdicts.next()?;
    let is_unclear = |word: Bottleneck| matches!(word, Bottleneck::Undecided | Bottleneck::Load);
    match is_unclear(first) {
        true => Some(verdicts.find(|word| !is_unclear(*word)).unwrap_or(first)),
        false => Some(first),
    }
}

/// All loads, those of the curve and those without a window that counts too.
fn loads(run: &SearchRun, plan: &SearchPlan, search: Option<&Search>) -> Vec<CapacityLoad> {
    let mut rates: Vec<f64> = run.loads.iter().map(|load| load.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let loads = rates.into_iter().filter_map(|rate| {
        let measured = || run.loads.iter().filter(move |load| load.rate == rate);
        let trial = measured().next_back()?.trial;
        let counted = measured().filter(|load| load.void.is_none());
        let windows: Vec<&JudgedWindow> = counted.flat_map(|load| &load.windows).collect();
        let goal_windows: Vec<GoalWindow> = windows.iter().map(|one| goal_window(one)).collect();
        let class = search.map(|search| {
            let reading = search.final_reading(ReadingKind::Strict);
            reading.classify(&goal_windows)
        });
        let broken = broken_goals(plan, &windows);
        // The first of several.
        let most = broken.iter().rev().max_by_key(|(count, _)| *count);
        let broke_most = most.map(|(_, goal)| goal.clone());
        let mut broken_goals: Vec<String> = Vec::new();
        for (_, BrokenGoal { goal, .. }) in broken {
            if !broken_goals.contains(&goal) {
                broken_goals.push(goal);
            }
        }
        let timed = timed_goal(plan).map(|(index, _)| index);
        let windows: Vec<CapacityWindow> = windows
            .into_iter()
            .map(|window| CapacityWindow {
                kept: window.kept,
                value_ns: timed.and_then(|index| window.goals.get(index)?.value),
            })
            .collect();
        Some(CapacityLoad {
            rate,
            held: match class {
                Some(LoadClass::Lower) => LoadVerdict::Held,
                Some(LoadClass::Upper) => LoadVerdict::Broke,
                Some(LoadClass::Undecided) | None => LoadVerdict::Undecided,
            },
            value_ns: median(
                windows
                    .iter()
                    .filter_map(|window| window.value_ns)
                    .collect(),
            ),
            windows,
            broken_goals,
            broke_most,
            trial,
        })
    });
    loads.collect()
}

/// The goals that windows broke, in the order of the plan, with the number of these windows.
fn broken_goals(plan: &SearchPlan, windows: &[&JudgedWindow]) -> Vec<(usize, BrokenGoal)> {
    let goals = plan.goals.iter().enumerate();
    let broken = goals.filter_map(|(index, goal)| {
        let readings = windows.iter().filter_map(|window| window.goals.get(index));
        let broken: Vec<&GoalReading> = readings.filter(|reading| !reading.kept).collect();
        let figure = timed(goal).map(|goal| goal.figure.to_string());
        let values = broken.iter().filter_map(|reading| reading.value);
        let value_ns = median(values.collect()).filter(|_| figure.is_some());
        let broken_goal = BrokenGoal {
            goal: goal.text().to_owned(),
            figure,
            value_ns,
        };
        (!broken.is_empty()).then_some((broken.len(), broken_goal))
    });
    broken.collect()
}

fn goal_window(window: &JudgedWindow) -> GoalWindow {
    GoalWindow {
        duration_s: window.length_ns as f64 / NS_PER_S,
        kept: window.kept,
    }
}

/// The search as its record shows it, without its loads; `None` until full speed has been measured.
fn search_of(run: &SearchRun, plan: &SearchPlan) -> Option<Search> {
    let start = run.start?;
    let rate_max = plan.rate_max.unwrap_or(RATE_MAX);
    let window_s = plan.window_ns as f64 / NS_PER_S;
    Some(Search::new(SearchSettings {
        rate_first: start.full_speed,
        rate_min: RATE_MIN.min(rate_max),
        rate_max,
        width: plan.width,
        window_s,
        duration_s: window_s * f64::from(plan.windows),
        confirm_windows: plan.windows as usize,
        confirms_lower_first: start.confirms_lower_first,
    }))
}

/// Takes a recorded load. Void ones say nothing, and those of the curve are far below the bounds.
fn replay(search: &mut Search, load: &MeasuredLoad) {
    if load.void.is_some() || load.reason == LoadReason::Curve {
        return;
    }
    let windows: Vec<GoalWindow> = load.windows.iter().map(goal_window).collect();
    let is_confirmation = load.reason == LoadReason::Confirm;
    search.replay(load.rate, is_confirmation, &windows, load.achieved);
}

/// A search as far as it is recorded, to go on with; `None` until full speed has been measured.
pub fn recorded_search(run: &SearchRun, plan: &SearchPlan) -> Option<Search> {
    let mut search = search_of(run, plan)?;
    run.loads.iter().for_each(|load| replay(&mut search, load));
    Some(search)
}

/// Why a load is void, if it is. `run` has its trial's evidence, `trial` is its summary.
pub fn void_cause(
    run: &RunRead,
    key: RepeatKey,
    trial: &TrialSummary,
    windows: &[JudgedWindow],
) -> Option<VoidCause> {
    if let Some(moved) = moved_leaders(run, key) {
        return Some(moved);
    }
    // Goals that hold in spite of it hold without it too.
    if windows.iter().all(|window| window.kept) {
        return None;
    }
    let causes = trial.flows.iter().filter_map(|flow| flow.lateness.as_ref());
    let mut causes = causes
        .map(|lateness| lateness.blame)
        .chain([trial.generator.blame]);
    let limit = trial.limit.as_ref().map(|limit| limit.word);
    match limit {
        Some(Bottleneck::Generator) => return Some(VoidCause::Generator),
        Some(Bottleneck::OtherPrograms) => return Some(VoidCause::OtherPrograms),
        Some(Bottleneck::Hypervisor) => return Some(VoidCause::Hypervisor),
        _ => {}
    }
    causes.find_map(|cause| match cause {
        LatenessCause::Generator { .. } => Some(VoidCause::Generator),
        LatenessCause::OtherPrograms { .. } => Some(VoidCause::OtherPrograms),
        LatenessCause::Hypervisor { .. } => Some(VoidCause::Hypervisor),
        _ => None,
    })
}

/// Whether followers fell behind in the hold of a load.
pub fn followers_behind(run: &RunRead, key: RepeatKey) -> bool {
    wire_hold(run, key)
        .is_some_and(|hold| hold.lag_grows == Some(true) || hold.changes.left_sync > 0)
}
